"""The knowledge database: SQLite in WAL mode, versioned and migrated, many readers and one writer at a time (spec 4.3).

Every operation opens the database and closes it again: nothing is held between turns. A database that is newer than
this program, damaged, or somebody else's is a StateError that names the way out.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from spear.errors import StateError
from spear.state.files import open_private, state_error, write_all

APPLICATION_ID = 0x53504B4E
"""`SPKN`, in the header of the file: nothing else is opened as knowledge."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE records (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, kind TEXT NOT NULL,
            subject TEXT NOT NULL, statement TEXT NOT NULL, tags TEXT NOT NULL, path TEXT NOT NULL,
            provenance TEXT NOT NULL, verification TEXT NOT NULL, source_path TEXT, source_line INTEGER,
            source_quote TEXT, source_sha256 TEXT, state TEXT NOT NULL, version INTEGER NOT NULL,
            supersedes TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, actor TEXT NOT NULL)""",
        "CREATE INDEX records_by_workspace ON records (workspace, state)",
    ),
    (
        """CREATE TABLE journal (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
            record TEXT NOT NULL, workspace TEXT NOT NULL)""",
        "CREATE INDEX journal_by_record ON journal (record)",
        "INSERT INTO journal (at, actor, action, record, workspace) "
        "SELECT created, actor, 'recorded', id, workspace FROM records ORDER BY seq",
    ),
)
"""What takes the schema from each version to the next; its length is the version this program knows."""

_POLL_S = 0.02


class KnowledgeDatabase:
    """One database file. `busy_s` is how long a writer waits for another before it says who holds the database."""

    def __init__(self, path: Path, busy_s: float = 10.0) -> None:
        self.path = path
        self._busy_s = busy_s

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that only reads; None when there is no database yet (nothing is created by looking)."""
        if not self.path.exists():
            yield None
            return
        with self._translated("read"):
            connection = self._open_reading()
            try:
                if self._version(connection) < len(MIGRATIONS):
                    connection.close()
                    with self.writing():
                        pass
                    connection = self._open_reading()
                yield connection
            finally:
                connection.close()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction that is committed at the end, rolled back by an exception. One writer at a time
        of all processes; Raises StateError that names the holder when it does not let go.
        """
        with self._sole_writer(), self._translated("write"):
            self._create()
            connection = sqlite3.connect(self.path, timeout=self._busy_s, isolation_level=None)
            try:
                connection.row_factory = sqlite3.Row
                version = self._version(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    _migrate(connection, version)
                    yield connection
                except BaseException:  # whatever ended it, nothing half written stays
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            finally:
                connection.close()

    def erase_traces(self) -> None:
        """Leave no copy of deleted rows in free pages or in the write-ahead log."""
        with self._sole_writer(), self._translated("write"):
            connection = sqlite3.connect(self.path, timeout=self._busy_s, isolation_level=None)
            try:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

    def _open_reading(self) -> sqlite3.Connection:
        """A connection to read with. The last one to close tidies the write-ahead log away, so it may write where the
        file allows it; where the directory lets no `-shm` file be made, the file is read as it stands."""
        place = quote(str(self.path.resolve()))
        for options in ("mode=rw", "mode=ro&immutable=1"):
            connection = sqlite3.connect(
                f"file:{place}?{options}", uri=True, timeout=self._busy_s, isolation_level=None
            )
            connection.row_factory = sqlite3.Row
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.OperationalError as error:
                connection.close()
                if ("unable to open" in str(error) or "readonly" in str(error)) and "immutable" not in options:
                    continue
                raise
            except BaseException:  # a connection must not outlive the attempt
                connection.close()
                raise
            return connection
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _version(self, connection: sqlite3.Connection) -> int:
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        if application != APPLICATION_ID and (application or tables):
            raise StateError(f"{self.path} is a database of something else", hint=self._elsewhere())
        if version > len(MIGRATIONS):
            raise StateError(
                f"{self.path} was written by a newer spear-chat (schema {version}, this one knows {len(MIGRATIONS)})",
                hint=f"update spear-chat, or {self._elsewhere()}",
            )
        return version

    def _create(self) -> None:
        try:
            os.close(open_private(self.path, os.O_RDWR | os.O_CREAT))
        except OSError as error:
            raise state_error("write", self.path, error) from error

    def _elsewhere(self) -> str:
        return "name another file with --knowledge-db or SPEAR_KNOWLEDGE_DB"

    @contextlib.contextmanager
    def _translated(self, doing: str) -> Iterator[None]:
        """SQLite's errors as the sentences of spec 4.3."""
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the words of a damaged schema may be no text
            text = str(error)
            if "locked" in text or "busy" in text:
                raise StateError(
                    f"{self.path} is held by another program",
                    hint="close what has it open (fuser -v shows it) and retry",
                ) from error
            if "readonly" in text or "unable to open" in text:
                raise StateError(
                    f"cannot {doing} {self.path}: {text}", hint=f"make it yours and writable, or {self._elsewhere()}"
                ) from error
            if "full" in text or "disk I/O" in text:
                raise StateError(f"cannot {doing} {self.path}: {text}", hint="free some space and retry") from error
            raise StateError(
                f"{self.path} is damaged ({text})",
                hint=f"move it away and `spear-chat knowledge import` an export, or {self._elsewhere()}",
            ) from error

    @contextlib.contextmanager
    def _sole_writer(self) -> Iterator[None]:
        """Hold the writer's lock. It dies with its process; the file only carries the name of the holder."""
        place = self.path.with_name(self.path.name + ".writer")
        try:
            descriptor = open_private(place, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise state_error("write", place, error) from error
        try:
            deadline = time.monotonic() + self._busy_s
            while not _locked(descriptor):
                if time.monotonic() >= deadline:
                    holder = os.pread(descriptor, 64, 0).decode("ascii", "replace").strip() or "another process"
                    raise StateError(
                        f"{self.path} is being written by {holder}", hint="wait until it is done, or end that process"
                    )
                time.sleep(_POLL_S)
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            write_all(descriptor, f"process {os.getpid()}\n".encode())
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring the schema up to date inside the open transaction."""
    if version == len(MIGRATIONS):
        return
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
