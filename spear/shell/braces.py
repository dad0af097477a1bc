"""Brace expansion: `a{b,c}d` and `{1..3}` over the runs of a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from spear.shell.runs import Kind, Run

MAX_ALTERNATIVES = 256
"""Most words one word may become; a longer expansion is unknown."""

_SEQUENCE = re.compile(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.-?\d{1,9})?")
_MARKS = re.compile(r"([{},])")
Runs = list[Run]


def expand_braces(runs: Sequence[Run]) -> list[Runs]:
    """The alternatives of a word, in order; one unknown run when there are more than MAX_ALTERNATIVES."""
    if not any(run.kind is Kind.LITERAL and "{" in run.text for run in runs):
        return [list(runs)]
    waiting: list[Runs] = [_explode(runs)]
    done: list[Runs] = []
    while waiting:
        word = waiting.pop(0)
        alternatives = _first_group(word)
        if alternatives is None:
            done.append(word)
        else:
            waiting[:0] = alternatives
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            return [[Run("", Kind.UNKNOWN)]]
    return done


def _explode(runs: Sequence[Run]) -> Runs:
    """Braces and commas of the source as runs of their own."""
    found: Runs = []
    for run in runs:
        if run.kind is Kind.LITERAL:
            found.extend(Run(piece, run.kind) for piece in _MARKS.split(run.text) if piece)
        else:
            found.append(run)
    return found


def _is(run: Run, mark: str) -> bool:
    return run.kind is Kind.LITERAL and run.text == mark


def _first_group(word: Runs) -> list[Runs] | None:
    for start, run in enumerate(word):
        if not _is(run, "{"):
            continue
        end, commas = _close(word, start)
        if end is None:
            continue
        before, after = word[:start], word[end + 1 :]
        if commas:
            bounds = [start, *commas, end]
            return [[*before, *word[left + 1 : right], *after] for left, right in pairwise(bounds)]
        steps = _sequence(word[start + 1 : end])
        if steps is not None:
            return [[*before, Run(step, Kind.QUOTED), *after] for step in steps]
    return None


def _close(word: Runs, start: int) -> tuple[int | None, list[int]]:
    depth, commas = 0, list[int]()
    for index in range(start, len(word)):
        if _is(word[index], "{"):
            depth += 1
        elif _is(word[index], "}"):
            depth -= 1
            if depth == 0:
                return index, commas
        elif _is(word[index], ",") and depth == 1:
            commas.append(index)
    return None, []


def _sequence(inside: Runs) -> list[str] | None:
    match = _SEQUENCE.fullmatch("".join(run.text for run in inside))
    if match is None or any(run.kind is not Kind.LITERAL for run in inside):
        return None
    first, last = match[1], match[2]
    numeric = first.lstrip("-").isdigit()
    if numeric != last.lstrip("-").isdigit():
        return None
    low, high = (int(first), int(last)) if numeric else (ord(first), ord(last))
    if abs(high - low) > MAX_ALTERNATIVES:
        return [str(low)] * (MAX_ALTERNATIVES + 1)
    step = 1 if high >= low else -1
    return [str(code) if numeric else chr(code) for code in range(low, high + step, step)]
