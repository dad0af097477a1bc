"""Searching one index: which passages answer best, with the line that shows it (spec 4.5)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from spear.retrieval.store import failures, meta, open_reader
from spear.retrieval.words import Query, parts

_MARK, _UNMARK = "\x02", "\x03"
_CONSIDERED = 60
_NAME_AT_END = re.compile(r"\w+(?=\W*\Z)")
_SNIPPET_LINES = 3
_SNIPPET_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers. `line` is the first of `snippet`, at most three lines of 200 characters, as they stand in
    the tree when it was indexed; `coverage` is the share of the query's terms the passage holds, from 0 to 1."""

    path: str
    first_line: int
    last_line: int
    line: int
    title: str
    snippet: str
    coverage: float

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"


class Index:
    """An index open for reading; sees what writers commit meanwhile. Use as a context manager. Not thread-safe.

    Every method raises StateError when the file turns out to be damaged.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @classmethod
    def open(cls, path: Path) -> Index | None:
        """The index at `path`; None when nothing has been indexed there. Raises StateError: damaged, newer, older."""
        connection = open_reader(path)
        return None if connection is None else cls(path, connection)

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self.connection.close()

    @property
    def is_complete(self) -> bool:
        """Whether the last indexing ran to its end and met every file of the tree."""
        with failures(self.path):
            return meta(self.connection, "complete") == "1" and meta(self.connection, "partial") != "1"

    def ranked(self, query: Query, depth: int) -> tuple[int, ...]:
        """Numbers of the `depth` best passages by BM25, best first; phrases count as words when none has them. What
        defines a name that is asked for goes before what only uses it.
        """
        if query.is_empty:
            return ()
        considered = max(depth, _CONSIDERED) if query.names else depth
        with failures(self.path):
            found = self._matching(query.expression(), considered)
            if not found and query.phrases:
                found = self._matching(replace(query, phrases=()).expression(), considered)
        found.sort(key=lambda row: _defined_name(row[1]) not in query.names)
        return tuple(row[0] for row in found[:depth])

    def _matching(self, expression: str, depth: int) -> list[tuple[int, str]]:
        sql = "SELECT rowid, title FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"
        found = self.connection.execute(sql, (expression, depth)).fetchall()
        if not all(isinstance(title, str) for _, title in found):
            raise sqlite3.DatabaseError(_UNREADABLE)
        return found

    def hits(self, query: Query, numbers: Sequence[int]) -> tuple[Hit, ...]:
        """The passages of these numbers, in their order; one that was replaced meanwhile is left out."""
        with failures(self.path):
            rows = self._rows(query, numbers)
        return tuple(_hit(query, rows[number]) for number in numbers if number in rows)

    def search(self, query: Query, limit: int = 10) -> tuple[Hit, ...]:
        """The best passages by words alone."""
        return self.hits(query, self.ranked(query, limit))

    def _rows(self, query: Query, numbers: Iterable[int]) -> dict[int, Sequence[str | int]]:
        """Path, title, body with the matches marked, and lines of each passage."""
        found: dict[int, Sequence[str | int]] = {}
        marked = (
            "SELECT path, title, highlight(passages, 2, ?, ?), first_line, last_line FROM passages"
            " WHERE passages MATCH ? AND rowid = ?"
        )
        plain = "SELECT path, title, body, first_line, last_line FROM passages WHERE rowid = ?"
        expression = replace(query, phrases=()).expression() if not query.is_empty else ""
        for number in numbers:
            row = None
            if expression:
                row = self.connection.execute(marked, (_MARK, _UNMARK, expression, number)).fetchone()
            row = row or self.connection.execute(plain, (number,)).fetchone()
            if row is not None:
                found[number] = _sound(row)
        return found


_UNREADABLE = "one of its passages cannot be read"


def _sound(row: Sequence[str | int]) -> Sequence[str | int]:
    """A row of the kinds a writer of ours leaves. Raises sqlite3.DatabaseError for any other: the index is damaged."""
    *texts, first, last = row
    if not (all(isinstance(text, str) for text in texts) and isinstance(first, int) and isinstance(last, int)):
        raise sqlite3.DatabaseError(_UNREADABLE)
    return row


def _hit(query: Query, row: Sequence[str | int]) -> Hit:
    path, title, body, first, last = str(row[0]), str(row[1]), str(row[2]), int(row[3]), int(row[4])
    lines = body.split("\n")
    best = max(range(len(lines)), key=lambda number: (len(_matches(lines[number])), -number))
    if not _matches(lines[best]):
        best = 0
    shown = [_plain(line)[:_SNIPPET_CHARACTERS] for line in lines[best : best + _SNIPPET_LINES]]
    while len(shown) > 1 and not shown[-1].strip():
        shown.pop()
    return Hit(
        path, first, last, first + best, title, "\n".join(shown), _coverage(query, f"{path} {title} {_plain(body)}")
    )


def _matches(line: str) -> set[str]:
    return {piece.partition(_UNMARK)[0].lower() for piece in line.split(_MARK)[1:]}


def _plain(text: str) -> str:
    return text.replace(_MARK, "").replace(_UNMARK, "")


def _coverage(query: Query, text: str) -> float:
    """A term counts when the text holds it from the start of a word, so that an ending does not matter."""
    if query.is_empty:
        return 0.0
    words = _vocabulary(text)
    held = sum(any(word.startswith(term[:6]) for word in words) for term in query.terms)
    return held / len(query.terms)


def _vocabulary(text: str) -> Mapping[str, None]:
    found: dict[str, None] = {}
    for word in "".join(c if c.isalnum() else " " for c in text).split():
        for piece in (word, *parts(word)):
            found.setdefault(piece.lower())
    return found


def _defined_name(title: str) -> str:
    """`Ring.push` → `push`; that of a section is its last word, which is no name and does no harm."""
    found = _NAME_AT_END.search(title)
    return found[0].lower() if found else ""
