"""Definitions of Python source, found without building its syntax tree.

`ast` costs three times what inserting the same text into the index does; headers, indentation and the extent of
triple-quoted strings say the same for source that is laid out as Python must be. Where the scan is wrong (source that
does not parse), a passage begins a little early or late and nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from spear.retrieval.chunking.passages import Definition, Lines

_HEADER = re.compile(r"\n([ \t]*+)(?:@|(async[ \t]+def|def|class)[ \t]+(\w+))")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_OPENS = re.compile("[#\"']")
_DELIMITERS = ('"""', "'''")
_LOOK_BACK = 200
_DEEPEST_INDENT = 24
_DEDENT = tuple(re.compile(rf"\n[ \t]{{0,{indent}}}+[^\s#)\]}}]") for indent in range(_DEEPEST_INDENT + 1))
_IN_STRING = "_"


@dataclass(slots=True)
class _Open:
    first: int
    end: int
    last: int
    title: str
    inner: list[Definition] = field(default_factory=list)


_Header = tuple[int, int, int, str, bool]
"""Offset of the first line, decorators included; that of the `def` or `class` itself; indentation; name; whether a
class."""


def python_definitions(lines: Lines) -> tuple[Definition, ...]:
    """Functions, classes and their methods, with decorators and the comment right above; functions inside functions
    belong to the outer one. Titles are qualified names."""
    text, rows = lines.text, lines.rows
    source = _without_strings("\n" + text)
    top: list[Definition] = []
    stack: list[_Open] = []
    at, number = 0, 1
    for start, line, indent, name, is_class in _headers(source):
        if start < at:
            continue
        while stack and start >= stack[-1].end:
            _close(stack, top)
        end = _end(source, line, indent)
        number += text.count("\n", at, start)
        last = number + text.count("\n", start, end - 1)
        title = f"{stack[-1].title}.{name}" if stack else name
        first = number
        while first > 1 and rows[first - 2].lstrip(" \t").startswith("#"):
            first -= 1
        if is_class:
            stack.append(_Open(first, end, last, title))
            at = start
        else:
            (stack[-1].inner if stack else top).append(Definition(first, last, title))
            at, number = end - 1, last
    while stack:
        _close(stack, top)
    return tuple(top)


def _close(stack: list[_Open], top: list[Definition]) -> None:
    """End the innermost class."""
    done = stack.pop()
    made = Definition(done.first, done.last, done.title, tuple(done.inner))
    (stack[-1].inner if stack else top).append(made)


def _headers(source: str) -> Iterator[_Header]:
    """Every header. The LF before a line is at the offset the line has in the text itself."""
    decorated = -1
    for match in _HEADER.finditer(source):
        indent, kind, name = match.groups()
        if len(indent) > _DEEPEST_INDENT:
            continue
        line = match.start()
        if kind:
            yield decorated if decorated >= 0 else line, line, len(indent), name, kind == "class"
            decorated = -1
        elif decorated < 0:
            decorated = line


def _end(source: str, line: int, indent: int) -> int:
    """The offset behind the last line of a definition: where a statement no deeper than its header begins."""
    match = _DEDENT[indent].search(source, line + 1)
    return max(match.start(), line + 1) if match else len(source)


def _without_strings(source: str) -> str:
    """The source, as long as it was, with one character for all that stands in triple quotes, its LFs included: no
    line begins in a string then."""
    parts: list[str] = []
    behind = 0
    for start, end in _strings(source):
        parts += (source[behind:start], _IN_STRING * (end - start))
        behind = end
    return "".join((*parts, source[behind:])) if parts else source


def _strings(source: str) -> Iterator[tuple[int, int]]:
    """Where triple-quoted strings lie: offsets of the first character and behind the last."""
    following = [source.find(delimiter) for delimiter in _DELIMITERS]
    at = behind = 0
    while True:
        for which, delimiter in enumerate(_DELIMITERS):
            if 0 <= following[which] < at:
                following[which] = source.find(delimiter, at)
        start = min((offset for offset in following if offset >= 0), default=-1)
        if start < 0:
            return
        least = max(behind, start - _LOOK_BACK)
        before = source[max(least, source.rfind("\n", least, start) + 1) : start]
        held_by = _held_by(before)
        if held_by == "#":
            at = source.find("\n", start)
            if at < 0:
                return
        elif held_by:
            at = start + 1
        else:
            at = behind = _closing(source, start + 3, source[start : start + 3])
            yield start, at


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
