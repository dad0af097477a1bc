"""Anthropic message events → one `ModelTurn`. Pure; events and replies are plain decoded JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from spear.agent.messages import ModelTurn, StopReason, ToolCall, Usage
from spear.agent.reasoning import Scrubber, strip
from spear.models.assembly import unused
from spear.models.failures import bad_reply, classify_error_object
from spear.models.payload import is_json_object
from spear.models.surrogates import mend

_STOPS = {
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.FILTERED,
}


class MessageAssembler:
    """One answer under construction. Thinking blocks are kept whole, as JSON, in `ModelTurn.reasoning`."""

    def __init__(self, taken_ids: Collection[str] = ()) -> None:
        self._taken = taken_ids
        self._blocks: dict[int, dict[str, Any]] = {}
        self._partial: dict[int, list[str]] = {}
        self._scrubber = Scrubber()
        self._stop = ""
        self._closed = False
        self._usage: dict[str, int] = {}

    @property
    def closed(self) -> bool:
        """Whether `message_stop` was received."""
        return self._closed

    @property
    def finished(self) -> bool:
        """As `closed`: a stop reason alone does not end a message here."""
        return self._closed

    @property
    def calls_complete(self) -> bool:
        """Whether the arguments of every call received parse as a JSON object."""
        return all(is_json_object("".join(parts)) for parts in self._partial.values() if parts)

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take one event or whole message; returns the text that may be shown. Raises `AttemptFailed` for an error."""
        match chunk.get("type"):
            case "error":
                raise classify_error_object(chunk.get("error"))
            case "message":
                return self._whole(chunk)
            case "message_start":
                self._count(_mapping(_mapping(chunk.get("message")).get("usage")))
            case "content_block_start":
                return self._start(_index(chunk), _mapping(chunk.get("content_block")))
            case "content_block_delta":
                return self._delta(_index(chunk), _mapping(chunk.get("delta")))
            case "message_delta":
                self._stop = str(_mapping(chunk.get("delta")).get("stop_reason") or self._stop)
                self._count(_mapping(chunk.get("usage")))
            case "message_stop":
                self._closed = True
            case _:
                pass
        return ""

    def rest(self) -> str:
        """Text held back from showing, once the message has ended."""
        return self._scrubber.finish()

    def build(self) -> ModelTurn:
        """The turn. Raises `AttemptFailed` when no message was received."""
        if not self._closed:
            raise bad_reply("the reply is not a message")
        ordered = [self._blocks[index] for index in sorted(self._blocks)]
        text, tagged = strip(mend("".join(b["text"] for b in ordered if b["type"] == "text")))
        thinking = [b for b in ordered if b["type"] in ("thinking", "redacted_thinking")]
        calls = self._calls()
        stop = _STOPS.get(self._stop) or (StopReason.TOOL_CALLS if calls else StopReason.STOP)
        reasoning = json.dumps(thinking) if thinking else tagged
        return ModelTurn(text, calls, stop, self._totals(), reasoning)

    def _whole(self, message: Mapping[str, Any]) -> str:
        content = message.get("content")
        shown = [self._start(n, _mapping(b)) for n, b in enumerate(content if isinstance(content, list) else [])]
        self._stop = str(message.get("stop_reason") or "")
        self._count(_mapping(message.get("usage")))
        self._closed = True
        return "".join(shown)

    def _start(self, index: int, block: Mapping[str, Any]) -> str:
        kind = str(block.get("type", ""))
        self._blocks[index] = {**block, "type": kind}
        if kind == "tool_use":
            given = block.get("input")
            self._partial[index] = [json.dumps(given, ensure_ascii=False)] if given else []
        if kind == "text":
            self._blocks[index]["text"] = _text(block, "text")
            return self._scrubber.feed(mend(self._blocks[index]["text"]))
        return ""

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + _text(delta, "text")
                return self._scrubber.feed(mend(_text(delta, "text")))
            case "input_json_delta":
                self._partial.setdefault(index, []).append(_text(delta, "partial_json"))
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + _text(delta, "thinking")
            case "signature_delta":
                block["signature"] = block.get("signature", "") + _text(delta, "signature")
            case _:
                pass
        return ""

    def _calls(self) -> tuple[ToolCall, ...]:
        used: set[str] = set()
        calls = []
        for index in sorted(self._partial):
            block = self._blocks[index]
            call_id = unused(mend(_text(block, "id")) or f"toolu_{index}", self._taken, used)
            used.add(call_id)
            arguments = mend("".join(self._partial[index])).strip() or "{}"
            calls.append(ToolCall(call_id, mend(_text(block, "name")), arguments))
        return tuple(calls)

    def _count(self, usage: Mapping[str, Any]) -> None:
        self._usage |= {key: value for key, value in usage.items() if isinstance(value, int)}

    def _totals(self) -> Usage:
        """Cached tokens fill the window like any other: the input is the sum."""
        parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        given = [self._usage[key] for key in parts if key in self._usage]
        return Usage(
            sum(given) if given else None,
            self._usage.get("output_tokens"),
            self._usage.get("cache_read_input_tokens"),
            self._usage.get("cache_creation_input_tokens"),
        )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _index(chunk: Mapping[str, Any]) -> int:
    index = chunk.get("index")
    return index if isinstance(index, int) else 0


def _text(source: Mapping[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""
