"""A turn's host that is opened behind the first request: on a thread once that has left, or on its first use."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spear.control.ports import TurnHost


class LateHost:
    """Stands for the `TurnHost` that `opening` returns; every attribute is that host's.

    Loading and opening a host takes longer than a fast model takes to begin its answer, and the first request needs
    nothing of it. What opening raises is raised where the host is first used.
    """

    def __init__(self) -> None:
        self.opening: Callable[[], TurnHost] | None = None
        self._host: TurnHost | None = None
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Begin opening without waiting for it. Safe from several threads; only the first call counts."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._open, name="turn-host", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Close the host if it was opened, waiting for an opening that has begun; never opens one to close it.

        What opening raised is not raised here: a turn that ends for another reason must tell that one.
        """
        if self._thread is not None:
            self._thread.join()
        if self._host is not None:
            self._host.close()

    def __getattr__(self, name: str) -> object:
        self.start()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        return getattr(self._host, name)

    def _open(self) -> None:
        try:
            if self.opening is not None:
                self._host = self.opening()
        except BaseException as failure:  # noqa: BLE001 - carried to the thread that uses the host, not swallowed
            self._failure = failure
