"""What was entered while a turn runs, in order: it is served when the turn has ended, or given back (spec 8.2)."""

from __future__ import annotations

import threading


class PendingLines:
    """A queue that can be looked at and emptied from any thread."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._lock = threading.Lock()

    def add(self, line: str) -> None:
        """One more line."""
        with self._lock:
            self._lines.append(line)

    def next(self) -> str | None:
        """The oldest line, taken out; None when there is none."""
        with self._lock:
            return self._lines.pop(0) if self._lines else None

    def give_back(self) -> str:
        """Everything that waits, as one text, taken out."""
        with self._lock:
            text = "\n".join(self._lines)
            self._lines.clear()
        return text

    def __len__(self) -> int:
        return len(self._lines)
