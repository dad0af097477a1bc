"""`indexes/units.sqlite3`: where each unit lies, by its label, section and words; derived from the corpus (spec 5.1).

Words are indexed twice by FTS5 with stemming: clause by clause, where a question finds its place, and unit by unit,
where it finds the sentence. The texts themselves stay in the corpus.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from spear.errors import StateError
from spear.retrieval.words import MixedCase
from spear.standards.corpus import Corpus
from spear.standards.units import Kind, Unit
from spear.state.files import open_private, state_error, sync_directory

FILE = "units.sqlite3"
FORM = 2
_UNSEARCHED = frozenset({Kind.FRONT_MATTER, Kind.FURNITURE})
_STEP = 2_000
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE clauses (number INTEGER PRIMARY KEY, section TEXT, folded TEXT, title TEXT);
CREATE TABLE units (
    position INTEGER PRIMARY KEY, clause INTEGER, kind TEXT, unit_id TEXT, label TEXT, folded TEXT, ordinal TEXT,
    at INTEGER, length INTEGER
);
CREATE VIRTUAL TABLE clause_words USING fts5(title, path, labels, body, content = '',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE passages (number INTEGER PRIMARY KEY, position INTEGER);
CREATE VIRTUAL TABLE passage_words USING fts5(label, text, content = '',
    tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO clause_words (clause_words, rank) VALUES ('rank', 'bm25(3.0, 1.0, 2.0, 1.0)');
"""
_LOOKUPS = """
CREATE INDEX clauses_by_section ON clauses (folded);
CREATE INDEX units_by_clause ON units (clause);
CREATE INDEX units_by_id ON units (unit_id);
CREATE INDEX units_by_label ON units (folded) WHERE folded != '';
CREATE INDEX units_by_ordinal ON units (ordinal) WHERE ordinal != '';
CREATE INDEX units_by_kind ON units (kind) WHERE kind = 'table';
INSERT INTO clause_words (clause_words) VALUES ('optimize');
INSERT INTO passage_words (passage_words) VALUES ('optimize');
CREATE INDEX passages_by_unit ON passages (position);
"""


def folded(label: str) -> str:
    """A label or section as it is looked up: case and runs of white space do not matter."""
    return " ".join(label.casefold().split())


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its number in the document's order, its section, its heading."""

    number: int
    section: str
    title: str


@dataclass(slots=True)
class _Draft:
    """A clause while its units are gathered."""

    number: int
    section: str
    path: tuple[str, ...]
    labels: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)

    def row(self) -> tuple[object, ...]:
        return self.number, self.section, folded(self.section), self.path[-1] if self.path else ""


def build_index(
    directory: Path, corpus: Corpus, corpus_sha256: str, step: Callable[[int], None] = lambda _: None
) -> None:
    """Make the index of a corpus anew, whole or not at all, on the disk when this returns. `step` is told how many
    units are done and may raise. Raises StateError."""
    path = directory / FILE
    beside = directory / f".{FILE}.new"
    try:
        beside.unlink(missing_ok=True)
        os.close(open_private(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR))
        with _failures(path), contextlib.closing(sqlite3.connect(beside)) as connection:
            connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {_TABLES}")
            _fill(connection, corpus, step)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", (("form", FORM), ("corpus", corpus_sha256)))
            connection.executescript(_LOOKUPS)  # commits what was filled in first
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
        sync_directory(directory)
    except OSError as error:
        raise state_error("write", path, error) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, corpus: Corpus, step: Callable[[int], None]) -> None:
    drafts: dict[tuple[str, tuple[str, ...]], _Draft] = {}
    humps = MixedCase()
    for position, (at, length, unit) in enumerate(corpus.placed(), 1):
        key = (unit.section, unit.heading_path)
        clause = drafts.setdefault(key, _Draft(len(drafts) + 1, unit.section, unit.heading_path))
        connection.execute(
            "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (position, clause.number, unit.kind, unit.unit_id, unit.label, folded(unit.label), unit.ordinal.casefold(),
             at, length),
        )  # fmt: skip
        if unit.kind not in _UNSEARCHED:
            words = _searched(unit, humps)
            clause.body.append(words)
            if unit.label:
                clause.labels.append(unit.label)
            for text in _passages(unit, words):
                number = connection.execute("INSERT INTO passages (position) VALUES (?)", (position,)).lastrowid
                connection.execute(
                    "INSERT INTO passage_words (rowid, label, text) VALUES (?, ?, ?)", (number, unit.label, text)
                )
        if position % _STEP == 0:
            step(position)
    for draft in drafts.values():
        connection.execute("INSERT INTO clauses VALUES (?, ?, ?, ?)", draft.row())
        if draft.body:
            connection.execute(
                "INSERT INTO clause_words (rowid, title, path, labels, body) VALUES (?, ?, ?, ?, ?)",
                (draft.number, draft.row()[3], " ".join(draft.path[:-1]), " ".join(draft.labels),
                 "\n".join(draft.body)),
            )  # fmt: skip


def _passages(unit: Unit, words: str) -> Iterator[str]:
    """What a question is compared with one by one: the rows of a table, each with its header; any other unit whole."""
    header, *rows = unit.rows or ((),)
    if not rows:
        yield words
    for row in rows:
        yield "\n".join((*row, *header))


def _searched(unit: Unit, humps: MixedCase) -> str:
    """The words a unit is found by: its text, and the parts of identifiers in mixed case."""
    split = humps.of(unit.text)
    return f"{unit.text}\n{split}" if split else unit.text


class UnitIndex:
    """An index open for reading. Raises StateError when the file turns out to be damaged. Use as a context manager."""

    def __init__(self, directory: Path, corpus_sha256: str) -> None:
        """Open the index in `directory`. Raises StateError: there is none, or it is not of this corpus."""
        self._path = directory / FILE
        hint = "make it anew: spear-chat standard rebuild"
        if not self._path.exists():
            raise StateError(f"there is no index {self._path}", hint=hint)
        with _failures(self._path):
            # Completion asks from a thread of its own; each thread has its own open index.
            self.connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            meta = dict(self._all("SELECT key, value FROM meta"))
        if meta.get("form") != FORM or meta.get("corpus") != corpus_sha256:
            self.close()
            raise StateError(f"the index {self._path} was not made from this corpus by this version", hint=hint)

    def places(self, condition: str, *values: object) -> list[tuple[int, int]]:
        """Offsets and lengths, in the order of the document, of the units for which an SQL condition holds."""
        return self._all(f"SELECT at, length FROM units WHERE {condition} ORDER BY position", *values)  # noqa: S608

    def with_label(self, label: str) -> list[tuple[int, int]]:
        """Places of the units a label is printed for."""
        return self.places("folded = ? AND folded != ''", folded(label))

    def with_ordinal(self, ordinal: str) -> list[tuple[int, int]]:
        """Places of the units of a printed ordinal, whatever their kind."""
        return self.places("ordinal = ? AND ordinal != ''", ordinal.casefold().strip())

    def clauses_of(self, section: str) -> tuple[Clause, ...]:
        """The clauses of a section number, or a heading in a document without numbers."""
        rows = self._all("SELECT number, section, title FROM clauses WHERE folded = ? ORDER BY number", folded(section))
        return tuple(Clause(*row) for row in rows)

    def clauses_below(self, section: str, most: int) -> tuple[Clause, ...]:
        """The clauses whose number goes on from that of a section."""
        rows = self._all(
            "SELECT number, section, title FROM clauses WHERE folded > ? AND folded < ? ORDER BY number LIMIT ?",
            f"{folded(section)}.", f"{folded(section)}/", most,
        )  # fmt: skip
        return tuple(Clause(*row) for row in rows)

    def labels(self, beginning: str, most: int) -> tuple[str, ...]:
        """Labels that begin so."""
        low = folded(beginning) + (" " if beginning.endswith(" ") and beginning.strip() else "")
        rows = self._all(
            "SELECT DISTINCT label FROM units WHERE folded != '' AND folded >= ? AND folded < ?"
            " ORDER BY folded LIMIT ?",
            low, f"{low}\U0010ffff", most,
        )  # fmt: skip
        return tuple(label for (label,) in rows)

    def sections(self, beginning: str, most: int) -> tuple[str, ...]:
        """Sections that begin so."""
        low = folded(beginning)
        rows = self._all(
            "SELECT DISTINCT section FROM clauses WHERE folded != '' AND folded >= ? AND folded < ?"
            " ORDER BY folded LIMIT ?",
            low, f"{low}\U0010ffff", most,
        )  # fmt: skip
        return tuple(section for (section,) in rows)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query of a search yields."""
        return self._all(sql, *values)

    def close(self) -> None:
        """Give the file back."""
        with contextlib.suppress(AttributeError):
            self.connection.close()

    def __enter__(self) -> UnitIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with _failures(self._path):
            return self.connection.execute(sql, values).fetchall()


@contextlib.contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        hint = (
            "the disk is full: free some space, or choose another directory with --state-dir"
            if name.startswith("SQLITE_FULL")
            else "make it anew: spear-chat standard rebuild"
        )
        raise StateError(f"the index {path} cannot be used: {error}", hint=hint) from error


def counted(units: Iterable[Unit]) -> tuple[dict[str, int], int]:
    """How many units of each kind there are, and how many clauses."""
    counts: dict[str, int] = {}
    sections: set[tuple[str, tuple[str, ...]]] = set()
    for unit in units:
        counts[unit.kind.value] = counts.get(unit.kind.value, 0) + 1
        if unit.section:
            sections.add((unit.section, unit.heading_path))
    return dict(sorted(counts.items())), len(sections)
