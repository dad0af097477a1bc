"""A window of lines of a stream of any size, in bounded memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from spear.agent.text import Encoding

BLOCK = 1 << 20
LINE_LIMIT = 2_000
_KEPT_BYTES = LINE_LIMIT * 4 + 4


@dataclass(slots=True)
class Line:
    """The start of one line (ending excluded) and its whole size in bytes."""

    head: bytes
    size: int


@dataclass(slots=True)
class Window:
    """Lines from `offset` on, and how many lines there are; `complete` false when counting was given up."""

    lines: list[Line] = field(default_factory=list)
    total: int = 0
    complete: bool = True


def blocks(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    """What was read already, then the rest."""
    yield head
    while block := stream.read(BLOCK):
        yield block


def as_utf8(source: Iterable[bytes], encoding: Encoding) -> Iterator[bytes]:
    """Blocks of a UTF-16 file recoded, so that a line break is one byte."""
    decoder = codecs.getincrementaldecoder(encoding.value)("replace")
    for block in source:
        yield decoder.decode(block).encode("utf-8", "replace")


def window(source: Iterable[bytes], offset: int, limit: int, give_up_after: int) -> Window:
    """Lines `offset` to `offset + limit - 1` (1-based). After the window lines are only counted, for at most
    `give_up_after` bytes."""
    result = Window()
    line, size = 1, 0
    last = offset + limit - 1
    head = bytearray()
    spent = 0
    for block in source:
        if line > last:
            spent += len(block)
            if spent > give_up_after:
                result.complete = False
                break
        position = 0
        if line < offset:
            breaks = block.count(b"\n")
            if line + breaks < offset:
                line += breaks
                size = len(block) - block.rfind(b"\n") - 1 if breaks else size + len(block)
                continue
        while line <= last:
            end = block.find(b"\n", position)
            stop = len(block) if end < 0 else end
            if line >= offset:
                head += block[position : min(stop, position + max(_KEPT_BYTES - len(head), 0))]
            size += stop - position
            position = stop
            if end < 0:
                break
            if line >= offset:
                result.lines.append(Line(bytes(head), size))
            head.clear()
            line, size, position = line + 1, 0, end + 1
        if line > last:
            breaks = block.count(b"\n", position)
            line += breaks
            size = len(block) - block.rfind(b"\n") - 1 if breaks else size + len(block) - position
    if size:
        if offset <= line <= last:
            result.lines.append(Line(bytes(head), size))
        line += 1
    result.total = line - 1
    return result
