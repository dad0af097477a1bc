"""The durable, stale-safe write and removal of one file (spec 3.7).

A write lands whole or not at all: temporary file in the same directory, fsync, the target's digest checked again,
atomic rename (exclusive link for a creation), fsync of the directory. Expected outcomes are `WriteProblem` values.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from spear.agent.host import DeleteResult, WriteResult
from spear.workspace.beneath import Beneath
from spear.workspace.pending import PendingFile
from spear.workspace.tree_state import digest, open_regular


class WriteCode(StrEnum):
    """Why a file was not written or removed."""

    STALE = "stale"
    EXISTS = "exists"
    CANCELLED = "cancelled"
    IS_DIRECTORY = "is_directory"
    NOT_A_FILE = "not_a_file"
    NOT_A_DIRECTORY = "not_a_directory"
    DENIED = "permission_denied"
    READ_ONLY = "read_only"
    FULL = "disk_full"
    QUOTA = "quota"
    NAME = "bad_name"
    MOVED = "path_changed"
    FAILED = "io_error"


@dataclass(frozen=True, slots=True)
class WriteProblem:
    """A write or removal that did not happen; the tree is as it was. `path` is as requested; `current` is the SHA-256
    of what is there when the code is STALE or EXISTS and it could be read.
    """

    code: WriteCode
    path: str
    text: str
    remedy: str
    current: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A write that happened (or had nothing to do), and the directories created for it, outermost first."""

    result: WriteResult
    created_directories: tuple[str, ...] = ()


class PathLeases:
    """One writer a path within the process: `held` blocks until the path is free."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextlib.contextmanager
    def held(self, path: str) -> Iterator[None]:
        """Hold the lease of `path`."""
        with self._guard:
            lock, users = self._locks.get(path, (threading.Lock(), 0))
            self._locks[path] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks[path]
                if users == 1:
                    del self._locks[path]
                else:
                    self._locks[path] = lock, users - 1


class DurableWriter:
    """Writes and removes files beneath roots. One instance serves a process, so that its leases mean something."""

    def __init__(self) -> None:
        self._leases = PathLeases()

    def write(
        self,
        root: Path,
        relative: str,
        content: bytes,
        expected_sha256: str | None,
        *,
        shown: str = "",
        cancelled: Callable[[], bool] | None = None,
    ) -> Written | WriteProblem:
        """Make `relative` beneath `root` hold `content`. `expected_sha256` None demands that it does not exist.

        Content that is already there is a success that touches nothing, whatever was expected: a repeat after a lost
        acknowledgement reports the state. `cancelled` is asked once more right before the commit.
        """
        shown = shown or relative
        with self._leases.held(f"{root}/{relative}"):
            try:
                with Beneath(root) as tree:
                    return _write(tree, relative, content, expected_sha256, shown, cancelled)
            except OSError as error:
                return _problem(shown, error)

    def delete(
        self, root: Path, relative: str, *, shown: str = "", cancelled: Callable[[], bool] | None = None
    ) -> DeleteResult | WriteProblem:
        """Remove one file, or one link itself, durably. What is absent already is a success."""
        shown = shown or relative
        with self._leases.held(f"{root}/{relative}"):
            try:
                with Beneath(root) as tree:
                    found = tree.lstat(relative)
                    if found is None:
                        return DeleteResult(shown, existed=False)
                    if stat.S_ISDIR(found.st_mode):
                        return _code_problem(shown, WriteCode.IS_DIRECTORY)
                    if cancelled is not None and cancelled():
                        return _code_problem(shown, WriteCode.CANCELLED)
                    with tree.parent(relative) as (fd, name):
                        os.unlink(name, dir_fd=fd)
                    _sync_parent(tree, relative)
                    return DeleteResult(shown, existed=True, was_link=stat.S_ISLNK(found.st_mode))
            except OSError as error:
                return _problem(shown, error)


@dataclass(frozen=True, slots=True)
class _Target:
    """The file a write is about to replace; None fields when there is none."""

    sha256: str | None = None
    status: os.stat_result | None = None
    attributes: tuple[tuple[str, bytes], ...] = ()


def _write(
    tree: Beneath,
    relative: str,
    content: bytes,
    expected: str | None,
    shown: str,
    cancelled: Callable[[], bool] | None,
) -> Written | WriteProblem:
    after = hashlib.sha256(content).hexdigest()
    target = _look(tree, relative, shown)
    if isinstance(target, WriteProblem):
        return target
    if target.sha256 == after:
        return Written(WriteResult(shown, len(content), after, after, created=False, changed=False))
    if target.sha256 != expected:
        return _mismatch(shown, target, expected)
    if cancelled is not None and cancelled():
        return _code_problem(shown, WriteCode.CANCELLED)
    created = tree.make_parents(relative)
    try:
        problem = _commit(tree, relative, content, target, shown, cancelled)
    except BaseException:  # whatever ended it, an interrupt included, nothing may be left behind
        _remove_empty(tree, created)
        raise
    if problem is not None:
        _remove_empty(tree, created)
        return problem
    durable = _sync_parent(tree, relative, created)
    new = target.sha256 is None
    result = WriteResult(
        shown, len(content), after, target.sha256, created=new, changed=True, committed=True, durable=durable
    )
    return Written(result, created)


def _commit(
    tree: Beneath,
    relative: str,
    content: bytes,
    target: _Target,
    shown: str,
    cancelled: Callable[[], bool] | None,
) -> WriteProblem | None:
    with tree.parent(relative) as (directory, name), PendingFile(directory) as pending:
        pending.write(content)
        if target.status is not None:
            _keep_metadata(pending.fd, target)
        pending.sync()
        again = _look(tree, relative, shown)
        if isinstance(again, WriteProblem):
            return again
        if again.sha256 != target.sha256:
            return _mismatch(shown, again, target.sha256)
        if cancelled is not None and cancelled():
            return _code_problem(shown, WriteCode.CANCELLED)
        if target.status is not None:
            pending.replace(name)
            return None
        try:
            pending.link(name)
        except FileExistsError:
            return _mismatch(shown, again, None)
    return None


def _look(tree: Beneath, relative: str, shown: str) -> _Target | WriteProblem:
    """What is at the target now; anything that is not a regular file is a problem."""
    fd = open_regular(tree, relative)
    if fd is None:
        found = tree.lstat(relative)
        if found is None:
            return _Target()
        if stat.S_ISDIR(found.st_mode):
            return _code_problem(shown, WriteCode.IS_DIRECTORY)
        code = WriteCode.MOVED if stat.S_ISLNK(found.st_mode) else WriteCode.NOT_A_FILE
        return _code_problem(shown, code)
    try:
        return _Target(digest(fd)[0], os.fstat(fd), _attributes(fd))
    finally:
        os.close(fd)


def _attributes(fd: int) -> tuple[tuple[str, bytes], ...]:
    """Extended attributes a replacement should keep: access lists and the user's own."""
    try:
        names = os.listxattr(fd)
    except OSError:
        return ()
    kept = [n for n in names if n.startswith("user.") or n == "system.posix_acl_access"]
    return tuple((name, os.getxattr(fd, name)) for name in kept)


def _keep_metadata(fd: int, target: _Target) -> None:
    """Owner, access lists and permission bits of the file being replaced; set-id bits go, as a write drops them."""
    status = target.status
    if status is None:
        return
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, status.st_uid, status.st_gid)
    for name, value in target.attributes:
        with contextlib.suppress(OSError):
            os.setxattr(fd, name, value)
    os.fchmod(fd, stat.S_IMODE(status.st_mode) & 0o1777)


def _sync_parent(tree: Beneath, relative: str, created: tuple[str, ...] = ()) -> bool:
    """Whether the directory entry (and those of the directories created for it) are durable."""
    parents = {os.path.dirname(path) for path in (relative, *created)}  # noqa: PTH120 - relative names, not files
    try:
        for parent in parents:
            tree.sync_directory(parent or ".")
    except OSError:
        return False
    return True


def _remove_empty(tree: Beneath, created: tuple[str, ...]) -> None:
    for directory in reversed(created):
        with contextlib.suppress(OSError):
            tree.rmdir(directory)


def _mismatch(shown: str, target: _Target, expected: str | None) -> WriteProblem:
    if expected is None:
        return _code_problem(shown, WriteCode.EXISTS, target.sha256 or "")
    return _code_problem(shown, WriteCode.STALE, target.sha256 or "")


def _code_problem(shown: str, code: WriteCode, current: str = "") -> WriteProblem:
    text, remedy = _SENTENCES[code]
    return WriteProblem(code, shown, text, remedy, current)


_SENTENCES = {
    WriteCode.STALE: ("the file changed since it was read", "read it again and redo the edit on what is there now"),
    WriteCode.EXISTS: ("the file already exists", "read it first, then edit it"),
    WriteCode.CANCELLED: ("the write was cancelled before it took effect", "nothing was changed"),
    WriteCode.IS_DIRECTORY: ("it is a directory", "name a file in it"),
    WriteCode.NOT_A_FILE: ("it is not a regular file", "choose another path"),
    WriteCode.NOT_A_DIRECTORY: ("a parent of it is not a directory", "choose another path"),
    WriteCode.DENIED: ("permission denied", "the operator must change its permissions"),
    WriteCode.READ_ONLY: ("the file system is read-only", "write somewhere else"),
    WriteCode.FULL: ("no space left on the device", "free some space, then try again"),
    WriteCode.QUOTA: ("the disk quota is used up", "free some space, then try again"),
    WriteCode.NAME: ("the name is too long or not allowed on this file system", "choose another name"),
    WriteCode.MOVED: ("a component of the path was replaced by a link meanwhile", "look at the directory again"),
    WriteCode.FAILED: ("the write failed", "try again"),
}

_ERRNO_CODES = {
    errno.EACCES: WriteCode.DENIED,
    errno.EPERM: WriteCode.DENIED,
    errno.EROFS: WriteCode.READ_ONLY,
    errno.ENOSPC: WriteCode.FULL,
    errno.EDQUOT: WriteCode.QUOTA,
    errno.EISDIR: WriteCode.IS_DIRECTORY,
    errno.ENOTDIR: WriteCode.NOT_A_DIRECTORY,
    errno.ENAMETOOLONG: WriteCode.NAME,
    errno.EINVAL: WriteCode.NAME,
    errno.ELOOP: WriteCode.MOVED,
    errno.EXDEV: WriteCode.MOVED,
}


def _problem(shown: str, error: OSError) -> WriteProblem:
    """An operating-system failure as a value, named with the path that was asked for."""
    code = _ERRNO_CODES.get(error.errno or 0, WriteCode.FAILED)
    if code is WriteCode.FAILED:
        return WriteProblem(code, shown, f"the write failed: {error.strerror or error}", "try again")
    return _code_problem(shown, code)
