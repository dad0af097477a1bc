"""What the keys of the live chat do to the work that runs on another thread meanwhile (spec 8.2)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from spear.cli.commands.registry import Unknown, resolve
from spear.cli.display.filtering import clean
from spear.cli.display.palette import Style
from spear.cli.repl.entry import Entry
from spear.cli.repl.live_screen import LiveScreen
from spear.cli.repl.opening import AGAIN_SECONDS, LONG_TURN_SECONDS
from spear.cli.repl.pending import PendingLines
from spear.cli.repl.status_line import idle_line, running_line
from spear.events.names import Mode

if TYPE_CHECKING:
    from spear.cli.repl.driver import Driver

_LEAVING_SECONDS = 10.0
_SHOWN_ROWS = 400
_STOPPING = "stopping"


class Chat:
    """What the keys of the live chat do. Its methods run in the event loop's thread."""

    def __init__(self) -> None:
        self.driver: Driver | None = None
        self.screen: LiveScreen
        self.entry: Entry
        self.status = 0
        self._notify = False
        self._waiting = PendingLines()
        self._worker: threading.Thread | None = None
        self._hint, self._hint_until = "", 0.0
        self._armed_at = float("-inf")

    def attach(self, screen: LiveScreen, entry: Entry) -> None:
        """Give the chat its terminal, once."""
        self.screen, self.entry = screen, entry

    def begin(self, driver: Driver, *, notify: bool, first: str = "") -> None:
        """The session is there: `first` is served, then what was entered before."""
        self.driver, self._notify = driver, notify
        driver.remarked = self._remarked
        self.entry.buffer.on_text_changed += lambda _: self._remark()
        if first:
            self._start(first)
        else:
            self._next()

    @property
    def busy(self) -> bool:
        """Whether something is being served, or nothing can be yet."""
        return self._worker is not None or self.driver is None

    def status_row(self) -> str:
        """The row below the editor."""
        hint = self._hint if time.monotonic() < self._hint_until else ""
        width, view = self.screen.width(), self.screen.view
        if self.driver is None:
            return hint or "starting…"
        if view is not None:
            return running_line(self.driver.app, view.progress, len(self._waiting), width, hint)
        if self.busy:
            return hint or "working… Ctrl+C stops"
        return idle_line(self.driver.app, width, hint)

    # --- what is entered --------------------------------------------------------------------------------------------

    def submit(self, text: str) -> None:
        """Serve what was entered, now or when its turn comes."""
        if not self.busy:
            self._start(text)
        elif _is_quit(text):
            self.leave(0)
        elif (driver := self.driver) is not None and driver.looks_only(text):
            self._print_request(driver, text)
            self._thread(lambda: driver.serve(text))
        else:
            self._waiting.add(text)
            self.screen.activity()

    def steer(self) -> None:
        """Hand the text to the running turn; where that is not possible it waits like any other."""
        text = self.entry.text
        if not self.busy or not text.strip():
            return
        self.entry.take()
        driver = self.driver
        if driver is not None and self.screen.view is not None and driver.app.steer(text):
            self._print_request(driver, text)
            self.hint("handed to the turn at its next tool boundary")
        else:
            self._waiting.add(text)
            self.hint("it waits for the turn to end")

    def rewind(self) -> None:
        """Esc twice at an empty prompt: choose a turn to take back."""
        if not self.busy:
            self._start("/undo choose")

    def _start(self, text: str) -> None:
        driver = self.driver
        if driver is None:
            return
        self._print_request(driver, text)
        driver.begin()
        started = time.monotonic()

        def serve() -> None:
            try:
                driver.serve(text)
            finally:
                self.screen.soon(self._ended, time.monotonic() - started)

        self._worker = self._thread(serve)
        self.screen.changed()

    def _ended(self, seconds: object) -> None:
        self._worker = None
        if self._hint.startswith(_STOPPING):
            self._hint = ""
        if self._notify and isinstance(seconds, float) and seconds > LONG_TURN_SECONDS:
            self.screen.bell()
        if self.driver is not None and self.driver.finished:
            self.driver.say_remarks()
            self.screen.exit()
        else:
            self._next()

    def _next(self) -> None:
        self._remark()
        if (following := self._waiting.next()) is not None:
            self._start(following)

    def _remarked(self) -> None:
        self.screen.soon(self._remark)

    def _remark(self) -> None:
        """Say what was kept for a quiet moment, if this is one."""
        if self.driver is not None and not self.busy and not self.entry.buffer.text:
            self.driver.say_remarks()
        self.screen.changed()

    def _thread(self, what: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=what, name="entry", daemon=True)
        thread.start()
        return thread

    def _print_request(self, driver: Driver, text: str) -> None:
        self.screen.show(f"\n{driver.request_line(text)}")

    # --- keys -------------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Ctrl+C: the running command, then the turn; else the text; else, twice, the chat."""
        now, view = time.monotonic(), self.screen.view
        over = view is not None and view.progress.answered and bool(self.entry.buffer.text)
        if self._worker is not None and self.driver is not None and not over:
            self.hint(f"{_STOPPING} {self.driver.interruption.press()}…", 5.0)
        elif self.entry.buffer.text:
            self.entry.take()
            self._remark()
        elif now - self._armed_at <= AGAIN_SECONDS:
            self.leave(0)
        else:
            self._armed_at = now
            self.hint("Ctrl+C again within a second ends the chat", AGAIN_SECONDS)

    def escape(self) -> None:
        """Esc while something runs: stop it, and what waited comes back into the editor."""
        if self.driver is not None:
            self.driver.interruption.stop()
        self.entry.give_back(self._waiting.give_back())
        self.hint(f"{_STOPPING} the turn…", 5.0)

    def end_of_input(self) -> None:
        """Ctrl+D at an empty prompt."""
        if self._worker is not None:
            self.hint("a turn is running: Ctrl+C stops it, /quit leaves")
        else:
            self.leave(0)

    def cycle_mode(self) -> None:
        """safe ⇄ ask; auto is left for safe and never entered."""
        if self.driver is None:
            return
        app = self.driver.app
        app.set_mode(Mode.ASK if app.mode is Mode.SAFE else Mode.SAFE)
        self.hint(f"mode {app.mode.value}, from the next call on" if self.busy else f"mode {app.mode.value}", 2.0)

    def expand(self) -> None:
        """Ctrl+O: all of the last output, printed; the end of it where it is very long."""
        view = self.screen.view
        before = self.driver.last_output if self.driver is not None else ""
        output = (view.last_output if view is not None else "") or before
        if not output:
            self.hint("no tool has printed anything yet")
            return
        lines = clean(output).rstrip("\n").split("\n")
        cut = f"… {len(lines) - _SHOWN_ROWS} earlier lines are in the record\n" if len(lines) > _SHOWN_ROWS else ""
        shown = self.screen.palette.paint(Style.MUTED, cut + "\n".join(lines[-_SHOWN_ROWS:]))
        self.screen.show(f"\n{shown}")

    def hint(self, text: str, seconds: float = 2.0) -> None:
        """A sentence in the status row for a moment."""
        self._hint, self._hint_until = text, time.monotonic() + seconds
        self.screen.later(seconds + 0.05)
        self.screen.activity()

    # --- the end ----------------------------------------------------------------------------------------------------

    def leave(self, status: int) -> None:
        """End the chat; what runs is stopped first."""
        self.status = status
        if self.driver is not None:
            self.driver.interruption.stop()
            self.driver.say_remarks()
        self.screen.exit()

    def join(self) -> None:
        """Wait, bounded, for what was running; called after the loop has ended."""
        worker = self._worker
        if worker is not None:
            worker.join(_LEAVING_SECONDS)


def _is_quit(text: str) -> bool:
    words = text.strip().split()
    if len(words) != 1 or not words[0].startswith("/"):
        return False
    command = resolve(words[0][1:])
    return not isinstance(command, Unknown) and command.name == "quit"
