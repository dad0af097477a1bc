"""What is at a path of a tree, as a value: the before and after of every change (spec 3.1, 3.6)."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from enum import StrEnum

from spear.workspace.beneath import Beneath

CHUNK = 1 << 20
"""Bytes read at a time when a file is hashed or copied."""


class NodeKind(StrEnum):
    """What a path is."""

    ABSENT = "absent"
    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class PathState:
    """What is at a path. `sha256` and `size` for files, `target` for links, `mode` (permission bits) for files and
    directories. Equal states mean that nothing an undo restores differs; times are no part of it, because a restored
    file must look new to build tools.
    """

    kind: NodeKind
    mode: int = 0
    sha256: str = ""
    size: int = 0
    target: str = ""

    @classmethod
    def of_content(cls, content: bytes, mode: int = 0) -> PathState:
        """The state of a file with this content."""
        return cls(NodeKind.FILE, mode, hashlib.sha256(content).hexdigest(), len(content))

    def same_content(self, other: PathState) -> bool:
        """Equal but for the mode."""
        mine = (self.kind, self.sha256, self.target)
        return mine == (other.kind, other.sha256, other.target)


ABSENT = PathState(NodeKind.ABSENT)
"""Nothing there."""


def digest(fd: int) -> tuple[str, int]:
    """SHA-256 (lowercase hex) and size of what can be read from `fd` on, in bounded memory."""
    total, sha = 0, hashlib.sha256()
    while chunk := os.read(fd, CHUNK):
        sha.update(chunk)
        total += len(chunk)
    return sha.hexdigest(), total


def open_regular(tree: Beneath, relative: str) -> int | None:
    """A read descriptor on a regular file, None when it is something else or absent. Never blocks."""
    try:
        fd = tree.open(relative, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        found = tree.lstat(relative)
        if found is None or not stat.S_ISREG(found.st_mode):
            return None
        fd = _open_closed(tree, relative, found)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    return fd


def _open_closed(tree: Beneath, relative: str, found: os.stat_result) -> int:
    """A file that its owner, us, closed even to itself (chmod 000): opened for a moment. Raises OSError."""
    if found.st_uid != os.geteuid() or found.st_mode & 0o400:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), relative)
    tree.chmod(relative, stat.S_IMODE(found.st_mode) | 0o400)
    try:
        return tree.open(relative, os.O_RDONLY | os.O_NONBLOCK)
    finally:
        tree.chmod(relative, stat.S_IMODE(found.st_mode))


def observe(tree: Beneath, relative: str) -> PathState:
    """What is at `relative` now. Raises OSError for what cannot be looked at."""
    found = tree.lstat(relative)
    if found is None:
        return ABSENT
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode):
        return PathState(NodeKind.LINK, target=tree.readlink(relative))
    if stat.S_ISDIR(found.st_mode):
        return PathState(NodeKind.DIRECTORY, mode)
    if not stat.S_ISREG(found.st_mode):
        return PathState(NodeKind.SPECIAL, mode)
    fd = open_regular(tree, relative)
    if fd is None:
        return ABSENT
    try:
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        sha, size = digest(fd)
    finally:
        os.close(fd)
    return PathState(NodeKind.FILE, mode, sha, size)
