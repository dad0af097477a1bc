"""Sections of Markdown and reStructuredText, titled by the path of headings that leads to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.retrieval.chunking.passages import Definition, Lines

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_SETEXT = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOT_A_TITLE = re.compile(r"[ \t]*(?:$|[-*+>|#]|\d+[.)][ \t])")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")


def markdown_sections(lines: Lines) -> tuple[Definition, ...]:
    """One definition a heading, up to the next; headings in fenced code are code."""
    return _sections(lines, _markdown_headings(lines.rows))


def rst_sections(lines: Lines) -> tuple[Definition, ...]:
    """One definition a title. The depth of an adornment is the order in which the document first uses it."""
    return _sections(lines, _rst_headings(lines.rows))


def _markdown_headings(rows: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line, depth and words of each heading."""
    fence = ""
    for index, row in enumerate(rows):
        mark = _FENCE.match(row)
        if fence:
            if mark and mark[1].startswith(fence) and not row.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := _ATX.match(row):
            yield index + 1, len(heading[1]), (heading[2] or "").strip().rstrip("#").rstrip()
        elif index and _SETEXT.match(row) and not _NOT_A_TITLE.match(rows[index - 1]):
            yield index, 1 if "=" in row else 2, rows[index - 1].strip()


def _rst_headings(rows: list[str]) -> Iterator[tuple[int, int, str]]:
    order: list[tuple[str, bool]] = []
    for index, row in enumerate(rows[1:], 1):
        title = rows[index - 1].rstrip()
        if not _RULE.match(row) or not title.strip() or _RULE.match(title) or len(row.rstrip()) < len(title):
            continue
        above = rows[index - 2] if index >= 2 else ""
        over = bool(_RULE.match(above)) and above[0] == row[0]
        if not over and (above.strip() or title[0].isspace()):
            continue  # the border of a table, or the last line of a paragraph
        kind = (row[0], over)
        if kind not in order:
            order.append(kind)
        yield index - over, order.index(kind) + 1, title.strip()


def _sections(lines: Lines, headings: Iterator[tuple[int, int, str]]) -> tuple[Definition, ...]:
    found: list[Definition] = []
    trail: list[tuple[int, str]] = []
    start, title = 0, ""
    for line, depth, words in headings:
        if start:
            found.append(Definition(start, line - 1, title))
        trail = [*(step for step in trail if step[0] < depth), (depth, words)]
        start, title = line, " > ".join(step[1] for step in trail if step[1])
    if start:
        found.append(Definition(start, lines.count, title))
    return tuple(found)
