"""Watching a running command: its output taken as it comes, its time limit and cancellation kept (spec 2.5, 2.7)."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import Any

from spear.sandbox.output import CHUNK, Drain
from spear.sandbox.request import Ending
from spear.sandbox.standby import Waiting

POLL_MS = 40
IDLE_MS = 600_000
DRAIN_GRACE_S = 0.1


def attend(
    sandbox: Waiting, drain: Drain, timeout_s: float, cancelled: Callable[[], bool] | None
) -> tuple[Ending, dict[str, Any]]:
    """Read a released command's output until the supervisor says that every process is gone; kill them at the limit or
    when cancelled.

    The end of the command counts, not the end of its output: a background child may hold that open. EXITED here only
    means that nobody killed it. Raises SupervisorLost.
    """
    deadline = time.monotonic() + timeout_s
    ending = Ending.EXITED
    launcher, output = sandbox.launcher, sandbox.output
    os.set_blocking(output, False)
    poll = select.poll()
    poll.register(output, select.POLLIN)
    poll.register(launcher.fileno(), select.POLLIN)
    # Where nobody is asked whether it is cancelled, nothing wakes up while the command is silent.
    wake_ms = IDLE_MS if cancelled is None else POLL_MS
    while True:
        remaining_ms = int((deadline - time.monotonic()) * 1000) + 1
        ready = {
            number
            for number, _ in poll.poll(max(0, min(wake_ms, remaining_ms)) if ending is Ending.EXITED else POLL_MS)
        }
        if output in ready and not _take(output, drain):
            poll.unregister(output)
        if launcher.fileno() in ready and (answer := launcher.heard(sandbox.serial)) is not None:
            break
        if ending is Ending.EXITED:
            ending = _due(deadline, cancelled)
            if ending is not Ending.EXITED:
                launcher.kill()
    limit = time.monotonic() + DRAIN_GRACE_S
    while time.monotonic() < limit and _take(output, drain, when_empty=False):
        pass
    return ending, answer


def _due(deadline: float, cancelled: Callable[[], bool] | None) -> Ending:
    if cancelled is not None and cancelled():
        return Ending.CANCELLED
    return Ending.TIMED_OUT if time.monotonic() >= deadline else Ending.EXITED


def _take(output: int, drain: Drain, *, when_empty: bool = True) -> bool:
    """Feed what the pipe holds; False at its end."""
    try:
        data = os.read(output, CHUNK)
    except BlockingIOError:
        return when_empty
    drain.feed(data)
    return bool(data)
