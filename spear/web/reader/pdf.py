"""A range of pages of a PDF as text."""

from __future__ import annotations

import codecs
from typing import Any

import pypdfium2 as pdfium

codecs.lookup("utf-16-le")  # what the library asks for with the first text, when nothing can be opened any more

PAGES_AT_ONCE = 20
"""Pages that are read when no range says otherwise."""
MOST_PAGES = 200
"""Pages of one range that are read."""


def pdf_text(data: bytes, pages: dict[str, Any] | None) -> dict[str, Any]:
    """The text of a range of pages, each under a line with its number; {code, problem} where it cannot be read."""
    try:
        document = pdfium.PdfDocument(data)
        count = len(document)
    except pdfium.PdfiumError as error:
        locked = pdfium.raw.FPDF_GetLastError() == pdfium.raw.FPDF_ERR_PASSWORD
        what = "it is locked with a password" if locked else f"it is damaged: {str(error).lower()}"
        return {"code": "unreadable", "problem": f"it is a PDF that cannot be read: {what}"}
    first = pages["first"] if pages else 1
    last = min(count, (pages["last"] or first + MOST_PAGES - 1) if pages else PAGES_AT_ONCE, first + MOST_PAGES - 1)
    if first > count or last < first:
        return {"code": "no_pages", "problem": f"it has {count} pages; {first} is not one of them"}
    parts = [f"[page {number}]\n{_page(document, number - 1)}" for number in range(first, last + 1)]
    title = str(document.get_metadata_value("Title") or "")
    return {"text": "\n\n".join(parts), "title": title, "pages": count, "first": first, "last": last}


def _page(document: pdfium.PdfDocument, index: int) -> str:
    """The text of one page; a note in its place where it has none or cannot be read."""
    try:
        page = document[index]
        text = page.get_textpage().get_text_range()
    except pdfium.PdfiumError as error:
        return f"(cannot be read: {str(error).lower()})"
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").replace("\x02", "-").split("\n")]
    return "\n".join(lines).strip() or "(no text: a picture, or an empty page)"
