"""A second search that begins while a first one is still silent, since it is needed when that finds nothing.

ripgrep looks through a tree in order on one thread; the others may already look for why there is nothing. What turns
out not to be needed is ended at once, and where the first search is quick it never begins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

from spear.agent.tools.search_engine import Deadline

T = TypeVar("T")
R = TypeVar("R")

SILENCE = 0.025
"""Seconds a search may be silent before the next one begins: most have ended by then."""


class Ahead(Generic[R]):
    """`search(deadline, beside)`, bounded to `seconds`, begun beside the first one after `silence` seconds unless
    something came through `watching` before. Use as a context manager: it leaves nothing running.
    """

    def __init__(self, search: Callable[[Deadline, bool], R], seconds: float, silence: float = SILENCE) -> None:
        self._search, self._seconds = search, seconds
        self._lock = threading.Lock()
        self._needless = False
        self._deadline: Deadline | None = None
        self._found: R | None = None
        self._failed: Exception | None = None
        self._timer = threading.Timer(silence, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> Ahead[R]:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self._timer.join()

    def watching(self, items: Iterable[T]) -> Iterator[T]:
        """The items of the first search. The first of them shows that no second one is needed."""
        for number, item in enumerate(items):
            if number == 0:
                self._end()
            yield item

    def result(self) -> R:
        """What the second search found: awaited where it has begun, else made now. Raises what the search raises."""
        self._timer.cancel()
        self._timer.join()
        if self._failed is not None:
            raise self._failed
        if self._found is None or self._needless:
            return self._search(Deadline(self._seconds), False)
        return self._found

    def _begin(self) -> None:
        with self._lock:
            if self._needless:
                return
            self._deadline = Deadline(self._seconds)
        try:
            self._found = self._search(self._deadline, True)
        except Exception as error:  # noqa: BLE001 - raised where the result is asked for
            self._failed = error

    def _end(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._needless = True
            if self._deadline is not None:
                self._deadline.end()
