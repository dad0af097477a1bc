"""One hook of the operator's as it stands in their file: event, program, tools, time (docs/hooks.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

LONGEST_S = 60.0
"""Seconds a hook may be given at most: a call waits for it."""

TOOLS = (
    "read_file", "search_files", "patch", "write_file", "delete_file", "terminal", "search_internet", "fetch_url",
)  # fmt: skip
"""The tools a hook can be confined to: the coding core's six and the web's two."""


class HookEvent(StrEnum):
    """When a hook runs."""

    BEFORE_TOOL = "before_tool"
    AFTER_TOOL = "after_tool"
    TURN_ENDED = "turn_ended"
    APPROVAL_NEEDED = "approval_needed"
    SESSION_STARTED = "session_started"
    SESSION_ENDED = "session_ended"

    @property
    def is_gate(self) -> bool:
        """Whether its hooks decide something. At a gate a failure refuses; elsewhere it is said and things go on."""
        return self is HookEvent.BEFORE_TOOL

    @property
    def is_of_a_tool(self) -> bool:
        """Whether it is about one call of a tool."""
        return self in (HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL)


def _program(value: object) -> object:
    words = tuple(value) if isinstance(value, list | tuple) else ()
    sound = all(isinstance(word, str) and "\0" not in word for word in words)
    if not words or not sound or not words[0].strip():
        raise ValueError("Input should be a program and its arguments, as a list of words")
    return words


def _known(tools: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := [tool for tool in tools if tool not in TOOLS]:
        raise ValueError(f"Input should name tools only, and {unknown[0]!r} is none: {', '.join(TOOLS)}")
    return tools


class Hook(BaseModel):
    """`[[hooks]]`: a program of the operator's that runs at a fixed event. `command` is its argv, no shell; `tools` are
    those it is about, all of them where none is named; `timeout_s` are seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    event: HookEvent
    command: Annotated[tuple[str, ...], BeforeValidator(_program)]
    tools: Annotated[tuple[str, ...], AfterValidator(_known)] = ()
    timeout_s: Annotated[float, Field(gt=0, le=LONGEST_S, allow_inf_nan=False, strict=True)] = 5.0

    @model_validator(mode="after")
    def _tools_where_there_are_some(self) -> Hook:
        if self.tools and not self.event.is_of_a_tool:
            raise ValueError(f"Input should name no tools: {self.event} is about none")
        return self

    def is_about(self, event: HookEvent, tool: str = "") -> bool:
        """Whether it runs at `event`, there about `tool`."""
        return self.event is event and (not self.tools or tool in self.tools)
