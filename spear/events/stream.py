"""One typed stream from every engine to every front end and to the audit log.

An `Event` is audited; a `Live` item (text as it streams, a notice) is shown and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spear.events.names import EventName


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `data` holds JSON values only; `turn` is 0 outside a turn."""

    name: EventName
    data: Mapping[str, Any] = field(default_factory=dict)
    turn: int = 0


RESTARTED = "\n\n[the connection broke; the answer starts again]\n\n"
"""The text that stands between what was streamed of an answer and its beginning anew."""


class LiveKind(StrEnum):
    """What a `Live` item carries."""

    TEXT = "text"
    NOTICE = "notice"
    TOOL_OUTPUT = "tool_output"


@dataclass(frozen=True, slots=True)
class Live:
    """Text to show now; never audited, never evidence."""

    kind: LiveKind
    text: str


Sink = Callable[[Event | Live], None]
"""Receives the stream, in order, from one thread at a time. Must not raise."""


def fan_out(*sinks: Sink) -> Sink:
    """One sink that feeds several, in the order given."""

    def emit(item: Event | Live) -> None:
        for sink in sinks:
            sink(item)

    return emit
