"""What to tell the model when its quoted text is not in the file: the likely mistake and the nearest region."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher

_MOST_LINES_COMPARED = 20_000
_MOST_LINES_SHOWN = 20
_WIDTH_SHOWN = 200
_ALIKE = 0.45
_RETRY = "Read the region again and quote it exactly"

_ROW = re.compile(r"^[ \t]*\d+\|", re.MULTILINE)

_MISTAKES: tuple[tuple[Callable[[str], str], str], ...] = (
    (
        lambda old: re.sub(r"\\(['\"])", r"\1", old),
        "old_string has backslashes before quotes that the file does not have (escape drift); send quotes unescaped",
    ),
    (
        lambda old: re.sub(r"\\\\", r"\\", old),
        "old_string has every backslash doubled; send backslashes as the file has them",
    ),
    (lambda old: _ROW.sub("", old), "old_string has the line numbers of read_file; send it without `N|`"),
)


def advise(text: str, old: str) -> str:
    """A refusal that starts with `old_string was not found` and ends with what to do."""
    for correct, explanation in _MISTAKES:
        corrected = correct(old)
        if corrected != old and corrected.strip() and corrected in text:
            line = text.count("\n", 0, text.find(corrected)) + 1
            return f"old_string was not found: {explanation} (line {line}). Nothing changed."
    region = nearest(text, old)
    if region is None:
        return f"old_string was not found and nothing in the file resembles it. {_RETRY}. Nothing changed."
    start, lines = region
    quoted = {line.strip() for line in old.split("\n")}
    rows = [
        f"{'  ' if line.strip() in quoted else '! '}{number}|{line[:_WIDTH_SHOWN]}"
        for number, line in enumerate(lines[:_MOST_LINES_SHOWN], start)
    ]
    return (
        f"old_string was not found. {_RETRY}. Nothing changed. Nearest region (lines that differ are marked !):\n"
        + "\n".join(rows)
    )


def nearest(text: str, old: str) -> tuple[int, list[str]] | None:
    """The 1-based line and the lines of the region most like `old`, None when nothing is like it."""
    lines = text.split("\n")[:_MOST_LINES_COMPARED]
    wanted = [line.strip() for line in old.strip("\n").split("\n")]
    start = _by_equal_lines(lines, wanted)
    if start is None:
        start = _by_likeness(lines, wanted)
    if start is None:
        return None
    start = max(start, 0)
    return start + 1, lines[start : start + len(wanted)]


def _by_equal_lines(lines: list[str], wanted: list[str]) -> int | None:
    """The offset at which most lines of `wanted` stand where they should."""
    places: dict[str, list[int]] = {}
    for index, line in enumerate(wanted):
        if len(line) > 2:
            places.setdefault(line, []).append(index)
    votes: Counter[int] = Counter()
    for index, line in enumerate(lines):
        for place in places.get(line.strip(), ()):
            votes[index - place] += 1
    return max(votes, key=lambda offset: (votes[offset], -offset)) if votes else None


def _by_likeness(lines: list[str], wanted: list[str]) -> int | None:
    """The offset of the line most like the longest line of `wanted`."""
    place = max(range(len(wanted)), key=lambda index: len(wanted[index]))
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted[place][:_WIDTH_SHOWN])
    best, found = _ALIKE, None
    for index, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_WIDTH_SHOWN])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        ratio = matcher.ratio()
        if ratio > best:
            best, found = ratio, index - place
    return found
