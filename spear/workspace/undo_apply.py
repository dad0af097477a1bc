"""Puts paths of a tree back to stored states: removals, then directories, then contents, then modes (spec 3.6)."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spear.workspace.beneath import Beneath
from spear.workspace.blobs import MissingBlob, StoredContents
from spear.workspace.pending import PendingFile, sweep
from spear.workspace.tree_state import NodeKind, PathState
from spear.workspace.undo_plan import Restore


@dataclass(slots=True)
class Restored:
    """What came of it: paths restored, failures by path, directories removed because they had become empty."""

    paths: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    removed_directories: list[str] = field(default_factory=list)


def restore(tree: Beneath, contents: StoredContents, changes: Sequence[Restore]) -> Restored:
    """Perform `changes`. One path's failure leaves the others unaffected; nothing is half written."""
    done = Restored()
    outermost_first = sorted(changes, key=lambda change: change.path.count("/"))
    directories = [change for change in outermost_first if change.target.kind is NodeKind.DIRECTORY]
    for change in outermost_first:
        if change.now.kind is NodeKind.DIRECTORY and change.now.mode & 0o700 != 0o700:
            with contextlib.suppress(OSError):  # what cannot be opened up fails below, with its reason
                tree.chmod(change.path, change.now.mode | 0o700)
    for change in reversed(outermost_first):
        with _failing(done, change):
            _make_way(tree, change, done)
    for change in outermost_first:
        if change.path not in done.failures:
            with _failing(done, change):
                _put_back(tree, contents, change)
    for change in reversed(directories):
        if change.path not in done.failures:
            with _failing(done, change):
                tree.chmod(change.path, change.target.mode)
    kept = {change.path for change in changes if _is_removal_of_directory(change)} | set(done.failures)
    done.paths = sorted(change.path for change in changes if change.path not in kept)
    return done


@contextlib.contextmanager
def _failing(done: Restored, change: Restore) -> Iterator[None]:
    try:
        yield
    except MissingBlob:
        done.failures[change.path] = "its stored content is missing or damaged"
    except OSError as error:
        done.failures[change.path] = (error.strerror or str(error)).lower()


def _is_removal_of_directory(change: Restore) -> bool:
    return change.now.kind is NodeKind.DIRECTORY and change.target.kind is NodeKind.ABSENT


def _make_way(tree: Beneath, change: Restore, done: Restored) -> None:
    """Remove what must go before something of another type (or nothing) can be there."""
    now, target = change.now.kind, change.target.kind
    if now is NodeKind.ABSENT or now is target:
        return
    if _is_removal_of_directory(change):
        # One that holds somebody else's files stays.
        with contextlib.suppress(OSError):
            tree.rmdir(change.path)
            done.removed_directories.append(change.path)
    elif now is NodeKind.DIRECTORY:
        tree.rmdir(change.path)
    elif target in (NodeKind.ABSENT, NodeKind.DIRECTORY):
        tree.unlink(change.path)


def _put_back(tree: Beneath, contents: StoredContents, change: Restore) -> None:
    target = change.target
    match target.kind:
        case NodeKind.DIRECTORY:
            if change.now.kind is not NodeKind.DIRECTORY:
                tree.make_parents(change.path)
                with contextlib.suppress(FileExistsError):
                    tree.mkdir(change.path, 0o700)
        case NodeKind.LINK:
            tree.make_parents(change.path)
            if change.now.kind in (NodeKind.FILE, NodeKind.LINK, NodeKind.SPECIAL):
                tree.unlink(change.path)
            tree.symlink(target.target, change.path)
        case NodeKind.FILE:
            if change.now.same_content(target):
                tree.chmod(change.path, target.mode)
            else:
                _write(tree, contents, change.path, change.now, target)
        case NodeKind.ABSENT:
            return
        case NodeKind.SPECIAL:
            raise OSError(errno.EINVAL, "cannot be restored", change.path)


def _write(tree: Beneath, contents: StoredContents, path: str, now: PathState, target: PathState) -> None:
    if now.kind is NodeKind.ABSENT:
        tree.make_parents(path)
    # Named: many files at once, where the nameless kind is slow; a kill's leftovers are swept by the next undo.
    with tree.parent(path) as (directory, name), PendingFile(directory, 0o600, nameless=False) as pending:
        contents.copy_to(target.sha256, pending.fd)
        with contextlib.suppress(FileNotFoundError, PermissionError):
            owner = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(pending.fd, owner.st_uid, owner.st_gid)
        os.fchmod(pending.fd, target.mode)
        if now.kind in (NodeKind.ABSENT, NodeKind.DIRECTORY):
            pending.link(name)
        else:
            pending.replace(name)


def sweep_beside(tree: Beneath, paths: Sequence[str]) -> tuple[str, ...]:
    """Remove what dead writers left uncommitted beside `paths`; the names removed."""
    removed = []
    for directory in sorted({path.rpartition("/")[0] or "." for path in paths}):
        with contextlib.suppress(OSError):
            fd = tree.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                removed += [f"{directory}/{name}".removeprefix("./") for name in sweep(fd)]
            finally:
                os.close(fd)
    return tuple(removed)
