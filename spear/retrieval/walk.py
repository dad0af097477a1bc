"""Which files of a corpus are indexed: delivered source without what the project excludes, up to a cap (spec 4.5)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from spear.errors import WorkspaceError
from spear.workspace.build_output import CACHE_DIRECTORIES, bears_output_mark, is_output_directory
from spear.workspace.delivered import DeliveredSource

MAX_FILES = 60_000
"""Files a walk may meet (SPEAR_INDEX_MAX_FILES)."""

_NAMED = 5
_MOST_OF_IT = 0.9
_SECRET = re.compile(
    r"\.env(\.(?!example$|sample$|template$|dist$).+)?|\.netrc|\.pgpass|\.pypirc|\.htpasswd|id_(rsa|dsa|ecdsa|ed25519)"
    r"|.+\.(pem|key|p12|pfx|jks|keystore|kdbx)"
)


@dataclass(frozen=True, slots=True)
class Tree:
    """What is indexed of a directory: `exclude` as the registry declares it, build output when `include_build`."""

    root: Path
    exclude: tuple[str, ...] = ()
    include_build: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """The files met, relative, in the order of the walk. `partial` when there were more than the cap allows."""

    files: tuple[str, ...]
    partial: bool = False


def walk(tree: Tree, max_files: int = MAX_FILES, *, allow_partial: bool = False) -> Walk:
    """Meet every file. Links are not followed, names that are not UTF-8 and files of credentials are left out.

    Raises WorkspaceError, naming the directories that used it up, when there are more than `max_files`, unless
    `allow_partial`; and when the root cannot be read.
    """
    found: list[str] = []
    for path in _files(tree):
        if len(found) == max_files:
            if allow_partial:
                return Walk(tuple(found), partial=True)
            raise WorkspaceError(
                f"{tree.root} holds more than {max_files} files; most of them in {_heaviest(found)}",
                hint="exclude what is not source (`exclude` in projects.json, .gitignore), raise SPEAR_INDEX_MAX_FILES,"
                " or take the first files with --allow-partial",
            )
        found.append(path)
    return Walk(tuple(found))


def _files(tree: Tree) -> Iterator[str]:
    delivered = DeliveredSource(tree.root)
    excluded = _excluded(tree.exclude)
    pending = [("", False)]
    while pending:
        directory, in_build = pending.pop()
        below = []
        for name, is_directory, is_file in _entries(tree.root, directory):
            path = f"{directory}/{name}" if directory else name
            if excluded.match_file(path + "/" if is_directory else path):
                continue
            if is_directory:
                build = (
                    tree.include_build and name not in CACHE_DIRECTORIES and (in_build or _is_build(tree.root, path))
                )
                if build or not delivered.prunes(path):
                    below.append((path, build))
            elif is_file and not _SECRET.fullmatch(name) and (in_build or delivered.is_delivered(path)):
                yield path
        pending += reversed(below)


def _entries(root: Path, directory: str) -> list[tuple[str, bool, bool]]:
    """Name, whether a directory, whether a regular file; sorted. An unreadable directory below the root is empty."""
    try:
        with os.scandir(root / directory) as entries:
            found = [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                for entry in entries
            ]
    except OSError as error:
        if directory:
            return []
        raise WorkspaceError(
            f"{root} cannot be read: {error.strerror}", hint="name a directory you may read"
        ) from error
    return sorted(each for each in found if each[0].isascii() or _is_text(each[0]))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_build(root: Path, path: str) -> bool:
    return is_output_directory(root, path) or bears_output_mark(root, path)


def _excluded(patterns: Iterable[str]) -> GitIgnoreSpec:
    """`./x` is anchored at the root, a bare name matches anywhere, and so does a path that is not anchored."""
    lines = []
    for pattern in patterns:
        bare = pattern.strip().rstrip("/")
        anchored = bare.startswith("./")
        bare = bare.removeprefix("./").strip("/")
        if bare and bare != ".":
            lines.append(f"/{bare}" if anchored else f"**/{bare}")
    return GitIgnoreSpec.from_lines(lines)


def _heaviest(files: Iterable[str]) -> str:
    """The directories that hold most of the files, each as deep as nearly all of its files go."""
    held: Counter[str] = Counter()
    for path in files:
        parent = path.rpartition("/")[0]
        while parent:
            held[parent] += 1
            parent = parent.rpartition("/")[0]
    tops = sorted((name for name in held if "/" not in name), key=lambda name: (-held[name], name))
    named = []
    for top in tops[:_NAMED]:
        deepest = top
        while inner := _main_part(deepest, held):
            deepest = inner
        named.append(f"{deepest}/ ({held[deepest]})")
    return ", ".join(named) or "the top directory itself"


def _main_part(directory: str, held: Counter[str]) -> str:
    prefix = directory + "/"
    inner = [name for name in held if name.startswith(prefix) and "/" not in name[len(prefix) :]]
    heaviest = max(inner, key=held.__getitem__, default="")
    return heaviest if heaviest and held[heaviest] >= _MOST_OF_IT * held[directory] else ""
