"""Reading a store for curation: one verified episode at a time, in the order they were captured (spec 7).

What is deleted, altered, repeated or not listed is reported as such and never read as data. Nothing is kept in memory
but the marks, which a person set one by one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from spear.errors import UsageError
from spear.state.lines import read_lines
from spear.training.episode import Episode, decode
from spear.training.layout import Layout
from spear.training.lists import ManifestLine, MarkLine
from spear.training.vocabulary import Mark

_BLOCK = 1 << 20


class Problem(StrEnum):
    """What is wrong with a part of a store."""

    MISSING = "missing"
    ALTERED = "altered"
    UNREADABLE = "unreadable"
    UNLISTED = "unlisted"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Found:
    """One listed episode: its line as it stands and as a value, and the episode itself or what is wrong with it."""

    raw: bytes
    line: ManifestLine
    episode: Episode | Problem
    mark: Mark | None = None


class Source:
    """The store below one directory, as it stands when it is opened; what is appended later is not read."""

    def __init__(self, root: Path) -> None:
        self.layout = Layout(root)
        if not root.is_dir():
            raise UsageError(
                f"{root} holds no training data",
                hint="--source takes the training-data directory below the audit directory of a state directory",
            )
        self._prefix = str(root)
        self.unreadable_lines = 0
        self._end = self.layout.manifest.stat().st_size if self.layout.manifest.is_file() else 0
        self._marks = self._read_marks()

    def episodes(self) -> Iterator[Found]:
        """Every listed episode in order. Lines that are no manifest lines are counted in `unreadable_lines`."""
        read = 0
        for raw in read_lines(self.layout.manifest):
            read += len(raw) + 1
            if read > self._end:
                return
            try:
                line = ManifestLine.model_validate_json(raw)
                path = self._path(line)
            except ValueError:
                self.unreadable_lines += 1
                continue
            yield Found(raw, line, _verified(path, line), self._marks.get(line.id))

    def read(self, line: ManifestLine) -> Episode:
        """One episode again. Raises UsageError when it changed since it was verified."""
        episode = _verified(self._path(line), line)
        if isinstance(episode, Problem):
            raise UsageError(f"episode {line.id} changed while it was being read", hint="run the command again")
        return episode

    def unlisted(self, listed: int) -> int:
        """How many episode files there are beyond the `listed` ones."""
        if not self.layout.episodes.is_dir():
            return 0
        files = 0
        with os.scandir(self.layout.episodes) as sessions:
            for session in sessions:
                files += sum(name.endswith(".json") for name in os.listdir(session.path))  # noqa: PTH208 - names, not paths
        return max(0, files - listed)

    def unfinished(self) -> int:
        """How many drafts wait for their turn to end or for recovery."""
        return sum(1 for _ in self.layout.drafts.glob("*.jsonl"))

    def _path(self, line: ManifestLine) -> str:
        """A text: a hundred thousand `Path` objects cost more than the files they name."""
        return f"{self._prefix}/{self.layout.name(line.session, line.turn, line.id)}"

    def _read_marks(self) -> dict[str, Mark]:
        marks = {}
        for raw in read_lines(self.layout.marks):
            try:
                line = MarkLine.model_validate_json(raw)
            except ValidationError:
                self.unreadable_lines += 1
                continue
            marks[line.episode] = line.mark
        return marks


def _verified(path: str, line: ManifestLine) -> Episode | Problem:
    try:
        data = _bytes(path, line.bytes)
    except FileNotFoundError:
        return Problem.MISSING
    except OSError:
        return Problem.UNREADABLE
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != line.sha256:
        return Problem.ALTERED
    try:
        episode = decode(data, sha256)
    except ValueError:
        return Problem.UNREADABLE
    facts = episode.facts
    return episode if (facts.session, facts.turn) == (line.session, line.turn) else Problem.UNREADABLE


def _bytes(path: str, size: int) -> bytes:
    """What a file of `size` bytes holds; one byte more where it is longer, which is no longer what was hashed. Raises
    OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        left = size + 1
        while left > 0 and (part := os.read(descriptor, min(left, _BLOCK))):
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
    finally:
        os.close(descriptor)
