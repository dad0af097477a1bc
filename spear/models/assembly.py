"""Chat-completions deltas → one `ModelTurn`, tolerant of what real servers send (spec 8.4). Pure.

Chunks are plain decoded JSON. Nothing here decides to run anything: a turn exists only once `build` is called, and the
backend calls it only for a stream that ended as it should.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spear.agent.messages import ModelTurn, StopReason, ToolCall, Usage
from spear.agent.reasoning import Scrubber, strip
from spear.models.failures import bad_reply, classify_error_object
from spear.models.payload import is_json_object
from spear.models.surrogates import mend, split_pending

_REASONING_KEYS = ("reasoning_content", "reasoning")
_STOPS = {
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.FILTERED,
}


@dataclass(slots=True)
class _Slot:
    """A tool call under construction."""

    index: int | None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    @property
    def complete(self) -> bool:
        return is_json_object(self.arguments)


class TurnAssembler:
    """One answer under construction. `taken_ids` are the call ids the conversation uses already."""

    def __init__(self, taken_ids: Collection[str] = ()) -> None:
        self._taken = taken_ids
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._slots: list[_Slot] = []
        self._finish = ""
        self._usage = Usage()
        self._scrubber = Scrubber()
        self._half = ""
        self._answered = False
        self.reasoning_key = ""

    @property
    def closed(self) -> bool:
        """Never: the end of these streams is an event of its own (`[DONE]`)."""
        return False

    @property
    def finished(self) -> bool:
        """Whether the server said why the message ended."""
        return bool(self._finish)

    @property
    def calls_complete(self) -> bool:
        """Whether the arguments of every call received parse as a JSON object."""
        return all(slot.complete or not slot.arguments.strip() for slot in self._slots)

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take one chunk or whole reply; returns the text that may be shown. Raises `AttemptFailed` for an error."""
        if chunk.get("error"):
            raise classify_error_object(chunk["error"])
        self._count(chunk)
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return ""
        return "".join(self._choice(choice) for choice in choices if isinstance(choice, Mapping))

    def build(self) -> ModelTurn:
        """The turn. Raises `AttemptFailed` when no choice was ever received."""
        if not self._answered:
            raise bad_reply("the reply holds no choice")
        text, tagged = strip(mend("".join(self._text)))
        reasoning = "\n".join(part for part in (mend("".join(self._reasoning)), tagged) if part)
        calls = self._calls()
        return ModelTurn(text, calls, self._stop(bool(calls)), self._usage, reasoning)

    def rest(self) -> str:
        """Text held back from showing, once the message has ended."""
        return self._scrubber.feed(mend(self._half)) + self._scrubber.finish()

    def _choice(self, choice: Mapping[str, Any]) -> str:
        if choice.get("index") not in (None, 0):
            return ""
        self._answered = True
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            text = choice.get("text")
            return self._say(text) if isinstance(text, str) else ""
        self._think(delta)
        for call in _call_deltas(delta):
            self._call(call)
        content, thoughts = _flatten(delta.get("content"))
        self._reasoning.append(thoughts)
        return self._say(content or _text(delta.get("refusal")))

    def _say(self, text: str) -> str:
        if not text:
            return ""
        self._text.append(text)
        ready, self._half = split_pending(self._half + text)
        return self._scrubber.feed(mend(ready)) if ready else ""

    def _think(self, delta: Mapping[str, Any]) -> None:
        for key in _REASONING_KEYS:
            if text := _flatten(delta.get(key))[0]:
                self.reasoning_key = key
                self._reasoning.append(text)
                return

    def _call(self, delta: Mapping[str, Any]) -> None:
        function = delta.get("function")
        source = function if isinstance(function, Mapping) else delta
        name, arguments, call_id = _text(source.get("name")), source.get("arguments"), _text(delta.get("id"))
        piece = arguments if isinstance(arguments, str) else _whole(arguments)
        slot = self._slot(_index(delta.get("index")), call_id, name, piece)
        slot.id = slot.id or call_id
        if name and name != slot.name:
            slot.name += name
        if piece.lstrip().startswith("{") and slot.complete:
            slot.parts = [slot.arguments if piece.strip() == slot.arguments.strip() else slot.arguments + piece]
        elif piece:
            slot.parts.append(piece)

    def _slot(self, index: int | None, call_id: str, name: str, piece: str) -> _Slot:
        """The call a delta belongs to: by index, by id, else the last one; a new one where the delta begins a call."""
        known = [slot for slot in self._slots if slot.index == index] if index is not None else []
        if not known and call_id:
            known = [slot for slot in self._slots if slot.id == call_id and index is None]
        if not known and index is None and not call_id:
            known = self._slots[-1:]
            if name and known and (name != known[0].name or known[0].complete):
                known = []
        if known and name and _begins_another(known[-1], call_id, name, piece):
            known = []
        if known:
            return known[-1]
        slot = _Slot(index)
        self._slots.append(slot)
        return slot

    def _calls(self) -> tuple[ToolCall, ...]:
        used: set[str] = set()
        calls = []
        for number, slot in enumerate(slot for slot in self._slots if slot.name or slot.arguments):
            call_id = unused(mend(slot.id) or f"call_{number}", self._taken, used)
            used.add(call_id)
            calls.append(ToolCall(call_id, mend(slot.name), mend(slot.arguments) if slot.arguments.strip() else "{}"))
        return tuple(calls)

    def _stop(self, calls: bool) -> StopReason:
        known = _STOPS.get(self._finish)
        if known is not None:
            return known
        return StopReason.TOOL_CALLS if calls else StopReason.STOP

    def _count(self, chunk: Mapping[str, Any]) -> None:
        usage = chunk.get("usage")
        if not isinstance(usage, Mapping):
            return
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else usage.get("prompt_cache_hit_tokens")
        self._usage = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))


def _begins_another(slot: _Slot, call_id: str, name: str, piece: str) -> bool:
    """Whether a named delta that seems to belong to `slot` begins another call: servers repeat indexes and ids."""
    if call_id and slot.id and call_id != slot.id:
        return True
    if not slot.complete:
        return False
    if not call_id or name != slot.name:
        return True
    return is_json_object(piece) and piece.strip() != slot.arguments.strip()


def unused(wanted: str, *used: Collection[str]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3` … : the first that is in none of `used`."""
    candidate, number = wanted, 2
    while any(candidate in ids for ids in used):
        candidate, number = f"{wanted}_{number}", number + 1
    return candidate


def _call_deltas(delta: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    calls = delta.get("tool_calls")
    if isinstance(calls, Mapping):
        calls = [calls]
    if isinstance(calls, list):
        yield from (call for call in calls if isinstance(call, Mapping))
    legacy = delta.get("function_call")
    if isinstance(legacy, Mapping):
        yield {"index": -1, "function": legacy}


def _flatten(content: object) -> tuple[str, str]:
    """`(text, reasoning)` of content that is a string or a list of parts."""
    if isinstance(content, str):
        return content, ""
    text, thoughts = "", ""
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            text += part
        elif isinstance(part, Mapping):
            if part.get("type") in ("thinking", "reasoning"):
                thoughts += _flatten(part.get("thinking") or part.get("reasoning") or part.get("text"))[0]
            else:
                text += _text(part.get("text"))
    return text, thoughts


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(arguments: object) -> str:
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _index(value: object) -> int | None:
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
