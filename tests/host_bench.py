"""A whole host on a real tree: a session as the program opens one, turns, and tool calls made as the loop makes them."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spear.agent.host import AfterTool, CommandResult, Outcome, Refusal, ToolRequest, ToolResult
from spear.agent.tools import SCHEMAS, Toolbox, coerce
from spear.events.names import EventName, Mode
from spear.events.stream import Event
from spear.evidence.records import EvidenceRecord
from spear.host.confinement import Confinement
from spear.host.confirmation import Confirm, nobody
from spear.host.consent import Approvals
from spear.host.host_commands import Handler
from spear.host.opening import TurnParts, TurnRequest, open_turn
from spear.host.session import HostOptions, HostSession, ShellState
from spear.host.spear_host import SpearHost
from spear.host.web import WebAccess
from spear.sandbox.runner import CommandRunner
from spear.sandbox.selftest import Preflight, preflight
from spear.shell.parse import ShellParser
from spear.state.directory import StateDirectory
from spear.state.records import EvidenceLog, ToolActionLog
from spear.state.redaction import Redactor
from spear.state.results import ResultStore
from spear.workspace.checkpoints import CheckpointManager, UndoReport
from spear.workspace.durable import DurableWriter
from spear.workspace.projects import Project
from spear.workspace.roots import Roots

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")


def open_session(
    workspace: Path,
    state_root: Path,
    *,
    mode: Mode = Mode.AUTO,
    others: Mapping[str, Path] | None = None,
    project: Project | None = None,
    shfmt: Path | None = None,
    probe: Callable[[], Preflight] | None = None,
    **options: object,
) -> HostSession:
    """A session of the host, put together as the composition root does it."""
    state = StateDirectory(state_root)
    state.prepare()
    roots, _ = Roots.of(workspace, others)
    redactor = Redactor.of_environment({}, ())
    name = f"s{os.getpid()}-{hashlib.sha256(os.urandom(8)).hexdigest()[:8]}"
    scratch = state.root / "run" / name
    return HostSession(
        identity=name,
        roots=roots,
        state=state,
        scratch=scratch / "layers",
        options=HostOptions(**options),
        runner=CommandRunner(
            scratch, (), path=os.environ["PATH"], home=Path(os.environ["HOME"]), host_environment=os.environ
        ),
        confinement=Confinement(probe or (lambda: preflight(state.root))),
        parser=ShellParser(binary=shfmt),
        writer=DurableWriter(),
        checkpoints=CheckpointManager(state.checkpoints),
        evidence=EvidenceLog(state.evidence(name), redactor),
        actions=ToolActionLog(state.tool_actions, redactor),
        results=ResultStore(state.tool_results, name),
        shell=ShellState(cwd=roots.primary),
        mode=mode,
        project=project,
    )


@dataclass
class Turn:
    """One turn: calls go through the real tools, with the walk of the loop around each."""

    host: SpearHost
    tools: Toolbox
    events: list[Event]
    number: int
    calls: int = 0
    after: AfterTool = field(default_factory=AfterTool)

    def call(self, tool: str, **arguments: object) -> ToolResult:
        self.calls += 1
        schema = next(schema for schema in SCHEMAS if schema.name == tool)
        fitted = coerce(schema, arguments)
        assert isinstance(fitted, dict), fitted
        request = ToolRequest(f"t{self.number}c{self.calls}", tool, fitted)
        refusal = self.host.authorize(request)
        result = self.tools.run(request) if refusal is None else ToolResult(refusal.line(), Outcome.REFUSED, refusal)
        self.after = self.host.after_tool(request, result)
        return result

    def run(self, command: str, **arguments: object) -> ToolResult:
        return self.call("terminal", command=command, **arguments)

    def write(self, path: str, content: str) -> ToolResult:
        return self.call("write_file", path=path, content=content)

    def patch(self, path: str, old: str, new: str) -> ToolResult:
        return self.call("patch", path=path, old_string=old, new_string=new)

    def read(self, path: str) -> ToolResult:
        return self.call("read_file", path=path)

    def delete(self, path: str) -> ToolResult:
        return self.call("delete_file", path=path, reason="not needed")

    def command(self, command: str, timeout: int = 60, workdir: str | None = None) -> CommandResult | Refusal:
        """The host's own answer to a command, before the tool words it for the model."""
        self.calls += 1
        request = ToolRequest(f"t{self.number}c{self.calls}", "terminal", {"command": command})
        assert self.host.authorize(request) is None
        done = self.host.run_command(command, timeout, workdir, request)
        refusal = done if isinstance(done, Refusal) else next(iter(done.refusals), None)
        outcome = Outcome.REFUSED if refusal else Outcome.OK
        self.after = self.host.after_tool(request, ToolResult("", outcome, refusal))
        return done

    def web(self, tool: str, **arguments: object) -> ToolResult:
        """A web tool by its name, as the operator's hand calls it."""
        self.calls += 1
        request = ToolRequest(f"t{self.number}c{self.calls}", tool, arguments)
        refusal = self.host.authorize(request)
        result = self.host.run_web(request) if refusal is None else ToolResult(refusal.line(), Outcome.REFUSED, refusal)
        self.after = self.host.after_tool(request, result)
        return result

    @property
    def record(self) -> EvidenceRecord:
        return self.host.records()[-1]

    @property
    def epoch(self) -> int:
        return self.host.ledger().epoch

    def named(self, name: EventName) -> list[Event]:
        return [event for event in self.events if event.name is name]

    def close(self) -> None:
        self.host.close()


class Workbench:
    """A workspace, a state directory beside it, and as many sessions and turns as a test opens."""

    def __init__(self, base: Path, probe: Callable[[], Preflight] | None = None) -> None:
        self.base = base
        self.root = base / "ws"
        self.root.mkdir()
        self._probe = probe
        self._sessions: list[HostSession] = []
        self._turns: list[Turn] = []
        self.approvals = Approvals(workspace=str(self.root))
        self.others: dict[str, Path] = {}
        self.project: Project | None = None

    @property
    def session(self) -> HostSession:
        return self._sessions[0] if self._sessions else self.open()

    def open(self, mode: Mode = Mode.AUTO, **options: object) -> HostSession:
        session = open_session(
            self.root, self.base / "state", mode=mode, others=self.others, project=self.project, probe=self._probe,
            **options,
        )  # fmt: skip
        self._sessions.append(session)
        return session

    def turn(
        self,
        *targets: str,
        session: HostSession | None = None,
        mode: Mode | None = None,
        read_only: bool = False,
        confirm: Confirm = nobody,
        handlers: Mapping[str, Handler] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        web: WebAccess | None = None,
        **asked: object,
    ) -> Turn:
        session = session or self.session
        number = len(self._turns) + 1
        events: list[Event] = []
        parts = TurnParts(confirm, events.append, self.approvals, cancelled, handlers or {}, web=web)
        session.mode = mode or session.mode
        request = TurnRequest(number, read_only, targets, **asked)
        host = open_turn(session, request, parts)
        turn = Turn(host, Toolbox(host, lambda _: True), events, number)
        self._turns.append(turn)
        return turn

    def undo(self, n: int = 1) -> UndoReport:
        checkpoints = self.session.checkpoints
        return checkpoints.apply(checkpoints.undo(self.root, n))

    # --- the tree ---------------------------------------------------------------------------------------------------

    def put(self, path: str, content: str | bytes, mode: int | None = None) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            target.chmod(mode)
        return target

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *IDENTITY, *words], cwd=cwd or self.root, check=True, capture_output=True, text=True
        )
        return done.stdout

    def repository(self) -> None:
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "start")

    def close(self) -> None:
        for turn in self._turns:
            turn.close()
        for session in self._sessions:
            session.runner.close()
            session.evidence.close()
            session.actions.close()


def contents(root: Path, leave_out: tuple[str, ...] = ()) -> dict[str, tuple[str, int, str]]:
    """Everything below a directory: kind, permissions, and the digest of a file or the target of a link."""
    found: dict[str, tuple[str, int, str]] = {}
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(directory, name)
            relative = str(path.relative_to(root))
            if any(relative == out or relative.startswith(f"{out}/") for out in leave_out):
                continue
            status = path.lstat()
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[relative] = ("link", 0, os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                found[relative] = ("file", mode, hashlib.sha256(path.read_bytes()).hexdigest())
            else:
                found[relative] = ("directory" if stat.S_ISDIR(status.st_mode) else "special", mode, "")
    return found
