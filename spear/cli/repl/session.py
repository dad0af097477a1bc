"""The chat's application: one `Application` at a time, opened anew for another session or model (spec 8.3, 8.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from spear.agent.messages import Message
from spear.cli.application import Application
from spear.cli.backend import SessionBackend, endpoint_label
from spear.cli.bound_standard import BoundStandards
from spear.cli.invocation import Invocation
from spear.cli.permission_file import PermissionFile
from spear.cli.repl.background import ChatJobs
from spear.cli.repl.behind_prompt import BehindThePrompt
from spear.cli.repl.by_hand import file_text, run_by_hand
from spear.cli.repl.differences import difference
from spear.cli.repl.earlier import TURNS, earlier_turns
from spear.cli.repl.ports import CommandHandler, PastTurn, SessionRow
from spear.cli.repl.switching import described, with_model
from spear.cli.settings_model import Price
from spear.control.controller import FinishedTurn
from spear.events.names import Mode
from spear.events.stream import Sink
from spear.events.turn import TurnResult
from spear.host.confirmation import Confirm
from spear.host.consent import Approvals
from spear.state.directory import StateDirectory
from spear.state.export import ExportForm, export
from spear.state.files import replace_durably
from spear.state.sessions import Session, SessionState
from spear.state.trust import TrustStore
from spear.workspace.checkpoints import CheckpointInfo, UndoReport
from spear.workspace.roots import Roots
from spear.workspace.undo_plan import UndoPlan


class ChatSession:
    """What `ChatApplication` promises, over the present `Application`. Closing it closes that one."""

    def __init__(self, invocation: Invocation) -> None:
        self._model = SessionBackend(invocation.loaded, invocation.environ, invocation.record, invocation.replay)
        invocation = replace(invocation, model=self._model)
        self._invocation = invocation
        self._say: Callable[[str], None] = lambda _: None
        self._app = Application(invocation)
        self.jobs = ChatJobs(lambda: self._app)
        self._behind = BehindThePrompt(self._app, replaying=self._invocation.replay is not None)

    # --- what is shown ----------------------------------------------------------------------------------------------

    @property
    def session(self) -> str:
        """The id of the session."""
        return self._app.session

    @property
    def state(self) -> StateDirectory:
        """The state directory."""
        return self._app.state

    @property
    def roots(self) -> Roots:
        """The workspace roots."""
        return self._app.roots

    @property
    def mode(self) -> Mode:
        """The mode in force."""
        return self._app.mode

    @property
    def turn_number(self) -> int:
        """Turns so far."""
        return self._app.turn_number

    @property
    def last(self) -> FinishedTurn | None:
        """The last turn of this run."""
        return self._app.last

    @property
    def last_result(self) -> TurnResult | None:
        """The result of the session's last turn, of an earlier run where there was none in this one."""
        return self._app.last_result

    @property
    def backends(self) -> Mapping[str, str]:
        """The named backends of the configuration, each with its model and endpoint."""
        return {name: described(each) for name, each in sorted(self._app.settings.backends.items())}

    @property
    def conversation(self) -> tuple[Message, ...]:
        """What was said."""
        return self._app.conversation

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences for the first screen."""
        return self._app.notices

    @property
    def commands(self) -> Mapping[str, CommandHandler]:
        """Handlers of the engines, each asking the application that is open when the command is given."""

        def present(name: str) -> CommandHandler:
            return lambda words, io: self._app.commands[name](words, io)

        return {name: present(name) for name in self._app.commands}

    @property
    def approvals(self) -> Approvals:
        """What was approved for good."""
        return self._app.approvals

    @property
    def permission_file(self) -> PermissionFile:
        """Where approvals that hold for the project are kept."""
        return PermissionFile(self._app.roots.primary, TrustStore(self._app.state.trusted))

    @property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        """The keys of each action."""
        return self._app.settings.keys.bound()

    @property
    def backend_label(self) -> str:
        """The endpoint, as far as it may be shown; or the recording that answers in its place."""
        if self._invocation.replay is not None:
            return f"{self._invocation.replay.name} (played back)"
        settings = self._app.settings
        where = endpoint_label(settings)
        return f"{settings.backend} ({where})" if settings.backend else where

    @property
    def model_label(self) -> str:
        """The model id, or that the endpoint's first is taken; a recording is labelled as one."""
        unknown = "the endpoint's first model" if self._invocation.replay is None else "a recorded model"
        return self._behind.model or unknown

    @property
    def price(self) -> Price | None:
        """What the model in use costs, where that is known."""
        return self._app.price

    @property
    def standard_label(self) -> str:
        """The bound standard; "" when there is none."""
        return self._app.standards.label

    @property
    def standards(self) -> BoundStandards:
        """What is bound and ingested, for completion."""
        return self._app.standards

    @property
    def context_window(self) -> int:
        """The context window in tokens, the endpoint's own figure once it is known."""
        return self._behind.window

    @property
    def limits_label(self) -> str:
        """How commands are confined and limited here; "" while that is not known yet."""
        return self._behind.limits

    def redact(self, text: str) -> str:
        """`text` with secrets replaced."""
        return self._app.redactor.text(text)

    def await_sandbox(self, seconds: float) -> None:
        """Wait a moment for the probe of the sandbox, so that the first screen can name it."""
        self._behind.await_sandbox(seconds)

    def prepare(self, say: Callable[[str], None]) -> None:
        """Find out, behind the prompt, what the first turn needs; `say` prints what the operator must know."""
        self._say = say
        self._behind.begin(say)

    # --- work -------------------------------------------------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        """Change the mode."""
        self._app.set_mode(mode)

    def run_turn(
        self,
        request: str,
        *,
        sink: Sink,
        confirm: Confirm,
        cancelled: Callable[[], bool],
        command_cancelled: Callable[[], bool],
    ) -> FinishedTurn:
        """Serve one request."""
        return self._app.run_turn(
            request, sink=sink, confirm=confirm, cancelled=cancelled, command_cancelled=command_cancelled
        )

    def steer(self, text: str) -> bool:
        """Hand `text` to the running turn, where the application can."""
        steer: Callable[[str], bool] | None = getattr(self._app, "steer", None)
        return steer is not None and steer(text)

    def run_tool(
        self, tool: str, arguments: Mapping[str, Any], *, sink: Sink, confirm: Confirm, cancelled: Callable[[], bool]
    ) -> str:
        """Use one tool by the operator's own hand."""
        return run_by_hand(self._app, tool, arguments, sink=sink, confirm=confirm, cancelled=cancelled)

    def file_text(self, path: str) -> str:
        """A file of the workspace, for the operator's editor; "" for one that is not there yet."""
        return file_text(self._app, path)

    def explain(self, request: str) -> dict[str, Any]:
        """What a request would be classified as."""
        return self._app.explain(request)

    # --- changes ----------------------------------------------------------------------------------------------------

    def undo_plan(self, n: int = 1, file: str | None = None) -> UndoPlan:
        """What an undo would do."""
        return self._app.undo_plan(n, file)

    def redo_plan(self, n: int = 1) -> UndoPlan:
        """What a redo would do."""
        return self._app.redo_plan(n)

    def apply_undo(self, plan: UndoPlan, force: bool = False) -> UndoReport:
        """Do it."""
        return self._app.apply_undo(plan, force)

    def checkpoints(self) -> tuple[CheckpointInfo, ...]:
        """What can be taken back."""
        return self._app.checkpoints()

    def diff(self, scope: str) -> str:
        """What the last changing turn, or this session, changed, as it differs now."""
        return difference(self._app, scope)

    # --- sessions ---------------------------------------------------------------------------------------------------

    def earlier(self) -> tuple[PastTurn, ...]:
        """The last turns of this session, from its record and, where it is a fork, from that of its origin."""
        app, session = self._app, self._app.record
        found = earlier_turns(app.state.events(session.id))
        if session.parent and len(found) < TURNS:
            before = session.turn - len(found)
            found = (*earlier_turns(app.state.events(session.parent), TURNS - len(found), up_to=before), *found)
        return found

    def sessions(self) -> tuple[SessionRow, ...]:
        """Stored sessions of this workspace, latest first."""
        return tuple(
            SessionRow(s.id, _seconds(s.last), s.turn, s.title, "" if s.state.value == "closed" else s.state.value)
            for s in self._app.store.summaries(self._app.roots.primary)
            if s.turn or s.id == self.session or s.state is SessionState.UNREADABLE
        )

    def new_session(self) -> None:
        """Go on in a new session."""
        self._reopen(None)

    def resume(self, session: str) -> tuple[PastTurn, ...]:
        """Go on with a stored session. Raises UsageError when there is none of that name."""
        store = self._app.store
        self._reopen(store.load(store.resolve(session)))
        return self.earlier()

    def fork(self) -> str:
        """Go on in a copy of this session."""
        self._app.save()
        self._reopen(self._app.store.fork(self._app.record))
        return self.session

    def switch_model(self, name: str) -> None:
        """Use a named backend of the configuration, or another model of the same endpoint."""
        self._invocation = replace(self._invocation, loaded=with_model(self._invocation.loaded, name))
        self._model.use(self._invocation.loaded)
        self._app.save()
        self._reopen(self._app.record)

    def export(self, form: str) -> Path:
        """Write the conversation to a file of the launch directory; which one."""
        app = self._app
        text = export(app.conversation, ExportForm(form), app.redactor, title=app.record.title or app.session)
        place = app.roots.primary / f"spear-{app.session}.{form}"
        replace_durably(place, text.encode("utf-8"))
        return place

    def close(self) -> None:
        """End the session, its jobs, and what was started for its model."""
        try:
            self.jobs.close()
            self._app.close()
        finally:
            self._model.close()

    def _reopen(self, resume: Session | None) -> None:
        """Another `Application` in place of this one, which stays when the other cannot be opened."""
        before = self._app
        with self.jobs.switching:
            if resume is not None and resume.id == before.session:
                before.close()  # a session is open once
                self._app = Application(replace(self._invocation, resume=resume))
            else:
                self._app = Application(replace(self._invocation, resume=resume))
                before.close()
        self._app.approvals = before.approvals
        self._app.set_mode(before.mode)
        self._behind = BehindThePrompt(self._app, replaying=self._invocation.replay is not None)
        self._behind.begin(self._say)


def _seconds(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
