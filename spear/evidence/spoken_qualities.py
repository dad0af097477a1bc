"""The qualities a sentence claims that only a check which names them can show (spec 3.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spear.evidence.language.quality_words import QualityWords
from spear.evidence.qualities import COVERAGE, DOCUMENTATION, PLATFORMS, SPEED, VERSIONS, named_in_manifest
from spear.evidence.sentences import TOKEN
from spear.evidence.values import Role, Value

_LONGEST = 1000
"""Characters of a clause that are read: nobody's sentence is longer, and patterns take time with its length."""
_MEASURED = frozenset({COVERAGE, SPEED})


@dataclass(frozen=True, slots=True)
class SpokenQuality:
    """A quality and the figures or versions that are said of it."""

    name: str
    values: tuple[Value, ...] = ()


def spoken_qualities(clause: str, literals: tuple[str, ...], words: QualityWords) -> tuple[SpokenQuality, ...]:
    """What the asserted part of a clause claims, each quality once. Tools in inline code are read by their names."""
    text = _spelled(clause, literals)[:_LONGEST]
    found: dict[str, tuple[Value, ...]] = {}
    for name, values in _found(text, words):
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *values)))
    return tuple(SpokenQuality(name, values) for name, values in sorted(found.items()))


def without_documentation(clause: str, words: QualityWords) -> str:
    """The clause without what it says of building documentation, which is no build of the project."""
    for name, pattern in words.said:
        if name == DOCUMENTATION:
            clause = pattern.sub(" ", clause)
    return clause


def _found(text: str, words: QualityWords) -> Iterator[tuple[str, tuple[Value, ...]]]:
    named = any(pattern.search(text) for pattern in words.called.values())
    for pattern in words.lists if named else ():
        for match in pattern.finditer(text):
            yield from ((name, ()) for name in _called(match, words.called) if name not in PLATFORMS)
    for name, pattern in words.said:
        if name in _MEASURED and words.no_figure.search(text):
            continue
        for match in pattern.finditer(text):
            yield name, _figure(match)
    if words.no_place.search(text):
        return
    for pattern in words.platforms:
        for match in pattern.finditer(text):
            yield from ((name, ()) for name in _called(match, words.called) if name in PLATFORMS)
    for pattern in words.versions:
        for match in pattern.finditer(text):
            versions = [match["first"], *re.findall(r"(?<![\w.])v?(\d+(?:\.\d+)*)", match["more"])]
            yield VERSIONS, tuple(Value(version.strip("v+"), Role.VERSION) for version in versions)


def _called(match: re.Match[str], called: Mapping[str, re.Pattern[str]]) -> list[str]:
    start, end = match.span("list")
    return [
        name
        for name, pattern in called.items()
        if any(start <= found.start() < end for found in pattern.finditer(match.string))
    ]


def _figure(match: re.Match[str]) -> tuple[Value, ...]:
    """What was measured, with its unit where one follows."""
    if "figure" not in match.re.groupindex or match["figure"] is None:
        return ()
    unit = re.match(r"\s?([a-zµμ]+)", match.string[match.end("figure") :])
    figure = match["figure"].strip().replace(" ", "")
    return (Value(f"{figure} {unit[1]}" if unit is not None else figure, Role.FIGURE),)


def _spelled(clause: str, literals: tuple[str, ...]) -> str:
    """The clause with the names of tools and checkers in the place of the commands that run them."""
    rest = iter(literals)

    def name(token: re.Match[str]) -> str:
        literal = next(rest, "")
        if token[0] == "⟦quote⟧" or "\n" in literal:
            return token[0]
        flags = re.findall(r"(?<!\S)(?:--release|-O[23s]|-fsanitize=[\w,]+|-W\w+)(?!\S)", literal)
        named = [word for word in sorted(named_in_manifest(literal)) if word != COVERAGE]
        if " ".join(literal.lower().split()) in ("black", "black --check .", "black --check"):
            return "⟦black⟧"
        shown = [*(f.lower() for f in flags), *_in_prose(named)]
        return " and ".join(shown) or token[0]

    return " ".join(TOKEN.sub(name, clause).split())


_PROSE = {"memory checker": "valgrind", "sanitizer": "sanitizer", "integration tests": "integration tests"}


def _in_prose(named: list[str]) -> list[str]:
    return [_PROSE.get(name, name) for name in named]
