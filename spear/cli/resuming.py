"""Which stored session a command line goes on with: `-c`, `--resume [ID]`, or none (spec 8.3)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from spear.cli.settings_model import Settings
from spear.errors import StateError, UsageError
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.state.sessions import Session, SessionStore


def resumed(parsed: argparse.Namespace, settings: Settings, environ: Mapping[str, str], cwd: Path) -> Session | None:
    """The session to go on with, None for a new one. Raises UsageError when there is no such session, StateError when
    it cannot be read."""
    wanted = getattr(parsed, "resume", None)
    if wanted is None and not getattr(parsed, "continue"):
        return None
    store = SessionStore(StateDirectory(settings.state_dir), Redactor.of_environment(environ))
    if isinstance(wanted, str) and wanted:
        return store.load(store.resolve(wanted))
    newest = store.newest(cwd.resolve())
    if newest is None:
        raise UsageError(
            "there is no session to go on with in this directory", hint="list all: spear-chat sessions list --all"
        )
    try:
        return store.load(newest)
    except StateError as error:
        other = store.before(newest, cwd.resolve())
        instead = f"or go on with the one before it: spear-chat --resume {other}" if other else "or begin a new one"
        raise StateError(f"{error.message}, and it is the newest here", hint=f"{error.hint}; {instead}") from error
