"""A request in flight: blocking reads happen on a worker thread, so that Ctrl+C and `cancelled` cut through at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from spear.models.retry import POLL_S, check

T = TypeVar("T")

_LINGER_S = 0.05
"""How long a finished reply may take to end its HTTP message, so that the connection can be used again."""


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


def relay(
    produce: Callable[[], Iterator[T]], cut: Callable[[], None], cancelled: Callable[[], bool] | None
) -> Generator[T, None, None]:
    """The items of `produce()`, which runs on a worker thread; its exceptions are raised here.

    Close the iterator when done. A worker that is still busy then is cut off by `cut()`, which must make its blocking
    call fail; cancellation does so at once and raises `ModelFailure` (CANCELLED).
    """
    queue: SimpleQueue[_Item[T] | _End] = SimpleQueue()

    def work() -> None:
        try:
            for item in produce():
                queue.put(_Item(item))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            queue.put(_End(error))
        else:
            queue.put(_End(None))

    worker = threading.Thread(target=work, name="model-request", daemon=True)
    worker.start()
    try:
        while True:
            match _next(queue, cancelled):
                case _Item(value):
                    yield value
                case _End(error):
                    worker.join()
                    if error is not None:
                        raise error
                    return
    except GeneratorExit:
        worker.join(_LINGER_S)
        raise
    finally:
        if worker.is_alive():
            cut()


def _next(queue: SimpleQueue[_Item[T] | _End], cancelled: Callable[[], bool] | None) -> _Item[T] | _End:
    while True:
        check(cancelled)
        try:
            return queue.get(timeout=POLL_S)
        except Empty:
            continue
