"""Content-addressed bytes on disk, compressed where that pays: a file a content, named by its SHA-256, or many in an
archive (spec 3.6)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from spear.workspace import archives
from spear.workspace.archives import ArchiveReader, ArchiveWriter
from spear.workspace.kernel import sync_file_system
from spear.workspace.pending import PREFIX, PendingFile, sweep
from spear.workspace.tree_state import CHUNK

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
        self._archives = directory / "archives"

    def put(self, fd: int, archive: ArchiveWriter | None = None) -> tuple[str, int]:
        """Store what can be read from `fd` on, durably; its SHA-256 and size. Where it goes into an `archive`, or is
        too large for that, `sync_all` makes it durable, with all the others.
        """
        first = os.read(fd, CHUNK)
        content = [first]
        total = len(first)
        while total <= _WHOLE_UP_TO and (chunk := os.read(fd, CHUNK)):
            content.append(chunk)
            total += len(chunk)
        if total > _WHOLE_UP_TO:
            return self._put_large(fd, content, sync=archive is None)
        whole = first if len(content) == 1 else b"".join(content)
        sha = hashlib.sha256(whole).hexdigest()
        if archive is not None:
            archive.add(sha, whole)
        elif not self._path(sha):
            self._store_whole(sha, whole)
        return sha, total

    @contextlib.contextmanager
    def archive(self, owner: str) -> Iterator[ArchiveWriter]:
        """An archive of the checkpoint `owner`, there once the block has ended well."""
        with _directory(self._archives) as directory, archives.writing(directory, owner) as writer:
            yield writer

    @contextlib.contextmanager
    def reading(self) -> Iterator[StoredContents]:
        """The contents, to be read."""
        reader = ArchiveReader(self._archives)
        try:
            yield StoredContents(self._path, reader)
        finally:
            reader.close()

    def _store_whole(self, sha: str, whole: bytes) -> None:
        suffix, stored = "", whole
        if len(whole) >= archives.COMPRESS_FROM:
            packed = zlib.compress(whole, 1)
            if len(packed) < len(whole) * 0.9:
                suffix, stored = _COMPRESSED, packed
        # Named: the nameless kind costs ten times as much on ext4, and pruning sweeps what a kill leaves here.
        with (
            _directory(self._directory / sha[:2]) as directory,
            PendingFile(directory, 0o600, nameless=False) as pending,
        ):
            pending.write(stored)
            pending.sync()
            pending.replace(sha + suffix)
            os.fsync(directory)

    def _put_large(self, fd: int, head: list[bytes], *, sync: bool) -> tuple[str, int]:
        """A content too large to hold: hashed while it is copied, named afterwards."""
        sha, total = hashlib.sha256(), 0
        incoming = self._directory / "incoming"
        with _directory(incoming) as directory, PendingFile(directory, 0o600) as pending:
            for chunk in (*head, *iter(lambda: os.read(fd, CHUNK), b"")):
                sha.update(chunk)
                pending.write(chunk)
                total += len(chunk)
            name = sha.hexdigest()
            if not self._path(name):
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

    def sizes(self) -> dict[str, int]:
        """The bytes on disk of each content that has a file of its own."""
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
        """Remove a content's own file."""
        if (path := self._path(sha)) is not None:
            path.unlink(missing_ok=True)

    def archived(self) -> dict[str, int]:
        """The bytes on disk of each checkpoint's archives, by its id."""
        return archives.sizes(self._archives)

    def discard_archives(self, owner: str) -> None:
        """Remove a checkpoint's archives."""
        archives.discard(self._archives, owner)


class StoredContents:
    """The contents of a store while they are read: `file_of` tells the file of one that has its own."""

    def __init__(self, file_of: Callable[[str], Path | None], archived: ArchiveReader) -> None:
        self._file_of, self._archived = file_of, archived

    def copy_to(self, sha: str, fd: int) -> None:
        """Write the content to `fd`. Raises MissingBlob when it is gone or damaged: `fd` is then to be thrown away."""
        whole = self._archived.at_hand(sha)
        if whole is None and (path := self._file_of(sha)) is not None:
            _copy_file(path, sha, fd)
            return
        whole = self._archived.read(sha) if whole is None else whole
        if whole is None or hashlib.sha256(whole).hexdigest() != sha:
            raise MissingBlob(sha)
        _write_all(fd, whole)


def _copy_file(path: Path, sha: str, fd: int) -> None:
    found = hashlib.sha256()
    with path.open("rb") as source:
        unpack = zlib.decompressobj() if path.suffix == _COMPRESSED else None
        while chunk := source.read(CHUNK):
            try:
                plain = unpack.decompress(chunk) if unpack else chunk
            except zlib.error as error:
                raise MissingBlob(sha) from error
            found.update(plain)
            _write_all(fd, plain)
    if found.hexdigest() != sha:
        raise MissingBlob(sha)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


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
