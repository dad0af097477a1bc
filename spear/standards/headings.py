"""Headings: the clause, the path and the standing (front matter, informative, definitions) of what comes after them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spear.standards.numbering import Nesting, Succession, printed_number
from spear.standards.profile import Profile
from spear.standards.readers.blocks import Block, BlockKind

_INFORMATIVE = re.compile(r"\b(?:informative|non-normative|informational|not normative)\b", re.I)
_NORMATIVE = re.compile(r"\bnormative\b", re.I)
_FRONT = re.compile(
    r"(?:abstract|foreword|preface|preamble|status of th(?:is|e) (?:memo|document)|copyright(?: notice| statement)?|"
    r"(?:table of )?contents|list of (?:figures|tables)|revision history|document history|licen[cs]e|legal notices?|"
    r"change ?log|notices?|disclaimer|contributors|copyright and licen[cs]e.*)",
    re.I,
)
_BACK = re.compile(
    r"(?:acknowledge?ments?|authors?['’]?s? address(?:es)?|(?:normative |informative )?references|bibliography|index|"
    r"contributors|full copyright statement|intellectual property.*|change ?log|revision history|changes from .*|"
    r"changes since .*|examples?|rationale|background|introduction \(informative\))",
    re.I,
)
_DEFINITIONS = re.compile(
    r"(?:terms(?:,| and| &)? ?(?:and )?definitions?.*|definitions?(?: of (?:key )?terms| and abbreviations)?|"
    r"glossary(?: of terms)?|terminology|abbreviations(?: and acronyms)?|acronyms(?: and abbreviations)?|"
    r"definitions?,? (?:and )?(?:acronyms|abbreviations|symbols).*|nomenclature|definition of terms)",
    re.I,
)
_MISSING = 20
"""Numbers that may be missing between headings that are headings by their markup."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit stands: the number that cites it, the headings above, and what they make of its text."""

    section: str
    path: tuple[str, ...]
    front: bool = False
    informative: bool = False
    definitions: bool = False


@dataclass(frozen=True, slots=True)
class _Open:
    level: int
    number: str
    title: str
    informative: bool
    definitions: bool
    front: bool


@dataclass(slots=True)
class Headings:
    """The headings that are open at a place of a document whose way of numbering was decided beforehand."""

    printed: bool
    nesting: bool
    outermost: int
    title: str
    profile: Profile
    titled: bool = False
    counted: Nesting = field(default_factory=Nesting)
    sequence: Succession = field(default_factory=lambda: Succession(missing=_MISSING))
    open: list[_Open] = field(default_factory=list)
    begun: bool = False
    """Whether the first clause has begun: what stands before it is front matter."""

    def enter(self, block: Block) -> Standing:
        """The clause that a heading begins."""
        number, title, level = self._numbered(block)
        if number and self.printed:
            while self.open and not (self.open[-1].number and number.startswith(self.open[-1].number + ".")):
                self.open.pop()
        else:
            while self.open and self.open[-1].level >= level:
                self.open.pop()
        above = self.open[-1] if self.open else None
        self.begun = self.begun or bool(number) or not (self.printed or self.nesting)
        named = {name.casefold() for name in self.profile.informative}
        informative = (
            block.informative
            or bool(_INFORMATIVE.search(title) and not _NORMATIVE.search(_INFORMATIVE.sub("", title)))
            or bool(_BACK.fullmatch(title))
            or bool({number.casefold(), title.casefold()} & named)
            or (above is not None and above.informative)
        )
        declared = {name.casefold() for name in self.profile.definitions}
        definitions = (
            bool(_DEFINITIONS.fullmatch(title))
            or bool({number.casefold(), title.casefold()} & declared)
            or (above is not None and above.definitions)
        )
        front = bool(_FRONT.fullmatch(title)) or (above is not None and above.front)
        self.open.append(_Open(level, number, title, informative, definitions, front))
        return self.clause()

    def clause(self) -> Standing:
        """The clause of what comes next."""
        if not self.open:
            return Standing("", (), front=self.titled or self.printed or self.nesting)
        last = self.open[-1]
        number = next((heading.number for heading in reversed(self.open) if heading.number), "")
        section = number or last.title
        path = tuple(f"{h.number} {h.title}".strip() for h in self.open)
        front = last.front or not self.begun
        return Standing(section, path, front, last.informative, last.definitions)

    def note_informative(self) -> None:
        """The text said that this clause is not normative: so is all beneath it."""
        if self.open:
            last = self.open.pop()
            self.open.append(_Open(last.level, last.number, last.title, True, last.definitions, last.front))

    def _numbered(self, block: Block) -> tuple[str, str, int]:
        text = " ".join(block.text.split())
        if block.number:
            return block.number, text, block.level
        if self.printed:
            printed = printed_number(text)
            if printed is not None and self.sequence.fits(printed.number):
                self.sequence.take(printed.number)
                return printed.number, printed.title or text, block.level
            return "", text, block.level
        if self.nesting and block.numbered and block.level >= self.outermost:
            return self.counted.next(block.level - self.outermost + 1, appendix=block.appendix), text, block.level
        return "", text, block.level


def headings_of(blocks: Sequence[Block], *, title: str, by_nesting: bool, profile: Profile) -> Headings:
    """How a document numbers its clauses, decided once for all of it (spec 5.1).

    The printed numbers are used where at least two fifths of the headings, and two of several, print one that may
    follow; else nesting, in formats whose numbers are made when they are published; else the titles stand for the
    numbers.
    """
    found = [block for block in blocks if block.kind is BlockKind.HEADING]
    sequence = Succession(missing=_MISSING)
    fit = 0
    for block in found:
        printed = None if block.number else printed_number(block.text)
        if block.number:
            fit += 1
        elif printed is not None and sequence.fits(printed.number):
            sequence.take(printed.number)
            fit += 1
    counted = [block for block in found if block.numbered]
    printed_here = bool(found) and fit >= min(2, len(found)) and fit * 5 >= 2 * len(counted)
    levels = sorted(block.level for block in counted)
    first = found[0] if found else None
    lone = (
        len(levels) > 1 and levels[0] < levels[1] and first is not None and first.numbered and first.level == levels[0]
    )
    unnumbered = first is not None and printed_number(first.text) is None and not first.number
    titled = unnumbered and (printed_here or lone or (first is not None and not first.numbered))
    outermost = (levels[1] if lone and not printed_here else levels[0]) if levels else 1
    if not title and first is not None and titled and not _FRONT.fullmatch(first.text):
        title = first.text
    nesting = by_nesting and not printed_here and bool(counted)
    return Headings(printed_here, nesting, outermost, title, profile, titled=titled)
