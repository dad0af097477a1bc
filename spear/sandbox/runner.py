"""`CommandRunner`: one confined command at a time, from request to outcome (spec 2.7)."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spear.sandbox import diagnosis
from spear.sandbox.attendance import attend
from spear.sandbox.closure import clear_mountpoint, scrub
from spear.sandbox.launcher import Hello, Launcher, Start, SupervisorLost
from spear.sandbox.output import Drain
from spear.sandbox.placement import Placement, place
from spear.sandbox.plan import Plan, arguments, base_environment, command, encode
from spear.sandbox.request import Ending, Limits, Network, RunOutcome, RunRequest
from spear.sandbox.sealed import HOME, sweep
from spear.sandbox.session import Configuration, Granted, Session
from spear.sandbox.wrapper import NOT_CARRIED, REPORT_LIMIT, SCRIPT, Report, parse_report, wrap

TEMPORARY = Path("/tmp")  # noqa: S108 - the sandbox's private one
# The shell names its script in its own messages; the operator never wrote that path.
_SCRIPT_NAME = re.compile(f"^{re.escape(SCRIPT)}: (?=line \\d)", re.MULTILINE)


class CommandRunner:
    """Runs commands of one session, each in a sandbox of its own, one after the other.

    `session_dir` is created when missing and holds the session's private /tmp, home and /etc; it lies on the file
    system of the upper layers (`RootMount.writes`), and `close` removes it. `path` and `home` are the operator's;
    `toolchains` are further prefixes to show read-only; `host_environment` is looked at for the locale and for reaching
    systemd, nothing else. `owner` is the primary root: when root runs the harness on somebody's tree, commands run as
    that somebody. The supervisor is started by `start` (call it early, from any thread) or by the first `run`.
    """

    def __init__(
        self,
        session_dir: Path,
        toolchains: Sequence[Path] = (),
        *,
        path: str,
        home: Path,
        owner: Path | None = None,
        host_environment: Mapping[str, str] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - a frozen value
        bwrap: str = "",
    ) -> None:
        self._session = Session(
            Configuration(
                session_dir, path, home, owner, tuple(toolchains), dict(host_environment or {}), limits, bwrap
            )
        )
        self._lock = threading.RLock()

    def start(self) -> None:
        """Prepare the session's directories and start the supervisor, without waiting for it. Raises OSError."""
        with self._lock:
            if self._session.bwrap:
                self._session.start()

    def close(self) -> None:
        """Kill what runs, stop the supervisor, remove the session's private directories."""
        with self._lock:
            self._session.close()

    @staticmethod
    def sweep(parent: Path) -> tuple[Path, ...]:
        """Remove what killed sessions left in `parent`, the directory of session directories; their paths."""
        return sweep(parent)

    @property
    def temporary(self) -> Path:
        """The host directory commands see as /tmp."""
        return self._session.directories.tmp

    def on_host(self, path: Path) -> Path:
        """Where a path that commands see lies on the host: their /tmp and home are the session's own."""
        for inside, base in ((TEMPORARY, self._session.directories.tmp), (Path(HOME), self._session.directories.home)):
            if path.is_relative_to(inside):
                return base / path.relative_to(inside)
        return path

    @property
    def limits(self) -> str:
        """The mechanism in force, as results name it; meaningful once started."""
        return self._session.group.mechanism.value

    def overlay(self) -> tuple[bool, str]:
        """Whether roots can be written through an overlay, and why not; waits for the supervisor. Raises OSError."""
        with self._lock:
            try:
                _, hello = self._session.ready()
            except SupervisorLost as error:
                return False, str(error)
            return hello.overlay, hello.reason

    def run(self, request: RunRequest) -> RunOutcome:
        """Run one command to its end; expected failures are outcomes, never exceptions."""
        with self._lock:
            started_ns = time.time_ns()
            if not self._session.bwrap:
                return _not_started("bubblewrap is not installed: commands cannot be confined", started_ns)
            try:
                return replace(self._run(request), started_ns=started_ns)
            except SupervisorLost as error:
                self._session.stop()
                return _not_started(f"the sandbox's supervisor ended: {error}", started_ns)
            except (OSError, ValueError) as error:
                return _not_started(f"the sandbox could not be prepared: {error}", started_ns)

    def plan(self, request: RunRequest) -> Plan:
        """The sandbox `request` would get, for showing and measuring; nothing runs. Raises OSError, SupervisorLost."""
        with self._lock:
            launcher, hello = self._session.ready(_limits(request, self._session))
            granted = self._session.grant(Network.NONE, (), launcher)
            return self._plan(request, hello, granted, self._place(request, hello))

    def _place(self, request: RunRequest, hello: Hello) -> Placement:
        return place(request.roots, overlay=hello.overlay, reach=self._session.reach)

    def _run(self, request: RunRequest) -> RunOutcome:
        session = self._session
        launcher, hello = session.ready(_limits(request, session))
        granted = session.grant(request.network, request.allowed_hosts, launcher)
        placement = self._place(request, hello)
        plan = self._plan(request, hello, granted, placement)
        drain = Drain(request.capture)
        killed_before = session.group.out_of_memory()
        os.ftruncate(hello.report_descriptor, 0)
        begun = time.monotonic()
        try:
            ending, reply = self._launch(launcher, request, plan, placement, granted, drain)
        finally:
            drain.close()
        duration = time.monotonic() - begun
        notes = [granted.note, drain.capture_failed]
        for upper, watched in placement.watched:
            notes += [f"{name} is closed to commands: what was put there is dropped" for name in scrub(upper, watched)]
        if any(root.writes for root in request.roots) and not hello.overlay:
            notes.append(f"the workspace is read-only for commands: no overlay here ({hello.reason})")
        if session.shell[0] == "sh":
            notes.append("bash is not installed: the command ran under sh")
        report = parse_report(os.pread(hello.report_descriptor, REPORT_LIMIT, 0))
        outcome = _outcome(request, ending, reply, report, drain, session.shell[0])
        suspicious = outcome.exit_code not in (0, None) or outcome.ending is not Ending.EXITED
        killed = session.group.out_of_memory() - killed_before if suspicious else 0
        notes += diagnosis.notes(outcome.output, outcome.ending, outcome.exit_code, granted.network, killed)
        return replace(
            outcome, duration_s=duration, limits=self.limits, network=granted.network, notes=tuple(filter(None, notes))
        )

    def _plan(self, request: RunRequest, hello: Hello, granted: Granted, placement: Placement) -> Plan:
        session = self._session
        directories = session.directories
        shown = session.shown(hello)
        for destination in (*(Path(show.destination) for show in shown), *(root.path for root in request.roots)):
            for base, inside in ((directories.tmp, TEMPORARY), (directories.home, Path(HOME))):
                if destination.is_relative_to(inside) and destination != inside:
                    clear_mountpoint(base, str(destination.relative_to(inside)))
        variables = {**session.tools.variables, **granted.variables}
        environment = {
            **base_environment(session.tools.path, variables, session.configuration.environment, session.shell[1]),
            **{name: value for name, value in request.environment.items() if name not in NOT_CARRIED},
        }
        return Plan(
            machine=session.machine, etc=session.reach(str(granted.etc)), tmp=session.reach(str(directories.tmp)),
            home=session.reach(str(directories.home)), report=hello.report,
            nothing=session.reach(str(directories.nothing)), shown=shown, roots=placement.roots,
            environment=environment, cwd=str(request.cwd), shell=_shell_words(session.shell),
            joined_network=bool(granted.namespace),
        )  # fmt: skip

    def _launch(
        self,
        launcher: Launcher,
        request: RunRequest,
        plan: Plan,
        placement: Placement,
        granted: Granted,
        drain: Drain,
    ) -> tuple[Ending, dict[str, Any]]:
        read, write = os.pipe2(os.O_CLOEXEC)
        opened = [write]
        try:
            opened.append(_memory_file("arguments", encode(arguments(plan))))
            opened.append(_memory_file("script", wrap(request.script, self._session.shell[0])))
            start = Start(
                placement.overlays, placement.walk, tuple(command(plan)), granted.namespace, self._session.stage,
                # A socket of the host in a tree that is bound could be connected to; through an overlay it cannot.
                "sockets" if len(placement.overlays) == len(placement.roots) else "strict",
            )  # fmt: skip
            launcher.launch(start, opened)
            while opened:
                os.close(opened.pop())
            return attend(launcher, read, drain, request.timeout_s, request.cancelled)
        finally:
            for descriptor in (read, *opened):
                os.close(descriptor)


def _outcome(
    request: RunRequest, ending: Ending, reply: Mapping[str, Any], report: Report, drain: Drain, shell: str
) -> RunOutcome:
    code: int | None = reply.get("code")
    shown = drain.shown(request.output_limit)
    text = _SCRIPT_NAME.sub(f"{shell}: ", shown.text)
    problem = str(reply.get("error", ""))
    signal: int | None = None
    if ending is Ending.EXITED and code is not None:
        if not report.began and code == 1 and drain.start.startswith(b"bwrap: "):
            problem = text.strip()
        elif code < 0 or (code > 128 and report.status != code):
            # The shell's own trap saw another status, or never ran: it was killed.
            ending, signal = Ending.SIGNALLED, -code if code < 0 else code - 128
    if problem:
        ending = Ending.NOT_STARTED
    return RunOutcome(
        ending=ending, exit_code=code if ending in (Ending.EXITED, Ending.SIGNALLED) else None, output=text,
        output_bytes=drain.total, output_sha256=drain.sha256, truncated=shown.truncated, duration_s=0.0, signal=signal,
        pipe_status=report.pipe_status, cwd=Path(report.cwd) if report.cwd else None, environment=report.environment,
        left_running=report.left_running, shell=shell, problem=problem,
    )  # fmt: skip


def _limits(request: RunRequest, session: Session) -> Limits:
    """A request that names no limit has the session's."""
    return session.configuration.limits if request.limits == Limits() else request.limits


def _shell_words(shell: tuple[str, str]) -> tuple[str, ...]:
    return (shell[1], "--noprofile", "--norc") if shell[0] == "bash" else (shell[1],)


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _not_started(problem: str, started_ns: int) -> RunOutcome:
    return RunOutcome(
        Ending.NOT_STARTED, None, "", 0, Drain(None).sha256, truncated=False, duration_s=0.0, started_ns=started_ns,
        problem=problem,
    )  # fmt: skip
