"""What a final answer claims, sentence by sentence, in English and French (spec 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ClaimKind(StrEnum):
    """What is claimed. SUCCESS is a claim that things are right without saying which way it was seen."""

    BUILDS = "builds"
    TESTS_PASS = "tests_pass"
    LINT_CLEAN = "lint_clean"
    RUNS = "runs"
    REBUILDS = "rebuilds"
    SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `start` and `end` are character offsets of its sentence in the answer; `number` is a count of tests
    it names, None when it names none. A hedged claim asserts nothing.
    """

    kind: ClaimKind
    sentence: str
    start: int
    end: int
    hedged: bool = False
    number: int | None = None
