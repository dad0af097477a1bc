"""A window of lines of a stream of any size, in bounded memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from spear.agent.text import Encoding

BLOCK = 1 << 20
_FIRST = 1 << 17
LINE_LIMIT = 2_000
_KEPT_BYTES = LINE_LIMIT * 4 + 4


@dataclass(slots=True)
class Lines:
    """Lines in two columns, which cost no object a line: the start of each (ending excluded) and its size in bytes."""

    heads: list[bytes] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add(self, head: bytes, size: int) -> None:
        """One more line."""
        self.heads.append(head)
        self.sizes.append(size)


@dataclass(slots=True)
class Window:
    """Lines from `offset` on, and how many lines there are; `complete` false when counting was given up."""

    lines: Lines = field(default_factory=Lines)
    total: int = 0
    complete: bool = True


def beginning(stream: BinaryIO, most: int) -> bytes:
    """The first `most` bytes of a stream, or all there are: read by blocks, for room is made for as much as one read
    asks for."""
    parts: list[bytes] = []
    while most > 0 and (part := stream.read(min(most, _FIRST if not parts else BLOCK))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


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
    reader = _Reader(offset, offset + limit - 1)
    spent = 0
    for block in source:
        if reader.number > reader.last:
            spent += len(block)
            if spent > give_up_after:
                return Window(reader.lines, reader.number - 1, complete=False)
        reader.take(block)
    return Window(reader.lines, reader.end())


class _Reader:
    """Takes blocks; keeps the lines from `first` to `last`, counts the others."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.lines = Lines()
        self.number = 1
        self._head = bytearray()
        self._size = 0

    def take(self, block: bytes) -> None:
        """The next block."""
        position = 0
        if self.number < self.first:
            position = self._skipped(block)
        while self.first <= self.number <= self.last and position < len(block):
            if not self._size and (taken := self._whole_lines(block, position)):
                position += taken
                continue
            end = block.find(b"\n", position)
            stop = len(block) if end < 0 else end
            self._head += block[position : min(stop, position + max(_KEPT_BYTES - len(self._head), 0))]
            self._size += stop - position
            position = stop
            if end >= 0:
                self._finish_line()
                position += 1
        if position < len(block):
            self._count(block, position)

    def _whole_lines(self, block: bytes, position: int) -> int:
        """How many bytes of the block were taken as whole lines, their breaks included."""
        *whole, rest = block[position:].split(b"\n", self.last - self.number + 1)
        self.lines.heads += [line[:_KEPT_BYTES] for line in whole]
        self.lines.sizes += map(len, whole)
        self.number += len(whole)
        return len(block) - position - len(rest)

    def end(self) -> int:
        """How many lines there were: what follows the last line break is a line when it is not empty."""
        if self._size:
            self._finish_line()
        return self.number - 1

    def _finish_line(self) -> None:
        if self.first <= self.number <= self.last:
            self.lines.add(bytes(self._head), self._size)
        self._head.clear()
        self.number, self._size = self.number + 1, 0

    def _skipped(self, block: bytes) -> int:
        """The position in the block where the first wanted line starts, its end when it is not in there."""
        if self.number + block.count(b"\n") < self.first:
            self._count(block, 0)
            return len(block)
        position = 0
        while self.number < self.first:
            position = block.find(b"\n", position) + 1
            self.number += 1
        self._size = 0
        return position

    def _count(self, block: bytes, position: int) -> None:
        breaks = block.count(b"\n", position)
        self.number += breaks
        rest = len(block) - max(block.rfind(b"\n", position) + 1, position)
        self._size = rest if breaks else self._size + rest
