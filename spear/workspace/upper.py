"""What a command left in the upper directory of its overlay, as a list of changes to the tree below (spec 2.5).

The upper holds what the command created or copied up; a character device 0/0 stands for a deletion; a directory whose
`opaque` attribute is set hides everything below it. What is there but equal to the tree is no change. The cost is
proportional to the change, never to the tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from spear.errors import WorkspaceError
from spear.workspace.beneath import Beneath
from spear.workspace.git_layout import git_part
from spear.workspace.tree_state import ABSENT, NodeKind, PathState, observe

_PREFIXES = ("user.overlay.", "trusted.overlay.")
_FOREIGN = ("redirect", "metacopy")


class ChangeKind(StrEnum):
    """What a command did to a path."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    MODE = "mode"
    SYMLINK = "symlink"
    DIRECTORY = "directory"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class UpperEntry:
    """One change. `before` is what the tree has there, `after` what the command left (set-id bits already removed).

    `raced` says that the tree's own file changed after the command had started: somebody else is at work there.
    `stamp` is (inode, size, mtime, ctime) of the tree's file as it was looked at, None when absent.
    """

    path: str
    kind: ChangeKind
    before: PathState
    after: PathState
    raced: bool = False
    stamp: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """What a command left: its changes, and the paths of files it wrote that are as the tree has them, because they
    were only touched, or changed and put back. `times` are the modification times, in ns, of the regular files it
    changed or gave another time."""

    entries: tuple[UpperEntry, ...] = ()
    same: tuple[str, ...] = ()
    times: Mapping[str, int] = field(default_factory=dict)


def read_upper(upper: Path, root: Path, started_ns: int = 0) -> tuple[UpperEntry, ...]:
    """The changes in `upper` against `root`, sorted by path. `started_ns` is the wall-clock time at which the command
    started (0: races are not looked for). Raises OSError, and WorkspaceError for an overlay mounted with features
    (redirect_dir, metacopy) under which the upper does not hold everything.
    """
    return read_layer(upper, root, started_ns).entries


def read_layer(upper: Path, root: Path, started_ns: int = 0) -> Layer:
    """As `read_upper`, with the files that were written and left as they are. Raises the same."""
    if not upper.is_dir():
        return Layer()
    with Beneath(upper) as above, Beneath(root) as tree:
        reader = _Reader(above, tree, started_ns)
        entries = {entry.path: entry for entry in reader.directory(".")}
    return Layer(tuple(entries[path] for path in sorted(entries)), tuple(sorted(reader.same)), reader.times)


def stamp(found: os.stat_result | None) -> tuple[int, int, int, int] | None:
    """What tells that a file was touched: inode, size, mtime and ctime in ns."""
    return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class _Reader:
    def __init__(self, above: Beneath, tree: Beneath, started_ns: int) -> None:
        self._above = above
        self._tree = tree
        self._started_ns = started_ns
        self.same: list[str] = []
        self.times: dict[str, int] = {}

    def directory(self, relative: str, *, within_opaque: bool = False) -> Iterator[UpperEntry]:
        """The changes in one directory. Below an opaque one everything is new, marked or not."""
        fd = self._above.open(relative, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(fd) as scan:
                names = [entry.name for entry in scan]
            opaque = _opaque(fd, relative) or within_opaque
        finally:
            os.close(fd)
        if opaque:
            yield from self._replaced_git(relative)
            yield from self._hidden(relative, set(names))
        for name in names:
            yield from self._entry(name if relative == "." else f"{relative}/{name}", opaque)

    def _replaced_git(self, path: str) -> Iterator[UpperEntry]:
        """A git directory that was removed and made anew: reported as a directory in the place of a directory."""
        below = self._tree.lstat(path)
        if git_part(path) in ("", "objects", "refs") and below is not None and stat.S_ISDIR(below.st_mode):
            yield self._change(path, ChangeKind.DIRECTORY, PathState(NodeKind.DIRECTORY, _plain(below.st_mode)), below)

    def _entry(self, path: str, within_opaque: bool) -> Iterator[UpperEntry]:
        found = self._above.lstat(path)
        if found is None:
            return
        mode = found.st_mode
        self._open_up(path, mode)
        if stat.S_ISCHR(mode) and found.st_rdev == 0:
            yield from self._deleted(path)
            return
        if stat.S_ISDIR(mode):
            yield from self._directory_entry(path, PathState(NodeKind.DIRECTORY, _plain(mode, keep=stat.S_ISGID)))
            yield from self.directory(path, within_opaque=within_opaque)
            return
        below = self._tree.lstat(path)
        if below is not None and stat.S_ISDIR(below.st_mode):
            yield from self._contents(path)
        after = observe(self._above, path)
        if after.kind is NodeKind.FILE:
            self._check_whole(path, found)
            after = PathState(NodeKind.FILE, _plain(mode), after.sha256, after.size)
            if below is None or below.st_mtime_ns != found.st_mtime_ns:
                self.times[path] = found.st_mtime_ns
        if after.kind is NodeKind.SPECIAL:
            yield self._change(path, ChangeKind.SPECIAL, after, below)
            return
        yield from self._compared(path, after, below)

    def _open_up(self, path: str, mode: int) -> None:
        """What a command closed to its own user is still ours to read: the upper is thrown away anyhow."""
        needed = 0o700 if stat.S_ISDIR(mode) else 0o400 if stat.S_ISREG(mode) else 0
        if os.geteuid() != 0 and mode & needed != needed:
            self._above.chmod(path, stat.S_IMODE(mode) | needed)

    def _check_whole(self, path: str, found: os.stat_result) -> None:
        """A file copied up without its data takes no blocks: worth a look at its attributes."""
        if found.st_size and not found.st_blocks:
            fd = self._above.open(path, os.O_RDONLY)
            try:
                _opaque(fd, path)
            finally:
                os.close(fd)

    def _compared(self, path: str, after: PathState, below: os.stat_result | None) -> Iterator[UpperEntry]:
        entry = self._change(path, ChangeKind.MODIFIED, after, below)
        before = entry.before
        if before == after:
            self.same.append(path)
            return
        if after.kind is NodeKind.LINK:
            kind = ChangeKind.SYMLINK
        elif before.kind is NodeKind.ABSENT:
            kind = ChangeKind.CREATED
        elif before.same_content(after):
            # A set-id bit of the tree's own file is not the command's change.
            if _plain(before.mode) == after.mode:
                return
            kind = ChangeKind.MODE
        else:
            kind = ChangeKind.MODIFIED
        yield UpperEntry(path, kind, before, after, entry.raced, entry.stamp)

    def _directory_entry(self, path: str, after: PathState) -> Iterator[UpperEntry]:
        below = self._tree.lstat(path)
        if below is None or not stat.S_ISDIR(below.st_mode):
            yield self._change(path, ChangeKind.DIRECTORY, after, below)
        elif _plain(below.st_mode) != _plain(after.mode):
            yield self._change(path, ChangeKind.MODE, after, below)

    def _deleted(self, path: str) -> Iterator[UpperEntry]:
        below = self._tree.lstat(path)
        if below is None:
            return
        if stat.S_ISDIR(below.st_mode):
            yield from self._contents(path)
        yield self._change(path, ChangeKind.DELETED, ABSENT, below)

    def _contents(self, path: str) -> Iterator[UpperEntry]:
        """Everything beneath a directory of the tree, as deleted."""
        yield from self._hidden(path, set())

    def _hidden(self, path: str, kept: set[str]) -> Iterator[UpperEntry]:
        below = self._tree.lstat(path)
        if below is None or not stat.S_ISDIR(below.st_mode):
            return
        for name in self._tree.listdir(path):
            if name not in kept:
                yield from self._deleted(name if path == "." else f"{path}/{name}")

    def _change(self, path: str, kind: ChangeKind, after: PathState, below: os.stat_result | None) -> UpperEntry:
        before = ABSENT if below is None else self._before(path, below)
        directory = below is not None and stat.S_ISDIR(below.st_mode)
        raced = bool(self._started_ns and below is not None and not directory and below.st_ctime_ns > self._started_ns)
        return UpperEntry(path, kind, before, after, raced, None if directory else stamp(below))

    def _before(self, path: str, below: os.stat_result) -> PathState:
        """The tree's own state; a file that may be deleted but not read has no digest."""
        try:
            return observe(self._tree, path)
        except PermissionError:
            return PathState(NodeKind.FILE, stat.S_IMODE(below.st_mode), size=below.st_size)


def _plain(mode: int, keep: int = 0) -> int:
    return stat.S_IMODE(mode) & (0o777 | keep)


def _opaque(fd: int, relative: str) -> bool:
    opaque = False
    for name in os.listxattr(fd):
        prefix = next((p for p in _PREFIXES if name.startswith(p)), None)
        if prefix is None:
            continue
        feature = name[len(prefix) :]
        if feature in _FOREIGN:
            raise WorkspaceError(
                f"the overlay of a command uses {feature} at {relative}",
                hint="mount it with redirect_dir=off,metacopy=off",
            )
        opaque = opaque or (feature == "opaque" and os.getxattr(fd, name) == b"y")
    return opaque


def overlay_attributes(fd: int) -> tuple[str, ...]:
    """The overlay's own attributes on a file of the upper, which must not travel into the tree."""
    return tuple(name for name in os.listxattr(fd) if name.startswith(_PREFIXES))
