"""`spear-chat` without `-p`: the session a command line asks for, and a chat with it (spec 1.3, 8.2)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from spear.cli.application import Invocation
from spear.cli.defects import report
from spear.cli.repl.history import InputHistory
from spear.cli.repl.opening import Opening, converse
from spear.cli.repl.session import ChatSession
from spear.cli.resuming import resumed
from spear.cli.settings import load
from spear.errors import UsageError


def run_repl(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Open the chat; its exit status. Raises UsageError where there is no terminal, SpearError for what keeps the
    session from starting."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the chat needs a terminal", hint='run one turn with spear-chat -p "…"')
    loaded = load(parsed, environ, cwd)
    settings = loaded.settings
    resume = resumed(parsed, settings, environ, cwd)
    chat = ChatSession(Invocation(loaded, environ, cwd, parsed.record, parsed.replay, resume))
    try:
        return converse(
            chat,
            Opening(
                environ=environ,
                history=InputHistory(chat.state, chat.roots.primary, chat.redact),
                defect=lambda error: report(error, str(settings.state_dir)),
                theme=settings.theme,
                plain=settings.plain,
                vi=settings.editing_mode == "vi",
                earlier=chat.earlier() if resume is not None else (),
                ready=chat.prepare,
            ),
        )
    finally:
        chat.close()
