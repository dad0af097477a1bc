"""Which stored session a command line goes on with: `-c`, `--resume [ID]`, or none (spec 8.3)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from spear.cli.settings_model import Settings
from spear.errors import UsageError
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.state.sessions import SessionSnapshot, SessionStore


def resumed(
    parsed: argparse.Namespace, settings: Settings, environ: Mapping[str, str], cwd: Path
) -> SessionSnapshot | None:
    """The snapshot to go on with, None for a new session. Raises UsageError when there is no such session."""
    wanted = getattr(parsed, "resume", None)
    if not wanted and not getattr(parsed, "continue"):
        return None
    store = SessionStore(StateDirectory(settings.state_dir), Redactor.of_environment(environ))
    found = store.find(wanted) if isinstance(wanted, str) and wanted else store.latest(cwd.resolve())
    if found is None:
        what = f"no session {wanted}" if wanted else "no session to go on with in this directory"
        raise UsageError(what, hint="list them with: spear-chat sessions")
    return found
