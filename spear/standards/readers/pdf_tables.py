"""Tables of a PDF, by pdfplumber, read only on pages on which something is ruled; a table split over pages is one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from spear.standards.readers.pdf_lines import PdfLine

_LEAST_RULES = 6
"""Lines and boxes without which a page has no table."""
_CELL = 4000
_OVERLAP = 0.05
"""Points of a letter on either side of an edge that it stands across."""


@dataclass(frozen=True, slots=True)
class PdfTable:
    """A table on its page: measures in points from the page's lower left, cells with the header row first."""

    page: int
    left: float
    bottom: float
    right: float
    top: float
    rows: tuple[tuple[str, ...], ...]


def seems_ruled(page: Any) -> bool:
    """Whether a page has lines or boxes enough for a table."""
    from pypdfium2 import raw

    found = page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3)
    return sum(1 for _ in islice(found, _LEAST_RULES)) == _LEAST_RULES


class Tables:
    """Reads the tables of a document's pages. To be closed."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._pdf: Any = None

    def close(self) -> None:
        """Lets the document go."""
        if self._pdf is not None:
            self._pdf.close()

    def _page(self, number: int) -> Any:
        """A page of the document, which is opened for the first of them: many have no table anywhere."""
        if self._pdf is None:
            import pdfplumber

            logging.getLogger("pdfminer").setLevel(logging.ERROR)
            self._pdf = pdfplumber.open(self._source)
        return self._pdf.pages[number - 1]

    def of_page(self, number: int) -> Iterator[PdfTable]:
        """The tables of a page (from 1), from the top; one with a single column or row is a frame and left out."""
        page = self._page(number)
        try:
            height = float(page.height)
            for found in sorted(page.find_tables(), key=lambda table: float(table.bbox[1])):
                rows = tuple(tuple(_text(cell) for cell in row) for row in _rows(page, found))
                rows = tuple(row for row in rows if any(row))
                if not rows or max(len(row) for row in rows) < 2:
                    continue
                left, top, right, bottom = (float(side) for side in found.bbox)
                yield PdfTable(number, left, height - bottom, right, height - top, rows)
        finally:
            page.close()


def _rows(page: Any, table: Any) -> Iterator[list[str | None]]:
    """The cells of a table as they were found, but those of a row whose text runs over the edge between them are one:
    a rule that ends above or below it parts nothing there."""
    crossed = tuple(_crossings(page, table))
    for row, texts in zip(table.rows, table.extract(), strict=True):
        start: int | None = None
        for column in range(1, len(texts)):
            left, right = row.cells[column - 1], row.cells[column]
            if left is None or right is None or not any(_crosses(at, left, right) for at in crossed):
                start = None
                continue
            start = column - 1 if start is None else start
            whole = (row.cells[start][0], left[1], right[2], right[3])
            texts[start], texts[column] = page.crop(whole, strict=False).extract_text(), ""
        yield texts


def _crossings(page: Any, table: Any) -> Iterator[tuple[float, float]]:
    """Where a letter stands across the edge of a column: the edge and the letter's height on the page."""
    edges = sorted({float(cell[2]) for cell in table.cells})[:-1]
    left, top, right, bottom = table.bbox
    for char in page.chars:
        middle = (char["top"] + char["bottom"]) / 2
        if top < middle < bottom and left < char["x0"] < right and char["text"].strip():
            for edge in edges:
                if char["x0"] + _OVERLAP < edge < char["x1"] - _OVERLAP:
                    yield edge, middle


def _crosses(at: tuple[float, float], left: Sequence[float], right: Sequence[float]) -> bool:
    edge, middle = at
    return abs(edge - left[2]) < 1 and abs(edge - right[0]) < 1 and left[1] < middle < left[3]


def table_at(tables: Sequence[PdfTable], line: PdfLine) -> int | None:
    """Which of a page's tables a line stands in; None for none."""
    middle = (line.bottom + line.top) / 2
    for index, table in enumerate(tables):
        if table.bottom - 1 <= middle <= table.top + 1 and table.left - 2 <= line.left <= table.right + 2:
            return index
    return None


def _text(cell: str | None) -> str:
    return " ".join((cell or "")[:_CELL].replace("\u00ad", "").replace("\ufffe", "-").split())


def is_rest_of(table: PdfTable, before: PdfTable | None) -> bool:
    """Whether a table is the rest of the one before it: at the top of the next page, with the same columns."""
    if before is None or table.page != before.page + 1:
        return False
    same = abs(table.left - before.left) < 4 and abs(table.right - before.right) < 4
    return same and len(table.rows[0]) == len(before.rows[0])


def joined(parts: Sequence[PdfTable]) -> PdfTable:
    """The parts of a table as one, a header row that each page repeats once."""
    header = parts[0].rows[0]
    rows = list(parts[0].rows)
    for part in parts[1:]:
        more = part.rows[1:] if part.rows[0] == header else part.rows
        if more and rows and not more[0][0] and part.rows[0] != header:  # a row that the page's end cut in two
            rows[-1] = tuple(f"{old} {new}".strip() for old, new in zip(rows[-1], more[0], strict=True))
            more = more[1:]
        rows.extend(more)
    return replace(parts[0], rows=tuple(rows))
