"""Drawings in text: grid tables and bit layouts become rows, all else is kept as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from spear.standards.readers.blocks import Block, BlockKind

_RULE = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_HEAD_RULE = re.compile(r"\s*\+(?:=+\+)+\s*")
_BITS_RULE = re.compile(r"\s*\+(?:-\+){4,}\s*")
_PIPES = re.compile(r"\s*\|.*\|\s*")
_ART = re.compile(r"[-=]{3,}|\+-|-\+|[|<>]{1}\s{2,}|\s{3,}[|]|[─-╿]|--+>|<--+")
_WORDS = re.compile(r"[A-Za-z]{3,}")


def is_drawing(lines: list[str]) -> bool:
    """Whether a run of lines is drawn rather than written: a table, a bit layout, a state diagram, aligned columns."""
    if any(_RULE.fullmatch(line) for line in lines):
        return True
    art = sum(bool(_ART.search(line)) for line in lines)
    if art * 2 > len(lines) and sum(len(_WORDS.findall(line)) for line in lines) < 8 * len(lines):
        return True
    spaced = sum(bool(re.search(r"\S\s{4,}\S", line)) for line in lines)
    return len(lines) > 1 and spaced * 2 > len(lines)


def block_of_drawing(lines: list[str], span: tuple[int, int], page: int | None) -> Block:
    """A table with its cells where they can be told, else code: text kept line by line."""
    text = "\n".join(line.rstrip() for line in lines)
    rows = bit_rows(lines) or grid_rows(lines)
    return Block(BlockKind.TABLE if rows else BlockKind.CODE, text, span, page, rows=rows)


def grid_rows(lines: list[str]) -> tuple[tuple[str, ...], ...]:
    """The cells of a table drawn with + - | =, header first; () when it is none."""
    rules = [line for line in lines if _RULE.fullmatch(line)]
    if len(rules) < 2:
        return ()
    rows: list[list[str]] = []
    fresh = True
    width = max(rule.strip().count("+") - 1 for rule in rules)
    for line in lines:
        if _RULE.fullmatch(line):
            fresh = True
            continue
        if not _PIPES.fullmatch(line):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) > width:
            return ()
        cells += [""] * (width - len(cells))  # a cell that spans the columns to its right
        if fresh:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
        fresh = False
    return tuple(tuple(row) for row in rows)


def bit_rows(lines: list[str]) -> tuple[tuple[str, ...], ...]:
    """The fields of a bit layout drawn two characters a bit, as the rows (Word, Bits, Field); () when it is none.

    Bits are counted as drawn, from 0 at the left.
    """
    if not any(_BITS_RULE.fullmatch(line) for line in lines):
        return ()
    rows: list[tuple[str, ...]] = [("Word", "Bits", "Field")]
    for word, drawn in enumerate(_words(lines)):
        position = 0
        for width, name in _fields(drawn):
            bits = (width + 1) // 2
            if name:
                rows.append((str(word), f"{position}:{position + bits - 1}", name))
            position += bits
    return tuple(rows) if len(rows) > 1 else ()


def _words(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each word of a bit layout, what stands between two rules."""
    word: list[str] = []
    for line in lines:
        if _RULE.fullmatch(line):
            if word:
                yield word
            word = []
        elif _PIPES.fullmatch(line):
            word.append(line.strip())
    if word:
        yield word


def _fields(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The fields of one word, as wide as they are drawn, each with its name: down the lines that have the bars of the
    first, letter by letter where there is room for no more."""
    bars = [column for column, char in enumerate(lines[0]) if char == "|"]
    alike = [line for line in lines if [column for column, char in enumerate(line) if char == "|"] == bars]
    for start, end in pairwise(bars):
        parts = [part for line in alike if (part := line[start + 1 : end].strip())]
        letters = all(len(part) == 1 for part in parts)
        yield end - start - 1, ("" if letters else " ").join(parts)
