"""The read_file tool: a window of numbered rows, or what the path is instead."""

from __future__ import annotations

import codecs
import re
import stat
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import BinaryIO

from spear.agent import text as texts
from spear.agent.host import Access, Host, Refusal, Resolved, ToolRequest, ToolResult
from spear.agent.text import Encoding
from spear.agent.tools import results
from spear.agent.tools.near_names import near_names
from spear.agent.tools.reads import Reads, digest
from spear.agent.tools.windows import LINE_LIMIT, Lines, Window, as_utf8, beginning, blocks, window

MOST_LINES = 2_000
BUDGET = 100_000
WHOLE = 8 << 20
"""Files up to this size in bytes are judged whole; of larger ones the encoding is judged by as much."""
_COUNTED_BEYOND = 1 << 30
CLAMP_MARK = re.compile(r"… \[clamped: the line has \d+ bytes\]")


@dataclass(frozen=True, slots=True)
class _Page:
    rows: list[str]
    next_line: int
    clamped: int


def read_file(host: Host, reads: Reads, request: ToolRequest, budget: int = BUDGET) -> ToolResult:
    """Rows of the file, bounded by lines and by `budget` characters, BUDGET at most (spec coding-core, read_file)."""
    path = str(request.arguments["path"])
    target = host.resolve(path, Access.READ, request.tool)
    if isinstance(target, Refusal):
        return results.refused(target)
    problem = _not_a_file(host, target, path)
    if problem is not None:
        return problem
    offset = max(int(request.arguments.get("offset", 1)), 1)
    limit = min(max(int(request.arguments.get("limit", MOST_LINES)), 1), MOST_LINES)
    try:
        with host.open_read(target) as stream:
            text = _show(stream, target, reads, offset, limit, min(budget, BUDGET))
    except OSError as error:
        return results.system_error(target.shown, error, "check the path and its permissions")
    earlier = reads.still_shown((target.real, offset, limit), text, request.call_id)
    if earlier is not None:
        text = f"[unchanged: the result of the earlier identical read of {target.shown} is above and still current]"
    return results.ok(text, paths_read=[target.shown])


def _not_a_file(host: Host, target: Resolved, path: str) -> ToolResult | None:
    if not target.exists:
        near = near_names(host, path)
        hint = f"did you mean: {', '.join(near)}" if near else "find it with search_files (target=files)"
        return results.failed(f"{target.shown}: no such file; {hint}")
    if target.is_dir:
        return results.failed(
            f"{target.shown} is a directory; list it with "
            f'search_files(pattern="*", target="files", path="{target.shown}")'
        )
    try:
        mode = target.real.stat().st_mode
    except OSError as error:
        return results.system_error(target.shown, error, "check the path and its permissions")
    for test, kind in (
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    ):
        if test(mode):
            return results.failed(f"{target.shown} is {kind}, not a regular file; it was not opened")
    return None


def _show(stream: BinaryIO, target: Resolved, reads: Reads, offset: int, limit: int, budget: int) -> str:
    head = beginning(stream, WHOLE + 1)
    whole = len(head) <= WHOLE
    encoding, mark = _encoding(head, whole)
    size = target.real.stat().st_size
    if encoding is None:
        kind = texts.describe_binary(head)
        return f"[{target.shown} is a binary file: {kind}, {size} bytes; not shown. Use a program in the terminal]"
    source = blocks(stream, head[len(mark) :])
    if encoding in (Encoding.UTF16_LE, Encoding.UTF16_BE):
        source, charset = as_utf8(source, encoding), "utf-8"
    else:
        charset = encoding.value
    lines = window(source, offset, limit, _COUNTED_BEYOND)
    page = _page(lines.lines, offset, charset, budget)
    if whole and offset == 1 and page.next_line > lines.total:
        reads.complete(target.real, digest(head))
    notes = _notes(page, lines, offset, encoding)
    return "\n".join([*page.rows, *notes])


def _encoding(head: bytes, whole: bool) -> tuple[Encoding | None, bytes]:
    if whole:
        decoded = texts.decode(head)
        return (None, b"") if decoded is None else (decoded.encoding, decoded.bom)
    marked = texts.bom_of(head)
    if marked is not None:
        return marked[1], marked[0]
    if b"\0" in head or texts.has_magic(head):
        return None, b""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return (Encoding.LATIN1 if texts.latin1_text(head) else None), b""
    return Encoding.UTF8, b""


def _page(lines: Lines, offset: int, charset: str, budget: int) -> _Page:
    """The rows of the lines that fit; one always does. All are decoded at once: no line break is part of a character,
    well or badly encoded."""
    decoded = (b"\n".join(lines.heads) + b"\n").decode(charset, "replace").replace("\r\n", "\n").split("\n")
    rows = [f"{number}|{text}" for number, text in enumerate(decoded[: len(lines.heads)], offset)]
    clamped: list[int] = []
    for index in (index for index, size in enumerate(lines.sizes) if size > LINE_LIMIT):
        text, size = lines.heads[index].decode(charset, "replace"), lines.sizes[index]
        if len(text) > LINE_LIMIT or size > len(lines.heads[index]):
            clamped.append(index)
            rows[index] = f"{offset + index}|{text[:LINE_LIMIT]}… [clamped: the line has {size} bytes]"
    ends = list(accumulate(len(row) + 1 for row in rows))
    fitting = max(bisect_right(ends, budget), min(len(rows), 1))
    return _Page(rows[:fitting], offset + fitting, bisect_left(clamped, fitting))


def _notes(page: _Page, lines: Window, offset: int, encoding: Encoding) -> list[str]:
    notes: list[str] = []
    many = f"{lines.total}" if lines.complete else f"more than {lines.total}"
    if lines.total == 0:
        notes.append("[the file is empty]")
    elif not page.rows:
        notes.append(f"[offset {offset} is past the end: the file has {many} lines]")
    elif page.next_line <= lines.total:
        notes.append(f"[lines {offset}-{page.next_line - 1} of {many}; continue with offset={page.next_line}]")
    elif offset > 1:
        notes.append(f"[lines {offset}-{page.next_line - 1} of {many}; end of file]")
    if page.clamped:
        notes.append(
            f"[{page.clamped} long line(s) clamped to {LINE_LIMIT} characters: the rest is not shown; "
            "use the terminal (cut, tr, python) for it]"
        )
    if encoding is Encoding.LATIN1:
        notes.append("[not UTF-8: shown as Latin-1; patch keeps its bytes]")
    elif encoding is not Encoding.UTF8:
        notes.append(f"[{encoding.value.upper()} with a byte order mark]")
    return notes
