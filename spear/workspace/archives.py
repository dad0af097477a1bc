"""Many small contents in one file: a ZIP archive for each time that a checkpoint keeps many (spec 3.6, 9.1).

Making a file costs more than writing what most sources hold. An archive belongs to its checkpoint alone and goes with
it: a content that another checkpoint needs as well, that one has kept itself.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from spear.workspace.pending import PendingFile

COMPRESS_FROM = 4096
"""Bytes from which compressing pays."""
_SUFFIX = ".zip"
_DAMAGED = (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error)


class ArchiveWriter:
    """Contents on their way into one archive."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._held: set[str] = set()

    def add(self, sha256: str, content: bytes) -> None:
        """Put a content in, once."""
        if sha256 in self._held:
            return
        self._held.add(sha256)
        how = zipfile.ZIP_DEFLATED if len(content) >= COMPRESS_FROM else zipfile.ZIP_STORED
        self._archive.writestr(zipfile.ZipInfo(sha256), content, how, 1)


@contextlib.contextmanager
def writing(directory: int, owner: str) -> Iterator[ArchiveWriter]:
    """An archive of the checkpoint `owner` in an open directory. It is there once the block has ended well; durable it
    becomes with its file system. Raises OSError."""
    with PendingFile(directory, 0o600, nameless=False) as pending:
        with os.fdopen(os.dup(pending.fd), "wb") as file, zipfile.ZipFile(file, "w") as archive:
            yield ArchiveWriter(archive)
        pending.replace(f"{owner}.{secrets.token_hex(3)}{_SUFFIX}")


class ArchiveReader:
    """The archives in a directory, the newest first. Those that were looked into stay open until `close`."""

    def __init__(self, directory: Path) -> None:
        self._opened: list[zipfile.ZipFile] = []
        self._left: Iterator[Path] = iter(sorted(directory.glob(f"*{_SUFFIX}"), reverse=True))

    def at_hand(self, sha256: str) -> bytes | None:
        """A content, unchecked, of the archives that are open."""
        return next((found for archive in self._opened if (found := _read(archive, sha256)) is not None), None)

    def read(self, sha256: str) -> bytes | None:
        """A content, unchecked; None where no archive that can be read holds it."""
        while (found := self.at_hand(sha256)) is None and (path := next(self._left, None)) is not None:
            with contextlib.suppress(*_DAMAGED):
                self._opened.insert(0, zipfile.ZipFile(path))
        return found

    def close(self) -> None:
        """Give the files back."""
        for archive in self._opened:
            archive.close()


def sizes(directory: Path) -> dict[str, int]:
    """The bytes on disk of each checkpoint's archives, by its id."""
    found: dict[str, int] = {}
    for path in directory.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            owner = path.name.partition(".")[0]
            found[owner] = found.get(owner, 0) + path.stat().st_size
    return found


def discard(directory: Path, owner: str) -> None:
    """Remove a checkpoint's archives."""
    for path in directory.glob(f"{owner}.*{_SUFFIX}"):
        path.unlink(missing_ok=True)


def _read(archive: zipfile.ZipFile, sha256: str) -> bytes | None:
    try:
        return archive.read(sha256)
    except (KeyError, *_DAMAGED):
        return None
