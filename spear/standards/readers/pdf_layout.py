"""Layout of a PDF's lines: headings, paragraphs by the space between them, items, code, captions and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from spear.standards.readers.blocks import Block, BlockKind
from spear.standards.readers.pdf_headings import Headings, is_contents
from spear.standards.readers.pdf_lines import PdfLine, is_icon, is_note_icon
from spear.standards.readers.pdf_tables import PdfTable, is_rest_of, joined, table_at

_BULLET = re.compile(r"([•◦▪‣●○■□–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])\s+(?=\S)")
_CAPTION = re.compile(
    r"(?:Table|Figure|Fig\.|Listing|Example)\s+(?:[A-Z]{1,2}[.-])?\d[\d.-]*(?:\s*[.:–—]\s+\S|(?<=\.)\s+\S|\s+[A-Z])"
)
_CONTENTS = re.compile(r"(?:table of )?contents", re.I)
_ENDS = re.compile(r"[.:;?!]['\"”’)\]]*$")


@dataclass(slots=True)
class Layout:
    """Turns the lines and tables of one PDF into blocks, in order."""

    lines: Sequence[PdfLine]
    tables: Mapping[int, Sequence[PdfTable]]
    headings: Headings
    furniture: Sequence[PdfLine]
    _run: list[PdfLine] = field(default_factory=list)
    _parts: list[PdfTable] = field(default_factory=list)
    _placed: set[tuple[int, int]] = field(default_factory=set)
    _margin: float = 0.0
    _tops: dict[int, float] = field(default_factory=dict)
    """Where the highest line of a page stands."""
    _at: int = 1
    """The line at which the table that is open begins."""
    _icon: PdfLine | None = None
    """The icon of a note whose text stands to its right."""

    def blocks(self) -> Iterator[Block]:
        """The blocks; what repeats on the pages stands first, once each."""
        for line in self.furniture:
            yield Block(BlockKind.FURNITURE, line.text, (1, 1), line.page)
        lefts = sorted(line.left for line in self.lines)
        self._margin = lefts[len(lefts) // 10] if lefts else 0.0
        for line in self.lines:
            self._tops[line.page] = max(self._tops.get(line.page, 0.0), line.bottom)
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            held = table_at(self.tables.get(line.page, ()), line)
            if held is not None:
                yield from self._place(line.page, held, line.number)
                at += 1
                continue
            yield from self._passed(line)
            if is_icon(line):
                yield from self._flush()
                self._icon = line if is_note_icon(line) else None
                at += 1
                continue
            at, made = self._step(at)
            yield from made
        yield from self._flush()
        yield from self._flush_table()

    def _step(self, at: int) -> tuple[int, list[Block]]:
        """The next heading, entry of contents, caption or line of a paragraph: where it ends and what it completes."""
        line = self.lines[at]
        if is_contents(line) or _CONTENTS.fullmatch(line.text):
            end = at + 1
            while end < len(self.lines) and self.lines[end].page == line.page and self._contents_near(end):
                end += 1
            made = [*self._flush(), *self._flush_table(), _kept(BlockKind.CONTENTS, self.lines[at:end])]
            return end, made
        found = self.headings.at(self.lines[at : at + 5])
        if found is not None:
            end = at + found.lines
            span = (line.number, self.lines[end - 1].number)
            heading = Block(BlockKind.HEADING, found.text, span, line.page, level=found.level)
            made = [*self._flush(), *self._flush_table(), heading]
            self._icon = None
            return end, made
        made = []
        if self._run and not self._continues(self._run[-1], line):
            made = list(self._flush())
        if self._parts and line.page > self._parts[-1].page + 1:
            made.extend(self._flush_table())
        self._run.append(line)
        return at + 1, made

    def _contents_near(self, at: int) -> bool:
        """Whether a line stands in a table of contents: it has a leader, or the one after it on its page has."""
        near = self.lines[at : at + 3]
        return any(is_contents(line) and line.page == near[0].page for line in near)

    def _continues(self, line: PdfLine, after: PdfLine) -> bool:
        """Whether a line goes on with the paragraph of the one before it."""
        if (
            after.mono != line.mono
            or abs(after.size - line.size) > 0.6
            or _BULLET.match(after.text)
            or _CAPTION.match(after.text)
        ):
            return abs(after.bottom - line.bottom) < 2 and after.page == line.page
        if _CAPTION.match(self._run[0].text) and _ENDS.search(line.text):
            return False
        if after.page != line.page:
            return (
                not _ENDS.search(line.text) and not line.mono and abs(after.left - line.left) < 40 and not self._parts
            )
        gap = line.bottom - after.base
        if line.mono:
            return -2 < gap < 1.9 * line.size
        return -2 < gap < 1.75 * line.size and (after.left - line.left) < 60

    def _flush(self) -> Iterator[Block]:
        run, self._run = self._run, []
        if not run:
            return
        yield from self._flush_table(before=run[0])
        first = run[0]
        text = " ".join(line.text for line in run)
        if self._icon is not None and first.left <= self._icon.right:
            self._icon = None
        note = self._icon is not None
        if all(line.mono for line in run):
            yield _kept(BlockKind.CODE, run)
        elif _CAPTION.match(text) and len(text) < 300:
            yield Block(BlockKind.CAPTION, text, _span(run), first.page)
        elif marker := _BULLET.match(text):
            level = 1 + max(0, round((first.left - self._margin) / 18))
            yield Block(
                BlockKind.ITEM,
                text[marker.end() :],
                _span(run),
                first.page,
                level=level,
                number=marker[1],
                informative=note,
            )
        else:
            level = max(0, round((first.left - self._margin) / 18)) if first.left - self._margin > 10 else 0
            yield Block(BlockKind.PARAGRAPH, text, _span(run), first.page, level=level, informative=note)

    def _passed(self, line: PdfLine) -> Iterator[Block]:
        """Text after a table's rest: the table is complete once something else stands beneath it."""
        if self._parts:
            last = self._parts[-1]
            if line.page == last.page or not self._has_rest(last):
                yield from self._flush_table()

    def _has_rest(self, table: PdfTable) -> bool:
        after = self.tables.get(table.page + 1, ())
        return bool(after) and is_rest_of(after[0], table) and not self._above(after[0])

    def _above(self, table: PdfTable) -> bool:
        """Whether text stands above a table on its page."""
        return self._tops.get(table.page, 0.0) > table.top

    def _place(self, page: int, index: int, number: int) -> Iterator[Block]:
        if (page, index) in self._placed:
            return
        self._placed.add((page, index))
        table = self.tables[page][index]
        before = self._parts[-1] if self._parts else None
        if index == 0 and is_rest_of(table, before) and not self._above(table):
            self._parts.append(table)
            return
        yield from self._flush()
        yield from self._flush_table()
        self._parts, self._at = [table], number

    def _flush_table(self, before: PdfLine | None = None) -> Iterator[Block]:
        parts, self._parts = self._parts, []
        if parts:
            whole = joined(parts)
            last = self._at + sum(len(part.rows) for part in parts) - 1
            yield Block(BlockKind.TABLE, "", (self._at, last), whole.page, rows=whole.rows)


def _span(run: Sequence[PdfLine]) -> tuple[int, int]:
    return (run[0].number, run[-1].number)


def _kept(kind: BlockKind, run: Sequence[PdfLine]) -> Block:
    return Block(kind, "\n".join(line.text for line in run), _span(run), run[0].page)
