"""Descriptor-based file operations that cannot leave a root, whatever is swapped under them (spec 2.2).

Paths given here are relative and canonical (no `..`, no link in them): what `spear.workspace.roots` resolved. A link
found on the way is a race or a planted trap and ends the operation with ELOOP. openat2 (RESOLVE_BENEATH) does it in
one call where the kernel has it; a component-wise O_NOFOLLOW walk does it elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from spear.workspace.kernel import openat2, openat2_works

_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Beneath:
    """A root held open. Use as a context manager; every method raises OSError and none follows a link.

    `use_openat2` False forces the component-wise walk.
    """

    def __init__(self, root: Path, *, use_openat2: bool | None = None) -> None:
        self.root = root
        self._openat2 = openat2_works() if use_openat2 is None else use_openat2
        self._fd = os.open(root, _DIRECTORY & ~os.O_NOFOLLOW)

    def __enter__(self) -> Beneath:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back. May be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def open(self, relative: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor on `relative`. Never blocks on a fifo: callers check the type with fstat."""
        parts = _parts(relative)
        if not parts:
            return os.open(".", flags | os.O_CLOEXEC, dir_fd=self._fd)
        flags |= os.O_NOFOLLOW
        if self._openat2:
            return openat2(self._fd, "/".join(parts), flags, mode)
        with self._walked(parts[:-1]) as parent:
            return os.open(parts[-1], flags | os.O_CLOEXEC, mode, dir_fd=parent)

    @contextlib.contextmanager
    def parent(self, relative: str) -> Iterator[tuple[int, str]]:
        """An O_PATH descriptor on the directory of `relative`, and its last component."""
        parts = _parts(relative)
        if not parts:
            raise OSError(errno.EBUSY, "the root itself cannot be an operand", relative)
        if self._openat2 and len(parts) > 1:
            fd = openat2(self._fd, "/".join(parts[:-1]), _DIRECTORY, 0)
            try:
                yield fd, parts[-1]
            finally:
                os.close(fd)
            return
        with self._walked(parts[:-1]) as fd:
            yield fd, parts[-1]

    @contextlib.contextmanager
    def _walked(self, parts: list[str]) -> Iterator[int]:
        fd = os.dup(self._fd)
        try:
            for part in parts:
                below = os.open(part, _DIRECTORY, dir_fd=fd)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)

    def lstat(self, relative: str) -> os.stat_result | None:
        """The status of `relative` itself, None when it is absent, a parent is, or a parent is a link: what lies
        behind a link is not at this path.
        """
        if not _parts(relative):
            return os.fstat(self._fd)
        try:
            with self.parent(relative) as (fd, name):
                return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                return None
            raise

    def readlink(self, relative: str) -> str:
        """The text of a link."""
        with self.parent(relative) as (fd, name):
            return os.readlink(name, dir_fd=fd)

    def listdir(self, relative: str) -> list[str]:
        """The names in a directory."""
        fd = self.open(relative, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(fd) as entries:
                return [entry.name for entry in entries]
        finally:
            os.close(fd)

    def mkdir(self, relative: str, mode: int = 0o777) -> None:
        """Create one directory."""
        with self.parent(relative) as (fd, name):
            os.mkdir(name, mode, dir_fd=fd)

    def make_directories(self, relative: str) -> tuple[str, ...]:
        """Create `relative` and the directories missing above it; those created, outermost first."""
        parts = _parts(relative)
        created = []
        for depth in range(1, len(parts) + 1):
            directory = "/".join(parts[:depth])
            found = self.lstat(directory)
            if found is None:
                with contextlib.suppress(FileExistsError):
                    self.mkdir(directory)
                    created.append(directory)
            elif not stat.S_ISDIR(found.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory)
        return tuple(created)

    def make_parents(self, relative: str) -> tuple[str, ...]:
        """Create the directories missing above `relative`; those created, outermost first."""
        return self.make_directories("/".join(_parts(relative)[:-1]))

    def unlink(self, relative: str) -> None:
        """Remove a file, or a link itself."""
        with self.parent(relative) as (fd, name):
            os.unlink(name, dir_fd=fd)

    def rmdir(self, relative: str) -> None:
        """Remove an empty directory."""
        with self.parent(relative) as (fd, name):
            os.rmdir(name, dir_fd=fd)

    def symlink(self, target: str, relative: str) -> None:
        """Create a link with exactly this text."""
        with self.parent(relative) as (fd, name):
            os.symlink(target, name, dir_fd=fd)

    def rename(self, source: str, target: str) -> None:
        """Rename within the root, replacing `target`."""
        with self.parent(source) as (old, old_name), self.parent(target) as (new, new_name):
            os.rename(old_name, new_name, src_dir_fd=old, dst_dir_fd=new)

    def chmod(self, relative: str, mode: int) -> None:
        """Change the mode of a file or directory; a link is refused with ELOOP."""
        fd = self.open(relative, os.O_PATH)
        try:
            if stat.S_ISLNK(os.fstat(fd).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), relative)
            Path(f"/proc/self/fd/{fd}").chmod(mode)
        finally:
            os.close(fd)

    def set_times(self, relative: str, time_ns: int) -> None:
        """Give a regular file a modification time. Raises OSError; nothing happens to what is no regular file."""
        fd = self.open(relative, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                os.utime(fd, ns=(time_ns, time_ns))
        finally:
            os.close(fd)

    def sync_directory(self, relative: str) -> None:
        """Make the names in a directory durable."""
        fd = self.open(relative, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _parts(relative: str) -> list[str]:
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if ".." in parts or relative.startswith("/"):
        raise OSError(errno.EXDEV, "not a path beneath the root", relative)
    return parts
