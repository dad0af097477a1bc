"""Moves the accepted changes of a command from its overlay's upper directory into the tree (spec 2.5, 2.7).

Until then the tree is untouched, so its own files are the pre-images and a refused change is one that is simply not
promoted. Files move by rename where upper and tree share a file system, by copy and fsync elsewhere; either way each
appears whole. The order (directories, files, modes, then deletions; git's objects before what names them) leaves a
tree that a checkpoint can put back whatever instant the process dies at.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from spear.workspace.beneath import Beneath
from spear.workspace.git_layout import git_may_write, git_part
from spear.workspace.kernel import sync_file_system
from spear.workspace.pending import PendingFile
from spear.workspace.tree_state import CHUNK, NodeKind
from spear.workspace.upper import ChangeKind, UpperEntry, overlay_attributes, stamp

_FEW = 16


class DropReason(StrEnum):
    """Why a change was not promoted."""

    NOT_ACCEPTED = "not_accepted"
    GIT_CLOSED = "git_closed"
    SPECIAL_FILE = "special_file"
    PARENT_DROPPED = "parent_dropped"
    NOT_EMPTIED = "not_emptied"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A change of the command that did not reach the tree."""

    entry: UpperEntry
    reason: DropReason


@dataclass(frozen=True, slots=True)
class PromotionConflict:
    """A change left out because the tree's own file was changed by somebody else meanwhile, or could not be written."""

    entry: UpperEntry
    reason: str


@dataclass(frozen=True, slots=True)
class PromotionReport:
    """What reached the tree, what did not, and what somebody else's change stood in the way of."""

    applied: tuple[UpperEntry, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    conflicts: tuple[PromotionConflict, ...] = ()


Predicate = Callable[[UpperEntry], bool]


def _never(entry: UpperEntry) -> bool:
    return False


def _always(entry: UpperEntry) -> bool:
    return True


@dataclass(slots=True)
class _Work:
    """The promotion in progress."""

    above: Beneath
    tree: Beneath
    renewed: Predicate
    applied: list[UpperEntry] = field(default_factory=list)
    conflicts: list[PromotionConflict] = field(default_factory=list)
    copied: dict[int, str] = field(default_factory=dict)
    unlinked: set[int] = field(default_factory=set)
    """The files of the tree of which this has taken a name away: their other names bear the trace."""

    def attempt(self, entry: UpperEntry, act: Callable[[_Work, UpperEntry], None]) -> None:
        """Do one change unless the tree moved on; failures are conflicts, named, and stop nothing else."""
        if entry.raced or not self._as_seen(entry):
            self.conflicts.append(PromotionConflict(entry, "somebody else changed it while the command ran"))
            return
        before = entry.stamp
        try:
            act(self, entry)
        except OSError as error:
            self.conflicts.append(PromotionConflict(entry, (error.strerror or str(error)).lower()))
        else:
            self.applied.append(entry)
            self.unlinked |= {before[0]} if before is not None else set()

    def _as_seen(self, entry: UpperEntry) -> bool:
        now = self.tree.lstat(entry.path)
        match entry.before.kind:
            case NodeKind.ABSENT:
                return now is None or (entry.kind is ChangeKind.DIRECTORY and stat.S_ISDIR(now.st_mode))
            case NodeKind.DIRECTORY:
                return now is not None and stat.S_ISDIR(now.st_mode)
            case _:
                seen = stamp(now)
                if seen is None or entry.stamp is None or seen == entry.stamp:
                    return seen == entry.stamp
                return seen[0] in self.unlinked and seen[:3] == entry.stamp[:3]  # a hard link's other name


def promote(
    entries: Iterable[UpperEntry],
    upper: Path,
    root: Path,
    accept: Predicate,
    *,
    disposable: Predicate = _never,
    durable: Predicate = _always,
    renewed: Predicate = _never,
) -> PromotionReport:
    """Bring the accepted `entries` of `upper` into `root`. Every path must have been protected by a checkpoint first.

    Fifos, sockets, devices, git's hooks, config and the like, and the disappearance of a `.git` are never promoted,
    whatever `accept` says; a `.git` for which `disposable` is true (a clone in a build directory) may disappear.
    `durable` false spares a file its fsync (build output); `renewed` ones get the present as their modification time.
    Raises OSError only when the roots cannot be opened.
    """
    chosen, dropped = _sorted_out(list(entries), accept, disposable)
    with Beneath(upper) as above, Beneath(root) as tree:
        work = _Work(above, tree, renewed)
        _make_durable(above, [e for e in chosen if durable(e)])
        for entry in sorted(chosen, key=_order):
            work.attempt(entry, _apply)
        _close_directories(work)
        _sync_directories(tree, [e.path for e in work.applied if durable(e)])
    return PromotionReport(
        tuple(sorted(work.applied, key=lambda entry: entry.path)), tuple(dropped), tuple(work.conflicts)
    )


# --- what may pass ----------------------------------------------------------------------------------------------------


def _sorted_out(
    entries: list[UpperEntry], accept: Predicate, disposable: Predicate
) -> tuple[list[UpperEntry], list[Dropped]]:
    vanishing = _vanishing_git(entries, disposable)
    chosen: list[UpperEntry] = []
    dropped: list[Dropped] = []
    closed: set[str] = set()
    for entry in entries:
        reason = _reason(entry, accept, vanishing, closed)
        if reason is None:
            chosen.append(entry)
            continue
        dropped.append(Dropped(entry, reason))
        if entry.kind is ChangeKind.DIRECTORY and (
            reason is DropReason.GIT_CLOSED or entry.before.kind is not NodeKind.ABSENT
        ):
            closed.add(entry.path)
    occupied = {
        parent for d in dropped if d.entry.before.kind is not NodeKind.ABSENT for parent in _parents(d.entry.path)
    }
    blocked = [e for e in chosen if e.path in occupied and _removes_directory(e)]
    dropped += [Dropped(entry, DropReason.NOT_EMPTIED) for entry in blocked]
    return [entry for entry in chosen if entry not in blocked], dropped


def _reason(entry: UpperEntry, accept: Predicate, vanishing: set[str], closed: set[str]) -> DropReason | None:
    if entry.kind is ChangeKind.SPECIAL:
        return DropReason.SPECIAL_FILE
    inside = git_part(entry.path)
    if inside is not None and _git_closed(entry, inside, vanishing):
        return DropReason.GIT_CLOSED
    if not accept(entry):
        return DropReason.NOT_ACCEPTED
    if any(parent in closed for parent in _parents(entry.path)):
        return DropReason.PARENT_DROPPED
    return None


def _git_closed(entry: UpperEntry, inside: str, vanishing: set[str]) -> bool:
    if entry.path in vanishing or any(parent in vanishing for parent in _parents(entry.path)):
        return True
    if inside == "":
        # The directory itself may be created (a clone, a test fixture); a `.git` file or link would point elsewhere.
        return not (entry.kind is ChangeKind.DIRECTORY and entry.before.kind is NodeKind.ABSENT)
    return entry.kind is ChangeKind.SYMLINK or not git_may_write(inside)


def _vanishing_git(entries: list[UpperEntry], disposable: Predicate) -> set[str]:
    """The git directories (or their indispensable parts) that the command would make disappear or replace."""
    found = set()
    for entry in entries:
        inside = git_part(entry.path)
        if inside is None or inside not in ("", "objects", "refs", "HEAD") or disposable(entry):
            continue
        replaced = entry.after.kind is not entry.before.kind or entry.kind is ChangeKind.DIRECTORY
        if entry.before.kind is not NodeKind.ABSENT and replaced:
            found.add(entry.path)
    return found


def _removes_directory(entry: UpperEntry) -> bool:
    """Whether a directory goes, for nothing or for something else: it must be empty by then."""
    return entry.before.kind is NodeKind.DIRECTORY and entry.after.kind is not NodeKind.DIRECTORY


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


# --- the order --------------------------------------------------------------------------------------------------------

_GIT_RANK = {"objects": 1, "logs": 2, "refs": 3}


def _order(entry: UpperEntry) -> tuple[int, int, str]:
    """Directories outermost first; contents and modes, git's objects before what names them; deletions deepest first;
    last, what takes the place of a directory that has been emptied.
    """
    depth = entry.path.count("/")
    if entry.after.kind is NodeKind.DIRECTORY:
        return (0, depth, entry.path)
    if entry.kind is ChangeKind.DELETED:
        return (2, -depth, entry.path)
    if _removes_directory(entry):
        return (3, depth, entry.path)
    inside = git_part(entry.path)
    return (1, 0 if inside is None else _GIT_RANK.get(inside.split("/")[0], 4), entry.path)


# --- the changes ------------------------------------------------------------------------------------------------------


def _apply(work: _Work, entry: UpperEntry) -> None:
    match entry.kind:
        case ChangeKind.DELETED:
            if entry.before.kind is NodeKind.DIRECTORY:
                work.tree.rmdir(entry.path)
            else:
                work.tree.unlink(entry.path)
        case ChangeKind.DIRECTORY:
            _make_directory(work, entry)
        case ChangeKind.MODE:
            work.tree.chmod(entry.path, _open_mode(entry))
        case ChangeKind.SYMLINK:
            _make_room(work, entry)
            _make_directories(work, entry.path.rpartition("/")[0])
            work.tree.symlink(entry.after.target, entry.path)
        case ChangeKind.CREATED | ChangeKind.MODIFIED:
            if entry.before.kind is NodeKind.DIRECTORY:
                work.tree.rmdir(entry.path)
            _make_directories(work, entry.path.rpartition("/")[0])
            _move(work, entry)
        case ChangeKind.SPECIAL:
            raise OSError(errno.EINVAL, "a special file is never promoted", entry.path)


def _make_room(work: _Work, entry: UpperEntry) -> None:
    match entry.before.kind:
        case NodeKind.ABSENT:
            return
        case NodeKind.DIRECTORY:
            work.tree.rmdir(entry.path)
        case NodeKind.FILE | NodeKind.LINK | NodeKind.SPECIAL:
            work.tree.unlink(entry.path)


def _make_directory(work: _Work, entry: UpperEntry) -> None:
    if entry.before.kind not in (NodeKind.ABSENT, NodeKind.DIRECTORY):
        work.tree.unlink(entry.path)
    _make_directories(work, entry.path)
    work.tree.chmod(entry.path, _open_mode(entry))


def _make_directories(work: _Work, path: str) -> None:
    """A directory and those on the way to it, owned as the place they appear in."""
    for created in work.tree.make_directories(path):
        if os.geteuid() == 0:
            with work.tree.parent(created) as (directory, name):
                place = os.fstat(directory)
                os.chown(name, place.st_uid, place.st_gid, dir_fd=directory, follow_symlinks=False)


def _open_mode(entry: UpperEntry) -> int:
    """Directories stay open to us until everything in them has arrived (`_close_directories`)."""
    return entry.after.mode | (0o700 if entry.after.kind is NodeKind.DIRECTORY else 0)


def _close_directories(work: _Work) -> None:
    for entry in sorted(work.applied, key=lambda e: e.path.count("/"), reverse=True):
        if entry.after.kind is NodeKind.DIRECTORY and _open_mode(entry) != entry.after.mode:
            with contextlib.suppress(OSError):  # gone again: nothing to close
                work.tree.chmod(entry.path, entry.after.mode)


def _move(work: _Work, entry: UpperEntry) -> None:
    """One regular file, whole, with the mode it was given but no set-id bits, owned as its place in the tree says."""
    with work.above.parent(entry.path) as (source, old), work.tree.parent(entry.path) as (target, new):
        fd = os.open(old, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source)
        try:
            attributes = overlay_attributes(fd)
            if attributes:
                os.fchmod(fd, 0o600)  # attributes of a file closed to writing cannot be removed
            for attribute in attributes:
                os.removexattr(fd, attribute)
            owner = _owner(target, new)
            if os.geteuid() == 0:
                os.fchown(fd, *owner)
            os.fchmod(fd, entry.after.mode)
            if work.renewed(entry):
                os.utime(fd)
            try:
                os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                _copy(work, fd, target, new, entry)
        finally:
            os.close(fd)


def _copy(work: _Work, fd: int, target: int, name: str, entry: UpperEntry) -> None:
    found = os.fstat(fd)
    twin = work.copied.get(found.st_ino) if found.st_nlink > 1 else None
    if twin is not None and entry.before.kind is NodeKind.ABSENT:
        with work.tree.parent(twin) as (directory, other):
            os.link(other, name, src_dir_fd=directory, dst_dir_fd=target, follow_symlinks=False)
        return
    with PendingFile(target, 0o600) as pending:
        while chunk := os.read(fd, CHUNK):
            pending.write(chunk)
        if os.geteuid() == 0:
            os.fchown(pending.fd, *_owner(target, name))
        os.fchmod(pending.fd, entry.after.mode)
        pending.sync()
        if entry.before.kind in (NodeKind.ABSENT, NodeKind.DIRECTORY):
            pending.link(name)
        else:
            pending.replace(name)
    work.copied[found.st_ino] = entry.path


def _owner(directory: int, name: str) -> tuple[int, int]:
    """Who a file in this place should belong to: whoever owns it now, else whoever owns the directory."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        found = os.fstat(directory)
    return found.st_uid, found.st_gid


# --- durability -------------------------------------------------------------------------------------------------------


def _make_durable(above: Beneath, entries: list[UpperEntry]) -> None:
    """Contents reach the disk before the names that will show them: one call for many files."""
    files = [e for e in entries if e.kind in (ChangeKind.CREATED, ChangeKind.MODIFIED)]
    if len(files) > _FEW:
        _with(above, ".", sync_file_system)
        return
    for entry in files:
        with contextlib.suppress(FileNotFoundError):
            fd = above.open(entry.path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def _sync_directories(tree: Beneath, paths: list[str]) -> None:
    directories = {path.rpartition("/")[0] or "." for path in paths}
    if len(directories) > _FEW:
        _with(tree, ".", sync_file_system)
        return
    for directory in directories:
        with contextlib.suppress(OSError):  # the promotion has happened; a directory may be gone again
            tree.sync_directory(directory)


def _with(tree: Beneath, relative: str, act: Callable[[int], None]) -> None:
    fd = tree.open(relative, os.O_RDONLY | os.O_DIRECTORY)
    try:
        act(fd)
    finally:
        os.close(fd)
