"""What changed in a tree between two looks at it, whoever changed it (spec 2.5, change detection).

A look costs one walk: `find` prints inode, size, times and mode of every file, and two looks are compared as bytes.
Contents are read only where those moved, and where a file was so young at the first look that a change within the same
clock tick would not show (the rule git uses for its index).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from spear.workspace.beneath import Beneath
from spear.workspace.delivered import DeliveredSource
from spear.workspace.tree_state import NodeKind, PathState, observe

CLOCK_TICK_NS = 20_000_000
"""The most, in ns, by which the times of files lag behind the clock."""

_YOUNG = b"R"


class TreeChangeKind(StrEnum):
    """What happened to a path."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    MODE = "mode"
    SYMLINK = "symlink"


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One change. Digests are of files and None where unknown. `certain` is false when only the status moved and
    nobody knew the content before: the bytes may be the same.
    """

    path: str
    kind: TreeChangeKind
    before_sha256: str | None = None
    after_sha256: str | None = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One look at a tree. `listing` holds a NUL-terminated line a file; `young` the digests of files whose status was
    younger than a clock tick; `pruned` what was not entered.
    """

    root: Path
    listing: bytes
    young: Mapping[str, PathState] = field(default_factory=dict)
    pruned: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def ignore_directories(self) -> Iterator[str]:
        """The directories that hold a `.gitignore`."""
        for line in self.listing.split(b".gitignore\0")[:-1]:
            head = line.rpartition(b"\0")[2]
            path = os.fsdecode(head.split(b" ", 6)[-1])
            if path == "" or path.endswith("/"):
                yield path.rstrip("/")

    def paths(self) -> Iterator[str]:
        """The files that were there."""
        return (os.fsdecode(line.split(b" ", 6)[-1]) for line in self.listing.split(b"\0") if line)

    def digest(self) -> str:
        """A fingerprint of the look: equal digests mean that nothing has moved."""
        return hashlib.sha256(self.listing).hexdigest()


def snapshot(root: Path, delivered: DeliveredSource, like: Snapshot | None = None) -> Snapshot:
    """Look at `root`. `like` is an earlier look whose pruning is used again. The first look of a turn (no `like`) also
    seals `delivered` on the ignore rules of now.
    """
    pruned = like.pruned if like else delivered.pruned()
    names = like.names if like else delivered.prunable_names()
    young_since = time.time_ns() - CLOCK_TICK_NS
    listing = _find(root, pruned, names, young_since) if shutil.which("find") else None
    if listing is None:
        listing = b"".join(sorted(_walk(root, frozenset(pruned), frozenset(names), young_since)))
    young: dict[str, PathState] = {}
    if listing.startswith(_YOUNG) or b"\0" + _YOUNG in listing:
        lines = listing.split(b"\0")[:-1]
        paths = [os.fsdecode(_path(line[1:])) for line in lines if line.startswith(_YOUNG)]
        with Beneath(root) as tree:
            young = {path: _look(tree, path) for path in paths if delivered.is_delivered(path)}
        listing = b"".join(line.removeprefix(_YOUNG) + b"\0" for line in lines)
    result = Snapshot(root, listing, young, pruned, names)
    if like is None:
        delivered.seal(result.ignore_directories())
    return result


Known = Callable[[str], str | None]


def _nothing_known(path: str) -> str | None:
    return None


def compare(
    before: Snapshot, after: Snapshot, delivered: DeliveredSource, known: Known = _nothing_known
) -> tuple[TreeChange, ...]:
    """The changes of delivered source from one look to the next, sorted by path. `known` gives the SHA-256 a path had
    at the first look, where somebody remembers it; a file whose bytes are the same then is no change.
    """
    if before.listing == after.listing and not before.young:
        return ()
    old, new = _differences(before.listing, after.listing)
    for path in before.young:
        old.setdefault(path, b"")
        new.setdefault(path, b"")
    changes = []
    with Beneath(before.root) as tree:
        for path in sorted(old.keys() | new.keys()):
            if delivered.is_delivered(path):
                change = _judge(tree, path, old.get(path), new.get(path), before.young.get(path), known)
                if change is not None:
                    changes.append(change)
    return tuple(changes)


def _differences(old: bytes, new: bytes) -> tuple[dict[str, bytes], dict[str, bytes]]:
    if old == new:
        return {}, {}
    first, second = set(old.split(b"\0")), set(new.split(b"\0"))
    return (
        {os.fsdecode(_path(line)): line for line in first - second if line},
        {os.fsdecode(_path(line)): line for line in second - first if line},
    )


def _judge(
    tree: Beneath, path: str, old: bytes | None, new: bytes | None, young: PathState | None, known: Known
) -> TreeChange | None:
    """One path whose status moved, or which was young at the first look (both lines empty when it did not move)."""
    remembered = young.sha256 if young and young.kind is NodeKind.FILE else known(path)
    if new is None:
        return TreeChange(path, TreeChangeKind.DELETED, remembered)
    now = _look(tree, path)
    if now.kind is NodeKind.ABSENT:
        return TreeChange(path, TreeChangeKind.DELETED, remembered)
    if young is not None and now == young:
        return None
    after = now.sha256 or None
    if old is None:
        kind = TreeChangeKind.SYMLINK if now.kind is NodeKind.LINK else TreeChangeKind.CREATED
        return TreeChange(path, kind, None, after)
    if now.kind is NodeKind.LINK:
        return TreeChange(path, TreeChangeKind.SYMLINK, remembered)
    mode_moved = _mode(old) != _mode(new) if old and new else young is not None and young.mode != now.mode
    if after is not None and after == remembered:
        return TreeChange(path, TreeChangeKind.MODE, after, after) if mode_moved else None
    if mode_moved and _content_status(old) == _content_status(new):
        return TreeChange(path, TreeChangeKind.MODE, after, after)
    return TreeChange(path, TreeChangeKind.MODIFIED, remembered, after, certain=_certain(old, new, remembered))


def _certain(old: bytes, new: bytes, remembered: str | None) -> bool:
    return remembered is not None or not old or old.split(b" ", 3)[2] != new.split(b" ", 3)[2]


def _look(tree: Beneath, path: str) -> PathState:
    """What is there; a file we may not read counts by its status alone."""
    try:
        return observe(tree, path)
    except PermissionError:
        return PathState(NodeKind.FILE)


# A line: type inode size mtime ctime mode path.


def _path(line: bytes) -> bytes:
    return line.split(b" ", 6)[6]


def _mode(line: bytes) -> bytes:
    return line.split(b" ", 6)[5]


def _content_status(line: bytes) -> list[bytes]:
    return line.split(b" ", 4)[:4]


def _find(root: Path, pruned: tuple[str, ...], names: tuple[str, ...], young_since: int) -> bytes | None:
    """The listing by GNU find; None when this find cannot do it."""
    prune: list[str] = []
    for name in names:
        prune += ["-o", "-name", _literal(name)]
    for path in pruned:
        prune += ["-o", "-path", "./" + _literal(path)]
    young = f"@{young_since // 1_000_000_000}.{young_since % 1_000_000_000:09d}"
    # Files first: find would try all the names on them too.
    command = ["find", ".", "!", "-type", "d", "(", "-newerct", young, "-printf", "R", ","]
    command += ["-printf", r"%y %i %s %T@ %C@ %m %P\0", ")", "-o", "(", *(prune[1:] or ["-false"]), ")", "-prune"]
    done = subprocess.run(
        command,
        cwd=root,
        env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    # 1 is a directory that could not be read or vanished; anything printed on a usage error is nothing.
    return None if b"-printf" in done.stderr or (done.returncode and not done.stdout and done.stderr) else done.stdout


def _literal(text: str) -> str:
    return "".join("\\" + c if c in "*?[\\" else c for c in text)


def _walk(root: Path, pruned: frozenset[str], names: frozenset[str], young_since: int) -> Iterator[bytes]:
    """The same listing without find."""
    pending = [""]
    while pending:
        directory = pending.pop()
        try:
            entries = list(os.scandir(root / directory))
        except OSError:
            continue
        for entry in entries:
            path = f"{directory}/{entry.name}" if directory else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in names and path not in pruned:
                    pending.append(path)
                continue
            try:
                yield _line(path, entry.stat(follow_symlinks=False), young_since)
            except FileNotFoundError:
                continue


_TYPES = ((stat.S_ISREG, "f"), (stat.S_ISLNK, "l"), (stat.S_ISFIFO, "p"), (stat.S_ISSOCK, "s"), (stat.S_ISBLK, "b"))


def _line(path: str, found: os.stat_result, young_since: int) -> bytes:
    kind = next((letter for test, letter in _TYPES if test(found.st_mode)), "c")
    mode = f"{stat.S_IMODE(found.st_mode):o}"
    times = f"{_seconds(found.st_mtime_ns)} {_seconds(found.st_ctime_ns)}"
    young = _YOUNG if found.st_ctime_ns > young_since else b""
    return young + f"{kind} {found.st_ino} {found.st_size} {times} {mode} ".encode() + os.fsencode(path) + b"\0"


def _seconds(ns: int) -> str:
    """As find prints them: ten digits after the point."""
    return f"{ns // 1_000_000_000}.{ns % 1_000_000_000:09d}0"
