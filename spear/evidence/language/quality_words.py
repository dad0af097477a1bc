"""What a language says of the qualities of `spear.evidence.qualities`: patterns over an asserted piece of a clause."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class QualityWords:
    """One language's words.

    `called` are the names of qualities as they stand in prose. `lists` match some of them, in a group `list`, together
    with a good outcome; `said` are further phrases that claim a quality by themselves, with what they measured in the
    group `figure`. `platforms` have a group `list`, `versions` the groups `first` and `more`. Clauses that match
    `no_figure` only speak of figures, those that match `no_place` of where something is made to run.
    """

    called: Mapping[str, Pattern]
    lists: tuple[Pattern, ...]
    said: tuple[tuple[str, Pattern], ...]
    platforms: tuple[Pattern, ...]
    versions: tuple[Pattern, ...]
    no_figure: Pattern
    no_place: Pattern


def listed(called: Mapping[str, str], conjunction: str, articles: str) -> str:
    """A pattern for one of these names, or several one after the other."""
    one = rf"(?:{articles})?(?:{'|'.join(called.values())})(?!\w)"
    return rf"(?<![\w./-])(?P<list>{one}(?:\s*(?:,\s*(?:{conjunction})?|\s(?:{conjunction})\s|/|\+|&)\s*{one}){{0,8}})"


def compiled(called: Mapping[str, str]) -> dict[str, Pattern]:
    """Each name as a whole word."""
    return {name: re.compile(rf"(?<![\w./-])(?:{pattern})(?!\w)") for name, pattern in called.items()}
