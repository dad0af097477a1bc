"""Append-only files of whole lines that several processes may share, and reading them from either end.

A record is one line ending in `\\n`; nothing else separates records (U+2028 in a string does not). A line without its
end is what a crash left behind: it is moved to a `.torn` neighbour before the next append and never read as a record.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from spear.state.files import open_private, state_error, write_all

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class TornLine:
    """An incomplete last line that was set aside: from which file, how many bytes, and where they are now."""

    path: Path
    size: int
    kept_in: Path

    def __str__(self) -> str:
        return f"{self.path.name}: an incomplete last line ({self.size} bytes) was set aside in {self.kept_in.name}"


def canonical(record: Mapping[str, Any]) -> bytes:
    """The one spelling of a record: sorted keys, no spaces, ASCII only, no newline."""
    text = json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


class LineFile:
    """One append-only file. Opened by the first append; every append holds the file's lock.

    A failed append (full disk, quota) takes back what it wrote of its line and raises StateError: nothing is torn by
    an error, only by death. `torn` lists what was set aside since this object exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn: list[TornLine] = []
        self._descriptor = -1
        self._whole = -1  # the size at which the file was last seen to end in a newline
        self._thread = threading.RLock()

    @contextlib.contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the file exclusively; yields its size, the last line being whole."""
        with self._thread:
            try:
                descriptor = self._open()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError as error:
                raise state_error("open", self.path, error) from error
            try:
                yield self._heal()
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)

    def append(self, line: bytes) -> None:
        """Add one line (without its newline). Raises StateError."""
        with self.locked() as size:
            self.write(line, size)

    def write(self, line: bytes, size: int) -> int:
        """Within `locked`: add one line to a file of `size` bytes, in one write; returns the new size."""
        try:
            write_all(self._descriptor, line + b"\n")
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise state_error("append to", self.path, error) from error
        self._whole = size + len(line) + 1
        return self._whole

    def read_back(self, size: int) -> Iterator[bytes]:
        """Within `locked`: the lines of the first `size` bytes, the last one first."""
        return _lines_backwards(self._descriptor, size)

    def flush(self) -> None:
        """Put what was appended on the disk. Raises StateError."""
        if self._descriptor < 0:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise state_error("make durable", self.path, error) from error

    def close(self) -> None:
        """Let the file go; a later append opens it again."""
        with self._thread:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def __enter__(self) -> LineFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> int:
        if self._descriptor < 0:
            self._descriptor = open_private(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND)
        return self._descriptor

    def _heal(self) -> int:
        """The size up to the last whole line, an incomplete rest moved aside."""
        try:
            size = os.fstat(self._descriptor).st_size
            if size in (0, self._whole) or os.pread(self._descriptor, 1, size - 1) == b"\n":
                self._whole = size
                return size
            whole = _end_of_last_line(self._descriptor, size)
            kept_in = self.path.with_name(f"{self.path.name}.torn")
            self._set_aside(kept_in, os.pread(self._descriptor, size - whole, whole))
            os.ftruncate(self._descriptor, whole)
        except OSError as error:
            raise state_error("repair", self.path, error) from error
        self.torn.append(TornLine(self.path, size - whole, kept_in))
        self._whole = whole
        return whole

    @staticmethod
    def _set_aside(kept_in: Path, rest: bytes) -> None:
        descriptor = open_private(kept_in, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            write_all(descriptor, rest + b"\n")
        finally:
            os.close(descriptor)


def read_lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, in order, without their newline; nothing when there is no file."""
    try:
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line[:-1]
    except FileNotFoundError:
        return
    except OSError as error:
        raise state_error("read", path, error) from error


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file, in order and streamed. Lines that are no JSON object are passed over."""
    for line in read_lines(path):
        record = decode(line)
        if record is not None:
            yield record


def records_backwards(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file, the last one first, reading no more of it than is asked for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    except OSError as error:
        raise state_error("read", path, error) from error
    try:
        for line in _lines_backwards(descriptor, _end_of_last_line(descriptor, os.fstat(descriptor).st_size)):
            record = decode(line)
            if record is not None:
                yield record
    finally:
        os.close(descriptor)


def decode(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line, None when it holds none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _end_of_last_line(descriptor: int, size: int) -> int:
    """The offset just behind the last newline of the first `size` bytes."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _lines_backwards(descriptor: int, size: int) -> Iterator[bytes]:
    """Lines of the first `size` bytes (which end in a newline), the last first, read in blocks from the end."""
    pieces: list[bytes] = []  # the later parts of the line that is being gathered, the last part first
    end = size - 1
    while end > 0:
        start = max(0, end - _BLOCK)
        block = os.pread(descriptor, end - start, start)
        *lines, tail = block.split(b"\n")
        pieces.append(tail)
        if lines:
            yield b"".join(reversed(pieces))
            yield from reversed(lines[1:])
            pieces = [lines[0]]
        end = start
    if size > 0:
        yield b"".join(reversed(pieces))
