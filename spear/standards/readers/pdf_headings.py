"""Headings of a PDF: by its outline where it has one, else by number, sequence and the way they are set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from spear.standards.numbering import Succession, printed_number
from spear.standards.readers.pdf_lines import PdfLine

_WORDS = re.compile(r"[\W_]+")
_LEADER = re.compile(r"(?:\s?\.){4,}\s*(?:\d+|[ivxlc]+)?\s*$|\.\s\.\s\.|…{2,}")
_UNNUMBERED = re.compile(
    r"(?:abstract|foreword|preface|acknowledge?ments?|references|bibliography|index|glossary|contributors|"
    r"revision history|"
    r"normative references|introduction|scope)",
    re.I,
)
_MOST_LINES = 4
_MOST_ENTRY = 400


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of a PDF's outline: its depth (1 outermost), its title and its page from 1."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class Found:
    """A heading at the beginning of some lines: how many it takes, its text and its depth."""

    lines: int
    text: str
    level: int


@dataclass(slots=True)
class Headings:
    """Finds the headings of one PDF, line by line in order."""

    outline: Sequence[OutlineEntry]
    body: float
    """The size of the font that most of the text is set in."""
    contents: frozenset[str]
    """The headings that the table of contents lists, letters and digits alone."""
    numbers: Succession = field(default_factory=Succession)
    _next: int = 0

    def at(self, lines: Sequence[PdfLine]) -> Found | None:
        """The heading that these lines begin with; None where they begin with none."""
        found = self._outlined(lines) or self._numbered(lines) or self._named(lines)
        printed = printed_number(found.text) if found is not None else None
        if printed is not None and self.numbers.follows(printed.number):
            self.numbers.take(printed.number)
        return found

    def _outlined(self, lines: Sequence[PdfLine]) -> Found | None:
        """A heading that the outline tells of: what it lists next on this page, perhaps over several lines."""
        page = lines[0].page
        while self._next < len(self.outline) and self.outline[self._next].page < page - 1:
            self._next += 1
        for place in range(self._next, min(self._next + 12, len(self.outline))):
            entry = self.outline[place]
            if entry.page > page + 1:
                break
            count = _spelled(lines, squeezed(entry.title))
            if count:
                self._next = place + 1
                return Found(count, " ".join(line.text for line in lines[:count]), entry.level)
        return None

    def _numbered(self, lines: Sequence[PdfLine]) -> Found | None:
        first = lines[0]
        printed = printed_number(first.text)
        if printed is None or first.mono or not self.numbers.follows(printed.number) or printed.closed == ")":
            return None
        if len(first.text) > 150 or is_contents(first):
            return None
        count = 1
        while count < min(len(lines), _MOST_LINES) and _goes_on(lines[count - 1], lines[count], self.body):
            count += 1
        text = " ".join(line.text for line in lines[:count])
        listed = squeezed(text) in self.contents or squeezed(first.text) in self.contents
        if self.outline and not listed:
            return (
                None  # an outline lists the headings; what else has a number is a list's item, or too deep for a clause
            )
        set_apart = first.size > self.body * 1.04 or (first.bold and not text.rstrip().endswith((".", ";", ":")))
        if not (listed or set_apart):
            return None
        return Found(count, text, printed.depth)

    def _named(self, lines: Sequence[PdfLine]) -> Found | None:
        """A heading without a number, where there is no outline: a usual name, or a listed one, in larger type."""
        first = lines[0]
        if self.outline or first.size < self.body * 1.04:
            return None
        if _UNNUMBERED.fullmatch(first.text) or squeezed(first.text) in self.contents:
            return Found(1, first.text, 1)
        return None


def squeezed(text: str) -> str:
    """A text's letters and digits, in lower case: what is left of a heading however it was set."""
    return _WORDS.sub("", text).lower()


def _spelled(lines: Sequence[PdfLine], title: str) -> int:
    """How many lines spell a title, a number before it aside; 0 where they do not."""
    text = ""
    if not title:
        return 0
    for count, line in enumerate(lines[:_MOST_LINES], 1):
        if line.page != lines[0].page:
            return 0
        text = f"{text} {line.text}"
        printed = printed_number(text.strip())
        if squeezed(text) == title or (printed is not None and squeezed(printed.title) == title):
            return count
        if len(squeezed(text)) > len(title) + 12:
            return 0
    return 0


def _goes_on(line: PdfLine, after: PdfLine, body: float) -> bool:
    """Whether the next line is the rest of a heading: set alike, close beneath, on the same page."""
    close = 0 < line.bottom - after.bottom < 1.6 * line.size
    apart = line.size > body * 1.04 or line.bold
    return apart and close and after.page == line.page and after.size == line.size and after.bold == line.bold


def body_size(lines: Sequence[PdfLine]) -> float:
    """The size of the font in which most characters are set."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def is_contents(line: PdfLine) -> bool:
    """Whether a line is an entry of a table of contents: a leader of dots, and perhaps a page number."""
    return len(line.text) < _MOST_ENTRY and _LEADER.search(line.text) is not None


def listed(line: PdfLine) -> str:
    """The heading that an entry of a table of contents lists, letters and digits alone."""
    return squeezed(re.split(r"(?:\s?\.){4,}|…{2,}|\.\s\.\s\.", line.text)[0])
