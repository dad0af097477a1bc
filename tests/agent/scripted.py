"""A model that says what it is told to: a script of turns as values, no network. Shared by the tests of the loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from spear.agent.host import ToolRequest, ToolResult
from spear.agent.messages import Message, ModelFailure, ModelRequest, ModelTurn, Role, StopReason, ToolCall, Usage
from spear.agent.outcome import Observer
from spear.agent.prompt import system_prompt

Step = ModelTurn | ModelFailure | Callable[[ModelRequest], ModelTurn]
SUMMARY = "Summary of what was done."


def say(text: str, stop: StopReason = StopReason.STOP, input_tokens: int | None = None) -> ModelTurn:
    return ModelTurn(text, (), stop, Usage(input_tokens))


def call(
    *pairs: tuple[str, dict[str, Any] | str], stop: StopReason = StopReason.TOOL_CALLS, text: str = ""
) -> ModelTurn:
    calls = [ToolCall("", name, given if isinstance(given, str) else json.dumps(given)) for name, given in pairs]
    return ModelTurn(text, tuple(calls), stop)


def shell(command: str) -> ModelTurn:
    return call(("terminal", {"command": command}))


def read(path: str) -> ModelTurn:
    return call(("read_file", {"path": path}))


def ask(text: str = "Do it.") -> list[Message]:
    return [Message(Role.SYSTEM, system_prompt()), Message(Role.USER, text)]


class Script:
    """The `complete` callable. Answers a request without tools with `SUMMARY`; keeps every request it was sent."""

    def __init__(self, steps: Iterable[Step], summary: Step | None = None) -> None:
        self._steps = list(steps)
        self._summary = summary or say(SUMMARY)
        self.requests: list[ModelRequest] = []
        self.summaries: list[ModelRequest] = []

    def __call__(self, request: ModelRequest) -> ModelTurn:
        (self.requests if request.tools else self.summaries).append(request)
        step = self._next() if request.tools else self._summary
        if isinstance(step, ModelFailure):
            raise step
        return step(request) if callable(step) else step

    def _next(self) -> Step:
        return self._steps.pop(0) if self._steps else say("The script ended.")


class Watcher(Observer):
    """Writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.guardrails: list[tuple[str, int]] = []
        self.results: list[tuple[ToolRequest, ToolResult]] = []

    def model_requested(self, round_number: int, messages: int, estimated_tokens: int) -> None:
        self.seen.append(f"request {round_number}")

    def model_answered(self, turn: ModelTurn) -> None:
        self.seen.append("answer")

    def tool_started(self, request: ToolRequest) -> None:
        self.seen.append(f"start {request.tool}")

    def tool_finished(self, request: ToolRequest, result: ToolResult) -> None:
        self.seen.append(f"finish {request.tool}")
        self.results.append((request, result))

    def text(self, delta: str) -> None:
        self.seen.append(f"text {delta}")

    def guardrail(self, code: str, count: int, detail: str) -> None:
        self.guardrails.append((code, count))


def results(conversation: Iterable[Message]) -> list[str]:
    return [message.content for message in conversation if message.role is Role.TOOL]


def assert_resendable(conversation: Iterable[Message]) -> None:
    """Every call has one result right after it, in order; ids are unique; nothing is orphaned or unencodable."""
    waiting: list[str] = []
    used: set[str] = set()
    last = None
    for message in conversation:
        message.content.encode()
        message.reasoning.encode()
        if message.role is Role.TOOL:
            assert waiting, "a result without a call"
            assert message.tool_call_id == waiting.pop(0)
        else:
            assert not waiting, "a call without a result"
        for made in message.tool_calls:
            assert made.id
            assert made.id not in used
            used.add(made.id)
            waiting.append(made.id)
            assert isinstance(json.loads(made.arguments), dict)
            (made.id + made.name + made.arguments).encode()
            assert made.name
        last = message
    assert not waiting
    assert last is not None
    assert last.role is Role.ASSISTANT
