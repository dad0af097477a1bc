"""The blocks of an HTML tree: its elements that stand apart, each with the text that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spear.standards.readers.blocks import Block, BlockKind
from spear.standards.readers.html_numbers import Numbers
from spear.standards.readers.source import Progress

if TYPE_CHECKING:
    from lxml.etree import _Element

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_SKIPPED = frozenset((
    "script", "style", "template", "head", "noscript", "svg", "math", "iframe", "object", "form", "button", "link",
    "meta",
))  # fmt: skip
_FLOWS = frozenset((
    "html", "body", "main", "article", "section", "div", "aside", "header", "footer", "ul", "ol", "dl", "li", "dt",
    "dd", "p", "pre", "blockquote", "figure", "figcaption", "table", "center", "details", "summary", "address",
    "fieldset", "hr",
))  # fmt: skip
_INFORMATIVE = frozenset((
    "note", "notes", "example", "informative", "issue", "ednote", "non-normative", "nonnormative", "tip",
))  # fmt: skip
_DROPPED = frozenset(("pilcrow", "self-link", "headerlink", "remove", "toc-link", "permalink", "anchor"))
_CONTENTS = frozenset(("toc", "table-of-contents"))
_CITED = re.compile(r"\[\[[!?]?([^\]|]+)(?:\|[^\]]*)?\]\]")
_MOST_SPANNED = 50


@dataclass(frozen=True, slots=True)
class _Place:
    """What a block stands in."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    marker: str = ""
    informative: bool = False


@dataclass(slots=True)
class Walk:
    """Walks the tree once. libxml2 limits how deep a tree may be, so recursion does no harm."""

    numbers: Numbers
    total: int
    progress: Progress | None
    done: int = 0
    term: str = ""
    fresh: bool = False
    """Whether the item that is open has no text yet."""

    def blocks(self, root: _Element) -> Iterator[Block]:
        """The blocks of a tree."""
        yield from self._flow(root, _Place())
        if self.progress:
            self.progress(self.total, self.total)

    def _flow(self, element: _Element, place: _Place) -> Iterator[Block]:
        """The blocks within an element: those of its elements, and its own text between them."""
        own: list[str] = [element.text or ""]
        line = line_of(element)
        for child in element:
            self._count()
            if child.tag not in _FLOWS and child.tag not in HEADINGS and not _holds_flow(child):
                own.append(self._inline(child))
                own.append(child.tail or "")
                continue
            yield from self._paragraph("".join(own), line, place)
            if not (_classes(child) & _DROPPED):
                yield from self._element(child, place)
            own, line = [child.tail or ""], line_of(child)
        yield from self._paragraph("".join(own), line, place)

    def _element(self, element: _Element, place: _Place) -> Iterator[Block]:
        tag = str(element.tag)
        marks = _classes(element)
        if marks & _INFORMATIVE or tag == "aside":
            place = replace(place, informative=True)
        if tag in HEADINGS:
            yield from self._heading(element)
        elif tag == "nav" or element.get("id") in _CONTENTS or marks & _CONTENTS:
            text = " ".join(self._inline(element).split())
            if text:
                yield Block(BlockKind.CONTENTS, text, _span(element))
        elif tag in {"ul", "ol"}:
            yield from self._list(element, place)
        elif tag == "dl":
            yield from self._flow(element, replace(place, level=place.level + 1))
        elif tag == "dt":
            text = " ".join(self._inline(element).split())
            self.term = f"{self.term}, {text}" if self.term else text
        elif tag == "dd":
            yield from self._flow(element, replace(place, kind=BlockKind.TERM))
        elif tag == "pre":
            yield Block(BlockKind.CODE, self._text(element).strip("\n"), _span(element), informative=place.informative)
        elif tag == "table":
            yield from self._table(element, place)
        elif tag == "figcaption":
            yield from self._caption(element)
        else:
            yield from self._flow(element, place)

    def _heading(self, element: _Element) -> Iterator[Block]:
        text = " ".join(self._inline(element).split())
        heading = self.numbers.headings.get(element)
        if heading is None:
            yield Block(BlockKind.HEADING, text, _span(element), level=int(str(element.tag)[1]))
            return
        yield Block(
            BlockKind.HEADING, text, _span(element), level=heading.level, number=heading.number,
            numbered=bool(heading.number) or not self.numbers.made, informative=heading.informative,
        )  # fmt: skip

    def _list(self, element: _Element, place: _Place) -> Iterator[Block]:
        start = element.get("start") or "1"
        count = int(start) if start.isdecimal() and len(start) < 6 else 1
        for child in element:
            if child.tag in _SKIPPED:
                continue
            self._count()
            if child.tag != "li":
                yield from self._element(child, replace(place, level=place.level + 1))
                continue
            marker = f"{count}." if element.tag == "ol" else "•"
            count += 1
            self.fresh = True
            yield from self._flow(child, replace(place, kind=BlockKind.ITEM, level=place.level + 1, marker=marker))

    def _table(self, element: _Element, place: _Place) -> Iterator[Block]:
        for caption in element.iterfind("caption"):
            yield from self._caption(caption, self.numbers.labels.get(element, ""))
        rows = self._rows(element)
        if len(rows) == 1 and len(rows[0]) == 1:
            yield from self._paragraph(rows[0][0], line_of(element), place)
        elif rows:
            named = next((self._captioned(c, element) for c in element.iterfind("caption")), "")
            label = named or self.numbers.labels.get(element, "")
            yield Block(BlockKind.TABLE, "", _span(element), rows=rows, caption=label, informative=place.informative)

    def _caption(self, element: _Element, label: str = "") -> Iterator[Block]:
        parent = element.getparent()
        text = self._captioned(element, parent) if parent is not None else " ".join(self._inline(element).split())
        if text:
            yield Block(BlockKind.CAPTION, text, _span(element))

    def _captioned(self, caption: _Element, element: _Element) -> str:
        text = " ".join(self._inline(caption).split())
        label = self.numbers.labels.get(element, "")
        return f"{label}: {text}" if label and not text.startswith(label) else text

    def _rows(self, table: _Element) -> tuple[tuple[str, ...], ...]:
        """The cells of a table; one that spans rows or columns stands in each of them."""
        rows: list[tuple[str, ...]] = []
        hanging: dict[int, tuple[int, str]] = {}
        for row in table.iter("tr"):
            if next(row.iterancestors("table")) is not table:
                continue
            cells: list[str] = []
            for cell in row.iterchildren("td", "th"):
                _hang(cells, hanging)
                text = " ".join(self._inline(cell).split())
                for _ in range(_span_of(cell, "colspan")):
                    if (below := _span_of(cell, "rowspan") - 1) > 0:
                        hanging[len(cells)] = (below, text)
                    cells.append(text)
            _hang(cells, hanging)
            if any(cells):
                rows.append(tuple(cells))
        return tuple(rows)

    def _paragraph(self, text: str, line: int, place: _Place) -> Iterator[Block]:
        words = " ".join(_CITED.sub(r"[\1]", text).split())
        if not words:
            return
        kind, marker = place.kind, ""
        if kind is BlockKind.ITEM:
            kind = BlockKind.ITEM if self.fresh else BlockKind.PARAGRAPH
            marker, self.fresh = (place.marker if self.fresh else ""), False
        elif kind is BlockKind.TERM:
            kind = BlockKind.TERM if self.term else BlockKind.PARAGRAPH
            words, self.term = (f"{self.term}\n{words}" if self.term else words), ""
        elif self.term:
            words, self.term = f"{self.term}\n{words}", ""
        span = (line, line + text.strip().count("\n"))
        yield Block(kind, words, span, level=place.level, number=marker, informative=place.informative)

    def _inline(self, element: _Element) -> str:
        """The text of an element; a link that is filled when the document is shown says where it leads."""
        return _CITED.sub(r"[\1]", self._text(element))

    def _text(self, element: _Element) -> str:
        if element.tag in _SKIPPED or (_classes(element) & _DROPPED):
            return ""
        parts = [element.text or ""]
        for child in element:
            if child.tag == "dt":  # one that was not closed stands within the one before it
                parts.append(", ")
            parts.append(self._text(child))
            parts.append(child.tail or "")
        if element.tag == "a" and not any(part.strip() for part in parts):
            return self.numbers.target((element.get("href") or "").removeprefix("#"))
        if element.tag in {"td", "th", "li", "p", "br", "div", "dt", "dd"}:
            parts.append(" ")
        if element.tag == "img":
            return element.get("alt") or ""
        if element.tag == "sup" and any(part.strip() for part in parts) and not element.find("a") is not None:
            return f"^{''.join(parts)}"
        return "".join(parts)

    def _count(self) -> None:
        self.done += 1
        if self.progress and self.done % 1000 == 0:
            self.progress(min(self.done, self.total), self.total)


def _hang(cells: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """The cells from rows above that reach down to the next places of this one."""
    while (column := len(cells)) in hanging:
        below, text = hanging.pop(column)
        cells.append(text)
        if below > 1:
            hanging[column] = (below - 1, text)
            return


def _span_of(cell: _Element, name: str) -> int:
    value = (cell.get(name) or "1")[:6]
    return min(max(int(value), 1), _MOST_SPANNED) if value.isdecimal() else 1


def _holds_flow(element: _Element) -> bool:
    return element.tag not in _SKIPPED and any(True for _ in element.iter(*_FLOWS, *HEADINGS))


def _classes(element: _Element) -> set[str]:
    return set((element.get("class") or "").split())


def line_of(element: _Element) -> int:
    """The line of the source at which an element begins, from 1."""
    line: Any = element.sourceline
    return int(line or 1)


def text_of(element: _Element) -> str:
    """All the text within an element, as it stands."""
    return "".join(str(part) for part in element.itertext())


def _span(element: _Element) -> tuple[int, int]:
    first = line_of(element)
    return (first, first + text_of(element).rstrip().count("\n"))
