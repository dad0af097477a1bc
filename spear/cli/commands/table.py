"""The handlers of a chat: those of this package, and those the application brings for its engines."""

from __future__ import annotations

from collections.abc import Mapping

from spear.cli.commands import changes, program, session
from spear.cli.repl import jobs
from spear.cli.repl.ports import ChatApplication, CommandHandler


def handlers_of(app: ChatApplication) -> Mapping[str, CommandHandler]:
    """Every command that can run, by its name. The application's own handler of a name goes before ours."""
    table: dict[str, CommandHandler] = {}
    table |= changes.handlers(app)
    table |= session.handlers(app)
    table |= jobs.handlers(app)
    table |= program.handlers(app, lambda name: name in table)
    table |= app.commands
    return table
