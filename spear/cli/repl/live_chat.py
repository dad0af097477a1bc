"""The chat on a terminal that can be drawn on: its parts put together, its signals, its loop."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from typing import TYPE_CHECKING

from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.output.vt100 import Vt100_Output

from spear.cli.commands.table import handlers_of
from spear.cli.display.palette import Palette
from spear.cli.repl.banner import banner
from spear.cli.repl.bindings import bindings
from spear.cli.repl.burst import BurstInput
from spear.cli.repl.chat import Chat
from spear.cli.repl.completion import LineCompleter, Sources
from spear.cli.repl.driver import Driver
from spear.cli.repl.entry import Entry
from spear.cli.repl.live_screen import LiveScreen
from spear.cli.repl.paths import PathIndex
from spear.cli.repl.ports import ChatApplication

if TYPE_CHECKING:
    from spear.cli.repl.opening import Opening

_HANGUP, _TERMINATED = 129, 143
_TYPED_AHEAD = 1 << 16


def run_live(app: ChatApplication, opening: Opening, palette: Palette) -> int:
    """Run the chat; its exit status. Raises EOFError or OSError when the terminal goes away."""
    keyboard = BurstInput(sys.stdin)
    with keyboard.raw_mode():  # before anything is printed: what answers the banner must reach us as it was typed
        _keep_typed_ahead(keyboard)
        output = Vt100_Output.from_pty(sys.stdout, term=opening.environ.get("TERM"))
        output.enable_cpr = False  # asking where the cursor is costs seconds on terminals that do not answer
        chat = Chat(notify=opening.notify)
        sources = Sources(PathIndex(app.roots.primary), lambda: [row.id for row in app.sessions()])
        entry = Entry(opening.history, LineCompleter(sources), chat.submit)
        screen = LiveScreen(palette, entry, chat.status_row, bindings(chat), (keyboard, output), vi=opening.vi)
        driver = Driver(app, screen, handlers_of(app), opening.defect, light=opening.theme == "light")
        chat.attach(driver, screen, entry)
        screen.show(banner(app, palette, screen.width()))
        driver.replay(opening.earlier)
        opening.ready()
        asyncio.run(_until_left(chat, screen))
        chat.join()
    return chat.status


async def _until_left(chat: Chat, screen: LiveScreen) -> None:
    """The loop, with its signals; what fails in it ends the chat and is raised here."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, chat.leave, _TERMINATED)
    loop.add_signal_handler(signal.SIGHUP, chat.leave, _HANGUP)
    loop.add_signal_handler(signal.SIGINT, chat.interrupt)
    failures: list[BaseException] = []

    def failed(_: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        failures.append(error if isinstance(error, BaseException) else RuntimeError(str(context.get("message"))))
        chat.leave(_HANGUP)

    loop.set_exception_handler(failed)
    await screen.run()
    if failures:
        raise failures[0]


def _keep_typed_ahead(keyboard: BurstInput) -> None:
    """What was typed while the program started: the terminal was in line mode then and made `\\n` of each Enter."""
    descriptor = keyboard.fileno()
    if select.select([descriptor], [], [], 0)[0]:
        text = os.read(descriptor, _TYPED_AHEAD).decode("utf-8", "replace").replace("\n", "\r")
        store_typeahead(keyboard, keyboard.parsed(text))
