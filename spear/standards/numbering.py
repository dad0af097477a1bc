"""Clause numbers: reading printed ones, telling headings from numbered lists, counting by nesting (spec 5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PARTED = r"(?:\d{1,4}|[A-Z]\d{0,3})(?:[.-]\d{1,4})*"
_NAMED = re.compile(
    rf"(?:(appendix|annex|annexe|anhang)|chapter|section|clause|part|article)\s+({_PARTED}|[IVXL]{{1,6}})(?![\w])"
    rf"\s*(?:[.:—–-]\s*|(?=\()|\s+|$)(.*)",
    re.I | re.S,
)
_DIGITS = re.compile(r"(?:§+\s*)?(\d{1,4}(?:\.\d{1,4})*)(\.|\))?(?:\s+|(?<=\.)(?=[A-Z]))(\S.*)", re.S)
_LETTERED = re.compile(r"(?:§+\s*)?([A-Z]\d{0,3}(?:\.\d{1,4})+|[A-Z]\d{1,3})\.?\s+(\S.*)", re.S)
_LONE_LETTER = re.compile(r"([A-Z])\.\s+(\S.*)", re.S)
_ORDER = re.compile(r"[A-Z]|\d+")


@dataclass(frozen=True, slots=True)
class Printed:
    """A heading's text taken apart: its clause number as it is cited and its title."""

    number: str
    title: str
    appendix: bool = False
    closed: str = ""
    """What closed the number: "." or ")" or nothing."""

    @property
    def depth(self) -> int:
        """1 for 7, 2 for 7.1 and for A.1."""
        return self.number.count(".") + 1


def printed_number(text: str) -> Printed | None:
    """The clause number that a heading's text begins with; None where it begins with none.

    "7.1.5 Title", "7.1.5. Title", "§ 7 Title", "A2.2.5 Title", "Annex B.3 Title", "Appendix A. Title", "Chapter 9. T".
    """
    text = text.strip()
    if named := _NAMED.fullmatch(text):
        number = named[2] if named[2][0].isdigit() else named[2].upper() if len(named[2]) == 1 else named[2]
        return Printed(number, named[3].strip(" -–—:"), appendix=bool(named[1]))
    if digits := _DIGITS.fullmatch(text):
        return Printed(digits[1], digits[3].strip(), closed=digits[2] or "")
    if lettered := _LETTERED.fullmatch(text):
        return Printed(lettered[1], lettered[2].strip(), appendix=True)
    if lone := _LONE_LETTER.fullmatch(text):
        return Printed(lone[1], lone[2].strip(), appendix=True, closed=".")
    return None


def parts_of(number: str) -> tuple[tuple[int, int], ...]:
    """A clause number as something to compare: letters stand after digits, A2 is an A and a 2."""
    return tuple((1, ord(p) - 64) if p.isalpha() else (0, int(p)) for p in _ORDER.findall(number))


@dataclass(slots=True)
class Succession:
    """Whether a printed number may come next in a document: the way a heading is told from a numbered list's item.

    A heading goes one deeper (3.1 after 3), one further at its own or an outer depth (3.2 or 4 after 3.1.7), or starts
    the appendices; some numbers may be missing between, none may come again.
    """

    missing: int = 2
    last: tuple[tuple[int, int], ...] = ()
    items: int = field(default=0)
    """The last item of a numbered list since the last heading."""

    def follows(self, number: str) -> bool:
        """Whether this number may be the next heading's. Nothing is remembered."""
        parts = parts_of(number)
        if not self.last:
            return "." not in number and len(parts) <= 2 and parts[-1][1] <= 1 + self.missing
        return self._within(parts, len(self.last)) or any(self._within(parts, depth) for depth in range(len(self.last)))

    def fits(self, number: str) -> bool:
        """Whether a heading that is one by its markup may have this number: as `follows`, or, for a number of several
        parts, whatever comes later (a document may be an excerpt)."""
        return self.follows(number) or ("." in number and parts_of(number) > self.last)

    def _within(self, parts: tuple[tuple[int, int], ...], depth: int) -> bool:
        """Whether it is the next of those that share their first `depth` parts with the last heading."""
        if len(parts) <= depth or parts[:depth] != self.last[:depth] or len(parts) > depth + 2:
            return False
        kind, value = parts[depth]
        before = self.last[depth] if depth < len(self.last) else (kind, 0)
        if len(parts) == depth + 2 and parts[depth + 1][1] > 1:
            return False
        if kind != before[0]:
            return kind > before[0] and value <= 1 + self.missing
        least = before[1] + 1 if depth < len(self.last) else 0
        return least <= value <= before[1] + 1 + self.missing

    def take(self, number: str) -> None:
        """This number was a heading's."""
        self.last, self.items = parts_of(number), 0

    def item(self, number: str) -> None:
        """This number was a list item's."""
        if number.isdigit():
            self.items = int(number)


@dataclass(slots=True)
class Nesting:
    """Numbers by the nesting of headings: 1, 1.1, 1.2, 2; appendices A, A.1."""

    counters: list[int] = field(default_factory=list)
    lettered: bool = False

    def next(self, level: int, *, appendix: bool = False) -> str:
        """The number of the next heading at this depth (1 outermost). A depth that is skipped counts as its first."""
        if level == 1 and appendix and not self.lettered:
            self.counters, self.lettered = [], True
        while len(self.counters) < level - 1:
            self.counters.append(1)
        del self.counters[level:]
        if len(self.counters) == level:
            self.counters[-1] += 1
        else:
            self.counters.append(1)
        rounds, letter = divmod(self.counters[0] - 1, 26)
        first = chr(65 + letter) * (rounds + 1) if self.lettered else str(self.counters[0])
        return ".".join([first, *(str(n) for n in self.counters[1:])])
