"""A file that is not there yet: written beside its target, nameless where the file system allows it, then committed.

The nameless form (O_TMPFILE) leaves nothing behind when the process is killed before the commit, and gives a creation
its exclusive link (spec 3.7). A replacement needs a name for the instant before its rename; a kill in that instant
leaves a file called `.spear-write-…`, which `sweep` removes: its lock died with its writer.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from types import TracebackType

PREFIX = ".spear-write-"
"""How the name of an uncommitted file starts."""

_NO_TMPFILE = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})


class PendingFile:
    """An uncommitted file in the directory open at `directory` (a descriptor, borrowed). Use as a context manager:
    leaving it without a commit discards. Raises OSError.
    """

    def __init__(self, directory: int, mode: int = 0o666, *, nameless: bool = True) -> None:
        self._directory = directory
        self._name = ""
        self.fd = -1
        if nameless:
            try:
                self.fd = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode, dir_fd=directory)
            except OSError as error:
                if error.errno not in _NO_TMPFILE:
                    raise
        if self.fd < 0:
            self._name = PREFIX + secrets.token_hex(8)
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
            self.fd = os.open(self._name, flags, mode, dir_fd=directory)
        with contextlib.suppress(OSError):
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> PendingFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._name:
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self._directory)
            self._name = ""
        os.close(self.fd)

    def write(self, content: bytes | memoryview) -> None:
        """Append all of `content`."""
        view = memoryview(content)
        while view:
            view = view[os.write(self.fd, view) :]

    def sync(self) -> None:
        """Make the content durable."""
        os.fsync(self.fd)

    def link(self, name: str, directory: int | None = None) -> None:
        """Commit as a creation, in another `directory` of the same file system when one is given: FileExistsError
        when something of that name is there, whatever it is.
        """
        source = self._name or f"/proc/self/fd/{self.fd}"
        os.link(
            source,
            name,
            src_dir_fd=self._directory if self._name else None,
            dst_dir_fd=self._directory if directory is None else directory,
            follow_symlinks=not self._name,
        )

    def replace(self, name: str) -> None:
        """Commit over whatever file or link has that name, atomically."""
        if not self._name:
            temporary = PREFIX + secrets.token_hex(8)
            self.link(temporary)
            self._name = temporary
        os.rename(self._name, name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        self._name = ""


def sweep(directory: int) -> tuple[str, ...]:
    """Remove the uncommitted files that dead writers left in the directory open at `directory`; their names."""
    removed = []
    with os.scandir(directory) as entries:
        names = [entry.name for entry in entries]
    for name in names:
        if name.startswith(PREFIX) and _abandoned(directory, name):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=directory)
                removed.append(name)
    return tuple(removed)


def _abandoned(directory: int, name: str) -> bool:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=directory)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
