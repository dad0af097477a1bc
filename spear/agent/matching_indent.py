"""Indentation as the model wrote it, mapped to the file's, learnt from lines that correspond."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd


def split_indent(line: str) -> tuple[str, str]:
    """The blanks a line starts with, and the rest."""
    body = line.lstrip(" \t")
    return line[: len(line) - len(body)], body


class IndentMap:
    """Learnt from pairs (quoted line, the file's line); blank lines teach nothing.

    `text` is the whole file and `quoted` everything the model wrote: what one level of each looks like is taken from
    there where the pairs do not show it.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], text: str, quoted: Iterable[str]) -> None:
        self._known: list[tuple[str, str] | None] = [
            (split_indent(old)[0], split_indent(actual)[0]) if old.strip() else None for old, actual in pairs
        ]
        told = [pair for pair in self._known if pair is not None]
        self.identity = all(old == actual for old, actual in told)
        self._old_unit, self._file_unit = ("", "") if self.identity else _units(told, text, quoted)

    def apply(self, line: str, near: int) -> str:
        """`line` with the file's indentation; `near` is the index of the pair it stands next to or replaces."""
        if self.identity:
            return line
        indent, body = split_indent(line)
        if not body:
            return ""
        return self._mapped(indent, near) + body

    def _mapped(self, indent: str, near: int) -> str:
        by_distance = sorted(
            (index for index, pair in enumerate(self._known) if pair is not None),
            key=lambda index: (abs(index - near), index > near),
        )
        known = [pair for index in by_distance if (pair := self._known[index]) is not None]
        for old, actual in known:
            if old == indent:
                return actual
        if not known:
            return indent
        old, actual = self._anchor(known, indent)
        if indent.startswith(old):
            return actual + self._converted(indent[len(old) :])
        if old.startswith(indent):
            surplus = self._converted(old[len(indent) :])
            return actual[: len(actual) - len(surplus)] if actual.endswith(surplus) else actual[: -len(surplus)]
        return self._converted(indent)

    def _anchor(self, known: list[tuple[str, str]], indent: str) -> tuple[str, str]:
        """The pair to extrapolate from: one that is not the lone exception of a first line quoted without its
        indentation, nearest in depth."""
        first = next(pair for pair in self._known if pair is not None)
        others = [pair for pair in known if pair != first]
        if first[0] == "" and first[1] and others and all(old == actual for old, actual in others):
            known = others
        return min(known, key=lambda pair: abs(len(pair[0]) - len(indent)))

    def _converted(self, blanks: str) -> str:
        """Blanks of the model's style in the file's style; what is no whole level stays as spaces."""
        if self._old_unit in ("", self._file_unit) or (self._old_unit == "\t" and blanks.strip("\t")):
            return blanks
        flat = blanks if self._old_unit == "\t" else blanks.replace("\t", self._old_unit)
        levels, rest = divmod(len(flat), len(self._old_unit))
        return self._file_unit * levels + " " * rest


def _units(told: list[tuple[str, str]], text: str, quoted: Iterable[str]) -> tuple[str, str]:
    """What one level is for the model and for the file."""
    steps = sorted(set(told), key=lambda pair: len(pair[0]))
    for (old_a, new_a), (old_b, new_b) in pairwise(steps):
        if old_b.startswith(old_a) and new_b.startswith(new_a) and old_b != old_a and new_b != new_a:
            return _reduced(old_b[len(old_a) :], new_b[len(new_a) :])
    old_unit, file_unit = _unit(quoted), _unit(text.split("\n"))
    return old_unit or file_unit, file_unit or old_unit


def _reduced(old_step: str, file_step: str) -> tuple[str, str]:
    """One level of each, where the step shows several at once."""
    levels = gcd(len(old_step), len(file_step))
    if levels > 1 and old_step[0] != file_step[0]:
        return old_step[: len(old_step) // levels], file_step[: len(file_step) // levels]
    return old_step, file_step


def _unit(lines: Iterable[str]) -> str:
    """One level of indentation in some lines, "" when none is indented."""
    tabs = 0
    widths: dict[int, int] = {}
    for line in lines:
        indent, body = split_indent(line)
        if not indent or not body:
            continue
        if indent[0] == "\t":
            tabs += 1
        else:
            widths[len(indent)] = widths.get(len(indent), 0) + 1
    if tabs >= sum(widths.values()):
        return "\t" if tabs else ""
    common = 0
    total = sum(widths.values())
    for width, count in widths.items():
        if count * 20 >= total:
            common = gcd(common, width)
    return " " * (common if common > 1 else min(widths))
