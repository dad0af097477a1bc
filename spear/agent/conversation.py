"""The conversation of one turn: append-only, and at every moment one step from valid to resend.

Valid means: every call of an assistant message has exactly one result right after it, no result stands alone, ids are
unique, arguments are JSON objects (chat templates parse them) and no text holds a lone surrogate (spec: coding core,
loop 7). Messages are never rewritten once appended, so that the request prefix stays byte-stable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spear.agent.messages import Message, Role, ToolCall, ToolSchema
from spear.agent.room import room_in
from spear.agent.window import Gauge, clip

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNANSWERED = "no result: the call was cut off before it ended"
_RESULT_SHARE = 8
"""One part in eight of the window is kept free of tool results, for the summary that ends a turn early."""
_LAST_SHARE = 96
"""One part of the window in so many is left to each further result of a message that has used up its share."""


def printable(text: str) -> str:
    """`text` with every lone surrogate replaced by U+FFFD, so that it can be encoded."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def mend(messages: Iterable[Message]) -> tuple[Message, ...]:
    """A conversation that came from outside, made valid: orphan and surplus results dropped, missing ones filled in,
    ids used twice renamed, surrogates replaced. A valid conversation comes back equal."""
    mended: list[Message] = []
    used: set[str] = set()
    waiting: list[_Waiting] = []
    for message in messages:
        clean = _clean(message)
        if clean.role is Role.TOOL:
            for call in waiting:
                if call.result is None and call.known_as == clean.tool_call_id:
                    call.result = clean.content
                    break
            continue
        mended.extend(call.message() for call in waiting)
        waiting = [_Waiting(call.id, unique(call.id, used)) for call in clean.tool_calls]
        mended.append(_renamed(clean, [call.call_id for call in waiting]))
    mended.extend(call.message() for call in waiting)
    return tuple(mended)


def unique(proposed: str, used: set[str], fallback: str = "call") -> str:
    """An id not in `used`, which it joins: the proposed one, or one derived from it by counting up."""
    base = proposed or fallback
    candidate, number = base, 1
    while candidate in used:
        number += 1
        candidate = f"{base}_{number}"
    used.add(candidate)
    return candidate


@dataclass(slots=True)
class _Waiting:
    """A call of a conversation being mended, under its old and its new id, until its result is found."""

    known_as: str
    call_id: str
    result: str | None = None

    def message(self) -> Message:
        return Message(Role.TOOL, _UNANSWERED if self.result is None else self.result, tool_call_id=self.call_id)


class Transcript:
    """The conversation while the turn runs, with the running figure of its size.

    `window` is in tokens. A tool result that would take more of the window than the results of one message may, or that
    would not fit any more, is cut to head and tail as it is appended; `holds` tells whether a result is there in full.
    """

    def __init__(self, conversation: Sequence[Message], schemas: Iterable[ToolSchema], window: int) -> None:
        self._messages = list(mend(conversation))
        self._gauge = Gauge(self._messages, schemas)
        self._window = window
        self._ids = {call.id for message in self._messages for call in message.tool_calls}
        self._open: list[str] = []
        self._left = 0
        self._whole: set[str] = set()

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is sent: a snapshot."""
        return tuple(self._messages)

    @property
    def tokens(self) -> int:
        """Tokens of the next request."""
        return self._gauge.tokens

    def reported(self, input_tokens: int | None) -> None:
        """The server's count of the request just answered."""
        self._gauge.reported(input_tokens)

    def unique_id(self, proposed: str, fallback: str) -> str:
        """An id no call of the conversation has."""
        return unique(printable(proposed).strip(), self._ids, fallback)

    def say(self, role: Role, content: str) -> None:
        """Append a message without calls."""
        self._append(Message(role, printable(content)))

    def propose(self, content: str, calls: Sequence[ToolCall], reasoning: str) -> None:
        """Append an assistant message with calls; each waits for its result from now on."""
        self._append(
            Message(Role.ASSISTANT, printable(content), tuple(calls), reasoning=printable(reasoning)),
        )
        self._open = [call.id for call in calls]
        self._left = room_in(self._window, self.tokens).message

    def answer(self, call_id: str, content: str) -> None:
        """Append the result of an open call."""
        self._open.remove(call_id)
        text, before = printable(content), self.tokens
        fits = self._window - self._window // _RESULT_SHARE - before
        shown = clip(text, min(fits, max(self._left, self._window // _LAST_SHARE)))
        if shown is text:
            self._whole.add(call_id)
        self._append(Message(Role.TOOL, shown, tool_call_id=call_id))
        self._left -= self.tokens - before

    def holds(self, call_id: str) -> bool:
        """Whether the result of this call stands in the conversation in full."""
        return call_id in self._whole

    def close(self) -> None:
        """Answer every call still open, after a defect cut the turn short."""
        for call_id in tuple(self._open):
            self.answer(call_id, _UNANSWERED)

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        self._gauge.add(message)


def _renamed(message: Message, ids: Sequence[str]) -> Message:
    if all(call.id == new for call, new in zip(message.tool_calls, ids, strict=True)):
        return message
    calls = (replace(call, id=new) for call, new in zip(message.tool_calls, ids, strict=True))
    return replace(message, tool_calls=tuple(calls))


def _clean(message: Message) -> Message:
    if not any(_SURROGATE.search(text) for text in _texts(message)):
        return message
    calls = tuple(
        ToolCall(printable(call.id), printable(call.name), printable(call.arguments)) for call in message.tool_calls
    )
    return replace(
        message,
        content=printable(message.content),
        tool_calls=calls,
        tool_call_id=printable(message.tool_call_id),
        reasoning=printable(message.reasoning),
    )


def _texts(message: Message) -> Iterator[str]:
    yield from (message.content, message.tool_call_id, message.reasoning)
    for call in message.tool_calls:
        yield from (call.id, call.name, call.arguments)
