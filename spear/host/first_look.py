"""The look at the tree that a turn starts with, taken while the first request is on its way (spec 2.5, 9.1)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from spear.workspace.changes import Snapshot


class FirstLook:
    """One snapshot, taken in a thread of its own. Whoever is about to change the tree awaits it first.

    `began_ns` is the wall-clock time at which it began, 0 before.
    """

    def __init__(self, look: Callable[[], Snapshot]) -> None:
        self._look = look
        self.began_ns = 0
        self._thread: threading.Thread | None = None
        self._snapshot: Snapshot | None = None
        self._failure: BaseException | None = None

    def start(self) -> None:
        """Begin; a second call changes nothing."""
        if self._thread is None:
            self.began_ns = time.time_ns()
            self._thread = threading.Thread(target=self._run, name="first-look", daemon=True)
            self._thread.start()

    def awaited(self) -> Snapshot | None:
        """The snapshot, None when none was begun. Raises what looking raised."""
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._snapshot

    def _run(self) -> None:
        try:
            self._snapshot = self._look()
        except BaseException as failure:  # noqa: BLE001 - carried to the thread that asks, not swallowed
            self._failure = failure
