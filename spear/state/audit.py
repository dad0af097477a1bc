"""The audit log of a session: one hash-chained event a line (spec 3.8), written here and verified here.

Each line is the canonical JSON of `{ts, seq, session, turn, event, data, prev, hash}`; `hash` is the SHA-256 of the
canonical line without it, `prev` the hash of the line before. At each flush the head of the chain (seq and hash) goes
to `events.jsonl.heads`, so that lines cut off at the end, which a chain alone cannot miss, are missed too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from spear.events.names import EventName
from spear.state.lines import LineFile, TornLine, canonical, decode, read_lines, read_records, records_backwards
from spear.state.redaction import Redactor

GENESIS = "0" * 64
"""The `prev` of a session's first record."""

_FIELDS = frozenset({"ts", "seq", "session", "turn", "event", "data", "prev", "hash"})


def timestamp() -> str:
    """Now, as the log writes it: UTC, microseconds, sortable."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def heads_of(path: Path) -> Path:
    """Where the heads of the chain in `path` are kept."""
    return path.with_name(f"{path.name}.heads")


class AuditLog:
    """The event log of one session, opened for appending.

    Several processes may append to one log (a session resumed twice): each append continues the chain from what is
    on the disk. All data pass `redactor` first. Not durable until `flush`, which belongs at the end of a turn.
    """

    def __init__(self, path: Path, session: str, redactor: Redactor, *, clock: Callable[[], str] = timestamp) -> None:
        self.path = path
        self.session = session
        self._redactor = redactor
        self._clock = clock
        self._lines = LineFile(path)
        self._heads = LineFile(heads_of(path))
        self._seen = -1  # size of the file when _seq and _prev were right
        self._seq = 0
        self._prev = GENESIS

    @property
    def torn(self) -> tuple[TornLine, ...]:
        """Incomplete last lines this object has set aside, for a notice to the operator."""
        return (*self._lines.torn, *self._heads.torn)

    def append(self, event: EventName, turn: int, data: Mapping[str, Any]) -> int:
        """Write one event and return its seq (from 1). Raises StateError; the log is then as it was."""
        redacted = self._redactor.data(dict(data))
        with self._lines.locked() as size:
            if size != self._seen:
                self._seq, self._prev = self._last(size)
            record = {
                "ts": self._clock(),
                "seq": self._seq + 1,
                "session": self.session,
                "turn": turn,
                "event": event.value,
                "data": redacted,
                "prev": self._prev,
            }
            record["hash"] = hashlib.sha256(canonical(record)).hexdigest()
            self._seen = self._lines.write(canonical(record), size)
            self._seq, self._prev = self._seq + 1, record["hash"]
            return self._seq

    def flush(self) -> None:
        """Make everything appended durable and note the head of the chain. Raises StateError."""
        if self._seq:
            self._lines.flush()
            self._heads.append(canonical({"seq": self._seq, "hash": self._prev}))

    def close(self) -> None:
        """Flush and let the files go."""
        self.flush()
        self._lines.close()
        self._heads.close()

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _last(self, size: int) -> tuple[int, str]:
        """seq and hash of the last readable record; a damaged line stays for `verify` to report."""
        for line in self._lines.read_back(size):
            record = decode(line)
            if record is not None:
                seq, digest = record.get("seq"), record.get("hash")
                if isinstance(seq, int) and isinstance(digest, str):
                    return seq, digest
        return 0, GENESIS


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """One thing wrong with a log: the line (from 1; 0 for the file as a whole), its seq if known, what is wrong."""

    line: int
    seq: int | None
    what: str


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What verifying a log showed. `torn` is the size of an incomplete last line: reported, no damage to the chain."""

    path: Path
    records: int
    problems: tuple[ChainProblem, ...]
    torn: int = 0

    @property
    def ok(self) -> bool:
        """Nothing was removed, reordered or edited."""
        return not self.problems


def verify(path: Path) -> ChainReport:
    """Check every line of a log against the chain and the noted heads. Streams; raises StateError if unreadable.

    Whoever can write the whole directory can also forge a whole new chain; the log shows tampering with what is
    there, it does not prevent it.
    """
    problems: list[ChainProblem] = []
    hashes: dict[int, str] = {}
    heads = {head["seq"]: head["hash"] for head in read_records(heads_of(path)) if {"seq", "hash"} <= head.keys()}
    expected_seq, expected_prev, session = 1, GENESIS, path.parent.name
    line_number, length = 0, 0
    for line_number, line in enumerate(read_lines(path), 1):
        length += len(line) + 1
        record = decode(line)
        if record is None or record.keys() != _FIELDS or not isinstance(record["seq"], int):
            problems.append(ChainProblem(line_number, None, "is not a record"))
            continue
        seq = record["seq"]
        for what in _faults(line, record, expected_seq, expected_prev, session):
            problems.append(ChainProblem(line_number, seq, what))
        if seq in heads:
            hashes[seq] = record["hash"]
        expected_seq, expected_prev = seq + 1, record["hash"]
    for seq, digest in heads.items():
        if hashes.get(seq) != digest:
            what = "was replaced" if seq in hashes else "is missing, though it had been written"
            problems.append(ChainProblem(0, seq, f"record {seq} {what}"))
    torn = path.stat().st_size - length if path.exists() else 0
    if not path.exists():
        problems.append(ChainProblem(0, None, "the log is missing"))
    return ChainReport(path, line_number, tuple(problems), torn)


def _faults(line: bytes, record: dict[str, Any], expected_seq: int, expected_prev: str, session: str) -> Iterator[str]:
    """What is wrong with one record, given what had to come here."""
    unsigned = {key: value for key, value in record.items() if key != "hash"}
    try:
        intact = hashlib.sha256(canonical(unsigned)).hexdigest() == record["hash"] and canonical(record) == line
    except (ValueError, RecursionError):
        intact = False
    if not intact:
        yield "was edited: its hash does not match"
    if record["seq"] != expected_seq:
        yield f"is out of order: seq {record['seq']} where {expected_seq} belongs"
    elif record["prev"] != expected_prev:
        yield "does not continue the record before it"
    if record["session"] != session:
        yield f"belongs to session {record['session']}"


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a log, first to last, streamed; unreadable lines are passed over (`verify` reports them)."""
    return read_records(path)


def tail_records(path: Path, count: int) -> list[dict[str, Any]]:
    """The last `count` records, oldest first, in time that does not depend on the size of the log."""
    return list(islice(records_backwards(path), count))[::-1]


def tail_turns(path: Path, turns: int) -> list[dict[str, Any]]:
    """The records of the last `turns` turns, oldest first, for showing them again on resume (spec 8.3)."""
    kept: list[dict[str, Any]] = []
    seen: set[int] = set()
    for record in records_backwards(path):
        turn = record.get("turn")
        if isinstance(turn, int) and turn > 0:
            seen.add(turn)
        if len(seen) > turns:
            break
        kept.append(record)
    return kept[::-1]
