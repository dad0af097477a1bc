"""Background jobs of the operator: commands that go on beside the chat (docs/repl.md).

A job is no command of a turn: only the operator starts one. It sees the workspace as it is, at every moment, and can
change nothing in it, so that it needs no checkpoint, opens no epoch and is no evidence.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from spear.agent.host import Refusal
from spear.errors import StateError
from spear.events.names import EventName
from spear.events.stream import Event
from spear.host.job import GRACE_S, KILL_S, Job, JobInfo
from spear.host.job_output import JobOutput
from spear.host.job_request import TOOL, JobParts, job_request
from spear.host.session import HostSession
from spear.sandbox.request import RunRequest
from spear.state.files import state_error

MOST = 4
"""How many jobs run at once."""
REMEMBERED = 32
"""How many jobs, ended ones included, are listed."""


class Jobs:
    """The jobs of one chat, whatever session it is in. Safe from several threads.

    `record` audits an event, and may raise StateError; `ended` is told of each end, from the job's thread.
    """

    def __init__(self, record: Callable[[Event], None], ended: Callable[[JobInfo], None]) -> None:
        self._record, self._ended = record, ended
        self._lock = threading.Lock()
        self._jobs: dict[int, Job] = {}
        self._last = 0
        self._closed = False

    @property
    def running(self) -> int:
        """How many run now."""
        return sum(job.running for job in list(self._jobs.values()))

    def listing(self) -> tuple[JobInfo, ...]:
        """All that are remembered, the oldest first."""
        return tuple(job.info() for job in list(self._jobs.values()))

    def job(self, number: int) -> Job | None:
        """The job of a number."""
        return self._jobs.get(number)

    def start(self, command: str, session: HostSession, parts: JobParts) -> JobInfo | Refusal:
        """Judge a command, ask where the mode asks, and start it. A Refusal: nothing has run. Raises StateError when it
        cannot be recorded, or its output not be kept.
        """
        if refusal := self._full(command):
            return refusal
        found = session.confinement.result()
        if not found.ok:
            return Refusal("confinement_unavailable", TOOL, command, found.problem, found.remedy)
        asked = job_request(command, session, parts)
        if isinstance(asked, Refusal):
            return asked
        with self._lock:
            # Counted again: a question may have been open for long.
            if refusal := self._full(asked.script):
                return refusal
            number = self._last + 1
            place = session.results.reserve(f"job-{number}")
            try:
                output = JobOutput(place)
            except OSError as error:
                raise state_error("keep the output of a job in", place, error) from error
            runner = session.runner.beside(session.state.root / "run" / f"{session.identity}-job-{number}")
            job = Job(number, session.identity, replace(asked, heard=output.feed), runner, output, self._over)
            try:
                self._record(_started(number, asked, str(output.path.relative_to(session.state.root))))
            except StateError:
                output.close()
                raise
            self._last = number
            self._jobs[number] = job
            self._forget()
            job.start()
        return job.info()

    def stop(self, numbers: tuple[int, ...] | None = None) -> tuple[JobInfo, ...]:
        """End these jobs, or all that run: SIGTERM, and after GRACE_S seconds SIGKILL. Returns when they have ended,
        GRACE_S + KILL_S seconds later at most; those that ran, as they are then.
        """
        chosen = [job for number, job in list(self._jobs.items()) if numbers is None or number in numbers]
        running = [job for job in chosen if job.running]
        for seconds, end in ((GRACE_S, Job.ask_to_end), (KILL_S, Job.kill)):
            limit = time.monotonic() + seconds
            for job in (left := [job for job in running if job.alive]):
                end(job)
            for job in left:
                job.wait(limit - time.monotonic(), partial(_each, end, left))
        return tuple(job.info() for job in running)

    def close(self) -> tuple[JobInfo, ...]:
        """End all; those that ran. None can be started from then on."""
        with self._lock:
            self._closed = True
        stopped = self.stop()
        for job in self._jobs.values():
            job.wait(KILL_S, lambda: None)  # one that has just ended by itself takes its directories away
        return stopped

    def _full(self, command: str) -> Refusal | None:
        if self._closed:
            return Refusal("closing", TOOL, command, "the chat is ending", "")
        if self.running >= MOST:
            why = f"{MOST} jobs are running, and no more may"
            return Refusal("too_many_jobs", TOOL, command, why, "/jobs lists them, /jobs stop N ends one")
        return None

    def _forget(self) -> None:
        ended = [number for number, job in self._jobs.items() if not job.running]
        for number in ended[: max(0, len(self._jobs) - REMEMBERED)]:
            del self._jobs[number]

    def _over(self, info: JobInfo) -> None:
        """On the job's thread: record its end, and tell."""
        data = {
            "job": info.number, "command": info.command, "status": info.status, "exit_code": info.exit_code,
            "duration_s": round(info.seconds, 3), "output_bytes": info.output_bytes, "started_in": info.session,
            "network": info.network.value, "by": "operator",
        }  # fmt: skip
        try:
            self._record(Event(EventName.JOB_ENDED, data))
        except StateError as error:
            info = replace(info, notes=(*info.notes, f"its end could not be recorded: {error.message}"))
        self._ended(info)


def _each(what: Callable[[Job], None], jobs: list[Job]) -> None:
    for job in jobs:
        what(job)


def _started(number: int, asked: RunRequest, output_ref: str) -> Event:
    data = {
        "job": number, "command": asked.script, "cwd": str(asked.cwd), "network": asked.network.value,
        "output_ref": output_ref, "by": "operator",
    }  # fmt: skip
    return Event(EventName.JOB_STARTED, data)
