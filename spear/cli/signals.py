"""Signals as a question the turn can ask: has somebody stopped it? (spec 1.3: 130 and 143)"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


class Stopping:
    """Installs handlers while it is entered. The first signal asks the turn to stop, the second ends the program."""

    def __init__(self) -> None:
        self.status = 0
        self._before: dict[int, Any] = {}

    def cancelled(self) -> bool:
        """Whether the turn should stop."""
        return self.status != 0

    def __enter__(self) -> Stopping:
        for number in _STATUS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.status:
            raise KeyboardInterrupt
        self.status = _STATUS[signal.Signals(number)]
