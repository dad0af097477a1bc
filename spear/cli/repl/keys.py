"""What each key does: one table the bindings, `/help` and the documentation read (spec 8.2)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyHelp:
    """Keys as a person writes them, and what they do in each state of the chat."""

    keys: str
    idle: str
    with_text: str
    running: str
    question: str


KEYS: tuple[KeyHelp, ...] = (
    KeyHelp("Enter", "nothing", "submit", "queue", "nothing until a choice is focused, then confirm"),
    KeyHelp("Ctrl+J, Alt+Enter, \\ Enter", "new line", "new line", "new line", "new line in an entry"),
    KeyHelp("Ctrl+C", "twice within a second: exit", "clear, kept in history", "stop the command, then the turn", "no"),
    KeyHelp("Esc", "twice: choose a turn to take back", "nothing", "stop the turn, queued text comes back", "dismiss"),
    KeyHelp("Ctrl+D", "exit", "delete the character", "delete the character", "nothing"),
    KeyHelp("Ctrl+S", "nothing", "nothing", "hand the text to the turn at the next tool boundary", "nothing"),
    KeyHelp("Ctrl+R", "search history", "search history", "search history", "nothing"),
    KeyHelp("Tab", "complete", "complete", "complete", "next choice"),
    KeyHelp("Shift+Tab", "safe ⇄ ask", "safe ⇄ ask", "safe ⇄ ask, from the next call", "previous choice"),
    KeyHelp("Ctrl+O", "all of the last output", "all of the last output", "all of the last output", "the whole text"),
    KeyHelp("Ctrl+X Ctrl+E", "open the editor", "open the editor", "open the editor", "nothing"),
    KeyHelp("Up, Down", "history", "lines, then history", "lines, then history", "previous, next choice"),
)
"""The table of `docs/repl.md`."""
