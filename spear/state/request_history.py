"""The searchable history of requests: an index over what was asked and answered, pruned without touching the archive.

The archive is the record of the sessions (spec 3.8); `/forget` takes matching entries out of this index only.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spear.errors import StateError, UsageError
from spear.state.files import make_private_directory

_SCHEMA = 1
_BUSY_S = 10.0
_ANSWER_KEPT = 4_000
_CREATE = """
create virtual table if not exists entries using fts5(
    request, answer, session unindexed, turn unindexed, workspace unindexed, at unindexed, tokenize='porter unicode61');
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One request as it was asked. `at` is ISO 8601 in UTC."""

    session: str
    turn: int
    workspace: str
    at: str
    request: str


class RequestHistory:
    """The index at `path`, created at the first entry. Methods raise StateError when the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, entry: Entry, answer: str) -> None:
        """Index a finished turn; both texts are expected to be redacted already."""
        with self._open(create=True) as database:
            database.execute(
                "insert into entries (request, answer, session, turn, workspace, at) values (?, ?, ?, ?, ?, ?)",
                (entry.request, answer[:_ANSWER_KEPT], entry.session, entry.turn, entry.workspace, entry.at),
            )

    def search(self, words: str, workspace: str | None = None, limit: int = 20) -> list[Entry]:
        """Entries that hold every word, best first; of one workspace, or of all. Any text is a query."""
        quoted = " ".join(f'"{word}"' for word in re.findall(r"\w+", words))
        if not quoted or not self._path.exists():
            return []
        with self._open(create=False) as database:
            rows = database.execute(
                "select session, turn, workspace, at, request from entries where entries match :words"
                " and (:workspace is null or workspace = :workspace) order by rank limit :most",
                {"words": quoted, "workspace": workspace, "most": limit},
            ).fetchall()
        return [Entry(*row) for row in rows]

    def forget(self, pattern: str) -> int:
        """Take entries whose request or answer matches a regular expression out of the index; how many they were.

        Raises UsageError for an expression that is none.
        """
        try:
            wanted = re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            raise UsageError(
                f"{pattern} is no regular expression: {error}", hint="quote what should match literally"
            ) from error
        if not self._path.exists():
            return 0
        with self._open(create=False) as database:
            rows = database.execute("select rowid, request, answer from entries").fetchall()
            gone = [(rowid,) for rowid, request, answer in rows if wanted.search(request) or wanted.search(answer)]
            database.executemany("delete from entries where rowid = ?", gone)
            database.execute("insert into entries (entries) values ('optimize')")
        return len(gone)

    @contextmanager
    def _open(self, *, create: bool) -> Iterator[sqlite3.Connection]:
        try:
            if create:
                make_private_directory(self._path.parent)
                if not self._path.exists():
                    self._path.touch(mode=0o600)
            database = sqlite3.connect(self._path, timeout=_BUSY_S)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            version = database.execute("pragma user_version").fetchone()[0]
            if version > _SCHEMA:
                raise StateError(
                    f"{self._path} was written by a newer spear-chat", hint="update, or move the file away"
                )
            database.execute("pragma journal_mode = wal")
            database.execute("pragma synchronous = normal")
            database.executescript(_CREATE)
            database.execute(f"pragma user_version = {_SCHEMA}")
            with database:
                yield database
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        finally:
            database.close()

    def _unusable(self, error: Exception) -> StateError:
        return StateError(
            f"{self._path} cannot be used: {error}",
            hint="move it away: it is an index, the record of the sessions stays",
        )
