"""Streamed markdown cut into finished blocks: printed once, never redrawn (spec 8.2).

A block ends where markdown lets it end: at a blank line outside a fence, unless what follows still belongs to it (an
item of the same list, an indented continuation). A very long fence is cut into fences of its own.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_LONG_FENCE = 120


class BlockStream:
    """Takes text as it arrives; gives back blocks that can no longer change."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rest = ""
        self._fence = ""
        self._opening = ""

    def feed(self, delta: str) -> list[str]:
        """Blocks finished by this piece of text, in order."""
        *complete, self._rest = (self._rest + delta).split("\n")
        finished: list[str] = []
        for line in complete:
            finished += self._line(line.removesuffix("\r"))
        return finished

    def flush(self) -> str:
        """What is left, and an empty stream."""
        text = "\n".join([*self._lines, self._rest])
        self._lines, self._rest, self._fence = [], "", ""
        return text

    @property
    def open(self) -> str:
        """The block that is still growing."""
        return "\n".join([*self._lines, self._rest])

    def _line(self, line: str) -> list[str]:
        if self._fence:
            return self._in_fence(line)
        finished = []
        if self._ends_before(line):
            finished.append(self._take())
        if fence := _FENCE.match(line):
            self._fence, self._opening = fence[1], line
        self._lines.append(line)
        return finished

    def _in_fence(self, line: str) -> list[str]:
        self._lines.append(line)
        stripped = line.strip()
        if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
            self._fence = ""
            return [self._take()] if not self._opening.startswith(" ") and not self._in_list() else []
        if len(self._lines) > _LONG_FENCE and not self._in_list():
            block = "\n".join([*self._lines, self._fence])
            self._lines = [self._opening]
            return [block]
        return []

    def _ends_before(self, line: str) -> bool:
        """Whether what is held is finished now that the next line is known."""
        if not self._lines or self._lines[-1].strip() or not line.strip():
            return False
        if line.startswith((" ", "\t")):
            return False
        return not (self._in_list() and _ITEM.match(line))

    def _in_list(self) -> bool:
        first = next((line for line in self._lines if line.strip()), "")
        return bool(_ITEM.match(first))

    def _take(self) -> str:
        block = "\n".join(self._lines)
        self._lines = []
        return block
