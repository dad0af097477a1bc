"""A PDF that is typewritten throughout, as RFCs are printed: its lines with their columns, to be read as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from spear.standards.readers.pdf_lines import PdfLine

_MOST_COLUMN = 200
_SHARE = 0.8


def is_typewritten(lines: Sequence[PdfLine]) -> bool:
    """Whether nearly all of the text is set in a font whose letters are equally wide."""
    whole = sum(len(line.text) for line in lines)
    return sum(len(line.text) for line in lines if line.mono) > _SHARE * whole


def typed(lines: Sequence[PdfLine]) -> Iterator[str]:
    """The lines as they were typed: indented, with an empty one for a gap and a form feed for each new page."""
    margin = min(line.left for line in lines)
    width = median((line.right - line.left) / len(line.text) for line in lines if line.text) or 1.0
    before: PdfLine | None = None
    for line in lines:
        if before is not None and line.page > before.page:
            yield from ["\f"] * (line.page - before.page)
        elif before is not None and before.bottom - line.bottom > 1.7 * line.size:
            yield ""
        column = min(_MOST_COLUMN, round((line.left - margin) / width))
        yield f"{' ' * column}{line.text}"
        before = line
