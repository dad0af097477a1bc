"""A chat in a real pseudo-terminal, and the screen a person would see of it."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pexpect

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>]")
STAND_IN = Path(__file__).with_name("stand_in.py")


class Terminal:
    """A program in a pty. `wait` reads until the text without control sequences shows a pattern."""

    def __init__(self, command: list[str], cwd: Path, env: dict[str, str], size: tuple[int, int] = (40, 120)) -> None:
        self.child = pexpect.spawn(
            command[0], command[1:], cwd=str(cwd), env=env, dimensions=size, encoding="utf-8", timeout=20
        )
        self.child.delaybeforesend = None
        self.log = ""
        self.raw = ""

    def wait(self, pattern: str, timeout: float = 20) -> str:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if re.search(pattern, self.plain()):
                return self.plain()
            if not self._read(0.1):
                break
        if re.search(pattern, self.plain()):
            return self.plain()
        raise AssertionError(f"no {pattern!r} in:\n{self.plain()[-3000:]}")

    def settle(self, quiet: float = 0.3, timeout: float = 10) -> str:
        """Read until nothing has come for a while."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            before = len(self.raw)
            if not self._read(quiet) or len(self.raw) == before:
                break
        return self.plain()

    def _read(self, seconds: float) -> bool:
        try:
            text = self.child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.log += text
        self.raw += text
        return True

    def plain(self) -> str:
        return ANSI.sub("", self.log)

    def mark(self) -> None:
        self.log = ""

    def keys(self, text: str) -> None:
        self.child.send(text)

    def line(self, text: str) -> None:
        self.child.send(text + "\r")

    def end(self, timeout: float = 15) -> int:
        """Wait for the program's end; its exit status."""
        finish = time.monotonic() + timeout
        while time.monotonic() < finish and self._read(0.2):
            continue
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -int(self.child.signalstatus)

    def kill(self) -> None:
        self.child.close(force=True)


def stand_in(workspace: Path, state: Path, *flags: str, env: dict[str, str], size: tuple[int, int]) -> Terminal:
    """The chat over the stand-in application."""
    return Terminal([sys.executable, str(STAND_IN), str(workspace), str(state), *flags], workspace, env, size)
