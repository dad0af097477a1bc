"""What was typed, per workspace: one JSON string a line, private, secrets replaced before writing (spec 8.2)."""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from spear.errors import StateError
from spear.state.directory import StateDirectory
from spear.state.files import make_private_directory
from spear.state.lines import LineFile, read_lines

_KEPT = 2000
_LONGEST = 100_000


class InputHistory:
    """The file of one workspace. Reading is bounded; a history that cannot be written is silently only in memory:
    losing a convenience must not cost the operator a turn."""

    def __init__(self, state: StateDirectory, workspace: Path, redact: Callable[[str], str]) -> None:
        name = hashlib.sha256(os.fsencode(workspace)).hexdigest()[:16]
        self._directory = state.history
        self._file = LineFile(state.history / f"input-{name}.jsonl")
        self._redact = redact

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self._file.path

    def load(self) -> list[str]:
        """The newest entries, oldest first; lines that are no JSON string are passed over."""
        entries: deque[str] = deque(maxlen=_KEPT)
        try:
            for line in read_lines(self._file.path):
                entry = _entry(line)
                if entry:
                    entries.append(entry)
        except StateError:
            return []
        return list(entries)

    def add(self, text: str) -> None:
        """Remember one entry, its secrets replaced."""
        if not text.strip():
            return
        try:
            make_private_directory(self._directory)
            self._file.append(json.dumps(self._redact(text[:_LONGEST]), ensure_ascii=True).encode("ascii"))
        except StateError:
            return

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def _entry(line: bytes) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
