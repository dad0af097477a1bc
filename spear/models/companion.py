"""A program that must run beside a backend: a tunnel, a model server. Started before the first request, ended with it.

The program runs on a leash (`leash.py`): it ends with the backend, and with this process however that ends.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Protocol

from spear.agent.messages import FailureKind, ModelFailure, ModelRequest, ModelTurn
from spear.models.backend import BackendSettings, ModelBackend
from spear.models.failures import one_line

_LEASH = Path(__file__).with_name("leash.py")
_LINES_KEPT = 20
_LETTING_GO_S = 6.0
_POLL_S = 0.02
_NOTICING_S = 1.0
"""How much sooner a broken connection may be felt here than by the program that carried it."""
_LOST = (FailureKind.UNREACHABLE, FailureKind.DROPPED_STREAM)


class Child:
    """One run of a companion's program. Raises OSError when the interpreter itself cannot be started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_LEASH), *command],
            stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environment), cwd="/", start_new_session=True,
        )  # fmt: skip
        self.output: deque[str] = deque(maxlen=_LINES_KEPT)
        self._complaints: deque[str] = deque(maxlen=_LINES_KEPT)
        self._readers = [
            threading.Thread(target=_keep, args=pair, daemon=True)
            for pair in ((self._process.stdout, self.output), (self._process.stderr, self._complaints))
        ]
        for reader in self._readers:
            reader.start()

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""
        return self._process.poll()

    def ends_within(self, seconds: float) -> bool:
        """Whether it has ended, or does so in the next moments."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr, on one line; everything of it once it has ended."""
        if self.status is not None:
            for reader in self._readers:
                reader.join(1)
        return one_line(" ".join(list(self._complaints)[-4:]))

    def stop(self) -> None:
        """End it, and what it started."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_LETTING_GO_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(1)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _keep(stream: IO[bytes], lines: deque[str]) -> None:
    for line in iter(lambda: stream.readline(4096), b""):
        if text := line.decode("utf-8", "replace").strip():
            lines.append(text)


@dataclass(frozen=True, slots=True)
class Ready:
    """Where the endpoint is reached once the companion runs, and by which name it is asked for ("" for its own)."""

    api_base: str
    host: str = ""


class Companion(Protocol):
    """How to start a program, how to tell that it serves, and what to say when it does not."""

    @property
    def name(self) -> str:
        """What it is, for messages: `the ssh tunnel to ann@gate`."""
        ...

    @property
    def seconds(self) -> float:
        """How long it may take until it serves."""
        ...

    def start(self) -> Child:
        """Start it. Raises `ModelFailure` with the way out when something it needs is missing."""
        ...

    def ready(self, child: Child) -> Ready | None:
        """Where the endpoint is, None while nobody answers yet. Returns within a second."""
        ...

    def way_out(self, last_words: str) -> str:
        """What an operator does about a start that failed with these last words; "" when they said nothing known."""
        ...


class AccompaniedBackend:
    """A backend whose endpoint is there only while a companion runs. Closed for good by `close`.

    The companion starts with the first use, and again with the first use after it ended; one that cannot be started is
    tried once a turn. `connect` makes the backend once it is known where the endpoint is. `given_up` ends the waiting
    for a companion. What the companion complained of is added to a failure to reach the endpoint.
    """

    def __init__(
        self,
        settings: BackendSettings,
        companion: Companion,
        connect: Callable[[BackendSettings], ModelBackend],
        given_up: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self._companion = companion
        self._connect = connect
        self._given_up = given_up
        self._failure: ModelFailure | None = None
        self._starting = threading.Lock()
        self._closed = threading.Event()
        self._child: Child | None = None
        self._backend: ModelBackend | None = None

    @property
    def name(self) -> str:
        """The endpoint, by the name the operator gave it."""
        return self._settings.endpoint

    @property
    def model(self) -> str:
        """The model id. Starts the companion; may raise `ModelFailure`."""
        return self._serving(None).model

    def context_window(self) -> int | None:
        """As the endpoint reports it; None when the companion does not start. Never raises."""
        try:
            return self._serving(None).context_window()
        except ModelFailure:
            return None

    def begin_turn(self) -> None:
        """Passed on; a companion that could not be started is tried again."""
        self._failure = None
        if self._backend is not None:
            self._backend.begin_turn()

    def close(self) -> None:
        """Release the connections and end the companion."""
        self._closed.set()
        with self._starting:
            self._stop()

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer. Raises `ModelFailure`, also for a companion that cannot be started.

        A companion that is lost before anything was shown is started once more for the same request.
        """
        shown: list[bool] = []
        asked = replace(request, on_text=_noting(request.on_text, shown))
        try:
            return self._serving(request.cancelled).complete(asked)
        except ModelFailure as failure:
            if failure.kind not in _LOST or self._child is None:
                raise
            if shown or not self._child.ends_within(_NOTICING_S):
                raise self._explained(failure, self._child) from failure
        return self._serving(request.cancelled).complete(asked)

    def _serving(self, cancelled: Callable[[], bool] | None) -> ModelBackend:
        """The backend, its companion running. Raises `ModelFailure`. Safe from several threads."""
        with self._starting:
            if self._closed.is_set():
                raise ModelFailure(FailureKind.CANCELLED, f"{self.name}: closed")
            if self._backend is None or self._child is None or self._child.status is not None:
                self._stop()
                if self._failure is not None:
                    raise self._failure
                ready = self._start(cancelled)
                self._backend = self._connect(replace(self._settings, api_base=ready.api_base, host=ready.host))
            return self._backend

    def _start(self, cancelled: Callable[[], bool] | None) -> Ready:
        try:
            self._child = self._companion.start()
            return self._await(self._child, cancelled)
        except ModelFailure as failure:
            self._stop()
            if failure.kind is not FailureKind.CANCELLED:
                self._failure = failure
            raise

    def _await(self, child: Child, cancelled: Callable[[], bool] | None) -> Ready:
        """Wait until it serves. Raises `ModelFailure` when it ends, is too slow, or nobody waits any more."""
        deadline = time.monotonic() + self._companion.seconds
        while (ready := self._companion.ready(child)) is None:
            if self._closed.is_set() or self._given_up() or (cancelled is not None and cancelled()):
                raise ModelFailure(FailureKind.CANCELLED, f"{self._companion.name}: not waited for")
            if child.status is not None:
                raise self._not_started(f"ended with status {child.status}", child)
            if time.monotonic() > deadline:
                raise self._not_started(f"was not there within {self._companion.seconds:g} s", child)
            self._closed.wait(_POLL_S)
        return ready

    def _not_started(self, what: str, child: Child) -> ModelFailure:
        said = child.last_words
        message = f"{self._companion.name} {what}{f': {said}' if said else ''}"
        return ModelFailure(FailureKind.UNREACHABLE, message, self._companion.way_out(said))

    def _explained(self, failure: ModelFailure, child: Child) -> ModelFailure:
        """The failure with the companion's own complaint, which says why nobody answered."""
        said = child.last_words
        if not said:
            return failure
        return ModelFailure(failure.kind, f"{failure.message} ({self._companion.name}: {said})", failure.hint)

    def _stop(self) -> None:
        if self._backend is not None:
            self._backend.close()
        if self._child is not None:
            self._child.stop()
        self._backend = self._child = None


def _noting(told: Callable[[str], None] | None, shown: list[bool]) -> Callable[[str], None] | None:
    """`told`, which also notes that something was shown."""
    if told is None:
        return None

    def tell(text: str) -> None:
        shown.append(True)
        told(text)

    return tell
