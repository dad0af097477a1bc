"""Serves what was entered: a request, a /command or a !tool, one at a time (spec 8.2). Knows no terminal library."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Protocol

from spear.cli.commands.registry import Command, Unknown, resolve
from spear.cli.display.filtering import clean
from spear.cli.display.markdown import MarkdownRenderer
from spear.cli.display.palette import Palette, Style
from spear.cli.display.wrapping import wrapped
from spear.cli.repl.confirming import dialog_of, edited_line, reply_of
from spear.cli.repl.dialog import Dialog
from spear.cli.repl.interruption import Interruption
from spear.cli.repl.operator_tools import ToolCall, call_of
from spear.cli.repl.ports import Answer, ChatApplication, CommandHandler, Option, PastTurn
from spear.cli.repl.turn_view import Canvas, TurnView
from spear.cli.spending import Spending
from spear.errors import SpearError
from spear.events.names import EventName
from spear.events.stream import Event, Live, Sink
from spear.host.confirmation import Choice, Confirm, Question, Reply

_COMMAND = re.compile(r"/([A-Za-z?][A-Za-z-]*|)(?:\s+(.*))?", re.S)
_TOOL = re.compile(r"!\s*([a-z]*)(?:\s+(.*))?", re.S)


class Screen(Protocol):
    """A terminal as the driver sees it. Every method may be called from any thread."""

    palette: Palette

    def width(self) -> int:
        """Columns now."""
        ...

    def show(self, text: str) -> None:
        """Print painted text above the input."""
        ...

    def ask(self, dialog: Dialog, cancelled: Callable[[], bool]) -> Answer:
        """Put a question and wait for its answer; dismissed once `cancelled`."""
        ...

    def watch(self, view: TurnView | None) -> None:
        """Show the live rows of a turn; None when it has ended."""
        ...

    def changed(self) -> None:
        """The live rows differ."""
        ...

    def activity(self) -> None:
        """What is going on differs: repaint whole."""
        ...

    def edit(self, text: str, suffix: str) -> str:
        """`text` as the operator left it in their editor. Raises UsageError where there is none."""
        ...

    def page(self, text: str) -> None:
        """Show a long text, filtered already, until the operator is done with it."""
        ...


class Driver:
    """One chat: its application, its screen, the handlers of its commands."""

    def __init__(
        self,
        app: ChatApplication,
        screen: Screen,
        handlers: Mapping[str, CommandHandler],
        defect: Callable[[Exception], str],
        *,
        light: bool = False,
    ) -> None:
        self.app = app
        self.screen = screen
        self._handlers = handlers
        self._defect = defect
        self._renderer = MarkdownRenderer(screen.palette, light)
        self.interruption = Interruption()
        self.finished = self.serving = False
        self.last_output = ""
        self._remarks: deque[str] = deque()
        self.remarked: Callable[[], None] = lambda: None
        """Called, from any thread, when something is kept for a quiet moment."""

    def serve(self, line: str) -> None:
        """Serve one entry to its end. Never raises but for the end of the process."""
        line = line.strip()
        if not line:
            return
        self.serving = True
        try:
            if match := _COMMAND.fullmatch(line):
                self._command(match[1], (match[2] or "").strip())
            elif match := _TOOL.fullmatch(line):
                self._tool(match[1], (match[2] or "").strip())
            else:
                self._turn(line)
        except SpearError as error:
            self._complain(clean(str(error)))
        except Exception as error:  # noqa: BLE001 - a defect ends one entry, not the chat: it is logged and said
            self._complain(self._defect(error))
        finally:
            self.serving = False

    def begin(self) -> None:
        """A new entry may be interrupted anew."""
        self.interruption = Interruption()

    def looks_only(self, line: str) -> bool:
        """Whether an entry may be served at once while a turn runs: a command that only looks."""
        match = _COMMAND.fullmatch(line.strip())
        command = resolve(match[1]) if match else None
        if match is None or not isinstance(command, Command) or command.name not in self._handlers:
            return False
        return command.during_turn and (match[2] or "").partition(" ")[0] not in command.waits

    def notice(self, text: str) -> None:
        """Print a sentence the operator must be told, whatever is going on; from any thread."""
        self._complain(clean(text))

    def remark(self, text: str) -> None:
        """Keep a sentence for a moment in which nobody types and nothing is served; from any thread."""
        self._remarks.append(text)
        self.remarked()

    def say_remarks(self) -> None:
        """Print what was kept."""
        while self._remarks:
            said = self.screen.palette.paint(Style.MUTED, clean(self._remarks.popleft()))
            self.screen.show(self._fitted(said))

    def replay(self, turns: Sequence[PastTurn]) -> None:
        """Print earlier turns of a resumed session: request, answer, verdict."""
        for turn in turns:
            rendered = self._renderer.render(turn.answer, self.screen.width())
            verdict = self.screen.palette.paint(Style.MUTED, f"  {turn.verdict}") if turn.verdict else ""
            self.screen.show(
                "\n\n".join(part for part in ("\n" + self.request_line(turn.request), rendered, verdict) if part)
            )

    def request_line(self, request: str) -> str:
        """An entry as it stays on the screen."""
        first, *rest = clean(request).split("\n")
        rows = "\n".join([f"> {first}", *(f"  {line}" for line in rest)])
        palette = self.screen.palette
        return palette.paint(Style.REQUEST, rows if palette.plain else wrapped(rows, self.screen.width(), 2))

    # --- the three kinds of entry -----------------------------------------------------------------------------------

    def _turn(self, request: str) -> None:
        interruption, screen = self.interruption, self.screen
        view = TurnView(
            Canvas(screen.palette, self._renderer, screen.width, screen.show, screen.changed, screen.activity)
        )
        view.progress.spending = Spending(self.app.price)
        screen.watch(view)
        try:
            done = self.app.run_turn(
                request,
                sink=watching_commands(view, interruption),
                confirm=self._confirm(),
                cancelled=interruption.cancelled,
                command_cancelled=interruption.command_cancelled,
            )
            self.last_output = view.last_output or self.last_output
            view.finish(done)
        finally:
            screen.watch(None)

    def _command(self, name: str, words: str) -> None:
        command = resolve(name) if name else Unknown("a command has a name; /help lists them")
        if isinstance(command, Unknown):
            self._complain(command.sentence)
            return
        handler = self._handlers.get(command.name)
        if handler is None:
            needs = f" ({command.engine})" if command.engine else ""
            self._complain(f"this build has no engine for /{command.name}{needs}: nothing was done")
            return
        text = handler(words, Terminal(self))
        if text.strip():
            self.screen.show(self._fitted(clean(text).rstrip("\n")))

    def _tool(self, name: str, words: str) -> None:
        tool = self._edited(words) if name == "edit" else call_of(name, words)
        if isinstance(tool, str):
            self._complain(clean(tool))
            return
        view = TurnView(Canvas(self.screen.palette, self._renderer, self.screen.width, lambda _: None))
        output = self.app.run_tool(
            tool[0],
            tool[1],
            sink=watching_commands(view, self.interruption),
            confirm=self._confirm(),
            cancelled=self.interruption.command_cancelled,
        )
        self.last_output = output
        shown = clean(output).rstrip("\n")
        self.screen.show(shown if "\n" in shown else self._fitted(shown))

    def _edited(self, words: str) -> ToolCall | str:
        """`!edit PATH`: the operator's editor, and what it left as a `write_file`."""
        path = words.strip().removeprefix("@")
        if not path:
            return "!edit needs a path"
        before = self.app.file_text(path)
        after = self.screen.edit(before, PurePosixPath(path).suffix)
        if after == before:
            return f"{path} was left as it is"
        return "write_file", {"path": path, "content": after}

    def _confirm(self) -> Confirm:
        interruption, screen = self.interruption, self.screen

        def confirm(question: Question) -> Reply:
            answer = screen.ask(dialog_of(question, screen.palette), interruption.command_cancelled)
            reply = reply_of(answer)
            if reply.choice is Choice.EDITED:
                screen.show(edited_line(reply.command, screen.palette))
            return reply

        return confirm

    def _complain(self, sentence: str) -> None:
        self.screen.show(self._fitted(self.screen.palette.paint(Style.WARN, f"! {sentence}")))

    def _fitted(self, text: str) -> str:
        """Prose folded to the terminal; plain lines are left to whoever reads them."""
        return text if self.screen.palette.plain else wrapped(text, self.screen.width())


class Terminal:
    """The `CommandIO` of one command."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.palette = driver.screen.palette

    @property
    def width(self) -> int:
        """Columns now."""
        return self._driver.screen.width()

    @property
    def sink(self) -> Sink:
        """Shows notices of engines; events of a command are the audit's."""
        screen = self._driver.screen
        return TurnView(Canvas(screen.palette, MarkdownRenderer(screen.palette), screen.width, screen.show))

    @property
    def confirm(self) -> Confirm:
        """Asks the operator."""
        return self._driver._confirm()

    def show(self, text: str) -> None:
        """Print painted text."""
        self._driver.screen.show(text)

    def page(self, markdown: str) -> None:
        """Print a page of Markdown."""
        screen = self._driver.screen
        screen.show(self._driver._renderer.render(markdown, screen.width()))

    def edit(self, text: str) -> str:
        """`text` as the operator left it in their editor."""
        return self._driver.screen.edit(text, ".md")

    def read(self, text: str) -> None:
        """Show a long text in the operator's pager."""
        self._driver.screen.page(text)

    def submit(self, request: str) -> None:
        """Run a turn for a request, which is shown as an entered one would stand there."""
        self._driver.screen.show(f"\n{self._driver.request_line(request)}")
        self._driver._turn(request)

    def choose(self, question: str, options: Sequence[Option], body: str = "") -> Answer:
        """Ask the operator, who raised the question by a command: keys count at once."""
        dialog = Dialog(question, tuple(options), body, body, guarded=False)
        return self._driver.screen.ask(dialog, self.cancelled)

    def cancelled(self) -> bool:
        """Whether Ctrl+C was pressed since the command began."""
        return self._driver.interruption.cancelled()

    def replay(self, turns: Sequence[PastTurn]) -> None:
        """Print earlier turns."""
        self._driver.replay(turns)

    def quit(self) -> None:
        """End the chat."""
        self._driver.finished = True


def watching_commands(view: TurnView, interruption: Interruption) -> Sink:
    """A sink that also tells the interruption when a command runs."""

    def emit(item: Event | Live) -> None:
        if isinstance(item, Event):
            if item.name is EventName.TOOL_CALLED and item.data.get("tool") == "terminal":
                interruption.command_started()
            elif item.name in (EventName.TOOL_FINISHED, EventName.TOOL_REFUSED):
                interruption.command_ended()
        view(item)

    return emit
