"""Which texts are analysed at all: size and characters, before any parser sees them (spec 2.6).

What the operator is shown and what the shell reads must be the same text. Characters that hide, reorder or end a line
only on a screen are refused by name; so is a text too large to judge.
"""

from __future__ import annotations

import unicodedata

from spear.shell.syntax import SyntaxProblem

MAX_BYTES = 64 * 1024
"""The longest script that is analysed, in bytes of UTF-8."""

START_DIRECTORY = "\ufdd0"
"""Stands for the directory a script starts in, inside word values that come from `$PWD`; never part of a text."""

_NAMES = {
    "\x00": "NUL",
    "\r": "carriage return",
    "\x1b": "escape",
    "\x7f": "delete",
    "\u2028": "line separator",
    "\u2029": "paragraph separator",
    START_DIRECTORY: "noncharacter",
}
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def screen(text: str) -> SyntaxProblem | None:
    """The first reason not to analyse `text`, None when there is none. Lines and columns are 1-based."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as problem:
        return _at(text, problem.start, "lone surrogate")
    if size > MAX_BYTES:
        return SyntaxProblem(f"the script is {size} bytes long; at most {MAX_BYTES} are analysed")
    if text.isprintable():
        return None
    for index, character in enumerate(text):
        name = _refused_name(character)
        if name:
            return _at(text, index, name)
    return None


def _refused_name(character: str) -> str:
    if character in "\n\t":
        return ""
    if character in _NAMES:
        return _NAMES[character]
    if character in _BIDIRECTIONAL:
        return unicodedata.name(character, "bidirectional control").lower()
    if unicodedata.category(character) == "Cc":
        return "control character"
    return ""


def _at(text: str, index: int, name: str) -> SyntaxProblem:
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    message = f"the script contains U+{ord(text[index]):04X} ({name}), which no command needs"
    return SyntaxProblem(message, line, column)
