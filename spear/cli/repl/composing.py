"""The session of a command line, ready for a chat (spec 1.3)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from spear.cli.commands.table import handlers_of
from spear.cli.defects import report
from spear.cli.invocation import Invocation
from spear.cli.repl.driver import Driver, Screen
from spear.cli.repl.history import InputHistory
from spear.cli.repl.jobs import ended_line, farewell
from spear.cli.repl.opening import Opened
from spear.cli.repl.session import ChatSession
from spear.cli.resuming import resumed
from spear.cli.settings import load

_SANDBOX_SECONDS = 0.5


def compose(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> Opened:
    """Settings, stores, host and conversation. Raises SpearError for what keeps the session from starting."""
    loaded = load(parsed, environ, cwd)
    settings = loaded.settings
    choose = getattr(parsed, "resume", None) == ""
    resume = None if choose else resumed(parsed, settings, environ, cwd)
    chat = ChatSession(Invocation.of(parsed, loaded, environ, cwd, resume))
    chat.await_sandbox(_SANDBOX_SECONDS)

    def defect(error: Exception) -> str:
        return report(error, str(settings.state_dir))

    def driver(screen: Screen) -> Driver:
        made = Driver(chat, screen, handlers_of(chat), defect, light=settings.theme == "light")
        chat.jobs.ended = lambda info: made.remark(ended_line(info))
        return made

    return Opened(
        app=chat,
        driver=driver,
        history=InputHistory(chat.state, chat.roots.primary, chat.redact),
        theme=settings.theme,
        plain=settings.plain,
        vi=settings.editing_mode == "vi",
        notify=settings.notify,
        first="/resume" if choose else "",
        earlier=chat.earlier() if resume is not None else (),
        ready=chat.prepare,
        leave=lambda: farewell(chat.jobs.close()),
        close=chat.close,
    )
