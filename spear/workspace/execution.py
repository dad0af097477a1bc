"""Runs one discrete argv, bounded, and says exactly what is known of how it ended (spec 3.7, the exec primitive).

No shell, no inherited environment, an empty stdin unless one is given. Confinement is not this module's: whoever runs a
model's command gives it as a `wrapper` (the sandbox's own argv).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO

_POLL_S = 0.05
_DRAIN_S = 1.0
_CHUNK = 1 << 16


class ExecOutcome(StrEnum):
    """How a process ended, as far as is known."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Captured:
    """One stream: what was kept of what was seen."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    observed: int = 0

    def take(self, chunk: bytes) -> None:
        """Count all, keep what fits."""
        self.observed += len(chunk)
        self.data += chunk[: self.limit - len(self.data)]

    @property
    def truncated(self) -> bool:
        """Whether something was seen that was not kept."""
        return self.observed > len(self.data)


@dataclass(frozen=True, slots=True)
class Execution:
    """What happened. `code` is the exit status or the signal. `stopped` is why we ended it (`timeout`, `cancelled`) or
    empty. `cleaned` is false when a process of its group may still be alive.
    """

    outcome: ExecOutcome
    code: int | None
    stdout: Captured
    stderr: Captured
    stopped: str
    cleaned: bool


def execute(
    argv: Sequence[str],
    directory: int,
    environment: Mapping[str, str],
    *,
    timeout_s: float,
    output_limit: int,
    cancelled: Callable[[], bool] | None = None,
    wrapper: Sequence[str] = (),
    stdin: int = subprocess.DEVNULL,
) -> Execution:
    """Run `argv` in the directory open at `directory`, its stdin a copy of that descriptor. Raises OSError when it
    cannot be started."""
    process = subprocess.Popen(
        [*wrapper, *argv],
        cwd=f"/proc/self/fd/{directory}",
        env=dict(environment),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=(),
    )
    streams = Captured(output_limit), Captured(output_limit)
    cleaned = False
    try:
        stopped = _follow(process, streams, time.monotonic() + timeout_s, cancelled)
    finally:
        cleaned = _clean_up(process)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return _ended(process.returncode, streams, stopped, cleaned)


def _ended(status: int | None, streams: tuple[Captured, Captured], stopped: str, cleaned: bool) -> Execution:
    out, err = streams
    if status is None:
        return Execution(ExecOutcome.UNKNOWN, None, out, err, stopped, cleaned)
    if status < 0:
        return Execution(ExecOutcome.SIGNALLED, -status, out, err, stopped, cleaned)
    return Execution(ExecOutcome.EXITED, status, out, err, stopped, cleaned)


def _follow(
    process: subprocess.Popen[bytes],
    streams: tuple[Captured, Captured],
    deadline: float,
    cancelled: Callable[[], bool] | None,
) -> str:
    """Read until the process ends; a descendant that keeps the pipes open does not hold us."""
    with selectors.DefaultSelector() as selector:
        for pipe, stream in zip((process.stdout, process.stderr), streams, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, stream)
        while True:
            ended = process.poll() is not None
            read = _read_ready(selector, 0 if ended else _POLL_S)
            if ended and (not read or time.monotonic() > deadline + _DRAIN_S):
                return ""
            if cancelled is not None and cancelled():
                return "cancelled"
            if not ended and time.monotonic() >= deadline:
                return "timeout"


def _read_ready(selector: selectors.BaseSelector, wait_s: float) -> bool:
    """Take what the pipes hold now; whether there was anything."""
    if not selector.get_map():
        time.sleep(wait_s / 10)
        return False
    read = False
    for key, _ in selector.select(wait_s):
        pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]  # only pipes are registered
        chunk = os.read(pipe.fileno(), _CHUNK)
        if not chunk:
            selector.unregister(pipe)
            continue
        stream: Captured = key.data
        stream.take(chunk)
        read = True
    return read


def _clean_up(process: subprocess.Popen[bytes]) -> bool:
    """Kill what is left of the process group; whether it is known to be gone."""
    deadline = time.monotonic() + _DRAIN_S
    while True:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
        if not _alive(process.pid) or time.monotonic() > deadline:
            break
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_DRAIN_S)
    return process.returncode is not None and not _alive(process.pid)


def _alive(group: int) -> bool:
    """Whether a process of the group is more than a zombie that its new parent has not collected yet."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in ("Z", "X") and int(fields[2]) == group:
            return True
    return False
