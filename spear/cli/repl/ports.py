"""What the chat needs from below and gives to commands, as protocols. It knows no engine (spec architecture)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the prompt is drawn before any of these is loaded
    from pathlib import Path

    from spear.agent.host import Refusal
    from spear.agent.messages import Message
    from spear.cli.display.palette import Palette
    from spear.cli.permission_file import PermissionFile
    from spear.cli.repl.completion import Provisions
    from spear.cli.settings_model import Price
    from spear.control.controller import FinishedTurn
    from spear.events.names import Mode
    from spear.events.stream import Sink
    from spear.events.turn import TurnResult
    from spear.host.confirmation import Confirm
    from spear.host.consent import Approvals
    from spear.host.job import Job, JobInfo
    from spear.workspace.checkpoints import CheckpointInfo, UndoReport
    from spear.workspace.roots import Roots
    from spear.workspace.undo_plan import UndoPlan


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to a question: the key that chooses it, what it says, what is returned.

    `entry` asks for a line of text after the choice (its label), starting from `prefill`.
    """

    key: str
    label: str
    value: str
    entry: str = ""
    prefill: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was chosen, and the text entered with it. `value` is "" when the question was dismissed."""

    value: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One turn of a resumed session, for the replay on the screen."""

    request: str
    answer: str
    verdict: str


class CommandIO(Protocol):
    """What a command may do with the terminal while it runs. Called from the thread the command runs in."""

    @property
    def palette(self) -> Palette:
        """The styles of this terminal."""
        ...

    @property
    def width(self) -> int:
        """Columns of the terminal now."""
        ...

    @property
    def sink(self) -> Sink:
        """Where events go to be shown."""
        ...

    @property
    def confirm(self) -> Confirm:
        """How the operator is asked about an effect."""
        ...

    def show(self, text: str) -> None:
        """Print painted text, already filtered."""
        ...

    def page(self, markdown: str) -> None:
        """Print a page of Markdown as an answer would be printed; it is filtered here."""
        ...

    def edit(self, text: str) -> str:
        """`text` as the operator left it in their editor. Raises UsageError where there is none."""
        ...

    def read(self, text: str) -> None:
        """Show a long text, filtered already, in the operator's pager until they are done."""
        ...

    def submit(self, request: str) -> None:
        """Run a turn for a request, as if it had been entered."""
        ...

    def choose(self, question: str, options: Sequence[Option], body: str = "") -> Answer:
        """Ask the operator. `body` (painted, filtered) is printed above the question."""
        ...

    def cancelled(self) -> bool:
        """Whether the operator asked to stop."""
        ...

    def replay(self, turns: Sequence[PastTurn]) -> None:
        """Print turns of another session as they were."""
        ...

    def quit(self) -> None:
        """End the chat when the command has returned."""
        ...


CommandHandler = Callable[[str, CommandIO], str]
"""Runs a command: its words after the name, the terminal. The text returned is plain; it is filtered and printed.
Raises SpearError for what the operator should be told in one sentence."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One stored session: id, when its last record was written (seconds since the epoch), turns, first request."""

    id: str
    last: float
    turns: int
    title: str
    note: str = ""


class JobBook(Protocol):
    """The background jobs of a chat."""

    @property
    def running(self) -> int:
        """How many run now."""
        ...

    def start(self, command: str, confirm: Confirm, show: Sink) -> JobInfo | Refusal:
        """Start one by the operator's hand, asking where the mode asks; `show` is given notices."""
        ...

    def listing(self) -> tuple[JobInfo, ...]:
        """All that are remembered, the oldest first."""
        ...

    def job(self, number: int) -> Job | None:
        """The job of a number."""
        ...

    def stop(self, number: int) -> tuple[JobInfo, ...]:
        """End one; () when it did not run."""
        ...


class ChatApplication(Protocol):
    """The composed application the chat drives. Every method may block; the chat calls them from one worker thread."""

    @property
    def session(self) -> str: ...
    @property
    def roots(self) -> Roots: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def turn_number(self) -> int: ...
    @property
    def last(self) -> FinishedTurn | None: ...
    @property
    def last_result(self) -> TurnResult | None:
        """The result of the session's last turn, in this run or an earlier one."""
        ...

    @property
    def backends(self) -> Mapping[str, str]:
        """The named backends of the configuration, each in a few words."""
        ...

    @property
    def conversation(self) -> tuple[Message, ...]: ...
    @property
    def notices(self) -> tuple[str, ...]: ...
    @property
    def commands(self) -> Mapping[str, CommandHandler]: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def permission_file(self) -> PermissionFile:
        """Where approvals that hold for the project are kept."""
        ...

    @property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        """The keys of each action, as `[keys]` has them."""
        ...

    @property
    def jobs(self) -> JobBook:
        """Commands that go on beside the chat, whatever session it is in."""
        ...

    @property
    def backend_label(self) -> str: ...
    @property
    def model_label(self) -> str: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def standard_label(self) -> str:
        """Id and revision of the bound standard; "" when there is none."""
        ...

    @property
    def standards(self) -> Provisions:
        """The bound standard and what else is ingested, for completion."""
        ...

    @property
    def context_window(self) -> int: ...
    @property
    def limits_label(self) -> str:
        """How commands are confined and limited here; "" while that is not known yet."""
        ...

    def steer(self, text: str) -> bool:
        """Hand `text` to the running turn at its next tool boundary; false when that is not possible."""
        ...

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; it holds from the next call on, in the turn that runs too."""
        ...

    def run_turn(
        self,
        request: str,
        *,
        sink: Sink,
        confirm: Confirm,
        cancelled: Callable[[], bool],
        command_cancelled: Callable[[], bool],
    ) -> FinishedTurn:
        """Serve one request to its verdict. `cancelled` ends the turn, `command_cancelled` only the command that runs
        (the model is told, and the turn goes on); it is true whenever `cancelled` is."""
        ...

    def run_tool(
        self, tool: str, arguments: Mapping[str, Any], *, sink: Sink, confirm: Confirm, cancelled: Callable[[], bool]
    ) -> str:
        """Use one tool by the operator's own hand; what it printed."""
        ...

    def file_text(self, path: str) -> str:
        """A file of the workspace for the operator's editor; "" where there is none. Raises UsageError."""
        ...

    def switch_model(self, name: str) -> None:
        """Use a named backend, or another model of the same endpoint."""
        ...

    def undo_plan(self, n: int = 1, file: str | None = None) -> UndoPlan: ...
    def redo_plan(self, n: int = 1) -> UndoPlan: ...
    def apply_undo(self, plan: UndoPlan, force: bool = False) -> UndoReport: ...
    def checkpoints(self) -> tuple[CheckpointInfo, ...]: ...
    def diff(self, scope: str) -> str: ...
    def explain(self, request: str) -> dict[str, Any]: ...
    def new_session(self) -> None: ...
    def resume(self, session: str) -> tuple[PastTurn, ...]: ...
    def fork(self) -> str: ...
    def sessions(self) -> tuple[SessionRow, ...]: ...
    def export(self, form: str) -> Path: ...
    def close(self) -> None: ...
