"""The file a background job prints into: bounded, the oldest given up, never a reason for the job to stop."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from spear.sandbox.output import clean

LIMIT = 16 * 1024 * 1024
"""The most such a file holds, in bytes."""
KEPT = LIMIT // 2
"""How much of its end stays when it is full."""
TAIL = 1024 * 1024
"""The most that is read back to be shown, in bytes."""


class JobOutput:
    """One file, 0600, made with the job. `feed` never raises: where the disk is full, what comes is dropped until there
    is room again, and `problem` says so. Thread-safe.
    """

    def __init__(self, path: Path, limit: int = LIMIT, kept: int = KEPT) -> None:
        """Create the file. Raises OSError."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        self._lock = threading.Lock()
        self._limit, self._kept = limit, kept
        self._size = 0
        self.path = path
        self.total = 0
        self.given_up = 0
        """Bytes of the beginning that are no longer there."""
        self.problem = ""

    def feed(self, data: bytes) -> None:
        """Take what was printed next."""
        with self._lock:
            if self._file < 0:
                return
            self.total += len(data)
            try:
                self._append(data)
            except OSError as error:
                self.problem = f"some of its output could not be kept: {error.strerror}"

    def _append(self, data: bytes) -> None:
        if self._size + len(data) > self._limit:
            data = self._shortened(data)
        view = memoryview(data)
        while view:
            written = os.pwrite(self._file, view, self._size)
            self._size += written
            view = view[written:]

    def _shortened(self, data: bytes) -> bytes:
        """Empty the file; what is to stand in it then: the end of what it held and of `data`, behind a line that says
        how much is gone. In place, so that whoever follows the file goes on with it.
        """
        before = os.pread(self._file, self._kept, max(0, self._size - self._kept))
        rest = (before + data)[-self._kept :]
        newline = rest.find(b"\n")
        if 0 <= newline < len(rest) // 2:
            rest = rest[newline + 1 :]
        os.ftruncate(self._file, 0)
        self._size = 0
        self.given_up = self.total - len(rest)
        return b"[... the first %d bytes were given up ...]\n" % self.given_up + rest

    def tail(self) -> str:
        """The end of it as plain text, TAIL bytes at most. Raises OSError where it was deleted and is closed."""
        with self._lock:
            if self._file >= 0:
                data = os.pread(self._file, TAIL, max(0, self._size - TAIL))
            else:
                with self.path.open("rb") as stream:
                    size = os.fstat(stream.fileno()).st_size
                    stream.seek(max(0, size - TAIL))
                    data = stream.read(TAIL)
        return clean(data)

    def close(self) -> None:
        """Let the file go; it stays where it is."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
