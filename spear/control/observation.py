"""What the loop does, as events: the coding core knows an `Observer`, the house knows one stream."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from spear.agent.host import Outcome, ToolRequest, ToolResult
from spear.agent.messages import ModelTurn
from spear.agent.outcome import Observer
from spear.events.names import EventName
from spear.events.stream import Event, Live, LiveKind, Sink

_LONG = 400
_WHOLE = frozenset(
    {"path", "command", "workdir", "pattern", "reason", "file_glob", "target", "output_mode", "url", "query", "pages",
     "save_as"}
)  # fmt: skip


class EventObserver(Observer):
    """Turns what the loop reports into the event stream. File contents never enter it, only their sizes and digests."""

    def __init__(self, emit: Sink, turn: int) -> None:
        self._emit = emit
        self._turn = turn
        self._started: dict[str, float] = {}

    def model_requested(self, round_number: int, messages: int, estimated_tokens: int) -> None:
        """A request is about to be sent."""
        self._event(
            EventName.MODEL_REQUESTED,
            {"round": round_number, "messages": messages, "estimated_tokens": estimated_tokens},
        )

    def model_answered(self, turn: ModelTurn) -> None:
        """The model's message is complete."""
        self._event(
            EventName.MODEL_ANSWERED,
            {
                "stop_reason": turn.stop_reason.value,
                "text": turn.text,
                "tool_calls": [call.name for call in turn.tool_calls],
                "input_tokens": turn.usage.input_tokens,
                "output_tokens": turn.usage.output_tokens,
                "cached_tokens": turn.usage.cached_tokens,
                "written_tokens": turn.usage.written_tokens,
            },
        )

    def text(self, delta: str) -> None:
        """A piece of the answer as it streams."""
        self._emit(Live(LiveKind.TEXT, delta))

    def tool_started(self, request: ToolRequest) -> None:
        """A call is about to run."""
        self._started[request.call_id] = time.monotonic()
        self._event(
            EventName.TOOL_CALLED,
            {"call_id": request.call_id, "tool": request.tool, "arguments": outline(request.arguments)},
        )

    def tool_finished(self, request: ToolRequest, result: ToolResult) -> None:
        """A call has ended, whether it ran or not."""
        data: dict[str, Any] = {
            "call_id": request.call_id,
            "tool": request.tool,
            "outcome": result.outcome.value,
            "changed": result.changed,
            "characters": len(result.text),
        }
        if result.edited is not None:
            data |= asdict(result.edited)
        if started := self._started.pop(request.call_id, None):
            data["duration_s"] = round(time.monotonic() - started, 3)
        if result.outcome is Outcome.REFUSED and result.refusal is not None:
            refusal = result.refusal
            data |= {"code": refusal.code, "target": refusal.target, "reason": refusal.reason}
            self._event(EventName.TOOL_REFUSED, data)
        else:
            self._event(EventName.TOOL_FINISHED, data)
        self._emit(Live(LiveKind.TOOL_OUTPUT, result.text))

    def guardrail(self, code: str, count: int, detail: str) -> None:
        """A guardrail spoke up or stopped the turn."""
        self._event(EventName.GUARDRAIL_STOPPED, {"code": code, "count": count, "detail": detail})

    def _event(self, name: EventName, data: Mapping[str, Any]) -> None:
        self._emit(Event(name, data, self._turn))


def outline(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the log shows them: names and places whole, contents as a size and a digest."""
    shown: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, str) and name not in _WHOLE:
            encoded = value.encode("utf-8", "surrogatepass")
            shown[name] = {"bytes": len(encoded), "sha256": hashlib.sha256(encoded).hexdigest()}
        elif isinstance(value, str) and len(value) > _LONG and name != "command":
            shown[name] = value[:_LONG] + "…"
        else:
            shown[name] = value
    return shown
