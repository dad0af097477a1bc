"""Cutting a text along its definitions: every line that is not blank lands in exactly one passage (spec 4.5).

The values are named tuples: tens of thousands are made a second, and a frozen dataclass costs three times as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

DEFINITION_LINES = 80
"""Lines a passage may have when it is one definition or section; a longer one becomes several."""

WINDOW_LINES = 40
"""Lines a passage may have when nothing tells where one thing ends and the next begins."""

PASSAGE_CHARACTERS = 4_000
"""Characters a passage may have; a line longer than that becomes several passages of the same line."""

_WHOLE_CONTAINER_LINES = 24
_STRAY_LINES = 2
_STRAY_WITH_BLANKS = 8


class Passage(NamedTuple):
    """One piece of a file: lines `first_line` to `last_line` (from 1, both included), what it is called, its text."""

    first_line: int
    last_line: int
    title: str
    text: str


class Definition(NamedTuple):
    """Something with a name from line `first` to line `last`; `inner` are the definitions a container holds."""

    first: int
    last: int
    title: str
    inner: tuple[Definition, ...] = ()


class Lines:
    """A text and its lines, without their LF. LF ends a line, as in every tool of the product."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")

    @property
    def count(self) -> int:
        """How many lines there are, the empty one after a last LF included."""
        return len(self.rows)


_Piece = tuple[int, int, str, int]
"""First line, last line, title, lines a passage of it may have."""


def cut(lines: Lines, definitions: Sequence[Definition]) -> tuple[Passage, ...]:
    """The passages of a text. Definitions may come from any parser, right or wrong: overlaps lose, nothing is lost."""
    found: list[Passage] = []
    for piece in _pieces(lines.rows, 1, lines.count, "", definitions):
        _fit(lines.rows, piece, found)
    return tuple(found)


def _pieces(rows: Sequence[str], first: int, last: int, title: str, definitions: Sequence[Definition]) -> list[_Piece]:
    """Lines `first` to `last` as pieces: the definitions, and what lies between them under the container's title."""
    found: list[_Piece] = []
    at = first
    between = DEFINITION_LINES if title else WINDOW_LINES
    for start, end, name, inner in definitions:
        start, end = max(start, at), min(end, last)
        if end < start:
            continue
        if start > at:
            _add_between(rows, found, (at, start - 1, title, between))
        if inner and end - start >= _WHOLE_CONTAINER_LINES:
            found += _pieces(rows, start, end, name, inner)
        else:
            found.append((start, end, name, DEFINITION_LINES))
        at = end + 1
    if at <= last:
        _add_between(rows, found, (at, last, title, between))
    return found


def _add_between(rows: Sequence[str], found: list[_Piece], piece: _Piece) -> None:
    """A stray line or two (a closing brace, a separator) stays with what precedes it."""
    first, last = piece[:2]
    if found and last - first < _STRAY_WITH_BLANKS and _full_lines(rows[first - 1 : last]) <= _STRAY_LINES:
        before, _, title, limit = found.pop()
        piece = (before, last, title, limit)
    found.append(piece)


def _full_lines(rows: Sequence[str]) -> int:
    return sum([bool(row.strip()) for row in rows])


def _fit(rows: Sequence[str], piece: _Piece, found: list[Passage]) -> None:
    """Add the piece without the blank lines around it, in as many passages as its size asks for."""
    first, last, title, limit = piece
    while True:
        while first <= last and not rows[first - 1].strip():
            first += 1
        while last > first and not rows[last - 1].strip():
            last -= 1
        if first > last:
            return
        stop = last
        text = "\n".join(rows[first - 1 : last]) if last - first < limit else ""
        if not text or len(text) > PASSAGE_CHARACTERS:
            stop = _break(rows, first, last, limit)
            text = "\n".join(rows[first - 1 : stop])
        if len(text) > PASSAGE_CHARACTERS:
            found += _long_line(text, first, title)
        else:
            found.append(Passage(first, stop, title, text))
        if stop == last:
            return
        first = stop + 1


def _break(rows: Sequence[str], first: int, last: int, limit: int) -> int:
    """The last line of a passage that begins at `first`: before a blank line in its second half, where there is one."""
    stop = first
    length = len(rows[first - 1])
    for row in rows[first : min(last, first + limit - 1)]:
        length += 1 + len(row)
        if length > PASSAGE_CHARACTERS:
            break
        stop += 1
    for line in range(stop, first + (stop - first) // 2, -1):
        if not rows[line - 1].strip():
            return line - 1
    return stop


def _long_line(text: str, number: int, title: str) -> Iterator[Passage]:
    for start in range(0, len(text), PASSAGE_CHARACTERS):
        part = text[start : start + PASSAGE_CHARACTERS]
        if part.strip():
            yield Passage(number, number, title, part)
