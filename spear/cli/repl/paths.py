"""Workspace paths for `@` completion: git's list first, a scan where there is none, 50 ms at most (spec 8.2)."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

BUDGET_SECONDS = 0.05
_FRESH_SECONDS = 5.0
_BLOCK = 1 << 16
_MOST = 50_000


class PathIndex:
    """The paths of one root, gathered when asked for and kept for a few seconds."""

    def __init__(self, root: Path, budget: float = BUDGET_SECONDS) -> None:
        self._root = root
        self._budget = budget
        self._paths: tuple[str, ...] = ()
        self._at = float("-inf")

    def paths(self) -> tuple[str, ...]:
        """Tracked and untracked paths that are not ignored; partial when the budget ran out."""
        now = time.monotonic()
        if now - self._at > _FRESH_SECONDS:
            deadline = now + self._budget
            self._paths = tuple(_git_paths(self._root, deadline)) or tuple(_scan(self._root, deadline))
            self._at = time.monotonic()
        return self._paths

    def matching(self, typed: str, limit: int = 50) -> list[str]:
        """Paths for what was typed after `@`: by their beginning, then by the beginning of their name, then anywhere;
        entries of an existing directory that git ignores come last."""
        if typed.startswith(("/", "~")) or ".." in typed.split("/"):
            return []
        low = typed.lower()
        ranked: tuple[list[str], list[str], list[str]] = ([], [], [])
        for path in self.paths():
            lowered = path.lower()
            if lowered.startswith(low):
                ranked[0].append(path)
            elif lowered.rsplit("/", 1)[-1].startswith(low):
                ranked[1].append(path)
            elif low in lowered:
                ranked[2].append(path)
        found = [*ranked[0], *ranked[1], *ranked[2]][:limit]
        known = set(found)
        return found + [path for path in self._beneath(typed) if path not in known][: max(0, limit - len(found))]

    def _beneath(self, typed: str) -> list[str]:
        """Entries of the directory that was typed out, ignored or not."""
        directory, _, name = typed.rpartition("/")
        try:
            entries = sorted(os.scandir(self._root / directory), key=lambda entry: entry.name)
        except OSError:
            return []
        if not name and not directory:
            return []
        prefix = f"{directory}/" if directory else ""
        return [
            f"{prefix}{entry.name}{'/' if entry.is_dir(follow_symlinks=False) else ''}"
            for entry in entries
            if entry.name.startswith(name) and entry.name != ".git"
        ]


def _git_paths(root: Path, deadline: float) -> Iterator[str]:
    """What `git ls-files` says until the deadline."""
    command = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return
    if process.stdout is None:  # it was asked for above
        return
    descriptor, rest, count = process.stdout.fileno(), b"", 0
    try:
        while count < _MOST and (left := deadline - time.monotonic()) > 0:
            if not select.select([descriptor], [], [], left)[0]:
                break
            block = os.read(descriptor, _BLOCK)
            if not block:
                break
            *whole, rest = (rest + block).split(b"\0")
            count += len(whole)
            yield from (path.decode("utf-8", "replace") for path in whole if path)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _scan(root: Path, deadline: float) -> Iterator[str]:
    """Files below the root, nearest first, until the deadline."""
    pending, count = [""], 0
    while pending and time.monotonic() < deadline and count < _MOST:
        directory = pending.pop(0)
        try:
            entries = sorted(os.scandir(root / directory), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{directory}/{entry.name}" if directory else entry.name
            if entry.name == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            else:
                count += 1
                yield path
