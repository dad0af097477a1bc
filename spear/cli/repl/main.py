"""`spear-chat` without `-p`: the application of a command line, and a chat with it (spec 1.3, 8.2)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from spear.cli.application import Application, Invocation
from spear.cli.defects import report
from spear.cli.repl.history import InputHistory
from spear.cli.repl.opening import Opening, converse
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
    app = Application(
        Invocation(loaded, environ, cwd, parsed.record, parsed.replay, resumed(parsed, settings, environ, cwd))
    )
    try:
        return converse(
            app,
            Opening(
                environ=environ,
                history=InputHistory(app.state, app.roots.primary, app.redactor.text),
                defect=lambda error: report(error, str(settings.state_dir)),
                theme=settings.theme,
                plain=settings.plain,
                vi=settings.editing_mode == "vi",
                earlier=app.earlier_turns(),
                ready=app.prepare,
            ),
        )
    finally:
        app.close()
