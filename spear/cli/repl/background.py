"""The background jobs of a chat: they belong to its process, whatever session it is in. Nothing is loaded before the
first one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from spear.agent.host import Refusal
from spear.errors import StateError

if TYPE_CHECKING:
    from spear.cli.application import Application
    from spear.events.stream import Event, Live, Sink
    from spear.host.confirmation import Confirm
    from spear.host.job import Job, JobInfo
    from spear.host.jobs import Jobs


class ChatJobs:
    """`Jobs` of the application that is open when one is started. `ended` is told of each that ends by itself, from the
    job's thread; whoever draws the chat sets it.
    """

    def __init__(self, app: Callable[[], Application]) -> None:
        self._app = app
        self._jobs: Jobs | None = None
        self.ended: Callable[[JobInfo], None] = lambda _: None
        self.switching = threading.RLock()
        """Held while another session is opened: what ends meanwhile is recorded in that one."""

    @property
    def running(self) -> int:
        """How many run now."""
        return self._jobs.running if self._jobs is not None else 0

    def start(self, command: str, confirm: Confirm, show: Sink) -> JobInfo | Refusal:
        """Start one, asking where the mode asks; `show` is given notices. Raises StateError."""
        from spear.events.names import EventName
        from spear.events.stream import Event
        from spear.host.job_request import TOOL, JobParts
        from spear.host.jobs import Jobs

        app = self._app()
        app.host.confinement.start()
        if self._jobs is None:
            self._jobs = Jobs(self._record, self._over)

        def emit(item: Event | Live) -> None:
            if isinstance(item, Event):
                self._record(item)
            else:
                show(item)

        found = self._jobs.start(command, app.host, JobParts(confirm, app.approvals, emit))
        if isinstance(found, Refusal):
            refused = {"tool": TOOL, "command": command, "outcome": "refused", "reason": found.code, "by": "operator"}
            self._record(Event(EventName.TOOL_REFUSED, refused))
        return found

    def listing(self) -> tuple[JobInfo, ...]:
        """All that are remembered, the oldest first."""
        return self._jobs.listing() if self._jobs is not None else ()

    def job(self, number: int) -> Job | None:
        """The job of a number."""
        return self._jobs.job(number) if self._jobs is not None else None

    def stop(self, number: int) -> tuple[JobInfo, ...]:
        """End one, waiting for it a few seconds at most; () when it did not run."""
        return self._jobs.stop((number,)) if self._jobs is not None else ()

    def close(self) -> tuple[JobInfo, ...]:
        """End all; those that ran."""
        return self._jobs.close() if self._jobs is not None else ()

    def _record(self, event: Event) -> None:
        """Into the log of the session that is open now. Raises StateError."""
        with self.switching:
            try:
                self._app().audit_event(event)
            except (OSError, ValueError) as error:
                raise StateError(f"the session's log cannot be written: {error}") from error

    def _over(self, info: JobInfo) -> None:
        from spear.host.job import JobState

        if info.state is not JobState.STOPPED:  # whoever stopped it says so
            self.ended(info)
