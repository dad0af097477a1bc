"""What curation must remember of every episode, kept on disk so that memory stays flat (spec 7)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from spear.training.lists import ManifestLine
from spear.training.vocabulary import Split

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE episode (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE sample (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE family (split TEXT, name TEXT, PRIMARY KEY (split, name)) WITHOUT ROWID;
CREATE TABLE line (ordinal INTEGER PRIMARY KEY, manifest BLOB, split TEXT);
CREATE TABLE step (context BLOB, completion BLOB, desirable INTEGER, ordinal INTEGER, place INTEGER);
"""

_DIVIDED = "SELECT context FROM step GROUP BY context HAVING min(desirable) = 0 AND max(desirable) = 1 ORDER BY context"
_OBSERVED = (
    "SELECT min(ordinal), min(place) FROM step WHERE context = ?"
    " GROUP BY completion HAVING min(desirable) = {0} AND max(desirable) = {0} ORDER BY min(ordinal), completion"
)
_CHOSEN, _REJECTED = _OBSERVED.format(1) + " LIMIT 1", _OBSERVED.format(0)

_BATCH = 1_000
"""Rows that wait in memory before they are written together."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One observed completion: the episode's manifest line, the place of the message in it, and its split."""

    line: ManifestLine
    place: int
    split: Split


class Ledger:
    """A scratch database, written once and read at the end. It holds digests and places, never text."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(_SCHEMA)
        self._database.execute("BEGIN")
        self._families: list[tuple[str, str]] = []
        self._listed: list[tuple[int, str, str]] = []
        self._steps: list[tuple[bytes, bytes, int, int, int]] = []

    def close(self) -> None:
        """Let the file go."""
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def new_episode(self, sha256: str) -> bool:
        """Whether this episode was not seen before; it is now."""
        return self._inserted("INSERT OR IGNORE INTO episode VALUES (?)", (bytes.fromhex(sha256)[:16],))

    def new_sample(self, context: str, completion: str, desirable: bool) -> bool:
        """Whether no episode of the same outcome had the same target in the same context before."""
        digest = bytes.fromhex(context + completion) + bytes([desirable])
        return self._inserted("INSERT OR IGNORE INTO sample VALUES (?)", (digest,))

    def family(self, split: Split, name: str) -> None:
        """A family was met in a split."""
        self._families.append((split.value, name))
        if len(self._families) == _BATCH:
            self._flush()

    def families(self, split: Split) -> int:
        """How many families a split has."""
        self._flush()
        row = self._database.execute("SELECT count(*) FROM family WHERE split = ?", (split.value,)).fetchone()
        return int(row[0])

    def steps(
        self, ordinal: int, line: ManifestLine, split: Split, desirable: bool, steps: Sequence[tuple[int, str, str]]
    ) -> None:
        """The completions of an episode of known outcome."""
        self._listed.append((ordinal, line.model_dump_json(), split.value))
        self._steps += [(bytes.fromhex(c), bytes.fromhex(s), int(desirable), ordinal, place) for place, c, s in steps]
        if len(self._steps) >= _BATCH:
            self._flush()

    def pairs(self) -> Iterator[tuple[Spoken, Spoken]]:
        """Chosen and rejected completions of exactly the same context, in a fixed order.

        For each rejected completion the earliest chosen one. A completion that was seen with both outcomes says
        nothing by itself and is in no pair.
        """
        self._flush()
        self._database.execute("CREATE INDEX IF NOT EXISTS by_context ON step (context)")
        for (context,) in self._database.execute(_DIVIDED):
            chosen = self._database.execute(_CHOSEN, (context,)).fetchone()
            if chosen is not None:
                for rejected in self._database.execute(_REJECTED, (context,)):
                    yield self._spoken(*chosen), self._spoken(*rejected)

    def _spoken(self, ordinal: int, place: int) -> Spoken:
        manifest, split = self._database.execute(
            "SELECT manifest, split FROM line WHERE ordinal = ?", (ordinal,)
        ).fetchone()
        return Spoken(ManifestLine.model_validate_json(manifest), place, Split(split))

    def _flush(self) -> None:
        self._database.executemany("INSERT OR IGNORE INTO family VALUES (?, ?)", self._families)
        self._database.executemany("INSERT INTO line VALUES (?, ?, ?)", self._listed)
        self._database.executemany("INSERT INTO step VALUES (?, ?, ?, ?, ?)", self._steps)
        self._families, self._listed, self._steps = [], [], []

    def _inserted(self, statement: str, values: tuple[bytes, ...]) -> bool:
        return self._database.execute(statement, values).rowcount == 1
