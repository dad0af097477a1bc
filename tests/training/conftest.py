"""Turns to capture: real conversations as the core leaves them, and results as the controller makes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spear.agent.messages import Message, ModelRequest, ModelTurn, Role, ToolCall, ToolSchema
from spear.events.turn import TurnResult
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.training.episode import Episode
from spear.training.families import family_of, split_of
from spear.training.store import EpisodeStore
from spear.training.vocabulary import Split

SYSTEM = Message(Role.SYSTEM, "You work on a tree.")
TOOLS = (ToolSchema("patch", "Edit a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),)


def result(request: str = "Fix it.", turn: int = 1, session: str = "s1", **changes: Any) -> TurnResult:
    """A turn's result; `changes` replace what a plain answered turn without a change has."""
    plain: dict[str, Any] = {
        "schema": "spear.turn/1", "session": session, "turn": turn, "request": request, "class": "IMPLEMENTATION",
        "path": "coding_core", "mode": "auto", "read_only": False, "answer": "Done.", "verdict": "NO_CHANGE",
        "reasons": [], "stop": {"reason": "answered"}, "epoch": 0, "changed_files": [], "commands": [], "checks": [],
        "validation": [], "repair": None, "refusals": [], "usage": {}, "rounds": 1, "tool_calls": 0, "duration_s": 0.1,
        "audit": {"session_dir": "/nowhere"},
    }  # fmt: skip
    return TurnResult.model_validate({**plain, **changes})


def validation(status: str, kind: str = "test") -> dict[str, Any]:
    code = {"PASSED": 0, "FAILED": 1}.get(status)
    return {"kind": kind, "origin": "declared", "command": "make test", "status": status, "exit_code": code, "epoch": 1}


PASSED = {"verdict": "VERIFIED", "validation": [validation("PASSED")]}
FAILED = {"verdict": "UNVERIFIED", "validation": [validation("FAILED")]}


def user(text: str) -> Message:
    return Message(Role.USER, text)


def says(text: str, *calls: ToolCall, reasoning: str = "") -> Message:
    return Message(Role.ASSISTANT, text, calls, reasoning=reasoning)


def call(name: str, call_id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, json.dumps(arguments))


def gives(text: str, call_id: str = "c1") -> Message:
    return Message(Role.TOOL, text, tool_call_id=call_id)


def request_in(split: Split, number: int = 0) -> str:
    """A request whose family belongs to `split`: the `number`-th of an endless series."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    found = -1
    for n in range(100_000):
        name = "".join(letters[n // 26**place % 26] for place in range(4))
        request = f"Fix the module {name}."
        if split_of([family_of(request)]) is split:
            found += 1
            if found == number:
                return request
    raise AssertionError("no such request")


class Work:
    """A store, and turns that leave episodes in it the way a session does: through a draft."""

    def __init__(self, root: Path, redactor: Redactor | None = None) -> None:
        self.state = StateDirectory(root)
        self.redactor = redactor or Redactor()
        ticks = iter(range(10**9))
        self.store = EpisodeStore(self.state, self.redactor, clock=lambda: f"2030-01-01T00:00:00.{next(ticks):06d}Z")
        self._sessions = iter(range(10**9))

    def turn(
        self, request: str, said: Sequence[Message], *, session: str = "", number: int = 1,
        before: Sequence[Message] = (), drafted: bool = True, capture: dict[str, Any] | None = None, **changes: Any,
    ) -> Episode:  # fmt: skip
        """One turn: `said` is what followed the request, answers of the model and results of tools."""
        session = session or f"session-{next(self._sessions)}"
        messages = [SYSTEM, *before, user(request), *said]
        draft = None
        if drafted:
            draft = self.store.draft(session, number)
            replay(draft, messages, len(before) + 2)
        return self.store.capture(
            session, number, messages[1:], result(request, number, session, **changes), draft=draft, **(capture or {})
        )

    def files(self) -> list[Path]:
        return sorted(self.store.layout.episodes.rglob("*.json"))


def replay(draft: Any, messages: Sequence[Message], start: int) -> None:
    """Send the requests a loop would have sent, each answered by the assistant message that follows."""
    for place in range(start, len(messages)):
        message = messages[place]
        if message.role is Role.ASSISTANT:
            answer = ModelTurn(message.content, message.tool_calls, reasoning=message.reasoning)
            assert draft.watching(lambda _, answer=answer: answer)(ModelRequest(messages[:place], TOOLS)) is answer


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "state")
