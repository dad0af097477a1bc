"""A chat in a real pseudo-terminal: a program in a pty, read as the text a person would see go by."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

PATH = os.environ["PATH"]
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>]")


class Terminal:
    """A process in a pty of its own. `main` runs in a fork of this process: what it needs is imported already."""

    def __init__(
        self, main: Callable[[], int], cwd: Path, env: Mapping[str, str], size: tuple[int, int] = (40, 120)
    ) -> None:
        self.log = self.raw = ""
        self._status: int | None = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            _become(main, cwd, env)
        self.resize(*size)

    def wait(self, pattern: str, timeout: float = 20) -> str:
        """Read until the text without control sequences shows the pattern."""
        end = time.monotonic() + timeout
        while not re.search(pattern, self.plain()):
            if time.monotonic() > end or not self._read(0.1):
                break
        if re.search(pattern, self.plain()):
            return self.plain()
        raise AssertionError(f"no {pattern!r} in:\n{self.plain()[-3000:]}")

    def until(self, reached: Callable[[], bool], timeout: float = 20) -> None:
        """Read until something outside of the screen holds."""
        end = time.monotonic() + timeout
        while not reached() and time.monotonic() < end and self._read(0.05):
            continue
        assert reached(), self.plain()[-3000:]

    def settle(self, quiet: float = 0.2, timeout: float = 10) -> str:
        """Read until nothing has come for a while."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            before = len(self.raw)
            if not self._read(quiet) or len(self.raw) == before:
                break
        return self.plain()

    def plain(self) -> str:
        """What was read since the last mark, control sequences removed."""
        return ANSI.sub("", self.log)

    def mark(self) -> None:
        """Forget what was read."""
        self.log = ""

    def keys(self, text: str) -> None:
        """Press keys, all at once. A terminal takes a few kilobytes at a time."""
        data = text.encode()
        while data:
            written = os.write(self.fd, data[:512])
            data = data[written:]
            if data:
                self._read(0)

    def line(self, text: str) -> None:
        """Press keys and Enter."""
        self.keys(text + "\r")

    def resize(self, rows: int, columns: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        os.kill(self.pid, number)

    def end(self, timeout: float = 15) -> int:
        """Read to the end of the program; its exit status, negative for a signal."""
        finish = time.monotonic() + timeout
        while time.monotonic() < finish and self._read(0.2):
            continue
        return self._reap(finish)

    def hang_up(self, timeout: float = 15) -> int:
        """Close the terminal; the exit status."""
        os.close(self.fd)
        self.fd = -1
        return self._reap(time.monotonic() + timeout)

    def kill(self) -> None:
        """End the process whatever it does."""
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)
            self._reap(time.monotonic() + 5)
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _reap(self, finish: float) -> int:
        while self._status is None and time.monotonic() < finish:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            else:
                select.select([], [], [], 0.02)
        assert self._status is not None, "it did not end"
        return self._status

    def _read(self, seconds: float) -> bool:
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return False
        text = data.decode("utf-8", "replace")
        self.log += text
        self.raw += text
        return bool(data)


def _become(main: Callable[[], int], cwd: Path, env: Mapping[str, str]) -> NoReturn:
    """In the fork: a process with this terminal, directory and environment, and nothing of the test's streams."""
    status = 70
    try:
        # A shell starts its background jobs, a whole run of the tests among them, with these ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "w" if n else "r", encoding="utf-8") for n in range(3))
        status = main()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - a fork may not fall back into the tests
        traceback.print_exc()
    finally:
        os._exit(status)
