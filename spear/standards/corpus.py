"""`corpus/units.jsonl`: the canonical units of one revision, one a line, in the order of the document (spec 5.1)."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from spear.errors import StateError
from spear.standards.unit_lines import read, written
from spear.standards.units import Unit
from spear.state.files import open_private, state_error, sync_directory, write_all

FILE = "units.jsonl"
_BUFFER = 1 << 20


def write_corpus(directory: Path, units: Iterable[Unit]) -> str:
    """Write the units to a new corpus, on the disk when this returns; the SHA-256 of the file. Raises StateError."""
    digest, waiting, held = hashlib.sha256(), [], 0
    path = directory / FILE
    try:
        descriptor = open_private(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            for unit in units:
                waiting.append(written(unit) + b"\n")
                held += len(waiting[-1])
                if held > _BUFFER:
                    _flush(descriptor, digest, waiting)
                    waiting, held = [], 0
            _flush(descriptor, digest, waiting)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync_directory(directory)
    except OSError as error:
        raise state_error("write", path, error) from error
    return digest.hexdigest()


class Corpus:
    """A corpus open for reading. Raises StateError for a line that is no unit. Use as a context manager."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise state_error("read", self._path, error) from error

    def at(self, offset: int, length: int) -> Unit:
        """The unit whose line has these bytes."""
        try:
            return self._unit(os.pread(self._descriptor, length, offset))
        except OSError as error:
            raise state_error("read", self._path, error) from error

    def __iter__(self) -> Iterator[Unit]:
        return (unit for _, _, unit in self.placed())

    def placed(self) -> Iterator[tuple[int, int, Unit]]:
        """Every unit with the offset and the length of its line, in order."""
        offset = 0
        with open(os.dup(self._descriptor), "rb", buffering=_BUFFER) as file:
            file.seek(0)
            for line in file:
                yield offset, len(line), self._unit(line)
                offset += len(line)

    def close(self) -> None:
        """Let the file go."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _unit(self, line: bytes) -> Unit:
        try:
            if not line.endswith(b"\n"):
                raise ValueError("the line is not whole")
            return read(line)
        except ValueError as error:
            raise StateError(
                f"{self._path} holds a line that is no unit",
                hint="remove the standard (spear-chat standard remove ID REV) and ingest its document again",
            ) from error


def _flush(descriptor: int, digest: hashlib._Hash, lines: list[bytes]) -> None:
    block = b"".join(lines)
    digest.update(block)
    write_all(descriptor, block)
