"""A reply as it arrives: one JSON document, or server-sent events in whatever pieces the bytes come. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from spear.models.failures import bad_reply

DONE = "[DONE]"
"""The data of the event that ends a chat-completions stream."""

_LONGEST_EVENT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Streamed:
    """The data of events that arrived together."""

    data: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A reply that is one JSON document."""

    text: str


class SseReader:
    """Feed it bytes. An event counts once its blank line has arrived: what a cut leaves behind is never an event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events completed by `chunk`, in order. Raises `AttemptFailed` for an endless line."""
        self._rest += chunk
        if b"\n" not in chunk:
            if len(self._rest) > _LONGEST_EVENT:
                raise bad_reply("an event of the stream has no end", limit=1)
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        events: list[str] = []
        for line in lines:
            self._line(line.removesuffix(b"\r"), events)
        return events

    def _line(self, line: bytes, events: list[str]) -> None:
        if not line:
            if self._data:
                events.append("\n".join(self._data))
                self._data.clear()
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
