"""Where a path leads: the workspace roots and the resolution of every spelling of a path against them (spec 2.2).

Resolution follows every symlink, those of the parents of a missing path included, and only then checks containment.
It decides nothing about scope or protection, and opens nothing: the operation that follows runs on a descriptor
opened beneath the root (`spear.workspace.beneath`), so that a component swapped afterwards leads nowhere.
"""

# Strings, not Path objects: this runs once a component of every path a model names.
# ruff: noqa: PTH115, PTH118, PTH120, PTH208

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from spear.workspace import presence

PRIMARY = "workspace"
"""The name of the primary root; `/workspace/…` spells it."""

_LINK_LIMIT = 40
_INVISIBLE = frozenset("\u2028\u2029\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


class PathCode(StrEnum):
    """Why a path cannot be used."""

    EMPTY = "empty_path"
    CONTROL = "control_character"
    HOME = "home_path"
    ABSOLUTE = "absolute_path"
    OUTSIDE = "outside_workspace"
    UNKNOWN_ROOT = "unknown_root"
    LOOP = "symlink_loop"
    NOT_A_DIRECTORY = "not_a_directory"
    UNREADABLE = "unreadable_path"


@dataclass(frozen=True, slots=True)
class PathProblem:
    """A path that leads nowhere usable: `text` is the reason, `remedy` what to do instead, both without a full stop."""

    code: PathCode
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Location:
    """Where a path leads. `root` is canonical; `relative` is the canonical path beneath it ('.' for the root itself);
    `shown` is the spelling for the model; `real` is `root/relative`. `via_link` says that a symlink was followed;
    `is_link` that the last component is itself a link which was not followed (deletion).
    """

    root_name: str
    root: Path
    relative: str
    shown: str
    real: Path
    exists: bool
    is_dir: bool
    via_link: bool = False
    is_link: bool = False


@dataclass(slots=True)
class _Walk:
    """The state of one resolution: `at` is canonical, `rest` is still to be walked."""

    at: str
    rest: deque[str]
    missing: bool = False
    links: int = 0
    last_is_link: bool = False


def folded(relative: str) -> str:
    """A spelling under which names that some file system takes for equal are equal: NFKC, case folded, every
    component without trailing dots and spaces. For comparing against names that must stay closed (spec 2.2).
    """
    parts = unicodedata.normalize("NFKC", relative).casefold().split("/")
    return "/".join(p if p in (".", "..") else (p.rstrip(". ") or p) for p in parts)


def _spelling(name: str) -> str:
    """What two names of one file have in common on any system: NFC, no trailing dots or spaces (case is kept)."""
    return unicodedata.normalize("NFC", name).rstrip(". ")


def _beneath(path: str, root: str) -> str | None:
    """`path` relative to `root` by whole components, '.' for the root itself, None outside."""
    if path == root:
        return "."
    prefix = root if root.endswith("/") else root + "/"
    return path[len(prefix) :] if path.startswith(prefix) else None


@dataclass(frozen=True, slots=True)
class Roots:
    """The workspace roots of a session: `primary`, and `others` by name. All canonical, none inside another: build
    them with `Roots.of`. `allow_absolute` accepts host absolute spellings that land inside a root.
    """

    primary: Path
    others: Mapping[str, Path] = field(default_factory=dict)
    allow_absolute: bool = False

    @classmethod
    def of(
        cls, primary: Path, others: Mapping[str, Path] | None = None, *, allow_absolute: bool = False
    ) -> tuple[Roots, tuple[str, ...]]:
        """Canonical, deduplicated roots that never nest, and one notice for each registered tree left out.

        A tree that holds the launch directory, or lies in it, is the launch directory's own and is left out silently.
        """
        chosen = primary.resolve()
        kept: dict[str, Path] = {}
        notices: list[str] = []
        for name, path in sorted((others or {}).items()):
            real = path.expanduser().resolve()
            if not presence.is_directory(real):
                notices.append(f"project {name}: {path} is gone; the entry is ignored")
            elif _nested(real, chosen):
                continue
            elif clash := next((k for k, v in kept.items() if _nested(real, v)), None):
                notices.append(f"project {name}: {path} overlaps project {clash}; the entry is ignored")
            else:
                kept[name] = real
        return cls(chosen, kept, allow_absolute), tuple(notices)

    def resolve(self, text: str, cwd_relative_to: str = "", *, follow_last: bool = True) -> Location | PathProblem:
        """Where `text` leads. Relative spellings start at the primary root, or at `cwd_relative_to` beneath it.

        `follow_last` False leaves a symlink in the last place alone (deletion). Never raises for what a model may
        write; thread-safe. Spec 2.2.
        """
        if problem := _bad_text(text):
            return problem
        base, tail = self._start(text, cwd_relative_to)
        if isinstance(tail, PathProblem):
            return tail
        walk = _Walk(base, deque(part for part in tail.split("/") if part not in ("", ".")))
        try:
            while walk.rest:
                problem = _step(walk, text, follow_last)
                if problem is not None:
                    return problem
        except OSError as error:
            return _unreadable(text, error)
        return self._located(text, walk)

    def _start(self, text: str, cwd: str) -> tuple[str, str | PathProblem]:
        """The directory to start from and what is left to walk; the latter may be a problem instead."""
        head = text.split("/", 1)[0]
        if head.startswith("~") and not os.path.lexists(self.primary / cwd / head):
            return "", PathProblem(PathCode.HOME, "`~` is not expanded here", "use a path relative to the workspace")
        if not text.startswith("/"):
            return str(self.primary), f"{cwd}/{text}"
        parts = [part for part in text.split("/") if part]
        if parts[:1] == [PRIMARY]:
            return str(self.primary), "/".join(parts[1:])
        if parts[:1] == ["workspaces"] and ((parts[1:2] and parts[1] in self.others) or not self._holds(text)):
            return self._named(parts[1:])
        if self.allow_absolute:
            return "/", text
        return "", self._absolute(text)

    def _holds(self, text: str) -> bool:
        return any(_beneath(text, str(root)) is not None for root in (self.primary, *self.others.values()))

    def _named(self, parts: list[str]) -> tuple[str, str | PathProblem]:
        known = ", ".join(f"/workspaces/{name}" for name in self.others) or "none is registered"
        if not parts or parts[0] not in self.others:
            name = parts[0] if parts else ""
            return "", PathProblem(PathCode.UNKNOWN_ROOT, f"there is no workspace `{name}`", f"known: {known}")
        return str(self.others[parts[0]]), "/".join(parts[1:])

    def _absolute(self, text: str) -> PathProblem:
        """The refusal of an absolute spelling, with the accepted spelling where there is one."""
        permissive = Roots(self.primary, self.others, allow_absolute=True)
        found = permissive.resolve(text)
        if isinstance(found, Location):
            return PathProblem(PathCode.ABSOLUTE, "absolute host paths are not used here", f"use `{found.shown}`")
        return PathProblem(PathCode.OUTSIDE, "it is outside the workspace", "use a path relative to the workspace root")

    def _located(self, text: str, walk: _Walk) -> Location | PathProblem:
        for name, root in ((PRIMARY, self.primary), *self.others.items()):
            relative = _beneath(walk.at, str(root))
            if relative is None:
                continue
            real = Path(walk.at)
            is_dir = not walk.missing and not walk.last_is_link and presence.is_directory(real)
            if text.rstrip().endswith("/") and not walk.missing and not is_dir and not walk.last_is_link:
                return PathProblem(PathCode.NOT_A_DIRECTORY, "it is a file, not a directory", "drop the final `/`")
            prefix = "" if root == self.primary else f"/workspaces/{name}"
            shown = relative if not prefix else prefix if relative == "." else f"{prefix}/{relative}"
            return Location(
                name, root, relative, shown, real, not walk.missing, is_dir, walk.links > 0, walk.last_is_link
            )
        how = "it leads outside the workspace through a link" if walk.links else "it is outside the workspace"
        return PathProblem(PathCode.OUTSIDE, how, "use a path inside the workspace")


def _nested(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _bad_text(text: str) -> PathProblem | None:
    if not text.strip():
        return PathProblem(PathCode.EMPTY, "the path is empty", "name a file or directory, `.` for the root")
    if any(unicodedata.category(c) == "Cc" or c in _INVISIBLE for c in text):
        return PathProblem(
            PathCode.CONTROL, "the path holds a control or invisible character", "spell the name without it"
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return PathProblem(PathCode.CONTROL, "the path holds half a character", "spell the name in valid Unicode")
    return None


def _unreadable(text: str, error: OSError) -> PathProblem:
    match error.errno:
        case errno.ENOTDIR:
            return PathProblem(PathCode.NOT_A_DIRECTORY, "a parent of it is not a directory", "check the path")
        case errno.ELOOP:
            return PathProblem(PathCode.LOOP, "its symlinks form a loop", "use the real path")
        case _:
            why = (error.strerror or "it cannot be read").lower()
            return PathProblem(PathCode.UNREADABLE, why, "check its permissions and the length of its name")


def _step(walk: _Walk, text: str, follow_last: bool) -> PathProblem | None:
    """Walk one component."""
    name = walk.rest.popleft()
    if name == "..":
        walk.at = os.path.dirname(walk.at)
        # A missing directory has no parent of its own; what it was to be created in does.
        walk.missing = walk.missing and not os.path.lexists(walk.at)
        return None
    if walk.missing:
        walk.at = os.path.join(walk.at, name)
        return None
    here = os.path.join(walk.at, name)
    try:
        found = os.lstat(here)
    except FileNotFoundError:
        other = _other_spelling(walk.at, name)
        if other is None:
            walk.at, walk.missing = here, True
            return None
        here = os.path.join(walk.at, other)
        found = os.lstat(here)
    else:
        here = os.path.join(walk.at, _listed_spelling(walk.at, name, found))
    if not stat.S_ISLNK(found.st_mode):
        if walk.rest and not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), text)
        walk.at = here
        return None
    if not walk.rest and not follow_last:
        walk.at, walk.last_is_link = here, True
        return None
    walk.links += 1
    if walk.links > _LINK_LIMIT:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), text)
    target = os.readlink(here)
    if target.startswith("/"):
        walk.at = "/"
    walk.rest.extendleft(reversed([part for part in target.split("/") if part not in ("", ".")]))
    return None


def _other_spelling(directory: str, name: str) -> str | None:
    """The one entry whose name is `name` in another normalization or without trailing dots and spaces."""
    wanted = _spelling(name)
    try:
        matches = [entry for entry in os.listdir(directory) if _spelling(entry) == wanted]
    except OSError:
        return None
    return matches[0] if len(matches) == 1 and wanted else None


def _listed_spelling(directory: str, name: str, found: os.stat_result) -> str:
    """`name` as the directory lists it: differs where the file system folds case or normalization itself."""
    if not _folds(directory, name, found):
        return name
    with os.scandir(directory) as entries:
        names = {entry.name: entry.inode() for entry in entries}
    if name in names:
        return name
    return next((n for n, inode in names.items() if inode == found.st_ino and folded(n) == folded(name)), name)


def _folds(directory: str, name: str, found: os.stat_result) -> bool:
    """Whether the directory answers to the same name in another case: one lstat instead of a listing."""
    swapped = name.swapcase()
    if swapped == name:
        return False
    try:
        other = os.lstat(os.path.join(directory, swapped))
    except OSError:
        return False
    return (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino)
