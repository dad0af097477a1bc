"""PDF: text by pdfium with page numbers and outline, tables by pdfplumber where a page seems to have one (spec 5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spear.errors import UsageError
from spear.standards.readers import plain
from spear.standards.readers.blocks import Block, Document
from spear.standards.readers.pdf_headings import Headings, OutlineEntry, body_size, is_contents, listed
from spear.standards.readers.pdf_layout import Layout
from spear.standards.readers.pdf_lines import PdfLine, furniture_of, lines_of_page, unhyphenated
from spear.standards.readers.pdf_tables import PdfTable, Tables, seems_ruled, table_at
from spear.standards.readers.pdf_typed import is_typewritten, typed
from spear.standards.readers.source import Progress

MOST_PAGES = 20_000
_MOST_OUTLINE = 50_000


@dataclass(frozen=True, slots=True)
class _Pages:
    """What was read of all the pages."""

    lines: list[PdfLine]
    tables: dict[int, list[PdfTable]]
    outline: list[OutlineEntry]
    title: str
    count: int


def read(source: Path, progress: Progress | None = None) -> Document:
    """A PDF (spec 5.1). UsageError for one that is damaged, locked, or far too long.

    Pages without text, and tables that cannot be read, are told in the document's errors.
    """
    errors: list[str] = []
    pages = _pages(source, progress, errors)
    return Document(pages.title, "pdf", _blocks(pages), pages=pages.count, errors=errors)


def _blocks(pages: _Pages) -> Iterable[Block]:
    drawn = [line for line in pages.lines if table_at(pages.tables.get(line.page, ()), line) is not None]
    in_tables = {id(line) for line in drawn}
    furniture = furniture_of((line for line in pages.lines if id(line) not in in_tables), pages.count)
    kept: list[PdfLine] = []
    repeated: dict[str, PdfLine] = {}
    for line in pages.lines:
        if id(line) not in in_tables and furniture.has(line):
            repeated.setdefault("".join(c for c in line.text if not c.isdigit()), line)
        else:
            kept.append(line)
    lines = [replace(line, number=number) for number, line in enumerate(unhyphenated(kept), 1)]
    if lines and is_typewritten(lines):
        text = list(typed(lines))
        return plain.document_of(text, text, [], lines[0].page).blocks
    contents = frozenset(listed(line) for line in lines if is_contents(line))
    headings = Headings(pages.outline, body_size(lines), contents)
    return Layout(lines, pages.tables, headings, list(repeated.values())).blocks()


def _pages(source: Path, progress: Progress | None, errors: list[str]) -> _Pages:
    with ExitStack() as stack:
        document = _opened(source)
        stack.callback(document.close)
        count = len(document)
        if not 0 < count <= MOST_PAGES:
            raise UsageError(f"{source} has {count} pages; 1 to {MOST_PAGES} can be read", hint="ingest it in parts")
        lines: list[PdfLine] = []
        found_tables: dict[int, list[PdfTable]] = {}
        tables = Tables(source)
        stack.callback(tables.close)
        bare: list[int] = []
        for number in range(1, count + 1):
            found, has_rules = _page(document, number, errors)
            lines.extend(found)
            if has_rules and found and (of_page := _tables(tables, number, errors)):
                found_tables[number] = of_page
            if not found:
                bare.append(number)
            if progress:
                progress(number, count)
        if bare:
            some = ", ".join(str(page) for page in bare[:20]) + (" …" if len(bare) > 20 else "")
            errors.append(f"no text on {len(bare)} of {count} pages (pictures, or empty): {some}")
        outline = _outline(document)
        title = str(document.get_metadata_value("Title") or "").strip()
    return _Pages(lines, found_tables, outline, title, count)


def _opened(source: Path) -> Any:
    import pypdfium2 as pdfium

    try:
        return pdfium.PdfDocument(source)
    except (pdfium.PdfiumError, OSError) as error:
        locked = pdfium.raw.FPDF_GetLastError() == pdfium.raw.FPDF_ERR_PASSWORD or "password" in str(error).lower()
        if locked:
            raise UsageError(f"{source} is locked with a password", hint="save a copy without one") from error
        raise UsageError(
            f"{source} is a damaged PDF: {str(error).lower().rstrip('.')}",
            hint="fetch it again; it may have been cut short",
        ) from error


def _page(document: Any, number: int, errors: list[str]) -> tuple[list[PdfLine], bool]:
    from pypdfium2 import PdfiumError

    try:
        page = document[number - 1]
        try:
            return lines_of_page(page, number), seems_ruled(page)
        finally:
            page.close()
    except PdfiumError as error:
        errors.append(f"page {number} cannot be read: {str(error).lower()}")
        return [], False


def _outline(document: Any) -> list[OutlineEntry]:
    from pypdfium2 import PdfiumError

    entries: list[OutlineEntry] = []
    try:
        for bookmark in document.get_toc(max_depth=15):
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None and len(entries) < _MOST_OUTLINE:
                entries.append(OutlineEntry(bookmark.level + 1, bookmark.get_title(), page + 1))
    except PdfiumError:
        return []
    return entries


def _tables(tables: Tables, number: int, errors: list[str]) -> list[PdfTable]:
    """The tables of a page that seems to have some; where they cannot be read the page keeps its text."""
    try:
        return list(tables.of_page(number))
    except Exception as error:  # noqa: BLE001  the library raises whatever a broken file leads it to
        errors.append(f"the tables of page {number} cannot be read: {type(error).__name__}")
        return []
