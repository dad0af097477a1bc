"""A screen of lines: lines in, lines out, numbered choices (spec 8.2)."""

from __future__ import annotations

import re
import select
import termios
from collections.abc import Callable
from typing import TextIO

from spear.cli.display.palette import PLAIN, unpainted
from spear.cli.repl.dialog import DISMISSED, Dialog
from spear.cli.repl.editor import edited
from spear.cli.repl.ports import Answer
from spear.cli.repl.turn_view import TurnView

_BURST_SECONDS = 0.02
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)")
_WIDTH = 80


class PlainScreen:
    """A `Screen` of lines. Everything happens in one thread; Ctrl+C arrives as a signal."""

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self.palette = PLAIN
        self.view: TurnView | None = None
        self._stdin = stdin
        self._stdout = stdout

    def width(self) -> int:
        """Columns lines are composed for."""
        return _WIDTH

    def show(self, text: str) -> None:
        """Print a text as lines."""
        self._stdout.write(unpainted(text) if text.endswith("\n") else f"{unpainted(text)}\n")
        self._stdout.flush()

    def bell(self) -> None:
        """Ring."""
        self._stdout.write("\a")
        self._stdout.flush()

    def watch(self, view: TurnView | None) -> None:
        """Nothing is live here."""
        self.view = view

    def changed(self) -> None:
        """Nothing is live here."""

    def activity(self) -> None:
        """Nothing is live here."""

    def read(self, prompt: str) -> str | None:
        """One entry: lines that end in a backslash go on, lines that come at once belong together. None at the end."""
        self._stdout.write(prompt)
        self._stdout.flush()
        lines: list[str] = []
        while True:
            line = self._stdin.readline()
            if not line:
                return "\n".join(lines) if lines else None
            line = _SEQUENCE.sub("", line.rstrip("\n"))  # a key that is no character: Shift+Tab, an arrow
            if line.endswith("\\"):
                lines.append(line[:-1])
                continue
            lines.append(line)
            if not select.select([self._stdin.fileno()], [], [], _BURST_SECONDS)[0]:
                return "\n".join(lines)

    def ask(self, dialog: Dialog, cancelled: Callable[[], bool]) -> Answer:
        """Put a question with numbered choices. What was typed before it was printed does not count."""
        if dialog.body:
            self.show(dialog.body)
        rows = [f"{number}. {option.label}" for number, option in enumerate(dialog.options, 1)]
        self.show("\n".join([dialog.question, *rows]))
        if dialog.guarded:
            termios.tcflush(self._stdin.fileno(), termios.TCIFLUSH)
        while not cancelled():
            typed = self._line("number: ")
            if typed is None:
                return DISMISSED
            option = next((o for n, o in enumerate(dialog.options, 1) if typed.lower() in (str(n), o.key)), None)
            if option is None:
                self.show(f"type a number from 1 to {len(dialog.options)}, then Enter; Ctrl+C leaves it")
                continue
            if not option.entry:
                return Answer(option.value)
            return Answer(option.value, self._line(f"{option.entry}: ") or option.prefill)
        return DISMISSED

    def edit(self, text: str, suffix: str) -> str:
        """`text` as the operator left it in their editor."""
        return edited(text, suffix)

    def page(self, text: str) -> None:
        """Print a long text: a reader of lines scrolls back by its own means."""
        self.show(text)

    def _line(self, prompt: str) -> str | None:
        self._stdout.write(prompt)
        self._stdout.flush()
        try:
            line = self._stdin.readline()
        except KeyboardInterrupt:
            return None
        return line.strip() if line else None
