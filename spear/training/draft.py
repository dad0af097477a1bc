"""The draft of an episode: what a model was shown and said, written down at each model boundary (spec 7).

A draft is an append-only file of messages, so a boundary costs what is new since the last one. When the turn ends the
store makes an episode of it; when the process dies the draft is what is left, and becomes an unrated episode later.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spear.agent.messages import Complete, Message, ModelRequest, ModelTurn, Role, ToolSchema
from spear.agent.reasoning import strip
from spear.state.conversation import decode_message, encode, redact
from spear.state.lines import LineFile, read_records
from spear.state.redaction import Redactor
from spear.training.layout import Layout


class TurnDraft:
    """The draft of one turn. Nothing is written before its first request, and nothing is durable until the episode is:
    a boundary must not wait for a disk. Imports nothing a turn has not loaded anyway."""

    def __init__(self, training_data: Path, session: str, turn: int, redactor: Redactor) -> None:
        self.path = Layout(training_data).draft(session, turn)
        self._lines = LineFile(self.path)
        self._redactor = redactor
        self._written = 0
        self.system: tuple[Message, ...] = ()
        self.tools: tuple[ToolSchema, ...] = ()
        self.start: int | None = None

    def watching(self, complete: Complete) -> Complete:
        """`complete`, with every request and answer written down."""

        def watched(request: ModelRequest) -> ModelTurn:
            self.requested(request)
            turn = complete(request)
            self.answered(turn)
            return turn

        return watched

    def requested(self, request: ModelRequest) -> None:
        """A request is about to be sent: its new messages are written. Raises StateError."""
        if self.start is None:
            self.system = tuple(m for m in request.messages if m.role is Role.SYSTEM)
            self.tools = request.tools
            self.start = len(request.messages)
            self._append({"start": self.start, "tools": [_tool(tool) for tool in self.tools]})
        self._write(request.messages[self._written :])
        self._written = max(self._written, len(request.messages))

    def answered(self, turn: ModelTurn) -> None:
        """A complete answer arrived. The next request repeats it, as the conversation kept it."""
        self._append({"answer": self._encoded(Message(Role.ASSISTANT, turn.text, turn.tool_calls))})

    def close(self) -> None:
        """Let the file go."""
        self._lines.close()

    def discard(self) -> None:
        """The episode exists: the draft is no longer needed."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._append({"message": self._encoded(message)})

    def _encoded(self, message: Message) -> dict[str, Any]:
        content = strip(message.content)[0] if message.role is Role.ASSISTANT else message.content
        return encode(redact(replace(message, content=content, reasoning=""), self._redactor))

    def _append(self, record: dict[str, object]) -> None:
        self._lines.append(json.dumps(record, ensure_ascii=True).encode("ascii"))


def _tool(tool: ToolSchema) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


@dataclass(frozen=True, slots=True)
class LeftDraft:
    """What a dead process left of a turn: all messages, the place its own begin at, the tools it was offered."""

    messages: tuple[Message, ...]
    start: int
    tools: tuple[ToolSchema, ...]


def read_draft(path: Path) -> LeftDraft | None:
    """The draft in a file, None when it holds nothing that can be used. Damaged lines are passed over."""
    messages: list[Message] = []
    answer: list[Message] = []
    start, tools = 0, tuple[ToolSchema, ...]()
    try:
        for record in read_records(path):
            if "message" in record:
                messages.append(decode_message(record["message"]))
                answer = []
            elif "answer" in record:
                answer = [decode_message(record["answer"])]
            else:
                start = int(record["start"])
                tools = tuple(ToolSchema(t["name"], t["description"], t["parameters"]) for t in record["tools"])
    except (ValueError, KeyError, TypeError):
        return None
    messages += answer
    return LeftDraft(tuple(messages), start, tools) if messages else None
