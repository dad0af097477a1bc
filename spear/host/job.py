"""One background job of the operator's: a sandbox of its own around a command, its output, how it ended."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from spear.host.job_output import JobOutput
from spear.sandbox.request import Ending, Network, RunOutcome, RunRequest
from spear.sandbox.runner import CommandRunner
from spear.sandbox.termination import Process

GRACE_S = 2.0
"""How long a job may take to end once it is asked to."""
KILL_S = 5.0
"""How long its killing is waited for."""
_LOOK_S = 0.05


class JobState(StrEnum):
    """Where a job is."""

    RUNNING = "running"
    EXITED = "exited"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobInfo:
    """A job as it is at one moment. `seconds` is how long it has run; `exit_code` None where there is none; `network`
    what it got; `notes` are sentences about its end; `session` is the one it was started in.
    """

    number: int
    command: str
    session: str
    state: JobState
    seconds: float
    output: Path
    output_bytes: int
    exit_code: int | None = None
    signal: int | None = None
    network: Network = Network.NONE
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """Its state in a few words."""
        match self.state:
            case JobState.EXITED if self.signal is not None:
                return f"killed by signal {self.signal}"
            case JobState.EXITED:
                return f"exit status {self.exit_code}"
            case JobState.FAILED:
                return "failed"
            case _:
                return self.state.value


class Job:
    """Runs from its making on, on a thread of its own; `ended` is called there, once."""

    def __init__(
        self,
        number: int,
        session: str,
        request: RunRequest,
        runner: CommandRunner,
        output: JobOutput,
        ended: Callable[[JobInfo], None],
    ) -> None:
        self._number, self._session, self._request = number, session, request
        self._runner, self._output, self._ended = runner, output, ended
        self._began = time.monotonic()
        self._seconds = 0.0
        self._outcome: RunOutcome | None = None
        self._failure = ""
        self._stopping = False
        self._told: set[Process] = set()
        self._thread = threading.Thread(target=self._run, name=f"job-{number}", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._outcome is None and not self._failure

    @property
    def alive(self) -> bool:
        """Whether anything of it is left to be waited for."""
        return self._thread.is_alive()

    @property
    def output(self) -> JobOutput:
        """What it has printed."""
        return self._output

    def info(self) -> JobInfo:
        """It as it is now."""
        outcome = self._outcome
        state = JobState.RUNNING
        notes = [self._failure, self._output.problem]
        if self._output.given_up:
            notes.append(f"the first {self._output.given_up} bytes of its output were given up")
        if outcome is not None:
            failed = outcome.ending is Ending.NOT_STARTED
            state = JobState.STOPPED if self._stopping else JobState.FAILED if failed else JobState.EXITED
            notes += [outcome.problem, *outcome.notes]
        elif self._failure:
            state = JobState.FAILED
        return JobInfo(
            self._number, self._request.script, self._session, state,
            time.monotonic() - self._began if state is JobState.RUNNING else self._seconds,
            self._output.path, self._output.total,
            outcome.exit_code if outcome else None, outcome.signal if outcome else None,
            outcome.network if outcome else self._request.network, tuple(filter(None, notes)),
        )  # fmt: skip

    def ask_to_end(self) -> None:
        """SIGTERM to what runs in it."""
        self._stopping = self._stopping or self.running
        self._runner.terminate(self._told)

    def wait(self, seconds: float, look: Callable[[], None]) -> bool:
        """Wait for its end, calling `look` now and then; whether it has ended."""
        limit = time.monotonic() + seconds
        while self.alive and time.monotonic() < limit:
            look()
            self._thread.join(_LOOK_S)
        return not self.alive

    def kill(self) -> None:
        """End it at once."""
        self._stopping = self._stopping or self.running
        self._runner.kill()

    def _run(self) -> None:
        try:
            outcome = self._runner.run(self._request)
        except Exception as error:  # noqa: BLE001 - the end of a job, whatever it was, is said and recorded
            self._seconds = time.monotonic() - self._began
            self._failure = f"it could not be run: {error}"
        else:
            self._seconds = time.monotonic() - self._began
            self._outcome = outcome
        self._output.close()
        with contextlib.suppress(OSError):
            self._runner.close()
        self._ended(self.info())
