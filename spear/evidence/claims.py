"""What a final answer claims, sentence by sentence, in English and French (spec 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spear.evidence.language.english import ENGLISH
from spear.evidence.language.french import FRENCH
from spear.evidence.language.vocabulary import Vocabulary
from spear.evidence.sentences import plain, sentences


class ClaimKind(StrEnum):
    """What is claimed. SUCCESS is a claim that things are right without saying which way it was seen."""

    BUILDS = "builds"
    TESTS_PASS = "tests_pass"  # noqa: S105 - a pass of tests, not a password
    LINT_CLEAN = "lint_clean"
    RUNS = "runs"
    REBUILDS = "rebuilds"
    SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `start` and `end` are character offsets of its sentence in the answer; `number` is a count of tests
    it names, None when it names none; `whole` says that it speaks of all tests. A hedged claim asserts nothing.
    """

    kind: ClaimKind
    sentence: str
    start: int
    end: int
    hedged: bool = False
    number: int | None = None
    whole: bool = False


_LANGUAGES = (ENGLISH, FRENCH)


def read_claims(answer: str) -> tuple[Claim, ...]:
    """Every claim of an answer, hedged ones included, in the order they stand. Never raises."""
    found: list[Claim] = []
    for sentence in sentences(answer):
        text = plain(sentence.text)
        asserted, hedged = _kinds(text)
        for kind in sorted(asserted | hedged):
            found.append(
                Claim(
                    kind=kind,
                    sentence=sentence.text,
                    start=sentence.start,
                    end=sentence.end,
                    hedged=kind not in asserted,
                    number=_number(text) if kind is ClaimKind.TESTS_PASS else None,
                    whole=kind is ClaimKind.TESTS_PASS and any(x.whole.search(text) for x in _LANGUAGES),
                )
            )
    return tuple(found)


def _kinds(text: str) -> tuple[set[ClaimKind], set[ClaimKind]]:
    """What a sentence asserts, and what it only speaks of."""
    asserted: set[ClaimKind] = set()
    hedged: set[ClaimKind] = set()
    question = text.rstrip(" )*_").endswith("?")
    for language in _LANGUAGES:
        for clause in _clauses(text, language):
            firm, soft = _parted(clause, language)
            about_tests = language.mentions_tests.search(text) is not None
            mine = _matches(firm, language, about_tests=about_tests)
            (hedged if question else asserted).update(mine)
            hedged |= _matches(soft, language, about_tests=about_tests) - mine
    return asserted, hedged - asserted


def _clauses(text: str, language: Vocabulary) -> list[str]:
    for pattern, instead in language.denials:
        text = pattern.sub(f" {instead} ", text)
    return [" ".join(clause.split()) for clause in language.breaks.split(text)]


def _parted(clause: str, language: Vocabulary) -> tuple[str, str]:
    """The part of a clause that is asserted, and the rest: a hedge takes its own piece and all that follow."""
    if language.everywhere.search(clause):
        return "", clause
    hedge = language.hedges.search(clause)
    if hedge is None:
        return clause, ""
    cut = 0
    for piece in language.pieces.finditer(clause):
        if piece.start() > hedge.start():
            break
        cut = piece.start()
    return clause[:cut], clause[cut:]


def _matches(clause: str, language: Vocabulary, *, about_tests: bool) -> set[ClaimKind]:
    if not clause:
        return set()
    patterns = {
        ClaimKind.BUILDS: language.builds,
        ClaimKind.TESTS_PASS: language.tests,
        ClaimKind.LINT_CLEAN: language.lint,
        ClaimKind.RUNS: language.runs,
        ClaimKind.REBUILDS: language.rebuilds,
        ClaimKind.SUCCESS: language.success,
    }
    found = {kind for kind, pattern in patterns.items() if pattern.search(clause)}
    if about_tests and language.all_pass.search(clause):
        found = (found - {ClaimKind.SUCCESS}) | {ClaimKind.TESTS_PASS}
    if ClaimKind.LINT_CLEAN in found and language.all_pass.search(clause):
        found -= {ClaimKind.SUCCESS}
    if ClaimKind.REBUILDS in found:
        found -= {ClaimKind.BUILDS}
    return found


def _number(text: str) -> int | None:
    """The count of tests a sentence names, None for none."""
    for language in _LANGUAGES:
        match = language.numbers.search(text)
        if match is not None:
            word = next(group for group in match.groups() if group is not None)
            return language.words_of_number.get(word) or int(word) or None
    return None
