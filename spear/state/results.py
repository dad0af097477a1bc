"""Tool output that was too long for the model: kept whole, read back in pages (spec 1.5, 2.5)."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from spear.state.directory import safe_name
from spear.state.files import make_private_directory, state_error

_NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Page:
    """A part of an output: `data` are the bytes from `offset`, `total` the size of the whole."""

    ref: str
    data: bytes
    offset: int
    total: int

    @property
    def text(self) -> str:
        """The bytes as text; what is no UTF-8 is shown escaped."""
        return self.data.decode("utf-8", "backslashreplace")

    @property
    def next_offset(self) -> int | None:
        """Where the next page starts, None at the end."""
        end = self.offset + len(self.data)
        return end if end < self.total else None


@dataclass(frozen=True, slots=True)
class MissingResult:
    """An output that cannot be shown: deleted, pruned, or never kept. Evidence that is gone, not a crash."""

    ref: str
    reason: str


class ResultStore:
    """The outputs of one session below `tool-results/<session>/`.

    A reference is `<session>/<name>`; references may come from a model and are checked before they become paths.
    """

    def __init__(self, directory: Path, session: str) -> None:
        self._root = directory
        self._session = safe_name(session)
        self._given: set[str] = set()

    def reserve(self, call_id: str) -> Path:
        """Where the output of a call goes; whoever writes the first byte makes the file. Ids repeat; files never do.

        The directory is one process's own, so that what was not there and was not given out is free. Raises StateError.
        """
        directory = self.prepare() if not self._given else self._root / self._session
        name = _file_name(call_id)
        for attempt in range(1, 10_000):
            path = directory / (name if attempt == 1 else f"{name}-{attempt}")
            if path.name not in self._given and not os.path.lexists(path):
                self._given.add(path.name)
                return path
        raise state_error("create", directory / name, FileExistsError("too many results of one name"))

    def read(self, ref: str, offset: int = 0, limit: int = 50_000) -> Page | MissingResult:
        """One page of an output, `limit` bytes at most."""
        path = self._path(ref)
        if path is None:
            return MissingResult(ref, "it is not a reference to kept output")
        try:
            with path.open("rb") as file:
                total = os.fstat(file.fileno()).st_size
                offset = max(0, min(offset, total))
                file.seek(offset)
                return Page(ref, file.read(max(1, limit)), offset, total)
        except FileNotFoundError:
            return MissingResult(ref, "it was deleted: the output is not available any more")
        except OSError as error:
            return MissingResult(ref, f"it cannot be read: {error.strerror}")

    def prepare(self) -> Path:
        """The directory of this session, created. Raises StateError."""
        make_private_directory(self._root / self._session)
        return self._root / self._session

    def _path(self, ref: str) -> Path | None:
        session, _, name = ref.partition("/")
        try:
            return self._root / safe_name(session) / safe_name(name)
        except ValueError:
            return None


def _file_name(call_id: str) -> str:
    """A file name for an id that a model chose: readable, and different for different ids."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", call_id) and len(call_id) <= _NAME_LENGTH:
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", call_id)[: _NAME_LENGTH - 13].strip("-")
    return f"{readable or 'call'}-{digest}"
