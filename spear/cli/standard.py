"""`spear-chat standard …`: the operator's commands on standards, from a shell (spec 5.2)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from spear.cli.display.filtering import clean, one_line
from spear.cli.settings import load
from spear.cli.standards.answer import Desk, Front
from spear.cli.standards.commands import ACTIONS
from spear.errors import Interrupted, UsageError
from spear.standards.binding import Bindings
from spear.standards.store import StandardStore
from spear.state.directory import StateDirectory

_WIDTH = 30


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Answer one command; its status. Raises SpearError."""
    store = StandardStore(StateDirectory(load(parsed, environ, cwd).settings.state_dir).standards)
    bar = _Bar()
    desk = Desk(store, Bindings(store), parsed, Front(cwd, bar.show, _confirm))
    try:
        answer = ACTIONS[parsed.action](desk)
    except KeyboardInterrupt:
        bar.clear()
        raise Interrupted("interrupted; nothing was half stored") from None
    finally:
        bar.clear()
    stream = sys.stderr if answer.status else sys.stdout
    if answer.text:
        print(clean(answer.text), file=stream)
    for row in answer.rows:
        print(row)
    return answer.status


def _confirm(question: str) -> bool:
    """Ask whoever is at the terminal. Raises UsageError where nobody is."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nobody can be asked", hint="say --yes")
    print(f"{clean(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class _Bar:
    """Progress on stderr, where that is a terminal."""

    def __init__(self) -> None:
        self._drawn = sys.stderr.isatty()
        self._shown = ""

    def show(self, doing: str, done: int, of: int) -> None:
        """Draw the bar anew where it differs."""
        if not self._drawn:
            return
        part = min(1.0, done / of) if of else 0.0
        bar = ("#" * round(part * _WIDTH)).ljust(_WIDTH, "-")
        text = f"\r{one_line(doing, 20)} [{bar}] {f'{100 * part:.0f}%' if of else done}"
        if text != self._shown:
            self._shown = text
            print(text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._shown = ""
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
