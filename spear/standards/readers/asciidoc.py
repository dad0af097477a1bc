"""AsciiDoc by a reader of its own: headings, paragraphs, lists, tables, delimited blocks and admonitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spear.standards.readers.asciidoc_inline import marked, plain
from spear.standards.readers.asciidoc_lines import Lines
from spear.standards.readers.asciidoc_tables import table_rows
from spear.standards.readers.blocks import Block, BlockKind, Document
from spear.standards.readers.source import Progress, lines_of

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?")
_LIST = re.compile(r"\s*(\*{1,5}|-|•|\.{1,5}|\d{1,3}\.|[a-zA-Z]\.|<\d+>|<\.>)\s+(\S.*)")
_TERM = re.compile(r"\s*(\S.*?)(:{2,4}|;;)(?:\s+(\S.*))?")
_ATTRIBUTES = re.compile(r"\[(?!\[)([^\[\]]*)\]")
_ANCHOR = re.compile(r"\[\[([^\[\],]+)(?:,[^\[\]]*)?\]\]")
_TITLE = re.compile(r"\.([^\s.].*)")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|--|`{3,}\w*|[|,:!]={3,})")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|CAUTION|WARNING):\s+(\S.*)", re.S)
_MACRO = re.compile(r"(?:image|video|audio|toc)::\S*\[.*\]|<<<+|'{3,}|-{3}|\*{3}")
_INFORMATIVE = frozenset(("NOTE", "TIP", "SIDEBAR", "EXAMPLE", "QUOTE", "VERSE", "COMMENT", "ABSTRACT"))
_MOST_LINES = 20_000
"""Lines of one block after which it is taken for unclosed and ended."""


def read(source: Path, progress: Progress | None = None) -> Document:
    """An AsciiDoc document, its blocks read as they are asked for (spec 5.1)."""
    errors: list[str] = []
    counted = any(re.match(r":(?:sectnums|numbered):", line) for line in lines_of(source) if line.startswith(":"))
    lines = Lines(source, errors, progress)
    blocks = _Reader(lines).blocks()
    return Document("", "asciidoc", blocks, by_nesting=counted, errors=errors, sources=lines.files)


@dataclass(slots=True)
class _Reader:
    lines: Lines
    attributes: list[str] = field(default_factory=list)
    """The block attributes that are waiting for their block."""
    title: str = ""
    run: list[tuple[int, str]] = field(default_factory=list)
    item: tuple[str, int] | None = None
    """Marker and level of the item whose text is being read."""
    term: str = ""
    anchor: str = ""
    within: list[tuple[str, bool]] = field(default_factory=list)
    """The delimited blocks that are open, and whether each is informative."""
    levels: list[str] = field(default_factory=list)
    """The markers of the list that is open, outermost first."""
    attached: bool = False
    _taken: list[str] = field(default_factory=list)
    """The block attributes of the block that is being read."""

    def blocks(self) -> Iterator[Block]:
        """The blocks of the document."""
        lines = self.lines.read()
        for number, line in lines:
            yield from self._line(number, line, lines)
        yield from self._flush()

    def _line(self, number: int, line: str, lines: Iterator[tuple[int, str]]) -> Iterator[Block]:
        text = line.strip()
        if not text:
            yield from self._flush()
            return
        if text == "+" and (self.item or self.levels):
            yield from self._flush()
            self.attached = True
            return
        if _DELIMITER.fullmatch(text):
            yield from self._flush()
            yield from self._delimited(number, text, lines)
            return
        if not self.run or self.item:
            made = self._special(number, line)
            if made is not None:
                yield from made
                return
        if len(self.run) < _MOST_LINES:
            self.run.append((number, line))

    def _special(self, number: int, line: str) -> Iterator[Block] | None:
        """What a line that begins a block does; None for one that is text of a paragraph."""
        text = line.strip()
        if (heading := _HEADING.fullmatch(text)) and line[0] in "=#":
            return self._heading(number, heading)
        if anchor := _ANCHOR.fullmatch(text):
            return self._begin_anchor(anchor[1])
        if attributes := _ATTRIBUTES.fullmatch(text):
            self.attributes.append(attributes[1])
            return self._flush()
        if (title := _TITLE.fullmatch(text)) and not self.item:
            self.title = title[1]
            return iter(())
        if _MACRO.fullmatch(text):
            return self._flush()
        if match := _LIST.fullmatch(line):
            return self._begin_item(number, match[1], match[2])
        if (term := _TERM.fullmatch(line)) and len(term[1]) < 120 and "::" not in term[1]:
            return self._begin_term(number, term[1], term[2], term[3] or "")
        return None

    def _heading(self, number: int, match: re.Match[str]) -> Iterator[Block]:
        yield from self._flush()
        self.levels, self.within, self.anchor = [], [], ""
        style = self._style()
        text = " ".join(self._plain(match[2]).split())
        level = len(match[1])
        numbered = level > 1 and style not in {
            "DISCRETE",
            "FLOAT",
            "PREFACE",
            "ABSTRACT",
            "COLOPHON",
            "DEDICATION",
            "INDEX",
        }
        if style in {"DISCRETE", "FLOAT"}:
            yield Block(BlockKind.PARAGRAPH, text, (number, number))
            return
        yield Block(
            BlockKind.HEADING, text, (number, number), level=level, numbered=numbered, appendix=style == "APPENDIX"
        )

    def _begin_anchor(self, name: str) -> Iterator[Block]:
        """The identity of the block that comes next."""
        yield from self._flush()
        self.anchor = name

    def _begin_item(self, number: int, marker: str, text: str) -> Iterator[Block]:
        yield from self._flush()
        shape = re.sub(r"[\d<>]+", "1", marker)
        if shape in self.levels:
            del self.levels[self.levels.index(shape) + 1 :]
        else:
            self.levels.append(shape)
        self.item = ("•" if marker[0] in "*-•" else marker if marker[0] != "." else "1.", len(self.levels))
        self.run = [(number, text)]

    def _begin_term(self, number: int, term: str, mark: str, text: str) -> Iterator[Block]:
        if self.term:  # a term over another shares its text
            term = f"{self.term}, {term}"
            self.term = ""
        yield from self._flush()
        if mark in self.levels:
            del self.levels[self.levels.index(mark) + 1 :]
        else:
            self.levels.append(mark)
        self.term = term
        self.item = ("", len(self.levels))
        self.run = [(number, text)] if text else []

    def _flush(self) -> Iterator[Block]:
        """The block whose lines have been read."""
        run, self.run = self.run, []
        if not run:
            return
        raw = "\n".join(text for _, text in run)
        span = (run[0][0], run[-1][0])
        style, informative = self._style(), any(inner for _, inner in self.within)
        item, self.item = self.item, None
        if admonition := _ADMONITION.fullmatch(raw.strip()):
            raw, style = admonition[2], admonition[1]
        informative = informative or style in _INFORMATIVE
        if item is None and (
            style in {"SOURCE", "LISTING", "LITERAL", "WAVEDROM", "STEM"} or run[0][1].startswith(" ")
        ):
            yield Block(BlockKind.CODE, raw, span, informative=informative)
            return
        text, marks = self._marked(raw)
        if not text:
            return
        if self.anchor:
            marks, self.anchor = (*marks, (self.anchor, 0, len(text))), ""
        level = item[1] if item else len(self.levels) if self.attached else 0
        if item is None and not self.attached:
            self.levels = []
        self.attached = False
        kind, number = BlockKind.PARAGRAPH, ""
        if item is not None and self.term:
            term, self.term = " ".join(self._plain(self.term).split()), ""
            kind, marks = BlockKind.TERM, tuple((name, s + len(term) + 1, e + len(term) + 1) for name, s, e in marks)
            text = f"{term}\n{text}"
        elif item is not None:
            kind, number = BlockKind.ITEM, item[0]
        yield Block(kind, text, span, level=level, number=number, informative=informative, marks=marks)

    def _delimited(self, number: int, mark: str, lines: Iterator[tuple[int, str]]) -> Iterator[Block]:
        """A delimited block: lines as they stand, a table, or the opening or closing of one that holds other blocks."""
        style = self._style()
        if mark[0] in "=*_" or mark == "--":
            if any(open_mark == mark for open_mark, _ in self.within):
                while self.within and self.within.pop()[0] != mark:
                    pass
                return
            kept = {"=": style in {"", "NOTE", "TIP", "EXAMPLE"}, "*": True, "_": True, "-": style in _INFORMATIVE}
            self.within.append((mark, kept[mark[0]] or style in _INFORMATIVE))
            self.title = ""
            return
        close = (
            mark if mark[0] != "`" else "`" * len(mark.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        )
        inner: list[tuple[int, str]] = []
        for at, line in lines:
            if line.strip() == close or len(inner) >= _MOST_LINES:
                break
            inner.append((at, line))
        span = (number, inner[-1][0] + 1 if inner else number)
        informative = any(inside for _, inside in self.within)
        title, self.title = " ".join(self._plain(self.title).split()), ""
        if mark[0] in "|,:!":
            yield from self._table(inner, span, title, mark[0], informative=informative)
        elif mark[0] != "+" and inner and style not in {"COMMENT", "WAVEDROM"}:
            yield Block(
                BlockKind.CODE, "\n".join(line for _, line in inner), span, informative=informative, caption=title
            )

    def _table(
        self, inner: list[tuple[int, str]], span: tuple[int, int], title: str, mark: str, *, informative: bool
    ) -> Iterator[Block]:
        attributes = ",".join(self._taken)
        rows = table_rows([line for _, line in inner], attributes, mark)
        cells = tuple(tuple(" ".join(self._plain(cell).split()) for cell in row) for row in rows)
        if title:
            yield Block(BlockKind.CAPTION, title, span)
        if cells:
            yield Block(BlockKind.TABLE, "", span, rows=cells, caption=title, informative=informative)

    def _style(self) -> str:
        """The style of the next block, its attributes taken: NOTE of [NOTE], SOURCE of [source,c]."""
        self._taken, self.attributes = self.attributes, []
        names = (re.split(r"[,#.%=\s]", attributes.strip())[0].upper() for attributes in self._taken)
        return next((name for name in names if name and name not in {"COLS", "OPTIONS", "WIDTH", "ID", "ROLE"}), "")

    def _plain(self, text: str) -> str:
        return plain(self.lines.expanded(text))

    def _marked(self, raw: str) -> tuple[str, tuple[tuple[str, int, int], ...]]:
        return marked(" ".join(self.lines.expanded(raw).split()))
