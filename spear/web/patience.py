"""How long something may take, and whether the operator still waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from spear.web.problem import WebProblem, WebStop

SLICE_S = 0.1
"""Seconds a wait may last before cancellation is looked at again."""


class Patience:
    """A deadline over everything one call does. `seconds` from now; `cancelled` is polled."""

    def __init__(self, seconds: float, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._cancelled = cancelled

    def slice(self) -> float:
        """Seconds to wait now. Raises WebStop when the time is up or the operator has stopped the call."""
        if self._cancelled():
            raise WebStop(WebProblem("cancelled", "it was stopped"))
        left = self._until - time.monotonic()
        if left <= 0:
            raise WebStop(WebProblem("timeout", f"it took longer than {self._seconds:g} s"))
        return min(left, SLICE_S)
