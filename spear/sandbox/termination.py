"""Asking a running command to end: SIGTERM to its processes, seen from outside through /proc (spec 2.7).

The signal goes to what the shell has started. The shell itself is told only once nothing else is left: when it ends,
bwrap's init ends with it, and the kernel kills what was still tidying up.
"""

from __future__ import annotations

import contextlib
import os
import signal

Process = tuple[int, int]
"""A process: its number here, and when it started (clock ticks since the machine did), for numbers come back."""


def terminate(supervisor: int, told: set[Process]) -> None:
    """Send SIGTERM once to each process of the command below `supervisor`; `told` remembers whom.

    Call it again until they are gone: a script goes on with its next command. Processes that cannot be seen or have
    ended meanwhile are passed over.
    """
    below = _below(supervisor)
    shells: list[int] = []
    others = False
    for pid in below:
        match _number_inside(pid):
            case None | 1:
                continue
            case 2:
                shells.append(pid)
            case _:
                others = _tell(pid, below, told) or others
    if not others:
        for pid in shells:
            _tell(pid, below, told)


def _below(supervisor: int) -> set[int]:
    """Every process that came of `supervisor`."""
    found, left = set[int](), [supervisor]
    while left:
        pid = left.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names only
                with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                    children = {int(word) for word in file.read().split()} - found
                found |= children
                left += children
    return found


def _number_inside(pid: int) -> int | None:
    """The number of a process in its innermost namespace; None for one of ours, a dead one and one that is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        values = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        numbers = values.get("NSpid", "").split()
        if len(numbers) > 1 and not values.get("State", "").startswith(("Z", "X")):
            return int(numbers[-1])
    return None


def _tell(pid: int, below: set[int], told: set[Process]) -> bool:
    """Send SIGTERM unless it has been sent; whether the process is there at all."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Read behind the descriptor: whose number has come back meanwhile has another parent.
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        parent, started = int(fields[1]), int(fields[19])
        if parent in below and (pid, started) not in told:
            told.add((pid, started))
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
