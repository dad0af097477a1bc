"""Figures of the turn that is running: time, rounds, tokens, context, and what its checks show so far (spec 8.2)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from spear.cli.spending import Spending
from spear.events.names import EventName
from spear.events.stream import Event


@dataclass(slots=True)
class Progress:
    """Counts events; `spending` adds up what they cost. `changed` tells whether a call has changed the tree; `answered`
    that the model has said its last word and nothing runs any more."""

    started: float = field(default_factory=time.monotonic)
    spending: Spending = field(default_factory=lambda: Spending(None))
    rounds: int = 0
    tokens: int = 0
    context_tokens: int = 0
    changed: bool = False
    answered: bool = False
    epoch: int = 0
    _check: tuple[str, int] = ("", -1)

    def take(self, event: Event) -> None:
        """Count one event."""
        data: Any = event.data
        self.spending(event)
        match event.name:
            case EventName.MODEL_REQUESTED:
                self.rounds += 1
                self.answered = False
                self.context_tokens = int(data.get("estimated_tokens") or 0)
            case EventName.MODEL_ANSWERED:
                self.answered = not data.get("tool_calls")
                self.tokens += int(data.get("input_tokens") or 0) + int(data.get("output_tokens") or 0)
            case EventName.VALIDATION_STARTED:
                self.answered = False
            case EventName.TOOL_FINISHED:
                self.changed = self.changed or bool(data.get("changed"))
            case EventName.EPOCH_OPENED:
                self.changed = True
                self.epoch = int(data.get("epoch") or self.epoch + 1)
            case EventName.CHECK_RECORDED:
                self._check = (str(data.get("status", "")), int(data.get("epoch") or 0))
            case _:
                return

    @property
    def elapsed(self) -> float:
        """Seconds since the turn began."""
        return time.monotonic() - self.started

    @property
    def so_far(self) -> str:
        """What the record shows until now, in two or three words; never a verdict."""
        if not self.changed:
            return "no change so far"
        status, epoch = self._check
        if not status or epoch < self.epoch:
            return "changed, not checked yet"
        return f"changed, last check {status}"
