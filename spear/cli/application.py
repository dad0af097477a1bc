"""The composition root: everything a session is made of, put together once from settings (spec architecture).

Front ends (one-shot, the REPL) drive an `Application`; they build nothing themselves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from spear.agent.messages import Message, ModelRequest, ModelTurn, Role
from spear.agent.outcome import Budget
from spear.cli.backend import backend_settings, environment_key
from spear.cli.settings import Loaded
from spear.cli.workspace import Workspace, open_workspace
from spear.control.classification import Classification
from spear.control.controller import FinishedTurn, TaskController
from spear.control.ports import AgentContext
from spear.errors import ConfinementUnavailable
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live, Sink, fan_out
from spear.host.confinement import Confinement
from spear.host.confirmation import Confirm, nobody
from spear.host.consent import Approvals
from spear.host.scope import write_scope
from spear.host.opening import TurnParts, TurnRequest, open_turn
from spear.host.session import HostOptions, HostSession, ShellState
from spear.models.backend import ModelBackend
from spear.models.selection import open_backend
from spear.sandbox.request import Limits
from spear.sandbox.runner import CommandRunner
from spear.sandbox.selftest import Preflight, preflight
from spear.shell.parse import ShellParser
from spear.state.audit import AuditLog
from spear.state.directory import StateDirectory
from spear.state.files import state_error
from spear.state.records import EvidenceLog, ToolActionLog
from spear.state.redaction import Redactor
from spear.state.results import ResultStore
from spear.state.liveness import Presence
from spear.state.sessions import Session, SessionStore
from spear.workspace.checkpoints import CheckpointInfo, CheckpointManager, UndoReport
from spear.workspace.durable import DurableWriter
from spear.workspace.roots import Roots
from spear.workspace.undo_plan import UndoPlan


@dataclass(frozen=True, slots=True)
class Invocation:
    """What of the command line and the machine a session starts from."""

    loaded: Loaded
    environ: Mapping[str, str]
    cwd: Path
    record: Path | None = None
    replay: Path | None = None
    resume: Session | None = None


class Application:
    """One session: its stores, its host, its model, its conversation."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self.settings = invocation.loaded.settings
        self.mode: Mode = self.settings.mode
        self.redactor = Redactor.of_environment(
            invocation.environ, filter(None, [environment_key(self.settings, invocation.environ)])
        )
        self.state = StateDirectory(self.settings.state_dir)
        self.state.prepare()
        workspace: Workspace = open_workspace(self.settings, invocation.cwd)
        self.workspace = workspace
        self.roots: Roots = workspace.roots
        self.notices: tuple[str, ...] = (*invocation.loaded.notices, *workspace.notices)
        self.store = SessionStore(self.state, self.redactor)
        self.conversation: tuple[Message, ...] = ()
        self.turn_number = 0
        self.last: FinishedTurn | None = None
        self.approvals = Approvals(workspace=str(self.roots.primary))
        self._backend: ModelBackend | None = None
        self._open_session(invocation.resume)

    # --- a session --------------------------------------------------------------------------------------------------

    def _open_session(self, resume: Session | None) -> None:
        settings = self.settings
        self.record = resume or self.store.create(self.roots.primary, self.mode)
        self.session = self.record.id
        self.conversation, self.turn_number = self.record.conversation, self.record.turn
        self.presence = Presence(self.state, self.session, self.roots.primary)
        others = self.presence.announce()
        if others:
            self.notices += (f"another session works on this tree: {', '.join(other.session for other in others)}",)
        self.audit = AuditLog(self.state.events(self.session), self.session, self.redactor)
        scratch = self.state.root / "run" / self.session
        environ = self._invocation.environ
        runner = CommandRunner(
            scratch,
            workspace_toolchains(self.workspace),
            path=environ.get("PATH", os.defpath),
            home=Path(environ.get("HOME", "/")),
            host_environment=environ,
            limits=self._limits(),
        )
        self.host = HostSession(
            identity=self.session,
            roots=self.roots,
            state=self.state,
            scratch=scratch / "layers",
            options=self._options(),
            runner=runner,
            confinement=Confinement(self._probe_confinement),
            parser=ShellParser(),
            writer=DurableWriter(),
            checkpoints=CheckpointManager(self.state.checkpoints),
            evidence=EvidenceLog(self.state.evidence(self.session), self.redactor),
            actions=ToolActionLog(self.state.tool_actions, self.redactor),
            results=ResultStore(self.state.tool_results, self.session),
            shell=ShellState(
                cwd=Path(self.record.cwd) if self.record.cwd else self.roots.primary,
                environment=dict(self.record.environment),
            ),
            project=self.workspace.project,
        )
        self._audit(
            EventName.SESSION_STARTED,
            {
                "workspace": str(self.roots.primary),
                "mode": self.mode.value,
                "model": settings.model,
                "resumed": resume is not None,
            },
        )

    def _probe_confinement(self) -> Preflight:
        try:
            return preflight(self.state.root)
        except OSError as error:
            raise state_error("try the sandbox in", self.state.root, error) from error

    def _options(self) -> HostOptions:
        settings = self.settings
        return HostOptions(
            mode=self.mode,
            network=not settings.no_network,
            allowed_hosts=settings.network.allow,
            limits=self._limits(),
            refusal_repeats=settings.refusal_repeats,
            validation_timeout_s=settings.validation_timeout,
            operator=settings.operator,
        )

    def _limits(self) -> Limits:
        limits = self.settings.limits
        return Limits(limits.memory, limits.tasks, limits.cpu_quota, limits.open_files)

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; it holds from the next turn on."""
        self.mode = mode
        self.host.options = self._options()

    # --- the model --------------------------------------------------------------------------------------------------

    @property
    def backend(self) -> ModelBackend:
        """The backend, opened when first needed. Opening asks nobody."""
        if self._backend is None:
            invocation = self._invocation
            self._backend = open_backend(
                backend_settings(self.settings, invocation.environ), record=invocation.record, replay=invocation.replay
            )
        return self._backend

    def window(self) -> int:
        """The context window in tokens: as configured, else what the endpoint reports, else the default."""
        if self._invocation.loaded.is_default("ctx"):
            return self.backend.context_window() or self.settings.ctx
        return self.settings.ctx

    # --- a turn -----------------------------------------------------------------------------------------------------

    def classify(self, request: str) -> Classification:
        """The request's classification record."""
        return self._controller(nobody, lambda _: None, lambda: False, 32768).classify(request)

    def run_turn(
        self,
        request: str,
        *,
        sink: Sink = lambda _: None,
        confirm: Confirm = nobody,
        cancelled: Callable[[], bool] = lambda: False,
        command_cancelled: Callable[[], bool] | None = None,
        attachment: str = "",
    ) -> FinishedTurn:
        """Serve one request to its verdict; the session is saved before and after. `command_cancelled` ends the
        command that runs and no more; it must be true whenever `cancelled` is.
        """
        self.host.confinement.start()
        self.turn_number += 1
        self.backend.begin_turn()
        window = self.window()
        done = self._controller(confirm, sink, cancelled, window, command_cancelled).run(request, attachment)
        self.conversation, self.last = done.conversation, done
        self.save()
        return done

    def explain(self, request: str) -> dict[str, object]:
        """What a request would be classified as, and what its turn would be shown and could write. Nothing runs."""
        scope = self.classify(request)
        asked = self._asked(scope, self.turn_number + 1)
        confined = write_scope(
            self.roots.primary, asked.targets, asked.exclusions, asked.symbols, asked.excluded_kinds,
            everywhere=asked.everywhere,
        )  # fmt: skip
        return {
            **scope.record(),
            "mode": self.mode.value,
            "scope": {
                "workspace_wide": confined.workspace_wide,
                "targets": list(confined.targets),
                "exclusions": list(confined.exclusions),
            },
            "context": [{"section": index, "text": text} for index, text in enumerate(self.workspace.sections())],
        }

    # --- undo -------------------------------------------------------------------------------------------------------

    def undo_plan(self, n: int = 1, file: str | None = None) -> UndoPlan:
        """What undoing the last `n` turns would restore."""
        return self.host.checkpoints.undo(self.roots.primary, n, file)

    def redo_plan(self, n: int = 1) -> UndoPlan:
        """What redoing the last `n` undone turns would bring back."""
        return self.host.checkpoints.redo(self.roots.primary, n)

    def apply_undo(self, plan: UndoPlan, force: bool = False) -> UndoReport:
        """Restore; the conversation gets one factual line, so that the model knows."""
        report = self.host.checkpoints.apply(plan, force)
        files = list(report.restored)
        self._audit(EventName.UNDO_APPLIED, {"steps": list(plan.steps), "restored": files, "role": plan.role.value})
        fact = f"The operator put these files back to an earlier state: {', '.join(files[:20])}."
        self.conversation += (Message(Role.USER, fact), Message(Role.ASSISTANT, "Understood."))
        return report

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        """What can be undone here, newest first."""
        return self.host.checkpoints.listing(self.roots.primary)

    def _controller(
        self,
        confirm: Confirm,
        sink: Sink,
        cancelled: Callable[[], bool],
        window: int,
        command_cancelled: Callable[[], bool] | None = None,
    ) -> TaskController:
        settings = self.settings
        emit = fan_out(self._record, sink)
        parts = TurnParts(confirm, emit, self.approvals, command_cancelled or cancelled)
        context = AgentContext(
            session=self.session,
            session_dir=str(self.state.session(self.session)),
            turn=self.turn_number,
            mode=self.mode,
            complete=self._complete,
            budget=Budget(
                rounds=settings.max_tool_rounds,
                commands=settings.max_commands,
                context_window=window,
                response_tokens=settings.response_max_tokens,
            ),
            open_host=lambda scope, turn: open_turn(self.host, self._asked(scope, turn), parts),
            emit=emit,
            conversation=self.conversation,
            sections=lambda _: self.workspace.sections(),
            validation=settings.validation,
            cancelled=cancelled,
        )
        return TaskController(context)

    def _asked(self, scope: Classification, turn: int) -> TurnRequest:
        return TurnRequest(
            turn=turn, mode=self.mode, read_only=scope.read_only, targets=scope.targets, exclusions=scope.exclusions,
            symbols=scope.symbols, excluded_kinds=scope.excluded_kinds, everywhere=scope.everywhere,
        )  # fmt: skip

    def _complete(self, request: ModelRequest) -> ModelTurn:
        return self.backend.complete(request)

    # --- the record -------------------------------------------------------------------------------------------------

    def _record(self, item: Event | Live) -> None:
        if isinstance(item, Event):
            self.audit.append(item.name, item.turn, item.data)

    def _audit(self, name: EventName, data: Mapping[str, object]) -> None:
        self.audit.append(name, self.turn_number, data)

    def save(self) -> None:
        """Write the resumable snapshot; the logs reach the disk."""
        self.audit.flush()
        self.record = self.store.save(
            replace(
                self.record,
                mode=self.mode,
                turn=self.turn_number,
                conversation=self.conversation,
                cwd=str(self.host.shell.cwd),
                environment=dict(self.host.shell.environment),
            )
        )

    def close(self) -> None:
        """End the session: processes, scratch and descriptors are gone."""
        self._audit(EventName.SESSION_CLOSED, {"turns": self.turn_number})
        self.host.runner.close()
        self.audit.close()
        self.host.evidence.close()
        self.host.actions.close()
        self.presence.close()
        if self._backend is not None:
            self._backend.close()


def workspace_toolchains(workspace: Workspace) -> tuple[Path, ...]:
    """Toolchain prefixes the project declares."""
    project = workspace.project
    return tuple(Path(place).expanduser() for place in project.declared.toolchains) if project else ()


def require_confinement(app: Application) -> None:
    """Raise when `--require-limits` asks for limits this machine cannot hold. Spec 2.7."""
    if app.settings.limits.require and app.host.confinement.result().limits == "rlimit-only":
        raise ConfinementUnavailable(
            "the limits of a whole process tree cannot be held on this machine",
            hint="run under systemd or in a writable cgroup, or drop --require-limits",
        )


__all__ = ["Application", "Invocation", "require_confinement"]
