"""`CommandRunner`: one confined command at a time, from request to outcome (spec 2.7)."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import select
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spear.sandbox.closure import clear_mountpoint, protect, scrub
from spear.sandbox.launcher import Launcher, Overlay, SupervisorLost
from spear.sandbox.output import CHUNK, Drain
from spear.sandbox.plan import Machine, PlacedRoot, Plan, Show, arguments, base_environment, command, encode
from spear.sandbox.request import Ending, Limits, Network, RootMount, RunOutcome, RunRequest
from spear.sandbox.sealed import HOME, Directories, prepare, remove
from spear.sandbox.seccomp import program
from spear.sandbox.supervisor import STAGE
from spear.sandbox.toolchains import Toolchains, find
from spear.sandbox.wrapper import NOT_CARRIED, REPORT_LIMIT, SCRIPT, Report, parse_report, wrap

POLL_MS = 40
DRAIN_GRACE_S = 0.1
PIPE_BYTES = 1024 * 1024
MERGED_USR = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# The shell names its script in its own messages; the operator never wrote that path.
_SCRIPT_NAME = re.compile(f"^{re.escape(SCRIPT)}: (?=line \\d)", re.MULTILINE)
TEMPORARY = Path("/tmp")  # noqa: S108 - the sandbox's private one


@dataclass(frozen=True, slots=True)
class Placement:
    """The roots of one command as they are mounted, and what has to be mounted and undone for them."""

    roots: tuple[PlacedRoot, ...]
    overlays: tuple[Overlay, ...]
    walk: tuple[tuple[int, str], ...]
    watched: tuple[tuple[Path, tuple[str, ...]], ...]


class CommandRunner:
    """Runs commands of one session, each in a sandbox of its own.

    `session_dir` is created when missing and holds the session's private /tmp, home and /etc; `close` removes them.
    `path` is the operator's PATH, `home` the operator's home; `toolchains` are further prefixes to show. The supervisor
    is started by `start` (cheap, may be called from any thread early on) or by the first `run`.
    """

    def __init__(
        self,
        session_dir: Path,
        toolchains: Sequence[Path] = (),
        *,
        path: str,
        home: Path,
        host_environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        bwrap: str = "",
    ) -> None:
        self._session_dir = session_dir
        self._declared = tuple(toolchains)
        self._path = path
        self._home = home
        self._host_environment = dict(host_environment or {})
        self._limits = limits or Limits()
        self._bwrap = bwrap or shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin") or ""
        self._lock = threading.RLock()
        self._directories: Directories | None = None
        self._launcher: Launcher | None = None
        self._tools: Toolchains = Toolchains()
        self._report = -1
        self._shell = ("bash", "/bin/bash") if Path("/bin/bash").exists() else ("sh", "/bin/sh")
        self._machine = _machine()

    def start(self) -> None:
        """Prepare the session's directories and start the supervisor, without waiting for it. Raises OSError."""
        with self._lock:
            if self._directories is None:
                self._directories = prepare(self._session_dir, os.geteuid(), os.getegid())
                self._report = os.open(self._directories.report, os.O_RDWR | os.O_CLOEXEC)
                self._tools = find(self._path, self._home, self._declared)
            if self._launcher is None and self._bwrap:
                self._launcher = Launcher(
                    self._bwrap, program(platform.machine(), unix_sockets=True), self._limits.open_files
                )

    def close(self) -> None:
        """Kill what runs, stop the supervisor, remove the session's private directories."""
        with self._lock:
            if self._launcher is not None:
                self._launcher.close()
                self._launcher = None
            if self._directories is not None:
                os.close(self._report)
                remove(self._directories)
                self._directories = None

    def run(self, request: RunRequest) -> RunOutcome:
        """Run one command to its end; expected failures are outcomes, never exceptions."""
        with self._lock:
            started_ns = time.time_ns()
            try:
                return replace(self._run(request), started_ns=started_ns)
            except SupervisorLost as error:
                self._drop_launcher()
                return _not_started(f"the sandbox's supervisor ended: {error}", started_ns)
            except (OSError, ValueError) as error:
                return _not_started(f"the sandbox could not be prepared: {error}", started_ns)

    def _drop_launcher(self) -> None:
        if self._launcher is not None:
            self._launcher.close()
            self._launcher = None

    def _run(self, request: RunRequest) -> RunOutcome:
        if not self._bwrap:
            return _not_started("bubblewrap is not installed", time.time_ns())
        self.start()
        launcher, directories = self._launcher, self._directories
        if launcher is None or directories is None:
            raise SupervisorLost("closed")
        overlay = bool(launcher.ready()["overlay"])
        placement = self._place(request.roots, overlay=overlay)
        environment = {
            **base_environment(self._tools.path, self._tools.variables, self._host_environment, self._shell[1]),
            **{name: value for name, value in request.environment.items() if name not in NOT_CARRIED},
        }
        plan = self._plan(request, directories, placement, environment)
        drain = Drain(request.capture)
        begun = time.monotonic()
        os.ftruncate(self._report, 0)
        try:
            ended = self._launch(launcher, request, plan, placement, drain)
        finally:
            drain.close()
            for overlay_used in placement.overlays:
                _clear_work(overlay_used.work)
        duration = time.monotonic() - begun
        notes = [f"{drain.capture_failed}"] if drain.capture_failed else []
        for upper, watched in placement.watched:
            notes += [
                f"{name} is closed to commands; what was put there has been dropped" for name in scrub(upper, watched)
            ]
        if self._shell[0] == "sh":
            notes.append("bash is not installed: the command ran under sh")
        report = parse_report(os.pread(self._report, REPORT_LIMIT, 0))
        return self._outcome(request, ended, report, drain, duration, notes)

    def _place(self, roots: Sequence[RootMount], *, overlay: bool) -> Placement:
        placed: list[PlacedRoot] = []
        overlays: list[Overlay] = []
        walk: list[tuple[int, str]] = []
        watched: list[tuple[Path, tuple[str, ...]]] = []
        for root in roots:
            protection = protect(root.path, root.closed, root.hidden)
            source, writable = str(root.path), False
            if root.writes is not None and overlay:
                overlays.append(_overlay(root.path, root.writes))
                source, writable = f"{STAGE}/{len(overlays) - 1}", True
                walk += [(len(overlays) - 1, name) for name in protection.destinations]
                watched.append((root.writes, protection.watched))
            placed.append(PlacedRoot(str(root.path), source, writable, root.alias, protection))
        return Placement(tuple(placed), tuple(overlays), tuple(walk), tuple(watched))

    def _plan(
        self, request: RunRequest, directories: Directories, placement: Placement, environment: Mapping[str, str]
    ) -> Plan:
        shown = tuple(Show(str(source), str(place)) for place, source in self._tools.shown.items())
        for destination in (*(Path(show.destination) for show in shown), *(root.path for root in request.roots)):
            for base, inside in ((directories.tmp, TEMPORARY), (directories.home, Path(HOME))):
                if destination.is_relative_to(inside) and destination != inside:
                    clear_mountpoint(base, str(destination.relative_to(inside)))
        return Plan(
            machine=self._machine, etc=str(directories.etc), tmp=str(directories.tmp), home=str(directories.home),
            report=str(directories.report), nothing=str(directories.nothing), shown=shown, roots=placement.roots,
            environment=environment, cwd=str(request.cwd), shell=_shell_words(self._shell),
        )  # fmt: skip

    def _launch(
        self, launcher: Launcher, request: RunRequest, plan: Plan, placement: Placement, drain: Drain
    ) -> tuple[Ending, dict[str, Any]]:
        read, write = os.pipe2(os.O_CLOEXEC)
        words = _memory_file("arguments", encode(arguments(plan)))
        script = _memory_file("script", wrap(request.script, self._shell[0]))
        try:
            try:
                launcher.launch(placement.overlays, placement.walk, command(plan), [write, words, script])
            finally:
                for descriptor in (write, words, script):
                    os.close(descriptor)
            return _attend(launcher, read, drain, request)
        finally:
            os.close(read)

    def _outcome(
        self,
        request: RunRequest,
        ended: tuple[Ending, dict[str, Any]],
        report: Report,
        drain: Drain,
        duration: float,
        notes: Sequence[str],
    ) -> RunOutcome:
        ending, reply = ended
        code = reply.get("code")
        shown = drain.shown(request.output_limit)
        text = _SCRIPT_NAME.sub(f"{self._shell[0]}: ", shown.text)
        signal: int | None = None
        problem = str(reply.get("error", ""))
        if ending is Ending.EXITED and code is not None:
            if not report.began and code == 1 and drain.start.startswith(b"bwrap: "):
                problem = text.strip()
            elif code < 0 or (code > 128 and report.status != code):
                ending, signal = Ending.SIGNALLED, -code if code < 0 else code - 128
        if problem:
            ending, code = Ending.NOT_STARTED, None
        return RunOutcome(
            ending=ending, exit_code=code if ending in (Ending.EXITED, Ending.SIGNALLED) else None, output=text,
            output_bytes=drain.total, output_sha256=drain.sha256, truncated=shown.truncated, duration_s=duration,
            signal=signal, pipe_status=report.pipe_status, cwd=_host_cwd(report.cwd, request.roots),
            environment=report.environment, left_running=report.left_running, limits="rlimit-only",
            network=Network.NONE, shell=self._shell[0], problem=problem, notes=tuple(notes),
        )  # fmt: skip


def _attend(launcher: Launcher, read: int, drain: Drain, request: RunRequest) -> tuple[Ending, dict[str, Any]]:
    """Read until the command is gone; kill it at its time limit or when cancelled."""
    deadline = time.monotonic() + request.timeout_s
    ending = Ending.EXITED
    os.set_blocking(read, False)
    poll = select.poll()
    poll.register(read, select.POLLIN)
    poll.register(launcher.fileno(), select.POLLIN)
    while True:
        remaining = deadline - time.monotonic()
        ready = {number for number, _ in poll.poll(max(0, min(POLL_MS, int(remaining * 1000) + 1)))}
        if read in ready and not _take(read, drain):
            poll.unregister(read)
        if launcher.fileno() in ready:
            reply = launcher.reply()
            break
        if ending is Ending.EXITED:
            if request.cancelled is not None and request.cancelled():
                ending = Ending.CANCELLED
            elif time.monotonic() >= deadline:
                ending = Ending.TIMED_OUT
            if ending is not Ending.EXITED:
                launcher.kill()
    limit = time.monotonic() + DRAIN_GRACE_S
    while time.monotonic() < limit and _take(read, drain, wait=False):
        pass
    return ending, reply


def _take(read: int, drain: Drain, *, wait: bool = True) -> bool:
    """Feed what the pipe holds; False at its end (or, without `wait`, when it is empty)."""
    try:
        data = os.read(read, CHUNK)
    except BlockingIOError:
        return wait
    drain.feed(data)
    return bool(data)


def _machine() -> Machine:
    links, system = {}, []
    for name in MERGED_USR:
        place = Path("/", name)
        if place.is_symlink():
            links[name] = str(place.readlink())
        elif place.is_dir():
            system.append(name)
    uid, gid = os.geteuid(), os.getegid()
    return Machine(links, tuple(system), (uid, gid) if uid else None)


def _shell_words(shell: tuple[str, str]) -> tuple[str, ...]:
    return (shell[1], "--noprofile", "--norc") if shell[0] == "bash" else (shell[1],)


def _overlay(lower: Path, upper: Path) -> Overlay:
    """Make the layer directories. The merged root has the upper's mode and owner: those of the tree are copied."""
    work = upper.with_name(f"{upper.name}.work")
    made = not upper.exists()
    upper.mkdir(mode=0o700, parents=True, exist_ok=True)
    if made:
        status = lower.stat()
        if os.geteuid() == 0:
            os.chown(upper, status.st_uid, status.st_gid)
        upper.chmod(status.st_mode & 0o7777)
    _clear_work(work)
    work.mkdir(mode=0o700)
    return Overlay(lower, upper, work)


def _clear_work(work: Path) -> None:
    """Remove what an overlay leaves in its work directory: known names, every one empty, some without permissions."""
    left = [work, work / "work", work / "work/incompat", work / "work/incompat/volatile"]
    with contextlib.suppress(OSError):
        for place in left[1:]:
            place.chmod(0o700)
        (work / "work/incompat/volatile/dirty").unlink(missing_ok=True)
    for place in reversed(left):
        with contextlib.suppress(OSError):
            place.rmdir()


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _host_cwd(cwd: str | None, roots: Sequence[RootMount]) -> Path | None:
    """Where the command ended; `pwd -P` has resolved the aliases, which are links."""
    return Path(cwd) if cwd else None


def _not_started(problem: str, started_ns: int) -> RunOutcome:
    empty = Drain(None)
    return RunOutcome(
        Ending.NOT_STARTED, None, "", 0, empty.sha256, truncated=False, duration_s=0.0, started_ns=started_ns,
        problem=problem,
    )  # fmt: skip
