"""The live terminal: one writer, finished text above, a few live rows and the editor below (spec 8.2).

Text is printed once, into the scrollback, never redrawn. Rows below it are repainted at most fifteen times a second
while something changes and not at all while nothing does. Everything here runs in the event loop's thread, except
`show`, `ask`, `watch`, `changed`, `activity`, `edit` and `page`, which any thread may call.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import DynamicKeyBindings, KeyBindings
from prompt_toolkit.output import ColorDepth, Output

from spear.cli.display.palette import Palette
from spear.cli.repl.dialog import DISMISSED, GUARD_SECONDS, Dialog
from spear.cli.repl.editor import edited
from spear.cli.repl.entry import Entry
from spear.cli.repl.layout import STYLE, Rows, build_layout
from spear.cli.repl.pager import page
from spear.cli.repl.ports import Answer
from spear.cli.repl.question import Asked, QuestionPane

if TYPE_CHECKING:
    from spear.cli.repl.turn_view import TurnView

T = TypeVar("T")

_FRAME_SECONDS = 1 / 15
_TICK_SECONDS = 1.0
_POLL_SECONDS = 0.05


class LiveScreen:
    """A `Screen` on a terminal that can be drawn on."""

    def __init__(
        self,
        palette: Palette,
        entry: Entry,
        status: Callable[[], str],
        bindings: KeyBindings,
        terminal: tuple[Input, Output],
    ) -> None:
        self.palette = palette
        self.view: TurnView | None = None
        self._lock = threading.Lock()
        self._texts: list[str] = []
        self._repaint = self._scheduled = self._away = False
        self._last_frame = self._last_key = float("-inf")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drawn: list[Callable[[], None]] = []
        self._output = terminal[1]
        self._bindings = bindings
        self.pane = QuestionPane(palette, self.width, self._answered, self._page_question)
        rows = Rows(entry.buffer, entry.pastes, self._live_rows, status, self.pane)
        self.app: Application[None] = Application(
            layout=build_layout(rows),
            key_bindings=DynamicKeyBindings(lambda: self._bindings),
            style=STYLE,
            color_depth=None if palette.colour else ColorDepth.DEPTH_1_BIT,
            include_default_pygments_style=False,
            erase_when_done=True,
            input=terminal[0],
            output=terminal[1],
            after_render=lambda _: self._painted(),
        )
        self.app.ttimeoutlen, self.app.timeoutlen = 0.05, 0.3
        self.app.key_processor.before_key_press += lambda _: self._touched()

    # --- from any thread --------------------------------------------------------------------------------------------

    def width(self) -> int:
        """Columns now."""
        return max(20, self._output.get_size().columns)

    def show(self, text: str) -> None:
        """Print painted text above the input, in order, within a frame."""
        with self._lock:
            self._texts.append(text if text.endswith("\n") else f"{text}\n")
        self._wake()

    def changed(self) -> None:
        """The live rows differ."""
        self._wake()

    def activity(self) -> None:
        """What is going on differs: the rows are painted anew, whole."""
        self._repaint = True
        self._wake()

    def watch(self, view: TurnView | None) -> None:
        """Show the live rows of a turn."""
        self.view = view
        self.activity()

    def ask(self, dialog: Dialog, cancelled: Callable[[], bool]) -> Answer:
        """Put a question and wait for its answer."""
        asked = Asked(dialog)
        if not self.soon(self._open, asked):
            return DISMISSED
        while not asked.done.wait(_POLL_SECONDS):
            if cancelled() or self._loop is None:
                self.soon(self._answered, asked, DISMISSED)
        return asked.answer

    def edit(self, text: str, suffix: str) -> str:
        """`text` as the operator left it in their editor."""
        loop = self._loop
        if loop is None:
            return text
        return asyncio.run_coroutine_threadsafe(self._away_with(lambda: edited(text, suffix)), loop).result()

    def page(self, text: str) -> None:
        """A long text in the operator's pager, until they are done."""
        loop = self._loop
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self.pager(text), loop).result()

    def later(self, seconds: float) -> None:
        """Paint again after a while: a hint has had its time."""
        if self._loop is not None:
            self._loop.call_later(seconds, self.app.invalidate)

    def bell(self) -> None:
        """Ring, and tell terminals that can that something is done."""
        self._output.write_raw("\x1b]9;spear-chat: the turn has ended\x07\x07")
        self._output.flush()

    def exit(self) -> None:
        """End the loop; asking again does nothing."""
        if self.app.is_running and self.app.future is not None and not self.app.future.done():
            self.app.exit()

    def when_drawn(self, what: Callable[[], None]) -> None:
        """Call something once the first frame is on the terminal."""
        self._drawn.append(what)

    def prefer(self, palette: Palette, bindings: KeyBindings, *, vi: bool) -> None:
        """The operator's styles and keys, known once the settings are."""
        self.palette = self.pane.palette = palette
        self.app.editing_mode = EditingMode.VI if vi else EditingMode.EMACS
        self._bindings = bindings

    # --- the loop ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Draw and take keys until the chat ends. Raises EOFError when the terminal is gone."""
        self._loop = asyncio.get_running_loop()
        ticking = asyncio.ensure_future(self._tick())
        try:
            await self.app.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            self._loop = None
            ticking.cancel()
            self._write()

    async def pager(self, text: str) -> None:
        """Show a whole text, filtered already, and come back."""
        await self._away_with(lambda: page(text))

    async def _away_with(self, what: Callable[[], T]) -> T:
        """Hand the terminal to another program; what is printed meanwhile waits."""
        async with in_terminal():
            self._away = True
            try:
                return await asyncio.get_running_loop().run_in_executor(None, what)
            finally:
                self._away = False
                self._wake()

    async def _tick(self) -> None:
        """Seconds pass only while a turn runs."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            if self.view is not None:
                self.app.invalidate()

    # --- the writer -------------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        with self._lock:
            if self._scheduled:
                return
            self._scheduled = True
        if not self.soon(self._schedule):
            self._write()

    def _schedule(self) -> None:
        loop = self._loop
        wait = self._last_frame + _FRAME_SECONDS - time.monotonic()
        if loop is not None and wait > 0:
            loop.call_later(wait, self._frame)
        else:
            self._frame()

    def _frame(self) -> None:
        if self._away:
            self._scheduled = False
            return
        if self._texts or self._repaint:
            self._repaint = False
            self.app.renderer.erase()
        self._write()
        self._last_frame = time.monotonic()
        self.app.invalidate()

    def _write(self) -> None:
        with self._lock:
            self._scheduled = False
            text = "".join(self._texts)
            self._texts.clear()
        if text:
            self._output.write_raw(text)
            self._output.flush()

    def soon(self, what: Callable[..., None], *given: object) -> bool:
        """Call something in the loop's thread; false when there is no loop (any more)."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return False
        try:
            loop.call_soon_threadsafe(what, *given)
        except RuntimeError:  # the loop ended in between
            return False
        return True

    def _live_rows(self) -> str:
        view = self.view
        return view.live_rows() if view is not None else ""

    # --- questions --------------------------------------------------------------------------------------------------

    def _open(self, asked: Asked) -> None:
        """Paint a question. One the operator's own command raised takes keys at once."""
        self.pane.open(asked)
        if asked.dialog.body:
            with self._lock:
                self._texts.append(asked.dialog.body.rstrip("\n") + "\n")
        if not asked.dialog.guarded:
            self.app.layout.focus(self.pane.control)
        self._repaint = True
        self._frame()

    def _painted(self) -> None:
        while self._drawn:
            self._drawn.pop()()
        asked, loop = self.pane.asked, self._loop
        if asked is None or asked.painted or loop is None:
            return
        asked.painted = True
        if asked.dialog.guarded:
            loop.call_later(GUARD_SECONDS, self._arm, asked)

    def _arm(self, asked: Asked) -> None:
        """Give the question the keys once the keyboard has been still for a moment."""
        loop = self._loop
        if self.pane.asked is not asked or loop is None:
            return
        still = time.monotonic() - self._last_key
        if still < GUARD_SECONDS:
            loop.call_later(GUARD_SECONDS - still, self._arm, asked)
            return
        self.pane.armed = True
        self.app.layout.focus(self.pane.control)
        self.app.invalidate()

    def _answered(self, asked: Asked, answer: Answer) -> None:
        if asked.done.is_set():
            return
        if self.pane.asked is asked:
            self.pane.close()
            self.app.layout.focus("entry")
        asked.answer = answer
        asked.done.set()
        self.activity()

    def _page_question(self, asked: Asked) -> None:
        self.app.create_background_task(self.pager(asked.dialog.whole))

    def _touched(self) -> None:
        self._last_key = time.monotonic()
