"""Runs a program for as long as somebody holds the other end of its stdin, and not a moment longer.

Run as `python -I -S leash.py WORD…`; nothing of the package is imported. The program gets an empty stdin and this
process's stdout and stderr. However the holder ends (a crash and SIGKILL included) the pipe closes, and the program and
what it started are ended; should this process be killed, the kernel ends the program.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from types import FrameType

PR_SET_PDEATHSIG = 1
PATIENCE_S = 2.0
CANNOT_START = 127

libc = ctypes.CDLL(None)


class Released(Exception):
    """A signal asked for the end."""


def release(number: int, frame: FrameType | None) -> None:
    """End in order on a signal."""
    del number, frame
    raise Released


def hold(child: subprocess.Popen[bytes]) -> None:
    """Return when the program has ended or the holder has let go."""
    ended = os.pidfd_open(child.pid)
    while True:
        ready, _, _ = select.select([0, ended], [], [])
        if ended in ready or not os.read(0, 4096):
            return


def end(child: subprocess.Popen[bytes]) -> int:
    """End the program's group; the status to leave with."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            break
        try:
            child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            continue
    status = child.wait()
    return status if status >= 0 else 128 - status


def main() -> int:
    """Run the program that the arguments name."""
    try:
        child = subprocess.Popen(
            sys.argv[1:], stdin=subprocess.DEVNULL, process_group=0,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        )  # fmt: skip
    except OSError as error:
        print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr)  # noqa: T201 - stderr is what it answers with
        return CANNOT_START
    try:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, release)
        hold(child)
    except Released:
        pass
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    return end(child)


if __name__ == "__main__":
    sys.exit(main())
