"""Painted prose folded at blanks to the width of a terminal, its indentation kept (spec 8.2).

A terminal left to itself breaks lines in the middle of words. Words longer than a row stay whole: a path or a command
that was cut could not be copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.cli.display.palette import unpainted

_CODE = re.compile(r"\x1b\[[0-9;]*m")
_RESET = "\x1b[0m"
_NARROWEST = 20


def wrapped(text: str, width: int, column: int | None = None) -> str:
    """`text` with every line wider than `width` cells folded; what follows stands two columns further in, or at
    `column`, as in a table whose last column is prose, where that leaves room."""
    return "\n".join(row for line in text.split("\n") for row in _folded(line, max(_NARROWEST, width), column))


def _folded(line: str, width: int, column: int | None) -> Iterator[str]:
    if _cells(line) <= width:
        yield line
        return
    plain = unpainted(line)
    further_in = min(len(plain) - len(plain.lstrip(" ")), width // 2) + 2
    hanging = " " * (column if column is not None and column <= width // 2 else further_in)
    row, *rest = re.split(r"(?<=\S)( +)(?=\S)", line)
    style = _style_after(row, "")
    for gap, word in zip(rest[::2], rest[1::2], strict=True):
        if _cells(row + gap + word) > width:
            yield row + (_RESET if style else "")
            row = hanging + style + word
        else:
            row += gap + word
        style = _style_after(word, style)
    yield row


def _style_after(text: str, style: str) -> str:
    """The code in force behind `text`, "" for none."""
    for code in _CODE.findall(text):
        style = "" if code == _RESET else code
    return style


def _cells(text: str) -> int:
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(unpainted(text))
