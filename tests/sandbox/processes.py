"""What runs below a process, as /proc tells it."""

import contextlib
import os
import time
from pathlib import Path

WAIT_S = 20


def children(pid: int) -> list[int]:
    """Every process that came of `pid`."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found[1:]


def words(pid: int) -> list[bytes]:
    """Its command line; one empty word when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return [b""]


def shells(pid: int) -> list[int]:
    """The shells below a process that have a script, running or waiting."""
    found = {child: words(child) for child in children(pid)}
    return [child for child, each in found.items() if each[0].endswith(b"/bash") and b"/run/spear/script" in each]


def until(condition) -> None:
    """Wait for it, not for ever."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end
        os.sched_yield()
