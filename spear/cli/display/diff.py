"""A unified diff for a person: filtered, coloured by line, bounded (spec 2.1)."""

from __future__ import annotations

from spear.cli.display.filtering import escaped
from spear.cli.display.palette import Palette, Style


def painted_diff(text: str, palette: Palette) -> str:
    """Every line of a unified diff in the style of what it does. Control characters are written out."""
    return "\n".join(_line(line, palette) for line in escaped(text.rstrip("\n")).split("\n"))


def _line(line: str, palette: Palette) -> str:
    if line.startswith(("+++ ", "--- ", "diff ")):
        return palette.paint(Style.TITLE, line)
    if line.startswith("@@"):
        return palette.paint(Style.HUNK, line)
    if line.startswith("+"):
        return palette.paint(Style.ADDED, line)
    if line.startswith("-"):
        return palette.paint(Style.REMOVED, line)
    return line


def bounded(text: str, rows: int, more: str) -> str:
    """The first `rows` lines of `text`; when there are more, one line that says how many and `more`: where they are."""
    lines = text.split("\n")
    if len(lines) <= rows:
        return text
    return "\n".join([*lines[:rows], f"… {len(lines) - rows} more lines: {more}"])
