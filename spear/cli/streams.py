"""What surrounds the program where it is not what one expects: streams that are closed or not read, another encoding.

`spear-chat … >&-` starts without a stream, `spear-chat … | head` loses one on the way (spec 9.2).
"""

from __future__ import annotations

import os
import sys


def start_in_utf8() -> None:
    """Start again in UTF-8 mode where the locale has another encoding (ASCII, Latin-1): names of files, arguments and
    variables would hold halves of characters, and a path a model wrote would be another one. Does not return then.
    """
    if sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - this very program


def open_standard_streams() -> None:
    """Descriptors 0 to 2 are open, and stdout and stderr are there to be written to, whatever was closed.

    A closed one would be taken by the next file that is opened, which a child would then inherit as its stream; and
    what is printed to a missing stderr would go to stdout, which carries answers alone. Nothing is read from a stdin
    that was closed: it stays None.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def forget_stdout() -> None:
    """Nobody reads any more: keep the interpreter from complaining about it while it exits."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


class Printed:
    """stdout of one turn. Once nobody reads it nothing more is printed, and `unread` says so."""

    def __init__(self) -> None:
        self.unread = False

    def line(self, text: str) -> None:
        """Print one line at once."""
        if self.unread:
            return
        try:
            print(text, flush=True)
        except BrokenPipeError:
            self.unread = True
            forget_stdout()
