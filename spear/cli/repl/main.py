"""`spear-chat` without `-p`: a chat with the session a command line asks for (spec 1.3, 8.2).

Only what draws the prompt is imported before it: the session is composed behind it (spec 9.1).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spear.cli.repl.opening import converse
from spear.errors import UsageError

if TYPE_CHECKING:
    from spear.cli.repl.opening import Opened

_YES = ("1", "true", "yes", "on")


def run_repl(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Open the chat; its exit status. Raises UsageError where there is no terminal, SpearError for what keeps the
    session from starting."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the chat needs a terminal", hint='run one turn with spear-chat -p "…"')

    def open_session() -> Opened:
        from spear.cli.repl.composing import compose  # the whole program: behind the prompt

        return compose(parsed, environ, cwd)

    plain = bool(getattr(parsed, "plain", False)) or environ.get("SPEAR_PLAIN", "").lower() in _YES
    return converse(open_session, environ, plain=plain)
