"""The composition root: everything a session is made of, put together once from settings (spec architecture).

Front ends (one-shot, the REPL) drive an `Application`; they build nothing themselves. The host and what it stands on
(sandbox, policy, shell, evidence) are loaded on their first use, which `run_turn` sees to while the model answers.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from spear.agent.ceilings import Ceilings
from spear.agent.messages import Message, ModelRequest, ModelTurn, Role
from spear.agent.outcome import Budget
from spear.cli import last_turn
from spear.cli.attached import with_images
from spear.cli.backend import SessionBackend, endpoint_label
from spear.cli.bound_standard import BoundStandards
from spear.cli.capturing import Capturing
from spear.cli.engines import engine_commands
from spear.cli.hooking import Hooking
from spear.cli.invocation import Invocation
from spear.cli.late_host import LateHost
from spear.cli.neighbours import Neighbours
from spear.cli.rating import rated
from spear.cli.searching import Searching
from spear.cli.settings import Loaded
from spear.cli.spending import price_of, turn_ceilings
from spear.cli.tracing import RuntimeTrace
from spear.cli.turn_context import SessionContext, TurnAsk, TurnContext
from spear.cli.undo_fact import undo_fact
from spear.cli.web_access import web_access
from spear.cli.workspace import Workspace, open_workspace
from spear.control.classification import Classification
from spear.control.controller import FinishedTurn, TaskController
from spear.control.ports import AgentContext, TurnHost
from spear.errors import ConfinementUnavailable, StateError
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live, LiveKind, Sink, fan_out
from spear.events.turn import TurnResult
from spear.host.confirmation import Confirm, nobody
from spear.state.audit import AuditLog, timestamp
from spear.state.directory import StateDirectory
from spear.state.files import state_error
from spear.state.liveness import Presence
from spear.state.redaction import Redactor
from spear.state.request_history import Entry, RequestHistory
from spear.state.sessions import Session, SessionStore
from spear.workspace.roots import Roots

if TYPE_CHECKING:
    from spear.cli.repl.ports import CommandHandler
    from spear.cli.settings_model import Price
    from spear.context.context_selection import Selection
    from spear.host.consent import Approvals
    from spear.host.opening import TurnRequest
    from spear.host.session import HostSession
    from spear.host.web import WebAccess
    from spear.workspace.checkpoints import CheckpointInfo, UndoReport
    from spear.workspace.undo_plan import UndoPlan


class Application:
    """One session: its stores, its host, its model, its conversation."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self.settings = invocation.loaded.settings
        self.mode: Mode = self.settings.mode
        self.redactor = Redactor.of_environment(
            invocation.environ,
            (self.settings.api_key_env, self.settings.web.search_key_env, self.settings.embedding.key_env),
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
        self.unsaved = ""
        self._approvals: Approvals | None = None
        self._host: HostSession | None = None
        self._web: WebAccess | None = None
        self._building = threading.RLock()
        self._running = False
        self._words: list[str] = []
        self.standards = BoundStandards(self.state.standards)
        self.history = RequestHistory(self.state.history / "requests.sqlite3")
        self.capturing = Capturing(
            self.state, self.redactor, enabled=self.settings.training_capture, recorded=invocation.replay is not None
        )
        self.searching = Searching(workspace, self.settings, self.state, self.redactor, invocation.environ)
        self.context = SessionContext(workspace, self.settings, self.state, self.redactor, invocation.environ)
        self.model = invocation.model or SessionBackend(
            invocation.loaded, invocation.environ, invocation.record, invocation.replay
        )
        self._open_session(invocation.resume)
        self.trace = RuntimeTrace(self.settings.trace_file, self.redactor) if self.settings.trace else None

    # --- a session --------------------------------------------------------------------------------------------------

    def _open_session(self, resume: Session | None) -> None:
        self.record = resume or self.store.create(self.roots.primary, self.mode)
        self.session = self.record.id
        self.conversation, self.turn_number = self.record.conversation, self.record.turn
        self.presence = Presence(self.state, self.session, self.roots.primary)
        self.neighbours = Neighbours(self.presence)
        self.notices += self.neighbours.announce()
        self.audit = AuditLog(self.state.events(self.session), self.session, self.redactor)
        begun = {"workspace": str(self.roots.primary), "mode": self.mode.value, "model": self.settings.model}
        self._audit(EventName.SESSION_STARTED, {**begun, "resumed": resume is not None})
        self.announce_standard()
        self.notices += tuple(map(str, self.audit.torn))
        environ = self._invocation.environ
        self.hooking = Hooking(self.loaded, self.session, self.roots, environ, self.redactor, self._record)
        self.notices += self.hooking.started(self.mode, resumed=resume is not None)

    # --- the host ---------------------------------------------------------------------------------------------------

    @property
    def host(self) -> HostSession:
        """The host of the session, built when first needed. Safe from several threads."""
        with self._building:
            if self._host is None:
                from spear.cli.host_parts import open_host

                self._host = open_host(
                    self.settings, self.workspace, self.state, self.record, self.redactor, self._invocation.environ
                )
                self._host.hooks = self.hooking.hooks
                self.set_mode(self.mode)
            return self._host

    @property
    def price(self) -> Price | None:
        """What the model in use costs, where that is known. A recording costs nothing that anybody knows."""
        return None if self._invocation.replay is not None else price_of(self.settings)

    @property
    def web(self) -> WebAccess | None:
        """What this session reaches the web with; None under `--no-network`."""
        with self._building:
            if self._web is None:
                self._web = web_access(self.settings, self._invocation.environ)
            return self._web

    @property
    def approvals(self) -> Approvals:
        """What the operator has approved in this session."""
        if self._approvals is None:
            from spear.cli.permission_file import of_project
            from spear.host.consent import Approvals
            from spear.policy.permissions import PermissionStore

            stored = PermissionStore.of(of_project(self.settings.permissions))
            self._approvals = Approvals(stored, str(self.roots.primary))
        return self._approvals

    @approvals.setter
    def approvals(self, given: Approvals) -> None:
        self._approvals = given

    @property
    def last_result(self) -> TurnResult | None:
        """The result of the session's last turn, of an earlier run where there was none in this one."""
        return last_turn.found(self.record.extra) if self.last is None else self.last.result

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; it holds from the next call on, in the turn that runs too."""
        self.mode = mode
        if self._host is not None:
            self._host.mode = mode

    def _present_mode(self) -> Mode:
        return self.mode

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
        self._require_limits()
        ceilings = self._ceilings()
        kept, takes = self.state.tool_results / self.session, self.settings.images
        asked = with_images(request, self.roots.primary, kept, taken_by=endpoint_label(self.settings), takes=takes)
        for notice in self.neighbours.newcomers():
            sink(Live(LiveKind.NOTICE, notice))
        self.turn_number += 1
        self.announce_standard()
        confirm = self.hooking.announcing(confirm, self.turn_number, self._present_mode, sink, cancelled)
        self.model.begin_turn(cancelled)
        window = self.model.window()
        self._running = True
        self.capturing.begin(self.session, self.turn_number)
        try:
            controller = self._controller(confirm, sink, cancelled, window, command_cancelled, ceilings)
            done = controller.run(asked.text, attachment, asked.images, asked.legend)
        except BaseException:
            self.capturing.abandon()
            raise
        finally:
            self._running = False
            gc.enable()  # `main` held it off while modules loaded
        self.conversation, self.last = done.conversation, done
        problems = self._kept(done)
        rates = self.capturing.rates
        bench = rated(done, self.workspace.project, lambda: self.host, sink, cancelled) if rates else None
        for problem in filter(None, [*problems, self.capturing.finish(done, self.settings.model, bench)]):
            sink(Live(LiveKind.NOTICE, problem))
        if late := self._steered():
            sink(Live(LiveKind.NOTICE, f"said too late for this turn: {late}"))
        self.hooking.turn_ended(done, sink, cancelled)
        return done

    def _kept(self, done: FinishedTurn) -> list[str]:
        """Save the session and make the turn findable; what could not be kept spoils no turn that has ended."""
        try:
            self.save()
            self.unsaved = ""
        except StateError as error:
            self.unsaved = f"this turn could not be saved: {error}"
        request, answer = self.redactor.text(done.result.request), self.redactor.text(done.result.answer)
        entry = Entry(self.session, done.result.turn, str(self.roots.primary), timestamp(), request)
        try:
            self.history.add(entry, answer)
        except StateError as error:
            self.notices += (str(error),)
        return [self.unsaved]

    def steer(self, text: str) -> bool:
        """Hand the model a word at the next tool boundary of the turn that runs; False when none does."""
        with self._building:
            if self._running:
                self._words.append(text)
            return self._running

    def _steered(self) -> str:
        """What the operator has said since it was last asked for."""
        with self._building:
            words, self._words = self._words, []
        return "\n".join(words)

    def _require_limits(self) -> None:
        """Raise when the limits of a process tree are demanded and this machine cannot hold them (spec 2.7)."""
        if self.settings.limits.require and self.host.confinement.result().limits == "rlimit-only":
            raise ConfinementUnavailable(
                "the limits of a whole process tree cannot be held on this machine",
                hint="run under systemd or in a writable cgroup, or drop --require-limits",
            )

    def _ceilings(self) -> Ceilings:
        """What a turn that begins now may spend. Raises ConfigurationError where its price is bounded and not known."""
        return turn_ceilings(self.loaded, recorded=self._invocation.replay is not None)

    def explain(self, request: str) -> dict[str, object]:
        """What a request would be classified as, and what its turn would be shown and could write. Nothing runs."""
        from spear.host.scope import write_scope

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
            "context": self.selection(scope, request).record(),
        }

    def selection(self, scope: Classification, request: str) -> Selection:
        """What a turn of this classification would be shown. Nothing is audited."""
        asked = TurnAsk(
            self.turn_number + 1, scope, request, self.mode, self.settings.ctx, nobody, lambda _: None, lambda: False,
            self._present_mode,
        )  # fmt: skip
        return self.context.open(asked).select()

    # --- undo -------------------------------------------------------------------------------------------------------

    def undo_plan(self, n: int = 1, file: str | None = None) -> UndoPlan:
        """What undoing the last `n` turns would restore."""
        return self.host.checkpoints.undo(self.roots.primary, n, file)

    def redo_plan(self, n: int = 1) -> UndoPlan:
        """What redoing the last `n` undone turns would bring back."""
        return self.host.checkpoints.redo(self.roots.primary, n)

    def apply_undo(self, plan: UndoPlan, force: bool = False) -> UndoReport:
        """Restore; the conversation gets one factual line, so that the model knows."""
        try:
            report = self.host.checkpoints.apply(plan, force)
        except OSError as error:
            raise state_error("put files back in", self.roots.primary, error) from error
        files = list(report.restored)
        self._audit(EventName.UNDO_APPLIED, {"steps": list(plan.steps), "restored": files, "role": plan.role.value})
        fact = undo_fact(plan.role.value, files)
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
        ceilings: Ceilings | None = None,
    ) -> TaskController:
        settings = self.settings
        emit = fan_out(self._record, *((self.trace,) if self.trace else ()), sink)
        late = LateHost()

        def complete(asked: ModelRequest) -> ModelTurn:
            sent = replace(asked, on_sent=late.start)
            return self.model.complete(sent, lambda notice: emit(Live(LiveKind.NOTICE, notice)))

        turn = self.turn_number

        def sections(scope: Classification, request: str) -> tuple[str, ...]:
            asked = TurnAsk(turn, scope, request, self.mode, window, confirm, emit, cancelled, self._present_mode)
            context = self.context.open(asked)
            late.opening = lambda: self._open_turn(asked, context, command_cancelled or cancelled)
            return (*context.sections(), self._invocation.answer_form)

        context = AgentContext(
            session=self.session,
            session_dir=str(self.state.session(self.session)),
            turn=self.turn_number,
            mode=self.mode,
            complete=self.capturing.watching(complete),
            budget=Budget(
                rounds=settings.max_tool_rounds,
                commands=settings.max_commands,
                context_window=window,
                response_tokens=settings.response_max_tokens,
            ),
            open_host=lambda _scope, _turn: cast(TurnHost, late),
            emit=emit,
            conversation=self.conversation,
            sections=sections,
            validation=settings.validation,
            cancelled=cancelled,
            standard=self.standards.examine(),
            ceilings=ceilings or Ceilings(),
        )
        return TaskController(context)

    def _open_turn(self, asked: TurnAsk, context: TurnContext, cancelled: Callable[[], bool]) -> TurnHost:
        """Everything the rest of the turn needs: loaded, built and opened. Runs while the model answers."""
        import_module("spear.control.conclusion")
        from spear.host.opening import TurnParts, open_turn

        self.host.confinement.start()
        parts = TurnParts(
            asked.confirm, asked.emit, self.approvals, cancelled, context.handlers(), context.on_touch, self._steered,
            self.web,
        )  # fmt: skip
        return open_turn(self.host, self._asked(asked.scope, asked.number), parts)

    def _asked(self, scope: Classification, turn: int) -> TurnRequest:
        from spear.host.opening import TurnRequest

        return TurnRequest(
            turn=turn, read_only=scope.read_only, targets=scope.targets, exclusions=scope.exclusions,
            symbols=scope.symbols, excluded_kinds=scope.excluded_kinds, everywhere=scope.everywhere,
        )  # fmt: skip

    @property
    def loaded(self) -> Loaded:
        """The settings with their origins."""
        return self._invocation.loaded

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment the session was started in."""
        return self._invocation.environ

    @property
    def commands(self) -> Mapping[str, CommandHandler]:
        """The chat commands this session's engines answer."""
        return engine_commands(self)

    # --- the record -------------------------------------------------------------------------------------------------

    def _record(self, item: Event | Live) -> None:
        if isinstance(item, Event):
            self.audit.append(item.name, item.turn, item.data)

    def audit_event(self, event: Event) -> None:
        """Write an event that happened outside a turn."""
        self._record(event)

    def announce_standard(self) -> None:
        """Record which standard is bound, where that is another than the record says."""
        if (bound := self.standards.announced()) is not None:
            self._audit(EventName.STANDARD_BOUND, bound)

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
                extra={**self.record.extra, **self.host.remembered(), **last_turn.kept(self.last_result)},
            )
        )

    def close(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """End the session: processes, scratch and descriptors are gone. `cancelled` ends the hooks of its end."""
        self.hooking.ended(self.turn_number, self.mode, cancelled)
        self._audit(EventName.SESSION_CLOSED, {"turns": self.turn_number})
        with self._building:
            if self._host is not None:
                self._host.close()
        self.context.close()
        self.standards.close()
        self.audit.close()
        if self.trace is not None:
            self.trace.close()
        self.presence.close()
        if self._invocation.model is None:
            self.model.close()
