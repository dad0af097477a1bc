"""Plain text as RFCs are written: page furniture, indented contents, numbered headings, diagrams and grid tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise
from pathlib import Path

from spear.standards.numbering import Printed, Succession, printed_number
from spear.standards.readers.blocks import Block, BlockKind, Document
from spear.standards.readers.drawings import block_of_drawing, is_drawing
from spear.standards.readers.source import Progress, lines_of

_FOOTER = re.compile(r"\[Page\s+(?:\d{1,6}|[ivxlc]{1,9})\]\s*$", re.I)
_RUNNING = re.compile(r"(?:RFC|Internet[- ]Draft)\b.*\b(?:19|20)\d\d\s*$", re.I)
_LEADER = re.compile(r"(?:\.{4,}|(?:\. ){4,}|…+)\s*(?:\d+|[ivxlc]+)\s*$")
_CONTENTS = re.compile(r"\s*(?:table of )?contents\s*:?\s*", re.I)
_UNNUMBERED = re.compile(r"[A-Z][\w'’/&,() -]{2,69}")
_BULLET = re.compile(r"(\s*)([*o+•–-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])\s+(?=\S)")
_CAPTION = re.compile(r"\s*(?:Figure|Table|Fig\.|Listing|Example)\s+[A-Z]?[\d.-]*\d(?:\s*[:.–—-]\s*\S.*)?\s*", re.S)
_UNDERLINE = re.compile(r"\s*([=~^\"*+#-])\1{2,}\s*")
_ENDS = re.compile(r"[.:;?!)\]]\s*$")
_SEEN_FIRST = 5000
"""Lines from which the shape of a text is told."""
_CENTRED = 12
_MOST_CAPTION = 300
_MOST_ENTRY = 300
_MARGIN = 8
"""The deepest column at which a numbered heading is looked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not page furniture: its number in the file, its page and its text."""

    number: int
    page: int | None
    text: str

    @property
    def indent(self) -> int:
        """The column of its first character, from 0."""
        return len(self.text) - len(self.text.lstrip())


def read(source: Path, progress: Progress | None = None) -> Document:
    """A plain text, its blocks read as they are asked for (spec 5.1)."""
    errors: list[str] = []
    first = list(islice(lines_of(source), _SEEN_FIRST))
    return document_of(first, lines_of(source, progress, errors), errors)


def document_of(first: Sequence[str], lines: Iterable[str], errors: list[str], page: int | None = None) -> Document:
    """A plain text of these lines, its shape told by the `first` of them; `page` is the one they begin on, if known."""
    shape = _shape_of(first[:_SEEN_FIRST])
    blocks = _Text(shape.margin, page or (1 if shape.paged else None)).blocks(iter(lines))
    return Document(shape.title, "text", blocks, errors=errors)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the first lines tell: the column at which most begin (unnumbered headings stand left of it, or nowhere),
    whether the text is cut into pages, and the title that stands in the middle of its line."""

    margin: int
    paged: bool
    title: str


def _shape_of(lines: Sequence[str]) -> _Shape:
    columns = Counter(len(text) - len(text.lstrip()) for text in lines if text.strip())
    title: list[str] = []
    for before, text in pairwise(["", *lines[:80]]):
        centred = len(text) - len(text.lstrip()) >= _CENTRED
        if centred and (title or not before.strip()) and not _is_entry(text):
            title.append(text.strip())
        elif title:
            break
    paged = any("\f" in text or _FOOTER.search(text) for text in lines)
    return _Shape(columns.most_common(1)[0][0] if columns else 0, paged, " ".join(title)[:300])


@dataclass(slots=True)
class _Text:
    margin: int
    page: int | None = None
    """The first page, in a text that is cut into pages."""
    sequence: Succession = field(default_factory=Succession)
    columns: dict[int, int] = field(default_factory=dict)
    """The column at which the headings of a depth stand."""
    contents: bool = False
    underlines: list[str] = field(default_factory=list)

    def blocks(self, lines: Iterator[str]) -> Iterator[Block]:
        """The blocks of a text, one run of lines at a time."""
        for run in _runs(_unpaged(lines, self.page)):
            yield from self._classified(run)

    def _classified(self, run: list[Line]) -> Iterator[Block]:
        if all(_is_entry(line.text) for line in run):
            yield _joined(BlockKind.CONTENTS, run, keep=True)
            return
        heading = self._heading(run)
        if heading is not None:
            block, rest = heading
            yield block
            if rest:
                yield from self._classified(rest)
            return
        if self.contents:
            yield _joined(BlockKind.CONTENTS, run, keep=True)
            return
        quoted = _unquoted(run)
        if quoted:
            for part in quoted:
                yield from self._told(part)
            return
        yield from self._told(run)

    def _told(self, run: list[Line]) -> Iterator[Block]:
        """A run that is no heading: drawn, a caption, or prose."""
        if is_drawing([line.text for line in run]):
            yield block_of_drawing([line.text for line in run], _span(run), run[0].page)
            return
        whole = _text_of(run)
        if len(whole) < _MOST_CAPTION and _CAPTION.fullmatch(whole):
            yield _joined(BlockKind.CAPTION, run)
            return
        yield from self._prose(run)

    def _prose(self, run: list[Line]) -> Iterator[Block]:
        """A run as a paragraph, as a term with what it means, or as the items that start in it."""
        if _is_term(run):
            text = f"{run[0].text.strip()}\n{_text_of(run[1:])}"
            level = 1 + max(0, run[0].indent - self.margin) // 3
            yield Block(BlockKind.TERM, text, _span(run), run[0].page, level=level)
            return
        starts = [i for i, line in enumerate(run) if _BULLET.match(line.text) and line.indent <= run[0].indent + 3]
        level = max(0, run[0].indent - self.margin + 2) // 3
        if not starts or (starts[0] != 0 and len(starts) < 2):
            yield _joined(BlockKind.PARAGRAPH, run, level=level)
            return
        if starts[0]:
            yield _joined(BlockKind.PARAGRAPH, run[: starts[0]], level=level)
        for start, end in zip(starts, [*starts[1:], len(run)], strict=True):
            marker = _BULLET.match(run[start].text)
            level = 1 + max(0, run[start].indent - self.margin) // 3
            number = marker[2] if marker else ""
            self.sequence.item(number.strip("()."))
            bare = replace(run[start], text=" " * run[start].indent + run[start].text[marker.end() :] if marker else "")
            yield _joined(BlockKind.ITEM, [bare, *run[start + 1 : end]], level=level, number=number)

    def _heading(self, run: list[Line]) -> tuple[Block, list[Line]] | None:
        """A heading and what of the run comes after it; None where the run begins with none."""
        first = run[0]
        if len(run) > 1 and (mark := _UNDERLINE.fullmatch(run[1].text)) and len(first.text.strip()) <= 100:
            if mark[1] not in self.underlines:
                self.underlines.append(mark[1])
            return self._made(run[:2], first.text.strip(), self.underlines.index(mark[1]) + 1), run[2:]
        if _CONTENTS.fullmatch(first.text):
            self.contents = True
            return Block(BlockKind.CONTENTS, first.text.strip(), _span(run[:1]), first.page), run[1:]
        printed = printed_number(first.text) if first.indent <= _MARGIN else None
        if printed is not None and self._is_heading(run, printed):
            end = _end_of_heading(run, first.text.index(printed.title[:1] or first.text.strip()[-1]))
            return self._made(run[:end], _text_of(run[:end]), printed.depth), run[end:]
        if first.indent < self.margin and first.indent == 0 and _is_title(run):
            return self._made(run[:1], first.text.strip(), 1), run[1:]
        return None

    def _made(self, run: list[Line], text: str, level: int) -> Block:
        self.contents = False
        printed = printed_number(text)
        if printed is not None:
            self.sequence.take(printed.number)
            self.columns[printed.depth] = run[0].indent
        return Block(BlockKind.HEADING, text, _span(run), run[0].page, level=level)

    def _is_heading(self, run: list[Line], printed: Printed) -> bool:
        first = run[0]
        if not self.sequence.follows(printed.number) or _is_entry(first.text):
            return False
        if len(printed.title) > 100 or printed.title.endswith((".", ";", ",")) or printed.closed == ")":
            return False
        if self.contents and (first.indent > 0 or len(run) > 2):
            return False
        if printed.number.isalpha() and not printed.closed and "ppendix" not in first.text and "nnex" not in first.text:
            return False
        known = self.columns.get(printed.depth)
        if known is not None and first.indent != known:
            return False
        if known is None and printed.depth == 1 and first.indent > 0 and self.margin > first.indent:
            return True
        return known is not None or first.indent <= self.margin


def _end_of_heading(run: list[Line], column: int) -> int:
    """How many lines a heading has: what continues it stands beneath its title."""
    end = 1
    while end < len(run) and end < 4 and run[end].indent == column and column > run[0].indent:
        end += 1
    return end


def _is_term(run: list[Line]) -> bool:
    """Whether a run is a term on a line of its own over the text that explains it."""
    deeper = len(run) > 1 and all(line.indent > run[0].indent for line in run[1:])
    return deeper and len(run[0].text.strip()) < 60 and not _BULLET.match(run[0].text) and not _ENDS.search(run[0].text)


def _unquoted(run: list[Line]) -> list[list[Line]]:
    """The paragraphs of a quotation, every line of it behind a bar, without their bars; none where it is no quotation:
    what is drawn with bars has them at both ends. A bar alone parts paragraphs."""
    said = [line for line in run if line.text.strip() != "|"]
    if not all(line.text.lstrip().startswith("|") for line in run) or any(
        line.text.rstrip().endswith("|") for line in said[:-1]
    ):
        return []
    bare = [replace(line, text=line.text.replace("|", " ", 1)) for line in run]
    return [list(part) for text, part in groupby(bare, lambda line: bool(line.text.strip())) if text]


def _is_entry(text: str) -> bool:
    """Whether a line is an entry of a table of contents, with a leader of dots and a page number."""
    return len(text) < _MOST_ENTRY and _LEADER.search(text) is not None


def _is_title(run: list[Line]) -> bool:
    text = run[0].text.strip()
    return len(run) == 1 and bool(_UNNUMBERED.fullmatch(text)) and "   " not in text


def _runs(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Runs of lines with something on them. A run is cut at 2 000 lines: nobody writes such a paragraph."""
    run: list[Line] = []
    for line in lines:
        if line.text.strip() and len(run) < 2000:
            run.append(line)
            continue
        if run:
            yield run
        run = [line] if line.text.strip() else []
    if run:
        yield run


def _unpaged(lines: Iterator[str], page: int | None) -> Iterator[Line]:
    """The lines without footers, running heads and form feeds; a paragraph that a page cut in two is whole again."""
    last = ""
    blanks, broken, fed = 0, False, False
    for number, text in enumerate(lines, 1):
        if "\f" in text:
            page, broken, fed = (page or 1) + 1, True, True
            text = text.replace("\f", "")
        if _FOOTER.search(text):
            page, broken = page or 1, True
            continue
        if not text.strip():
            blanks += 1
            continue
        if broken and (fed or blanks) and _RUNNING.match(text):
            fed = False
            continue
        fed = False
        if blanks and not (broken and _goes_on(last, text)):
            yield Line(number, page, "")
        blanks, broken, last = 0, False, text
        yield Line(number, page, text)


def _goes_on(last: str, text: str) -> bool:
    """Whether the text after a page's end continues the sentence before it."""
    same = len(last) - len(last.lstrip()) == len(text) - len(text.lstrip())
    return same and not _ENDS.search(last) and bool(last.strip()) and not _BULLET.match(text)


def _span(run: list[Line]) -> tuple[int, int]:
    return (run[0].number, run[-1].number)


def _text_of(run: list[Line]) -> str:
    """Lines as one line; a word that was cut at a hyphen is whole again."""
    text = ""
    for line in run:
        part = line.text.strip()
        joined = bool(text) and text.endswith("-") and not text.endswith((" -", "--")) and part[:1].isalnum()
        text = f"{text}{part}" if joined or not text else f"{text} {part}"
    return text


def _joined(kind: BlockKind, run: list[Line], *, keep: bool = False, level: int = 0, number: str = "") -> Block:
    text = "\n".join(line.text.rstrip() for line in run) if keep else _text_of(run)
    return Block(kind, text, _span(run), run[0].page, level=level, number=number)
