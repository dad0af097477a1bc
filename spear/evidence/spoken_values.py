"""The literal values a sentence says that something prints, returns or exits with (spec 3.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.evidence.language.vocabulary import LITERAL_END, NUMBER, Vocabulary
from spear.evidence.sentences import TOKEN
from spear.evidence.values import Role, Value, is_literal

_LITERAL = rf"(?:⟦(?:code|call|program)⟧{LITERAL_END}|⟦quote⟧|{NUMBER}{LITERAL_END})"
_NEXT = (
    r"(?:\s*(?:,\s*(?:(?:and|then|or|et|puis|ou)\s+)?|\s(?:and|then|and then|or|followed by|et|puis|ou)\s)\s*"
    rf"{_LITERAL}"
    r"(?!\s+(?:is|are|was|pass\w*|returns?|prints?|works?|now|succeeds?|exits?|still|builds?|runs?|compiles?"
    r"|est|passe\w*|renvoie|affiche|retourne|fonctionne|\d|⟦)))"
)
_OBJECTS = rf"(?P<objects>{_LITERAL}{_NEXT}{{0,12}})"


def spoken_values(clause: str, literals: tuple[str, ...], language: Vocabulary) -> tuple[Value, ...]:
    """The values of the asserted part of a clause, each once, in order. A count ("prints 3 lines") is no value."""
    found = dict.fromkeys(_found(clause, literals, language))
    statuses = {value.text for value in found if value.role is Role.EXIT_STATUS}
    return tuple(value for value in found if value.role is Role.EXIT_STATUS or value.text not in statuses)


def _found(clause: str, literals: tuple[str, ...], language: Vocabulary) -> Iterator[Value]:
    ways = [(Role.EXIT_STATUS, way) for way in language.exited]
    ways += [(Role.PRINTED, way) for way in language.printed]
    ways += [(Role.RETURNED, way) for way in language.returned]
    if language.ran.search(clause):
        ways += [(Role.PRINTED, way) for way in language.printed_then]
    places = [match.start() for match in TOKEN.finditer(clause)]
    for role, way in ways:
        for match in re.finditer(way + _OBJECTS, clause):
            start, end = match.span("objects")
            for literal in re.finditer(rf"{TOKEN.pattern}|{NUMBER}", clause[start:end]):
                text = literal[0]
                if text.startswith("⟦"):
                    index = places.index(start + literal.start())
                    text = literals[index] if index < len(literals) else ""
                if is_literal(text) and not (role is Role.EXIT_STATUS and not _is_status(text)):
                    yield Value(text, role)


def _is_status(text: str) -> bool:
    """A status that a pass does not show by itself."""
    return text.isdigit() and int(text) != 0
