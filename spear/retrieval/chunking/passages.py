"""Cutting a text along its definitions: every line that is not blank lands in exactly one passage (spec 4.5).

The values are named tuples: tens of thousands are made a second, and a frozen dataclass costs three times as much.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
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


class _Piece(NamedTuple):
    first: int
    last: int
    title: str
    limit: int


class Lines:
    """A text and where its lines start. LF ends a line, as in every tool of the product."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *accumulate(map((1).__add__, map(len, text.split("\n"))))]

    @property
    def count(self) -> int:
        """How many lines there are, the empty one after a last LF included."""
        return len(self._starts) - 1

    def number(self, offset: int) -> int:
        """The line (from 1) of a character offset."""
        return bisect_right(self._starts, offset)

    def slice(self, first: int, last: int) -> str:
        """The text of lines `first` to `last`, without the last LF."""
        return self.text[self._starts[first - 1] : self._starts[last] - 1]

    def length(self, first: int, last: int) -> int:
        """Characters from line `first` to line `last`."""
        return self._starts[last] - self._starts[first - 1]


def cut(lines: Lines, definitions: Sequence[Definition]) -> tuple[Passage, ...]:
    """The passages of a text. Definitions may come from any parser, right or wrong: overlaps lose, nothing is lost."""
    pieces = _pieces(lines, 1, lines.count, "", definitions)
    return tuple(passage for piece in pieces for passage in _fitted(lines, piece))


def _pieces(lines: Lines, first: int, last: int, title: str, definitions: Sequence[Definition]) -> list[_Piece]:
    """Lines `first` to `last` as pieces: the definitions, and what lies between them under the container's title."""
    found: list[_Piece] = []
    at = first
    between = DEFINITION_LINES if title else WINDOW_LINES
    for definition in definitions:
        start, end = max(definition.first, at), min(definition.last, last)
        if end < start:
            continue
        if start > at:
            _add_between(lines, found, _Piece(at, start - 1, title, between))
        if definition.inner and end - start >= _WHOLE_CONTAINER_LINES:
            found += _pieces(lines, start, end, definition.title, definition.inner)
        else:
            found.append(_Piece(start, end, definition.title, DEFINITION_LINES))
        at = end + 1
    if at <= last:
        _add_between(lines, found, _Piece(at, last, title, between))
    return found


def _add_between(lines: Lines, found: list[_Piece], piece: _Piece) -> None:
    """A stray line or two (a closing brace, a separator) stays with what precedes it."""
    if found and piece.last - piece.first < _STRAY_WITH_BLANKS and _full_lines(lines, piece) <= _STRAY_LINES:
        before = found.pop()
        found.append(_Piece(before.first, piece.last, before.title, before.limit))
    else:
        found.append(piece)


def _full_lines(lines: Lines, piece: _Piece) -> int:
    return sum(bool(line.strip()) for line in lines.slice(piece.first, piece.last).split("\n"))


def _fitted(lines: Lines, piece: _Piece) -> Iterator[Passage]:
    """The piece without the blank lines around it, in as many passages as its size asks for."""
    first, last = _without_blanks(lines, piece.first, piece.last)
    while first <= last:
        if last - first < piece.limit and lines.length(first, last) <= PASSAGE_CHARACTERS:
            yield Passage(first, last, piece.title, lines.slice(first, last))
            return
        stop = _break(lines, first, last, piece.limit)
        if lines.length(first, stop) > PASSAGE_CHARACTERS:
            yield from _long_line(lines, first, piece.title)
        else:
            yield Passage(first, stop, piece.title, lines.slice(first, stop))
        first, last = _without_blanks(lines, stop + 1, last)


def _without_blanks(lines: Lines, first: int, last: int) -> tuple[int, int]:
    while first <= last and not lines.slice(first, first).strip():
        first += 1
    while last > first and not lines.slice(last, last).strip():
        last -= 1
    return first, last


def _break(lines: Lines, first: int, last: int, limit: int) -> int:
    """The last line of a passage that begins at `first`: before a blank line in its second half, where there is one."""
    stop = min(last, first + limit - 1)
    while stop > first and lines.length(first, stop) > PASSAGE_CHARACTERS:
        stop -= 1
    for line in range(stop, first + (stop - first) // 2, -1):
        if not lines.slice(line, line).strip():
            return line - 1
    return stop


def _long_line(lines: Lines, number: int, title: str) -> Iterator[Passage]:
    text = lines.slice(number, number)
    for start in range(0, len(text), PASSAGE_CHARACTERS):
        part = text[start : start + PASSAGE_CHARACTERS]
        if part.strip():
            yield Passage(number, number, title, part)
