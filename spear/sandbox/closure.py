"""Paths of a root a command may not change or read: the mounts that hold them, what is dropped after it (spec 2.7).

A closed path that exists is bound read-only, and every directory above it is pinned (bound onto itself), so that none
can be renamed away from under it. One that does not exist gets no placeholder: the command would see, and commit, a
file nobody wrote. It may be created in the overlay; `scrub` takes it out of the upper layer before anybody looks.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

WALK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Protection:
    """Relative paths of one root, parents before children. `watched` are all closed paths, existing or not."""

    pins: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    hidden_files: tuple[str, ...] = ()
    hidden_directories: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()

    @property
    def destinations(self) -> tuple[str, ...]:
        """Every path something is mounted on."""
        return (*self.pins, *self.closed, *self.hidden_files, *self.hidden_directories)


def protect(root: Path, closed: Sequence[str], hidden: Sequence[str]) -> Protection:
    """Decide from the tree as it is. A symbolic link is never mounted on: what it leads to inside the root is protected
    instead, and the link itself is watched.
    """
    pins: set[str] = set()
    shut: set[str] = set()
    watched: set[str] = set()
    files: set[str] = set()
    directories: set[str] = set()
    top = str(root)
    for name in closed:
        for place in _places(top, name):
            watched.add(place.relative)
            if place.mode is not None:
                shut.add(place.relative)
            pins.update(_ancestors(place.relative if place.mode is not None else place.above, place.mode is None))
    for name in hidden:
        for place in _places(top, name):
            if place.mode is not None:
                (directories if stat.S_ISDIR(place.mode) else files).add(place.relative)
                pins.update(_ancestors(place.relative))
    outer = {name for name in shut if not any(parent in shut for parent in _ancestors(name))}
    covered = {pin for pin in pins if any(parent in outer for parent in _ancestors(pin, include_self=True))}
    return Protection(
        tuple(sorted(pins - covered)), tuple(sorted(outer)), tuple(sorted(files)), tuple(sorted(directories)),
        tuple(sorted(watched)),
    )  # fmt: skip


def scrub(upper: Path, watched: Iterable[str]) -> tuple[str, ...]:
    """Remove from an upper layer whatever stands at a closed path or, as a link, on the way to one; their names.

    Nothing is followed: the layer was written by the command.
    """
    dropped: list[str] = []
    for relative in watched:
        parts = relative.split("/")
        directory = os.open(upper, WALK)
        try:
            for index, part in enumerate(parts):
                try:
                    mode = os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode
                except FileNotFoundError:
                    break
                if index == len(parts) - 1 or not stat.S_ISDIR(mode):
                    # A whiteout above a closed path that never existed is an ordinary deletion of something else.
                    if index == len(parts) - 1 or stat.S_ISLNK(mode):
                        _remove(directory, part, mode)
                        dropped.append("/".join(parts[: index + 1]))
                    break
                deeper = os.open(part, WALK, dir_fd=directory)
                os.close(directory)
                directory = deeper
        finally:
            os.close(directory)
    return tuple(dict.fromkeys(dropped))


def clear_mountpoint(base: Path, relative: str) -> None:
    """Make base/relative a real directory in a tree commands may write, replacing links and files on the way.

    bwrap follows a link planted there by an earlier command out of the sandbox (CVE-2026-87766). Nothing runs in the
    session meanwhile. Raises OSError.
    """
    directory = os.open(base, WALK)
    try:
        for part in relative.split("/"):
            with contextlib.suppress(FileNotFoundError):
                mode = os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode
                if not stat.S_ISDIR(mode):
                    os.unlink(part, dir_fd=directory)
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=directory)
            deeper = os.open(part, WALK, dir_fd=directory)
            os.close(directory)
            directory = deeper
    finally:
        os.close(directory)


@dataclass(frozen=True, slots=True)
class _Place:
    """A path of the root as it is: `above` is the deepest directory on the way to it, `mode` None when it is missing,
    behind a link or itself one; `linked` tells the last two.
    """

    relative: str
    above: str
    mode: int | None
    linked: bool = False


def _places(root: str, name: str) -> Iterable[_Place]:
    """The path as named and, when a link is on the way, the path it leads to inside the root."""
    relative = name.strip("/")
    if not relative or ".." in relative.split("/"):
        return
    place = _walk(root, relative)
    yield place
    if place.linked:
        real = os.path.realpath(f"{root}/{relative}")
        if real.startswith(f"{root}/"):
            yield _walk(root, real[len(root) + 1 :])


def _walk(root: str, relative: str) -> _Place:
    path, above = root, ""
    parts = relative.split("/")
    for index, part in enumerate(parts):
        path = f"{path}/{part}"
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return _Place(relative, above, None)
        if stat.S_ISLNK(mode):
            return _Place(relative, above, None, linked=True)
        if index == len(parts) - 1:
            return _Place(relative, above, mode)
        if not stat.S_ISDIR(mode):
            return _Place(relative, above, None)
        above = f"{above}/{part}" if above else part
    return _Place(relative, above, None)


def _ancestors(relative: str, include_self: bool = False) -> list[str]:
    parts = relative.split("/") if relative else []
    return ["/".join(parts[:end]) for end in range(1, len(parts) + (1 if include_self else 0))]


def _remove(directory: int, name: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        shutil.rmtree(name, dir_fd=directory)
    else:
        os.unlink(name, dir_fd=directory)
