"""Where the work of an index is done: in this process, or on a Dask cluster (spec 9.4).

Results come back in the order of what was asked, so that an index does not depend on how many workers made it.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from spear.errors import ConfigurationError

T = TypeVar("T")
R = TypeVar("R")

_CONNECT_S = 20
_AHEAD_PER_WORKER = 2


class Engine(Protocol):
    """Applies a function that needs nothing but its argument."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results, in order. Takes items only as fast as results are taken."""


class InProcess:
    """Here, one item ahead in a thread: what waits for SQLite or the disk leaves the interpreter to the other."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """`function` of each item, taken and computed in one thread while the caller is at the result before."""
        source = iter(items)
        with ThreadPoolExecutor(1, thread_name_prefix="retrieval") as pool:
            ahead = pool.submit(_next, function, source)
            while (result := ahead.result()) is not None:
                ahead = pool.submit(_next, function, source)
                yield result.value


@dataclass(frozen=True, slots=True)
class _Result(Generic[R]):
    value: R


def _next(function: Callable[[T], R], source: Iterator[T]) -> _Result[R] | None:
    """The result for the next item; None when there is none."""
    for item in source:
        return _Result(function(item))
    return None


class Cluster:
    """A Dask scheduler at `address` (`tcp://host:8786`). Its workers need this package installed; the files of the
    corpus are read here and sent to them. Use as a context manager.

    Raises ConfigurationError when Dask is not installed or nobody answers at the address.
    """

    def __init__(self, address: str) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError as error:
            raise ConfigurationError(
                "--cluster needs Dask", hint="pip install 'spear-chat[cluster]', or leave --cluster out"
            ) from error
        try:
            self._client: Any = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"no Dask scheduler answers at {address}", hint="start one (`dask scheduler`), or leave --cluster out"
            ) from error

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """`function` of each item on the workers; two items a worker are under way at a time."""
        ahead = _AHEAD_PER_WORKER * max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(self._client.submit(function, item, pure=False))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
