"""Content-addressed bytes on disk: one file a content, named by its SHA-256, compressed where that pays (spec 3.6)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from spear.workspace.kernel import sync_file_system
from spear.workspace.pending import PREFIX, PendingFile, sweep
from spear.workspace.tree_state import CHUNK

_COMPRESS_FROM = 4096
_WHOLE_UP_TO = 8 << 20
_COMPRESSED = ".z"


class MissingBlob(Exception):
    """A stored content is gone or no longer matches its name."""

    def __init__(self, sha256: str) -> None:
        super().__init__(sha256)
        self.sha256 = sha256


class BlobStore:
    """The contents under `directory`. Constructed without touching the disk. Raises OSError when the disk fails."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, fd: int, *, sync: bool) -> tuple[str, int]:
        """Store what can be read from `fd` on; its SHA-256 and size. `sync` makes it durable before returning;
        otherwise `sync_all` does it for many at once.
        """
        first = os.read(fd, CHUNK)
        content = [first]
        total = len(first)
        while total <= _WHOLE_UP_TO and (chunk := os.read(fd, CHUNK)):
            content.append(chunk)
            total += len(chunk)
        if total > _WHOLE_UP_TO:
            return self._put_large(fd, content, sync)
        whole = first if len(content) == 1 else b"".join(content)
        sha = hashlib.sha256(whole).hexdigest()
        if not self.has(sha):
            self._store_whole(sha, whole, sync)
        return sha, total

    def _store_whole(self, sha: str, whole: bytes, sync: bool) -> None:
        suffix, stored = "", whole
        if len(whole) >= _COMPRESS_FROM:
            packed = zlib.compress(whole, 1)
            if len(packed) < len(whole) * 0.9:
                suffix, stored = _COMPRESSED, packed
        # Named: the nameless kind costs ten times as much on ext4, and pruning sweeps what a kill leaves here.
        with (
            _directory(self._directory / sha[:2]) as directory,
            PendingFile(directory, 0o600, nameless=False) as pending,
        ):
            pending.write(stored)
            if sync:
                pending.sync()
            pending.replace(sha + suffix)
            if sync:
                os.fsync(directory)

    def _put_large(self, fd: int, head: list[bytes], sync: bool) -> tuple[str, int]:
        """A content too large to hold: hashed while it is copied, named afterwards."""
        sha, total = hashlib.sha256(), 0
        incoming = self._directory / "incoming"
        with _directory(incoming) as directory, PendingFile(directory, 0o600) as pending:
            for chunk in (*head, *iter(lambda: os.read(fd, CHUNK), b"")):
                sha.update(chunk)
                pending.write(chunk)
                total += len(chunk)
            name = sha.hexdigest()
            if not self.has(name):
                with _directory(self._directory / name[:2]) as target:
                    if sync:
                        pending.sync()
                    with contextlib.suppress(FileExistsError):  # another process stored the same content
                        pending.link(name, target)
                    if sync:
                        os.fsync(target)
        return name, total

    def sync_all(self) -> None:
        """Make everything stored so far durable."""
        with _directory(self._directory) as directory:
            sync_file_system(directory)

    def _path(self, sha: str) -> Path | None:
        plain = self._directory / sha[:2] / sha
        for path in (plain, plain.with_name(sha + _COMPRESSED)):
            if path.exists():
                return path
        return None

    def has(self, sha: str) -> bool:
        """Whether the content is there (its bytes are checked when it is read)."""
        return self._path(sha) is not None

    def copy_to(self, sha: str, fd: int) -> None:
        """Write the content to `fd`. Raises MissingBlob when it is gone or damaged: `fd` is then to be thrown away."""
        path = self._path(sha)
        if path is None:
            raise MissingBlob(sha)
        found = hashlib.sha256()
        with path.open("rb") as source:
            unpack = zlib.decompressobj() if path.suffix == _COMPRESSED else None
            while chunk := source.read(CHUNK):
                try:
                    plain = unpack.decompress(chunk) if unpack else chunk
                except zlib.error as error:
                    raise MissingBlob(sha) from error
                found.update(plain)
                view = memoryview(plain)
                while view:
                    view = view[os.write(fd, view) :]
        if found.hexdigest() != sha:
            raise MissingBlob(sha)

    def sizes(self) -> dict[str, int]:
        """The bytes each content takes on disk."""
        found: dict[str, int] = {}
        for path in self._directory.glob("[0-9a-f][0-9a-f]/*"):
            if path.name.startswith(PREFIX):
                continue
            with contextlib.suppress(FileNotFoundError):
                found[path.name.removesuffix(_COMPRESSED)] = path.stat().st_size
        return found

    def sweep(self) -> None:
        """Remove what killed writers left uncommitted."""
        for path in self._directory.glob("*/"):
            with _directory(path) as directory:
                sweep(directory)

    def discard(self, sha: str) -> None:
        """Remove a content."""
        if (path := self._path(sha)) is not None:
            path.unlink(missing_ok=True)


def private_directory(path: Path) -> None:
    """Make `path` and its missing parents, each 0700 (mkdir -p would give the parents the umask's mode)."""
    if not path.is_dir():
        private_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


@contextlib.contextmanager
def _directory(path: Path) -> Iterator[int]:
    """A descriptor on a directory, made (0700, durably) when it is missing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        private_directory(path)
        with _directory(path.parent) as parent:
            os.fsync(parent)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)
