"""The chat in lines: for screen readers, dumb terminals and `--plain` (spec 8.2)."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from spear.cli.display.palette import PLAIN
from spear.cli.repl.banner import banner
from spear.cli.repl.driver import Driver
from spear.cli.repl.opening import AGAIN_SECONDS, LONG_TURN_SECONDS, Opened
from spear.cli.repl.plain_screen import PlainScreen

_HANGUP, _TERMINATED = 129, 143
_WIDE = 200


def run_plain(opening: Opened) -> int:
    """Run the chat; its exit status."""
    screen = PlainScreen(sys.stdin, sys.stdout)
    driver = opening.driver(screen)
    screen.show(banner(opening.app, PLAIN, _WIDE))
    driver.replay(opening.earlier)
    opening.ready(driver.notice)
    ended: list[int] = []
    with _ending(driver, ended), _Presses() as presses, contextlib.suppress(_Ended):
        driver.serve(opening.first)
        while not driver.finished:
            driver.say_remarks()
            try:
                line = presses.read(screen)
            except KeyboardInterrupt:
                if presses.twice():
                    break
                screen.show("\nCtrl+C again within a second ends the chat, as Ctrl+D and /quit do")
                continue
            if line is None:
                break
            opening.history.add(line)
            driver.begin()
            begun = time.monotonic()
            with _interruptible(driver):
                driver.serve(line)
            if opening.notify and time.monotonic() - begun > LONG_TURN_SECONDS:
                screen.bell()
    return ended[0] if ended else 0


class _Ended(BaseException):
    """Somebody told the process to end while it waited for a line."""


class _Presses:
    """Ctrl+C at the prompt. One that comes while something is printed is taken up at the next reading."""

    def __init__(self) -> None:
        self._times = [float("-inf")]
        self._taken = 1
        self._waiting = False

    def __enter__(self) -> _Presses:
        self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def read(self, screen: PlainScreen) -> str | None:
        """One entry, None at the end of the input. Raises KeyboardInterrupt for a press."""
        try:
            self._waiting = True
            if self._taken < len(self._times):
                raise KeyboardInterrupt
            return screen.read("> ")
        finally:
            self._waiting = False

    def twice(self) -> bool:
        """Whether the last press came soon after the one before."""
        self._taken = len(self._times)
        return self._times[-1] - self._times[-2] <= AGAIN_SECONDS

    def _press(self, _: int, __: FrameType | None) -> None:
        self._times.append(time.monotonic())
        if self._waiting:
            raise KeyboardInterrupt


@contextlib.contextmanager
def _ending(driver: Driver, ended: list[int]) -> Iterator[None]:
    """SIGTERM and SIGHUP stop what runs, and then the chat."""

    def end(number: int, _: FrameType | None) -> None:
        ended.append(_TERMINATED if number == signal.SIGTERM else _HANGUP)
        driver.interruption.stop()
        driver.finished = True
        if not driver.serving:
            raise _Ended

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _interruptible(driver: Driver) -> Iterator[None]:
    """Ctrl+C while something is served stops that instead of the chat."""

    def press(_: int, __: FrameType | None) -> None:
        driver.interruption.press()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
