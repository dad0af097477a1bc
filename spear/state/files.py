"""Private files: directories 0700, files 0600 whatever the umask, durable replacement, and what failures mean."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from spear.errors import StateError

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700

_ELSEWHERE = "choose another directory with --state-dir or SPEAR_STATE_DIR"
_HINTS = {
    errno.EACCES: f"make it yours and writable, or {_ELSEWHERE}",
    errno.EPERM: f"make it yours and writable, or {_ELSEWHERE}",
    errno.EROFS: f"the file system is read-only: {_ELSEWHERE}",
    errno.ENOSPC: f"the disk is full: free some space (`spear-chat sessions prune` lists candidates), or {_ELSEWHERE}",
    errno.EDQUOT: f"the disk quota is used up: free some space, or {_ELSEWHERE}",
    errno.ENOTDIR: f"something that is not a directory is in the way: move it, or {_ELSEWHERE}",
    errno.EEXIST: f"something that is not a directory is in the way: move it, or {_ELSEWHERE}",
    errno.EIO: f"the device reports an error: check it, or {_ELSEWHERE}",
    errno.EMFILE: "too many files are open: raise the limit (`ulimit -n`)",
}


def state_error(doing: str, path: Path, error: OSError) -> StateError:
    """The sentence for a failed operation on the state directory: what, where, why, and the way out."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    hint = _HINTS.get(error.errno or 0, _ELSEWHERE)
    return StateError(f"cannot {doing} {path}: {reason}", hint=hint)


def make_private_directory(path: Path) -> None:
    """Create `path` and its missing parents, each 0700 whatever the umask. An existing directory keeps its mode."""
    missing = []
    current = path
    try:
        while not current.exists():
            missing.append(current)
            if current == current.parent:
                break
            current = current.parent
        for directory in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another process laid it at the same moment
                directory.mkdir(DIRECTORY_MODE)
                directory.chmod(DIRECTORY_MODE)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    except OSError as error:
        raise state_error("create the directory", path, error) from error


def probe_writable(directory: Path) -> None:
    """Prove by doing that a file can be made in `directory`: permission bits do not tell for root or network disks."""
    probe = directory / f".probe-{secrets.token_hex(8)}"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
        probe.unlink()
    except OSError as error:
        raise state_error("write in", directory, error) from error


def open_private(path: Path, flags: int) -> int:
    """Open `path` below the state directory, its directory made when missing; a new file is 0600. Raises OSError."""
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    if flags & os.O_CREAT:
        make_private_directory(path.parent)
        try:
            descriptor = os.open(path, flags | os.O_EXCL, FILE_MODE)
        except FileExistsError:
            if flags & os.O_EXCL:
                raise
        else:
            os.fchmod(descriptor, FILE_MODE)
            return descriptor
    return os.open(path, flags & ~os.O_EXCL, FILE_MODE)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte. Raises OSError; how much is written then is for the caller to find out."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_durably(path: Path, data: bytes) -> None:
    """Put `data` at `path` whole or not at all, and on the disk before returning. Raises StateError.

    A temporary neighbour is written, synced and renamed over the old file, so that a crash or a full disk leaves the
    old content and no debris.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        descriptor = open_private(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise state_error("write", path, error) from error


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
