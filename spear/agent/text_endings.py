"""Line endings: a text seen with LF only, and edits of that view carried back without touching anything else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start` to `end` (end excluded) of an LF view become `text`."""

    start: int
    end: int
    text: str


def to_lf(text: str) -> str:
    """The text with CR LF as LF; a lone CR is a character like any other."""
    return text.replace("\r\n", "\n") if "\r" in text else text  # which is found faster than what is replaced


class LfView:
    """A text and its LF view. `lf` is what edits are computed in; `apply` carries them back to the original."""

    def __init__(self, original: str) -> None:
        self.original = original
        self.lf = to_lf(original)
        self._crlf: list[int] = []
        position = original.find("\r\n") if self.lf is not original else -1
        while position >= 0:
            self._crlf.append(position - len(self._crlf))
            position = original.find("\r\n", position + 2)

    def apply(self, splices: Sequence[Splice]) -> str:
        """The original with the splices (sorted, apart) made. Each new line keeps the ending of the line it stands for;
        an added line takes the ending of the line before it."""
        parts: list[str] = []
        done = 0
        for splice in splices:
            parts.append(self.original[done : self._offset(splice.start)])
            parts.append(self._with_endings(splice))
            done = self._offset(splice.end)
        parts.append(self.original[done:])
        return "".join(parts)

    def _offset(self, lf_offset: int) -> int:
        return lf_offset + bisect_left(self._crlf, lf_offset)

    def _is_crlf(self, lf_offset: int) -> bool:
        index = bisect_left(self._crlf, lf_offset)
        return index < len(self._crlf) and self._crlf[index] == lf_offset

    def _with_endings(self, splice: Splice) -> str:
        if "\n" not in splice.text or not self._crlf:
            return splice.text
        if len(self._crlf) == self.lf.count("\n"):
            return splice.text.replace("\n", "\r\n")
        old_lines = self.lf[splice.start : splice.end].split("\n")
        new_lines = splice.text.split("\n")
        endings = self._endings(splice.start, old_lines, new_lines)
        return "".join(line + ending for line, ending in zip(new_lines, [*endings, ""], strict=True))

    def _endings(self, start: int, old_lines: list[str], new_lines: list[str]) -> list[str]:
        old_flags: list[bool] = []
        position = start
        for line in old_lines[:-1]:
            position += len(line)
            old_flags.append(self._is_crlf(position))
            position += 1
        flags: list[bool | None] = [None] * (len(new_lines) - 1)
        matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
        for _, i1, i2, j1, j2 in matcher.get_opcodes():
            for i, j in zip(range(i1, i2), range(j1, j2), strict=False):
                if i < len(old_flags) and j < len(flags):
                    flags[j] = old_flags[i]
        current = old_flags[0] if old_flags else self._neighbour(start)
        endings: list[str] = []
        for flag in flags:
            current = current if flag is None else flag
            endings.append("\r\n" if current else "\n")
        return endings

    def _neighbour(self, start: int) -> bool:
        before = self.lf.rfind("\n", 0, start)
        return self._is_crlf(before if before >= 0 else self.lf.find("\n", start))
