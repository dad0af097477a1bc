"""Whether commands can be confined on this machine: one real probe a session, in the background (spec 2.7)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spear.sandbox.selftest import Preflight


class Confinement:
    """The answer of the preflight, awaited when something first depends on it."""

    def __init__(self, probe: Callable[[], Preflight]) -> None:
        self._probe = probe
        self._result: Preflight | None = None
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin probing without waiting for it."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="confinement", daemon=True)
            self._thread.start()

    def result(self) -> Preflight:
        """The probe's answer; waits for it. Raises whatever the probe raised."""
        self.start()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        if self._result is None:
            raise RuntimeError("the confinement probe ended without an answer")
        return self._result

    def finish(self) -> None:
        """Wait for a probe that is under way: what it made for itself is removed by it."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._result = self._probe()
        except BaseException as failure:  # noqa: BLE001 - carried to the thread that asks, not swallowed
            self._failure = failure
