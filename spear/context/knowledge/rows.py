"""Records as rows of the database: every statement of SQL that touches them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from spear.context.knowledge.records import Kind, Provenance, Record, Source, State, Verification

_COLUMNS = (
    "id, workspace, kind, subject, statement, tags, path, provenance, verification, source_path, source_line, "
    "source_quote, source_sha256, state, version, supersedes, created, updated, actor"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a record's history."""

    at: str
    actor: str
    action: str


def of_workspace(connection: sqlite3.Connection, keys: Sequence[str]) -> tuple[Record, ...]:
    """All records of a workspace, oldest first."""
    marks = ", ".join("?" * len(keys))
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM records WHERE workspace IN ({marks}) ORDER BY seq",  # noqa: S608 - only marks
        tuple(keys),
    )
    return tuple(_record(row) for row in rows)


def insert(connection: sqlite3.Connection, record: Record, action: str) -> None:
    """Add one record and the line of its history."""
    source = record.source
    values = (
        record.id, record.workspace, record.kind, record.subject, record.statement, json.dumps(record.tags),
        record.path, record.provenance, record.verification, source and source.path, source and source.line,
        source and source.quote,
        source and source.sha256, record.state, record.version, record.supersedes, record.created, record.updated,
        record.actor,
    )  # fmt: skip
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO records ({_COLUMNS}) VALUES ({marks})", values)  # noqa: S608 - only marks
    note(connection, record, action, record.created, record.actor)


def update(connection: sqlite3.Connection, record: Record, action: str, actor: str) -> None:
    """Write the state, verification and source of a record."""
    source = record.source
    connection.execute(
        "UPDATE records SET state = ?, verification = ?, source_line = ?, source_sha256 = ?, updated = ? WHERE id = ?",
        (
            record.state,
            record.verification,
            source and source.line,
            source and source.sha256,
            record.updated,
            record.id,
        ),
    )
    note(connection, record, action, record.updated, actor)


def note(connection: sqlite3.Connection, record: Record, action: str, at: str, actor: str) -> None:
    """Add a line to the history."""
    connection.execute(
        "INSERT INTO journal (at, actor, action, record, workspace) VALUES (?, ?, ?, ?, ?)",
        (at, actor, action, record.id, record.workspace),
    )


def history(connection: sqlite3.Connection, identity: str) -> tuple[Entry, ...]:
    """What happened to a record, oldest first."""
    rows = connection.execute("SELECT at, actor, action FROM journal WHERE record = ? ORDER BY seq", (identity,))
    return tuple(Entry(row["at"], row["actor"], row["action"]) for row in rows)


def taken(connection: sqlite3.Connection, identity: str) -> bool:
    """Whether some record, of any workspace, has the id."""
    return connection.execute("SELECT 1 FROM records WHERE id = ?", (identity,)).fetchone() is not None


def delete_workspace(connection: sqlite3.Connection, keys: Sequence[str]) -> int:
    """Remove every record and every line of history of a workspace; how many records."""
    marks = ", ".join("?" * len(keys))
    connection.execute(f"DELETE FROM journal WHERE workspace IN ({marks})", tuple(keys))  # noqa: S608 - only marks
    done = connection.execute(f"DELETE FROM records WHERE workspace IN ({marks})", tuple(keys))  # noqa: S608 - only marks
    return done.rowcount


def _record(row: sqlite3.Row) -> Record:
    try:
        return _read(row)
    except (ValueError, TypeError) as error:  # no writer of ours left such a row
        raise sqlite3.DatabaseError(f"record {row['id']} cannot be read: {error}") from error


def _read(row: sqlite3.Row) -> Record:
    if any(isinstance(value, bytes) for value in tuple(row)):
        raise TypeError("text is expected")
    source = None
    if row["source_path"]:
        source = Source(row["source_path"], row["source_line"], row["source_quote"], row["source_sha256"])
    return Record(
        row["id"], row["workspace"], Kind(row["kind"]), row["subject"], row["statement"],
        tuple(json.loads(row["tags"])), row["path"], Provenance(row["provenance"]), Verification(row["verification"]),
        source, State(row["state"]),
        row["version"], row["supersedes"], row["created"], row["updated"], row["actor"],
    )  # fmt: skip
