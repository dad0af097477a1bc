"""The file an index lives in: its schema, how it is opened, its one writer, what its failures mean (spec 4.5, 9.2)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from spear.errors import StateError
from spear.state.files import open_private, state_error

SCHEMA = 1
"""Version of what follows. An older index is rebuilt by the next indexing, a newer one is refused."""

_BUSY_MS = 5_000
_NAMED_S = 0.5
_PAGE_BYTES = 16_384
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, sha256 BLOB NOT NULL, stamp TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE passages USING fts5 (
    path, title, body, parts, first_line UNINDEXED, last_line UNINDEXED,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE vectors (passage INTEGER PRIMARY KEY, vector BLOB NOT NULL);
INSERT INTO passages (passages, rank) VALUES ('rank', 'bm25(2.0, 4.0, 1.0, 0.7)'), ('automerge', 16);
INSERT INTO meta VALUES ('next', 1), ('complete', 0), ('partial', 0);
"""


def open_reader(path: Path) -> sqlite3.Connection | None:
    """The index for reading; None when there is none yet. Raises StateError when it is damaged, newer or older."""
    if not path.exists():
        return None
    with failures(path):
        # Used by one thread at a time, not always the one that opened it: what reads ahead does so in its own.
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_MS / 1000, check_same_thread=False
        )
        try:
            version = _version(connection)
            if version is None or version < SCHEMA:
                raise StateError(
                    f"the index {path} is empty or of an older form", hint="bring it up to date: spear-index"
                )
            _refuse_newer(path, version)
        except BaseException:
            connection.close()
            raise
        return connection


@contextlib.contextmanager
def writer(path: Path, *, rebuild: bool = False) -> Iterator[sqlite3.Connection]:
    """The index for writing, made when missing, by one process at a time; readers go on meanwhile. `rebuild` throws
    away what is there, whatever its state.

    Raises StateError: another process writes it, it is damaged or newer, the disk is full.
    """
    with _alone(path), failures(path):
        if rebuild:
            _remove(path)
        connection = _open_writer(path)
        try:
            version = _version(connection)
            if version is not None and version < SCHEMA:
                connection.close()
                _remove(path)
                connection = _open_writer(path)
                version = None
            if version is None:
                connection.executescript(f"BEGIN; {_TABLES}")
                set_meta(connection, "schema", SCHEMA)
                connection.commit()
            else:
                _refuse_newer(path, version)
            yield connection
            connection.commit()
        finally:
            connection.close()


@contextlib.contextmanager
def failures(path: Path) -> Iterator[None]:
    """Turn what SQLite reports about `path` into a StateError with the way out."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the words of a damaged schema may be no text
        raise StateError(f"the index {path} cannot be used: {error}", hint=_hint(error)) from error
    except OSError as error:
        raise state_error("use the index", path, error) from error


def meta(connection: sqlite3.Connection, key: str) -> str:
    """One entry of the index about itself, as text; empty when it is not there."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row[0])


def meta_number(connection: sqlite3.Connection, key: str) -> int:
    """One entry that is a number. Raises sqlite3.DatabaseError where it is none: no writer of ours left it so."""
    text = meta(connection, key)
    try:
        return int(text)
    except ValueError as error:
        raise sqlite3.DatabaseError(f"its entry {key} is {text[:40]!r}, not a number") from error


def set_meta(connection: sqlite3.Connection, key: str, value: str | int) -> None:
    """Write one entry; the caller commits."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _open_writer(path: Path) -> sqlite3.Connection:
    os.close(open_private(path, os.O_CREAT | os.O_RDWR))
    connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000)
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a new file; an old one keeps its own
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int | None:
    """The schema of an index; None for a database without tables."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        return None
    return meta_number(connection, "schema")


def _refuse_newer(path: Path, version: int) -> None:
    if version > SCHEMA:
        raise StateError(
            f"the index {path} was made by a newer version (form {version}, this one reads {SCHEMA})",
            hint="update spear-chat, or make it anew: spear-index --rebuild",
        )


def _hint(error: Exception) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another process is writing it; try again when it is done"
    if name.startswith("SQLITE_FULL"):
        return "the disk is full: free some space, or choose another directory with --state-dir"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return "make it yours and writable, or choose another directory with --state-dir"
    return "it is derived from the tree and can be made anew: spear-index --rebuild"


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Be the one process that writes `path`. The kernel lets go when the process dies, however it dies."""
    lock = path.with_name(path.name + ".lock")
    with failures(path):
        descriptor = open_private(lock, os.O_CREAT | os.O_RDWR)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StateError(
                f"the index {path} is being written by {_holder(descriptor)}",
                hint="wait for it to end; searching works meanwhile",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    """Who holds the lock. A process that has just taken it has not written its number yet: it is waited for."""
    deadline = time.monotonic() + _NAMED_S
    while not (number := os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()):
        if time.monotonic() >= deadline:
            return "another process"
        time.sleep(0.005)
    return f"process {number}"


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
