"""The chat on a terminal that can be drawn on: its parts put together, its signals, its loop."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import Mapping

from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.output.vt100 import Vt100_Output

from spear.cli.display.palette import Palette, palette_of
from spear.cli.repl.banner import banner
from spear.cli.repl.bindings import bindings
from spear.cli.repl.burst import BurstInput
from spear.cli.repl.chat import Chat
from spear.cli.repl.completion import LineCompleter, Sources
from spear.cli.repl.entry import Entry
from spear.cli.repl.live_screen import LiveScreen
from spear.cli.repl.opening import Open, Opened
from spear.cli.repl.paths import PathIndex

_HANGUP, _TERMINATED = 129, 143
_TYPED_AHEAD = 1 << 16


def run_live(open_session: Open, environ: Mapping[str, str], palette: Palette) -> int | Opened:
    """Run the chat; its exit status, or the session itself where its operator wants plain lines. Raises EOFError or
    OSError when the terminal goes away, and what opening the session raises."""
    keyboard = BurstInput(sys.stdin)
    with keyboard.raw_mode():  # before anything is printed: what answers the first screen must reach us as typed
        _keep_typed_ahead(keyboard)
        output = Vt100_Output.from_pty(sys.stdout, term=environ.get("TERM"))
        output.enable_cpr = False  # asking where the cursor is costs seconds on terminals that do not answer
        chat = Chat()
        entry = Entry(chat.submit)
        screen = LiveScreen(palette, entry, chat.status_row, bindings(chat), (keyboard, output))
        chat.attach(screen, entry)
        live = _Live(chat, screen, entry, environ)
        asyncio.run(live.run(open_session))
        chat.join()
    if live.failures:
        raise live.failures[0]
    return live.plain or chat.status


class _Live:
    """The loop of one chat: a session arrives while the operator may type already."""

    def __init__(self, chat: Chat, screen: LiveScreen, entry: Entry, environ: Mapping[str, str]) -> None:
        self._chat, self._screen, self._entry, self._environ = chat, screen, entry, environ
        self.failures: list[BaseException] = []
        self.plain: Opened | None = None

    async def run(self, open_session: Open) -> None:
        """Draw until the chat is left; what fails in the loop ends it."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._chat.leave, _TERMINATED)
        loop.add_signal_handler(signal.SIGHUP, self._chat.leave, _HANGUP)
        loop.add_signal_handler(signal.SIGINT, self._chat.interrupt)
        loop.set_exception_handler(self._failed)
        opening = threading.Thread(target=self._open, args=(open_session,), name="opening", daemon=True)
        self._screen.when_drawn(opening.start)
        try:
            await self._screen.run()
        finally:
            if opening.ident is not None:
                await loop.run_in_executor(None, opening.join, _OPENING_SECONDS)

    def _open(self, open_session: Open) -> None:
        """In a thread of its own: imports, settings, stores."""
        try:
            opened = open_session()
        except BaseException as error:  # noqa: BLE001 - carried to the caller of the chat, not swallowed
            self.failures.append(error)
            self._screen.soon(self._chat.leave, 0)
        else:
            self._screen.soon(self._opened, opened)

    def _opened(self, opened: Opened) -> None:
        if opened.plain:
            self.plain = opened
            self._screen.exit()
            return
        app, screen = opened.app, self._screen
        palette = palette_of(opened.theme, self._environ, plain=False)
        screen.prefer(palette, bindings(self._chat, app.keys), vi=opened.vi)
        sources = Sources(
            PathIndex(app.roots.primary), lambda: [row.id for row in app.sessions()],
            jobs=lambda: [str(info.number) for info in app.jobs.listing()],
            provisions=app.standards, backends=lambda: tuple(app.backends),
        )  # fmt: skip
        self._entry.equip(opened.history, LineCompleter(sources))
        driver = opened.driver(screen)
        screen.show(banner(app, screen.palette, screen.width()))
        driver.replay(opened.earlier)
        opened.ready(driver.notice)
        self._chat.begin(driver, notify=opened.notify, first=opened.first)

    def _failed(self, _: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        self.failures.append(error if isinstance(error, BaseException) else RuntimeError(str(context.get("message"))))
        self._chat.leave(_HANGUP)


_OPENING_SECONDS = 10.0


def _keep_typed_ahead(keyboard: BurstInput) -> None:
    """What was typed while the program started: the terminal was in line mode then and made `\\n` of each Enter."""
    descriptor = keyboard.fileno()
    if select.select([descriptor], [], [], 0)[0]:
        text = os.read(descriptor, _TYPED_AHEAD).decode("utf-8", "replace").replace("\n", "\r")
        store_typeahead(keyboard, keyboard.parsed(text))
