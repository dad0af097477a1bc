"""What each key does: one table `/help` and the documentation read (spec 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spear.cli.keystrokes import DEFAULTS, shown


@dataclass(frozen=True, slots=True)
class KeyHelp:
    """What keys do in each state of the chat. `keys` are those that stay, `action` the one whose keys `[keys]` may
    change; Esc twice is an action of its own."""

    keys: str
    idle: str
    with_text: str
    running: str
    question: str
    action: str = ""

    def label(self, bound: Mapping[str, tuple[str, ...]] = DEFAULTS) -> str:
        """The keys as a person writes them, with those of the action as they are `bound`."""
        return ", ".join([*(shown(text) for text in bound.get(self.action, ())), *filter(None, [self.keys])]) or "–"


_OUTPUT = "all of the last output"

KEYS: tuple[KeyHelp, ...] = (
    KeyHelp("Enter", "nothing", "submit", "queue", "nothing until a choice is focused, then confirm"),
    KeyHelp("\\ Enter", "new line", "new line", "new line", "new line in an entry", "newline"),
    KeyHelp("Ctrl+C", "twice within a second: exit", "clear, kept in history", "stop the command, then the turn", "no"),
    KeyHelp("", "nothing", "nothing", "stop the turn, queued text comes back", "dismiss", "stop"),
    KeyHelp("", "choose a turn to take back", "nothing", "nothing", "nothing", "rewind"),
    KeyHelp("", "exit", "Ctrl+D deletes the character", "Ctrl+D deletes the character", "nothing", "exit"),
    KeyHelp("", "nothing", "nothing", "hand the text to the turn at the next tool boundary", "nothing", "steer"),
    KeyHelp("Ctrl+R", "search history", "search history", "search history", "nothing"),
    KeyHelp("Tab", "complete", "complete", "complete", "next choice"),
    KeyHelp("", "safe ⇄ ask", "safe ⇄ ask", "safe ⇄ ask, from the next call", "previous choice", "mode"),
    KeyHelp("", _OUTPUT, _OUTPUT, _OUTPUT, "the whole text", "expand"),
    KeyHelp("", "open the editor", "open the editor", "open the editor", "nothing", "editor"),
    KeyHelp("Up, Down", "history", "lines, then history", "lines, then history", "previous, next choice"),
)
"""The table of `docs/repl.md`."""
