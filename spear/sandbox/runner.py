"""`CommandRunner`: one confined command at a time, from request to outcome (spec 2.7)."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spear.sandbox import diagnosis
from spear.sandbox.attendance import attend
from spear.sandbox.closure import clear_mountpoint, scrub
from spear.sandbox.launcher import Hello, Launcher, Start, SupervisorLost
from spear.sandbox.output import Drain
from spear.sandbox.placement import Placement, make_upper, place
from spear.sandbox.plan import Plan, base_environment, command
from spear.sandbox.request import Ending, Limits, Network, RunOutcome, RunRequest
from spear.sandbox.sealed import HOME, sweep
from spear.sandbox.session import Configuration, Granted, Session
from spear.sandbox.standby import Launch, Standby, Waiting, identities
from spear.sandbox.supervisor import RELEASE_FD
from spear.sandbox.termination import Process, terminate
from spear.sandbox.wrapper import (
    NOT_CARRIED,
    REPORT_LIMIT,
    SCRIPT,
    Report,
    parse_report,
    release,
    variables,
    waits_alone,
    wrap,
)

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
        self._standby = Standby()
        self._latest: _Latest | None = None
        self._lock = threading.RLock()

    def start(self) -> None:
        """Prepare the session's directories and start the supervisor, without waiting for it. Raises OSError."""
        with self._lock:
            if self._session.bwrap:
                self._session.start()

    def close(self) -> None:
        """Kill what runs, stop the supervisor, remove the session's private directories."""
        with self._lock:
            self.rest()
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
                self.rest()
                self._session.stop()
                return _not_started(f"the sandbox's supervisor ended: {error}", started_ns)
            except (OSError, ValueError) as error:
                return _not_started(f"the sandbox could not be prepared: {error}", started_ns)

    def terminate(self, told: set[Process]) -> None:
        """Ask what the running command has started to end, from any thread; see `terminate`. Costs a look at /proc."""
        if (launcher := self._session.launcher) is not None:
            terminate(launcher.pid, told)

    def kill(self) -> None:
        """Kill the running command and all it started, from any thread; `run` then returns. A command that is still on
        its way is not reached: ask again until `run` has returned.
        """
        if (launcher := self._session.launcher) is not None:
            launcher.kill()

    def beside(self, session_dir: Path) -> CommandRunner:
        """A runner of the same tools, limits and owner for a command that runs at the same time as this one's: its
        private directories and its supervisor are its own.
        """
        made = self._session.configuration
        return CommandRunner(
            session_dir, made.toolchains, path=made.path, home=made.home, owner=made.owner,
            host_environment=made.environment, limits=made.limits, bwrap=made.bwrap,
        )  # fmt: skip

    def prepare(self, request: RunRequest) -> None:
        """Make the sandbox of a command like the last one that `request` may turn out to be; its script is not looked
        at. Returns before it is there, costs little, and fails without a word: the command then gets another. None is
        made with variables by which the start of a shell reads or runs what a command wrote.
        """
        with self._lock:
            latest = self._latest
            if latest is None or not latest.serves(request) or self._session.launcher is None:
                return
            launch = latest.launch
            plan = launch.plan
            if str(request.cwd) != plan.cwd or request.environment != latest.request.environment:
                environment = self._environment(request, latest.granted)
                plan = replace(plan, cwd=str(request.cwd), environment=environment)
            if not waits_alone(plan.environment):
                return
            with contextlib.suppress(OSError):
                for overlay in latest.placement.overlays:
                    make_upper(overlay.lower, overlay.upper)
                launch = replace(launch, plan=plan, found=identities(plan, latest.placement.overlays))
                self._standby.prepare(self._session.launcher, launch)

    def rest(self) -> None:
        """Let go of what `prepare` made: no command is expected, or the layers are about to be removed."""
        with self._lock:
            self._standby.discard()
            self._latest = None

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
        launch = Launch(plan, self._start(plan, placement, granted), identities(plan, placement.overlays))
        self._latest = _Latest(request, granted, placement, launch)
        drain = Drain(request.capture, request.heard)
        killed_before = session.group.out_of_memory()
        shell = session.shell[0]
        begun = time.monotonic()
        try:
            ending, reply = self._serve(launcher, launch, request, drain)
        finally:
            drain.close()
        duration = time.monotonic() - begun
        notes = [granted.note, drain.capture_failed]
        for upper, watched in placement.watched:
            notes += [f"{name} is closed to commands: what was put there is dropped" for name in scrub(upper, watched)]
        if any(root.writes for root in request.roots) and not hello.overlay:
            notes.append(f"the workspace is read-only for commands: no overlay here ({hello.reason})")
        if shell == "sh":
            notes.append("bash is not installed: the command ran under sh")
        report = parse_report(os.pread(hello.report, REPORT_LIMIT, 0))
        outcome = _outcome(request, ending, reply, report, drain, shell)
        suspicious = outcome.exit_code not in (0, None) or outcome.ending is not Ending.EXITED
        killed = session.group.out_of_memory() - killed_before if suspicious else 0
        notes += diagnosis.notes(outcome.output, outcome.ending, outcome.exit_code, granted.network, killed)
        return replace(
            outcome, duration_s=duration, limits=self.limits, network=granted.network, notes=tuple(filter(None, notes))
        )

    def _serve(
        self, launcher: Launcher, launch: Launch, request: RunRequest, drain: Drain
    ) -> tuple[Ending, dict[str, Any]]:
        standing = self._standby.take(launcher, launch)
        if standing is not None:
            with contextlib.closing(standing):
                ending, reply = self._attend(standing, request, drain)
                # One that was killed just when it was taken has run nothing and said nothing.
                if standing.began or drain.total or ending is not Ending.EXITED:
                    return ending, reply
        with contextlib.closing(Waiting(launcher, launch)) as sandbox:
            return self._attend(sandbox, request, drain)

    def _attend(self, sandbox: Waiting, request: RunRequest, drain: Drain) -> tuple[Ending, dict[str, Any]]:
        try:
            sandbox.release(wrap(request.script, self._session.shell[0]), release(request.script))
            return attend(sandbox, drain, request.timeout_s, request.cancelled)
        except BaseException:
            sandbox.launcher.kill()
            raise

    def _plan(self, request: RunRequest, hello: Hello, granted: Granted, placement: Placement) -> Plan:
        session = self._session
        directories = session.directories
        shown = session.shown(hello)
        for destination in (*(show.destination for show in shown), *(str(root.path) for root in request.roots)):
            for base, inside in ((directories.tmp, str(TEMPORARY)), (directories.home, HOME)):
                if destination.startswith(f"{inside}/"):
                    clear_mountpoint(base, destination[len(inside) + 1 :])
        return Plan(
            machine=session.machine, etc=session.reach(str(granted.etc)), tmp=session.reach(str(directories.tmp)),
            home=session.reach(str(directories.home)), script=f"{hello.exchange}/script",
            report=f"{hello.exchange}/report", nothing=session.reach(str(directories.nothing)), shown=shown,
            roots=placement.roots, environment=self._environment(request, granted), cwd=str(request.cwd),
            shell=_shell_words(session.shell), joined_network=bool(granted.namespace),
        )  # fmt: skip

    def _environment(self, request: RunRequest, granted: Granted) -> dict[str, str]:
        session = self._session
        tools = {**session.tools.variables, **granted.variables}
        return {
            **base_environment(session.tools.path, tools, session.configuration.environment, session.shell[1]),
            **{name: value for name, value in request.environment.items() if name not in NOT_CARRIED},
            **variables(session.shell[0]),
        }

    def _start(self, plan: Plan, placement: Placement, granted: Granted) -> Start:
        return Start(
            placement.overlays, placement.walk, tuple(command(plan)), granted.namespace, self._session.stage,
            # A socket of the host in a tree that is bound could be connected to; through an overlay it cannot.
            "sockets" if len(placement.overlays) == len(placement.roots) else "strict",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Latest:
    """The last command that ran, and what its sandbox was made from."""

    request: RunRequest
    granted: Granted
    placement: Placement
    launch: Launch

    def serves(self, request: RunRequest) -> bool:
        """Whether a sandbox for `request` differs from the last one in place and variables at most."""
        last = self.request
        return (request.roots, request.network, request.allowed_hosts, request.limits) == (
            last.roots, last.network, last.allowed_hosts, last.limits,
        )  # fmt: skip


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
    if shell[0] == "bash":
        return (shell[1], "--noprofile", "--norc")
    return (shell[1], "-c", f'read -r _ <&{RELEASE_FD} && exec {RELEASE_FD}<&- && exec {shell[1]} "$0"')


def _not_started(problem: str, started_ns: int) -> RunOutcome:
    return RunOutcome(
        Ending.NOT_STARTED, None, "", 0, Drain(None).sha256, truncated=False, duration_s=0.0, started_ns=started_ns,
        problem=problem,
    )  # fmt: skip
