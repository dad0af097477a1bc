"""Definitions of Python source, found without building its syntax tree.

`ast` costs three times what inserting the same text into the index does; headers, indentation and the extent of
triple-quoted strings say the same for source that is laid out as Python must be. Where the scan is wrong (source that
does not parse), a passage begins a little early or late and nothing is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spear.retrieval.chunking.passages import Definition, Lines

_HEADER = re.compile(r"\n([ \t]*)(?:@|(async[ \t]+def|def|class)[ \t]+(\w+))")
_DELIMITER = re.compile("\"\"\"|'''")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_OPENS = re.compile("[#\"']")
_LOOK_BACK = 200
_DEEPEST_INDENT = 24
_DEDENT = tuple(re.compile(rf"\n[ \t]{{0,{indent}}}[^\s#)\]}}]") for indent in range(_DEEPEST_INDENT + 1))
_COMMENT = re.compile(r"[ \t]*#")


@dataclass(slots=True)
class _Open:
    first: int
    end: int
    title: str
    inner: list[Definition] = field(default_factory=list)


class _Header(NamedTuple):
    """`start` is the offset of the first line, decorators included; `line` that of the `def` or `class` itself."""

    start: int
    line: int
    indent: int
    name: str
    is_class: bool


def python_definitions(lines: Lines) -> tuple[Definition, ...]:
    """Functions, classes and their methods, with decorators and the comment right above; functions inside functions
    belong to the outer one. Titles are qualified names."""
    source = "\n" + lines.text
    strings = _strings(source)
    top: list[Definition] = []
    stack: list[_Open] = []
    done = -1
    for header in _headers(source, strings):
        if header.start < done:
            continue
        _close(stack, top, header.start, lines)
        end = _end(source, strings, header)
        holder = stack[-1] if stack else None
        title = f"{holder.title}.{header.name}" if holder else header.name
        first = _with_comment(lines, header.start)
        if header.is_class:
            stack.append(_Open(first, end, title))
        else:
            (holder.inner if holder else top).append(Definition(first, lines.number(end - 1), title))
            done = end
    _close(stack, top, len(source), lines)
    return tuple(top)


def _close(stack: list[_Open], top: list[Definition], offset: int, lines: Lines) -> None:
    """End the classes that end at or before `offset`."""
    while stack and offset >= stack[-1].end:
        done = stack.pop()
        made = Definition(done.first, lines.number(done.end - 1), done.title, tuple(done.inner))
        (stack[-1].inner if stack else top).append(made)


def _headers(source: str, strings: Sequence[tuple[int, int]]) -> Iterator[_Header]:
    """Every header outside of strings. The LF before a line is at the offset the line has in the text itself."""
    decorated = -1
    for match in _HEADER.finditer(source):
        if len(match[1]) > _DEEPEST_INDENT or _end_of_string(strings, match.start() + 1):
            continue
        if match[2] is None:
            decorated = match.start() if decorated < 0 else decorated
            continue
        start = decorated if decorated >= 0 else match.start()
        decorated = -1
        yield _Header(start, match.start(), len(match[1]), match[3], match[2] == "class")


def _end(source: str, strings: Sequence[tuple[int, int]], header: _Header) -> int:
    """The offset behind the last line of a definition: where a statement no deeper than its header begins."""
    at = header.line + 1
    while match := _DEDENT[header.indent].search(source, at):
        string_end = _end_of_string(strings, match.end() - 1)
        if not string_end:
            return max(match.start(), header.line + 1)
        at = string_end
    return len(source)


def _strings(source: str) -> list[tuple[int, int]]:
    """Where triple-quoted strings lie: offsets of the first character and behind the last."""
    found: list[tuple[int, int]] = []
    at = behind = 0
    while match := _DELIMITER.search(source, at):
        start = match.start()
        least = max(behind, start - _LOOK_BACK)
        before = source[max(least, source.rfind("\n", least, start) + 1) : start]
        held_by = _held_by(before)
        if held_by == "#":
            at = source.find("\n", start)
            if at < 0:
                break
        elif held_by:
            at = start + 1
        else:
            at = behind = _closing(source, match.end(), match[0])
            found.append((start, at))
    return found


def _held_by(before: str) -> str:
    """What a delimiter after `before` stands in: `#` for a comment, a quote for a string of one line, else nothing."""
    if "#" not in before and '"' not in before and "'" not in before:
        return ""
    opened = _OPENS.search(_STRING.sub("", before))
    return opened[0] if opened else ""


def _closing(source: str, at: int, delimiter: str) -> int:
    while (end := source.find(delimiter, at)) >= 0:
        escapes = 0
        while source[end - 1 - escapes] == "\\":
            escapes += 1
        if escapes % 2 == 0:
            return end + 3
        at = end + 1
    return len(source)


def _end_of_string(strings: Sequence[tuple[int, int]], offset: int) -> int:
    """Where the string ends that holds `offset` behind its first character; 0 when none does."""
    index = bisect_right(strings, (offset,)) - 1
    return strings[index][1] if index >= 0 and strings[index][0] < offset < strings[index][1] else 0


def _with_comment(lines: Lines, offset: int) -> int:
    """The first line of a definition with the comment that stands right above it."""
    first = lines.number(offset)
    while first > 1 and _COMMENT.match(lines.slice(first - 1, first - 1)):
        first -= 1
    return first
