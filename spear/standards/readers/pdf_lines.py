"""Lines of a PDF with where and how they are set: text by pdfium, soft hyphens settled, page furniture told apart."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

_SOFT = "\ufffe\u00ad\x02"
_LINE = re.compile(rf"[^\r\n{_SOFT}]+[{_SOFT}]?")
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
    0xA0: " ",
}
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[-–—|\s]*(?:\d{1,5}|[ivxlc]{1,7})[-–—|\s]*(?:(?:of|/)\s*\d{1,5})?", re.I)
_MONO = ("mono", "courier", "consol", "typewriter", "cmtt", "mplus1mn", "menlo")
_NOTES = frozenset("\uf05a\uf0eb\uf129")
_EDGE = 0.1
"""The share of a page's height, above and below, in which furniture stands."""


@dataclass(frozen=True, slots=True)
class PdfLine:
    """One line as it is set on its page. Measures are points from the page's lower left; `size` is the font's."""

    text: str
    page: int
    left: float
    right: float
    bottom: float
    top: float
    size: float
    bold: bool
    mono: bool
    height: float
    """The height of its page."""
    soft: bool = False
    """Whether it ended in a hyphen that may be there for the line's sake alone."""
    drop: float = 0.0
    """How far the rest of a word that a soft hyphen cut stands below its beginning."""
    number: int = 0
    """The line of the extracted text, from 1."""

    @property
    def base(self) -> float:
        """The bottom of its beginning."""
        return self.bottom + self.drop

    @property
    def at_edge(self) -> bool:
        """Whether it stands where page furniture stands."""
        return self.bottom > self.height * (1 - _EDGE) or self.top < self.height * _EDGE


def lines_of_page(page: Any, number: int) -> list[PdfLine]:
    """The lines of one page, in the order of its text."""
    text_page = page.get_textpage()
    try:
        text = text_page.get_text_range()
        height = float(page.get_height())
        return [
            line
            for match in _LINE.finditer(text)
            if match[0].strip(f" \t\u00a0{_SOFT}") and (line := _line(text_page, match, number, height)) is not None
        ]
    finally:
        text_page.close()


def _line(text_page: Any, match: re.Match[str], page: int, height: float) -> PdfLine | None:
    raw = match[0]
    first = match.start() + len(raw) - len(raw.lstrip())
    last = match.start() + len(raw.rstrip(f" \t\u00a0{_SOFT}")) - 1
    try:
        left, bottom, _, top = text_page.get_charbox(first, loose=True)
        _, low, right, high = text_page.get_charbox(last, loose=True)
    except Exception:  # noqa: BLE001  a character without a place, which the library tells by an error of its own
        return None
    size, font = _font(text_page, first)
    fonts = (font, *(_font(text_page, place)[1] for place in ((first + last) // 2, last)))
    text = raw.strip().strip(_SOFT).translate(_LIGATURES).replace("\0", "").strip()
    return PdfLine(
        text, page, left, right, min(bottom, low), max(top, high), size,
        bold="bold" in font or "black" in font or "heavy" in font,
        mono=all(any(name in each for name in _MONO) for each in fonts),
        height=height, soft=raw[-1] in _SOFT,
    )  # fmt: skip


def _font(text_page: Any, index: int) -> tuple[float, str]:
    from pypdfium2 import raw

    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text_page, index, name, 128, flags)
    return round(float(raw.FPDFText_GetFontSize(text_page, index)), 1), name.value.decode("latin-1").lower()


def unhyphenated(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines, a word that a soft hyphen cut joined to its rest.

    The hyphen goes where the document has the word in one elsewhere ("interrupt"), and stays where not ("M-mode").
    """
    words = Counter(word.lower() for line in lines for word in re.findall(r"[^\W\d_]{4,}", line.text))
    joined: list[PdfLine] = []
    held: PdfLine | None = None
    for line in lines:
        if held is not None:
            head, tail = re.search(r"[^\W_]*$", held.text), re.match(r"[^\W_]*", line.text)
            word = f"{head[0] if head else ''}{tail[0] if tail else ''}".lower()
            text = f"{held.text}{'' if words[word] else '-'}{line.text}"
            same = abs(held.bottom - line.bottom) < held.size / 2
            left = held.left if same else min(held.left, line.left)
            drop = held.base - line.bottom
            line = replace(held, text=text, left=left, right=line.right, bottom=line.bottom, soft=line.soft, drop=drop)
        held = line if line.soft else None
        if held is None:
            joined.append(line)
    return [*joined, held] if held is not None else joined


def is_icon(line: PdfLine) -> bool:
    """Whether a line is a symbol of an icon font and nothing else."""
    return bool(line.text) and all("\ue000" <= char <= "\uf8ff" or char.isspace() for char in line.text)


def is_note_icon(line: PdfLine) -> bool:
    """Whether an icon is the usual one of a note or a tip, beside text that obliges nobody."""
    return line.text.strip() in _NOTES


@dataclass(frozen=True, slots=True)
class Furniture:
    """What repeats at the edges of a document's pages: texts, digits aside, and the heights at which something stands
    on most of the pages."""

    texts: frozenset[str]
    heights: frozenset[int]

    def has(self, line: PdfLine) -> bool:
        """Whether a line is page furniture: a running head, a foot, a page number."""
        if not line.at_edge:
            return False
        return bool(
            (line.height and (_key(line.text) in self.texts or _PAGE_NUMBER.fullmatch(line.text)))
            or round(line.bottom / 2) in self.heights
        )  # fmt: skip


def furniture_of(lines: Iterable[PdfLine], pages: int) -> Furniture:
    """The furniture of a document, told by repetition alone."""
    texts: Counter[str] = Counter()
    heights: Counter[int] = Counter()
    seen: set[tuple[int, str | int]] = set()
    for line in lines:
        if not line.at_edge:
            continue
        for key, counter in ((_key(line.text), texts), (round(line.bottom / 2), heights)):
            if (line.page, key) not in seen:
                seen.add((line.page, key))
                counter[key] += 1  # type: ignore[index]
    least = max(3, pages // 20)
    often = max(4, pages * 6 // 10)
    return Furniture(
        frozenset(text for text, count in texts.items() if count >= least),
        frozenset(height for height, count in heights.items() if count >= often),
    )


def _key(text: str) -> str:
    return _DIGITS.sub("#", " ".join(text.lower().split()))
