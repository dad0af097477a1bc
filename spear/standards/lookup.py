"""Opening a standard at a section or a label, as a citation names it (spec 5.2, 5.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_letters

from spear.errors import UsageError
from spear.standards.citation import cited
from spear.standards.corpus import Corpus
from spear.standards.index import Clause, UnitIndex
from spear.standards.units import Kind, Unit

_NEAR = 5
_LONGEST = 80
_BELOW = 200


@dataclass(frozen=True, slots=True)
class Found:
    """What a reference names: units with its label (more than one: the label is ambiguous), or the units of a clause
    and the clauses below it."""

    units: tuple[Unit, ...]
    by_label: bool
    below: tuple[Clause, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Whether a label names several provisions. A table and its caption are one."""
        return self.by_label and sum(unit.kind is not Kind.CAPTION for unit in self.units) > 1


def look_up(index: UnitIndex, corpus: Corpus, reference: str) -> Found:
    """What a reference names. A label goes before a section, a section before a bare ordinal (`4.2.1-2`). Raises
    UsageError, which says what is near, where it names nothing; StateError."""
    name, is_section = cited(reference)
    if not name:
        raise UsageError("a section or a label is needed", hint="standard show 4.2.1, or: standard show Rule 4.2.1-2")
    if not is_section and (places := index.with_label(name)):
        return Found(_units(corpus, places), by_label=True)
    if clauses := index.clauses_of(name):
        places = index.places(f"clause IN ({', '.join(str(clause.number) for clause in clauses)})")
        return Found(_units(corpus, places), by_label=False, below=index.clauses_below(name, _BELOW))
    if below := index.clauses_below(name, _BELOW):
        return Found((), by_label=False, below=below)
    if places := index.with_ordinal(name) or index.places("unit_id = ?", name):
        return Found(_units(corpus, places), by_label=True)
    raise UsageError(f"the standard has no {reference.strip()}", hint=_nearest(index, name))


def _units(corpus: Corpus, places: Iterable[tuple[int, int]]) -> tuple[Unit, ...]:
    return tuple(corpus.at(*place) for place in places)


def _nearest(index: UnitIndex, name: str) -> str:
    """Labels or sections that begin as the name does, by the longest beginning any of them has; its role or letter
    ("Rule" of "Rule 4-1") is no less than all of it."""
    role = len(name) - len(name.lstrip(ascii_letters))
    for end in range(min(len(name), _LONGEST), max(role, 1) - 1, -1):
        near = (*index.labels(name[:end], _NEAR), *index.sections(name[:end], _NEAR))
        if near:
            return f"near it: {', '.join(near[:_NEAR])}"
    return "search it: spear-chat standard search QUESTION"
