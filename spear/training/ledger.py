"""What curation must remember of every episode, kept on disk so that memory stays flat (spec 7)."""

from __future__ import annotations

import marshal
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
CREATE TABLE step (context TEXT, completion TEXT, desirable INTEGER, ordinal INTEGER, place INTEGER);
"""

_DIVIDED = "SELECT context FROM step GROUP BY context HAVING min(desirable) = 0 AND max(desirable) = 1 ORDER BY context"
_OBSERVED = (
    "SELECT min(ordinal), min(place) FROM step WHERE context = ?"
    " GROUP BY completion HAVING min(desirable) = {0} AND max(desirable) = {0} ORDER BY min(ordinal), completion"
)
_CHOSEN, _REJECTED = _OBSERVED.format(1) + " LIMIT 1", _OBSERVED.format(0)

_BATCH = 1_000
"""Rows that wait in memory before they are written together."""

_FIELD = 1 << 21
"""Bytes of a field of bits: one for each value of three bytes, or of six hex digits."""

_PREFIX = 6

_Observed = tuple[int, bytes, str, bool, Sequence[tuple[int, str, str]]]
"""Of one episode: its ordinal, its line in the manifest, its split, its outcome, its completions."""


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
        self._episodes = _Met(self._database, "episode")
        self._samples = _Met(self._database, "sample")
        self._families: set[tuple[str, str]] = set()
        self._waiting: list[_Observed] = []
        self._steps = path.with_suffix(".steps").open("w+b")
        self._contexts = bytearray(_FIELD), bytearray(_FIELD)

    def close(self) -> None:
        """Let the files go."""
        self._steps.close()
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def new_episode(self, sha256: str) -> bool:
        """Whether this episode was not seen before; it is now."""
        return self._episodes.add(bytes.fromhex(sha256))

    def new_sample(self, context: str, completion: str, desirable: bool) -> bool:
        """Whether no episode of the same outcome had the same target in the same context before."""
        return self._samples.add(bytes.fromhex(context) + bytes([desirable]) + bytes.fromhex(completion))

    def family(self, split: Split, name: str) -> None:
        """A family was met in a split."""
        self._families.add((split.value, name))
        if len(self._families) == _BATCH:
            self._flush()

    def families(self, split: Split) -> int:
        """How many families a split has."""
        self._flush()
        row = self._database.execute("SELECT count(*) FROM family WHERE split = ?", (split.value,)).fetchone()
        return int(row[0])

    def steps(
        self, ordinal: int, line: bytes, split: Split, desirable: bool, steps: Sequence[tuple[int, str, str]]
    ) -> None:
        """The completions of an episode of known outcome. `line` is the episode's in the manifest."""
        seen = self._contexts[desirable]
        for _, context, _ in steps:
            place = int(context[:_PREFIX], 16)
            seen[place >> 3] |= 1 << (place & 7)
        self._waiting.append((ordinal, line, split.value, desirable, steps))
        if len(self._waiting) == _BATCH:
            self._put()

    def pairs(self) -> Iterator[tuple[Spoken, Spoken]]:
        """Chosen and rejected completions of exactly the same context, in a fixed order.

        For each rejected completion the earliest chosen one. A completion that was seen with both outcomes says
        nothing by itself and is in no pair.
        """
        self._compare()
        for (context,) in self._database.execute(_DIVIDED):
            chosen = self._database.execute(_CHOSEN, (context,)).fetchone()
            if chosen is not None:
                for rejected in self._database.execute(_REJECTED, (context,)):
                    yield self._spoken(*chosen), self._spoken(*rejected)

    def _compare(self) -> None:
        """Put into the database what may be in a pair: what was said where, perhaps, both outcomes were seen."""
        bad, good = self._contexts
        both = (int.from_bytes(bad, "big") & int.from_bytes(good, "big")).to_bytes(_FIELD, "big")
        for ordinal, line, split, desirable, steps in self._observed():
            rows = [
                (context, completion, desirable, ordinal, place)
                for place, context, completion in steps
                if both[(at := int(context[:_PREFIX], 16)) >> 3] & 1 << (at & 7)
            ]
            if rows:
                self._database.execute("INSERT OR REPLACE INTO line VALUES (?, ?, ?)", (ordinal, line, split))
                self._database.executemany("INSERT INTO step VALUES (?, ?, ?, ?, ?)", rows)
        self._database.execute("CREATE INDEX by_context ON step (context)")

    def _put(self) -> None:
        block = marshal.dumps(self._waiting)
        self._steps.write(len(block).to_bytes(8, "big") + block)
        self._waiting = []

    def _observed(self) -> Iterator[_Observed]:
        """What was put, again."""
        self._put()
        self._steps.seek(0)
        while head := self._steps.read(8):
            yield from marshal.loads(self._steps.read(int.from_bytes(head, "big")))  # noqa: S302 - written here

    def _spoken(self, ordinal: int, place: int) -> Spoken:
        manifest, split = self._database.execute(
            "SELECT manifest, split FROM line WHERE ordinal = ?", (ordinal,)
        ).fetchone()
        return Spoken(ManifestLine.model_validate_json(manifest), place, Split(split))

    def _flush(self) -> None:
        self._database.executemany("INSERT OR IGNORE INTO family VALUES (?, ?)", self._families)
        self._families = set()


class _Met:
    """Which digests were met, exactly and in flat memory. A field of bits, two a digest (Bloom 1970), says of nearly
    all that they are new; they wait to be written together, and only for the rest is the table asked."""

    def __init__(self, database: sqlite3.Connection, table: str) -> None:
        self._database = database
        self._insert = f"INSERT OR IGNORE INTO {table} VALUES (?)"  # noqa: S608 - a name from this module
        self._field = bytearray(_FIELD)
        self._waiting: list[tuple[bytes]] = []

    def add(self, digest: bytes) -> bool:
        """Whether the digest was not met before; it is now."""
        field = self._field
        one, other = int.from_bytes(digest[:3], "big"), int.from_bytes(digest[-3:], "big")
        here, there = 1 << (one & 7), 1 << (other & 7)
        if field[one >> 3] & here and field[other >> 3] & there:
            self._write()
            return self._database.execute(self._insert, (digest,)).rowcount == 1
        field[one >> 3] |= here
        field[other >> 3] |= there
        self._waiting.append((digest,))
        if len(self._waiting) == _BATCH:
            self._write()
        return True

    def _write(self) -> None:
        self._database.executemany(self._insert, sorted(self._waiting))
        self._waiting = []
