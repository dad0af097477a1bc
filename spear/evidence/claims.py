"""What a final answer claims, sentence by sentence, in English and French (spec 3.4)."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from spear.evidence.language.english import ENGLISH
from spear.evidence.language.english_qualities import ENGLISH_QUALITIES
from spear.evidence.language.french import FRENCH
from spear.evidence.language.french_qualities import FRENCH_QUALITIES
from spear.evidence.language.vocabulary import Vocabulary
from spear.evidence.sentences import TOKEN, Reading, read, sentences
from spear.evidence.spoken_qualities import SpokenQuality, spoken_qualities, without_documentation
from spear.evidence.spoken_values import spoken_values
from spear.evidence.values import Value


class ClaimKind(StrEnum):
    """What is claimed. SUCCESS is a claim that things are right without saying which way it was seen; NAMED one of a
    quality that only a check which names it shows (valgrind, coverage, Windows…).
    """

    BUILDS = "builds"
    TESTS_PASS = "tests_pass"  # noqa: S105 - a pass of tests, not a password
    LINT_CLEAN = "lint_clean"
    RUNS = "runs"
    REBUILDS = "rebuilds"
    SUCCESS = "success"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `start` and `end` are character offsets of its sentence in the answer; `number` is a count of tests
    it names, None when it names none; `whole` says that it speaks of all tests. A hedged claim asserts nothing.
    `values` are the literals that are said to be printed, returned, measured…; `named` is the quality of a NAMED claim.
    """

    kind: ClaimKind
    sentence: str
    start: int
    end: int
    hedged: bool = False
    number: int | None = None
    whole: bool = False
    values: tuple[Value, ...] = ()
    named: str = ""


_LANGUAGES = (ENGLISH, FRENCH)
_QUALITIES = ((ENGLISH, ENGLISH_QUALITIES), (FRENCH, FRENCH_QUALITIES))


@dataclass(slots=True)
class _Said:
    """What the clauses of a sentence assert, and what they only speak of."""

    asserted: set[ClaimKind] = field(default_factory=set)
    hedged: set[ClaimKind] = field(default_factory=set)
    values: dict[Value, None] = field(default_factory=dict)
    qualities: dict[str, dict[Value, None]] = field(default_factory=dict)

    def add(self, qualities: tuple[SpokenQuality, ...]) -> None:
        for quality in qualities:
            self.qualities.setdefault(quality.name, {}).update(dict.fromkeys(quality.values))


def read_claims(answer: str) -> tuple[Claim, ...]:
    """Every claim of an answer, hedged ones included, in the order they stand. Never raises."""
    found: list[Claim] = []
    for sentence in sentences(answer):
        reading = read(sentence.text)
        text = _spelled_out(reading)
        said = _said(replace(reading, text=text))
        plain = Claim(ClaimKind.SUCCESS, sentence.text, sentence.start, sentence.end)
        for kind in sorted(said.asserted | said.hedged):
            found.append(
                replace(
                    plain,
                    kind=kind,
                    hedged=kind not in said.asserted,
                    number=_number(text) if kind is ClaimKind.TESTS_PASS else None,
                    whole=kind is ClaimKind.TESTS_PASS and any(x.whole.search(text) for x in _LANGUAGES),
                    values=tuple(said.values) if kind is ClaimKind.RUNS and kind in said.asserted else (),
                )
            )
        for name, values in sorted(said.qualities.items()):
            found.append(replace(plain, kind=ClaimKind.NAMED, named=name, values=tuple(values)))
    return tuple(found)


def names_values(answer: str) -> bool:
    """Whether an answer claims that something prints or returns values, so that it matters what files say."""
    return any(claim.values and claim.kind is ClaimKind.RUNS for claim in read_claims(answer))


def _spelled_out(reading: Reading) -> str:
    """The text of a sentence; where that only names checks and is ticked, with the verb it leaves out."""
    label = reading.ticked.strip(" :–—-.")
    return next((f"{label.replace(':', '')} {x.passes}" for x in _LANGUAGES if x.checks.fullmatch(label)), reading.text)


def _said(reading: Reading) -> _Said:
    """What a sentence asserts, and what it only speaks of."""
    said = _Said()
    text = reading.text
    question = text.rstrip(" )*_").endswith("?")
    for language, words in _QUALITIES:
        behind = iter(reading.literals)
        about_tests = language.mentions_tests.search(text) is not None
        for clause in _clauses(text, language):
            firm, soft = _parted(clause, language)
            literals = tuple(next(behind, "") for _ in TOKEN.finditer(clause))
            mine = _matches(firm, language, about_tests=about_tests)
            rest = without_documentation(firm, words)
            if rest != firm and ClaimKind.BUILDS not in _matches(rest, language, about_tests=about_tests):
                mine -= {ClaimKind.BUILDS}  # what builds is the documentation
            (said.hedged if question else said.asserted).update(mine)
            said.hedged |= _matches(soft, language, about_tests=about_tests) - mine
            if firm and not question:
                said.add(spoken_qualities(firm, literals, words))
                if ClaimKind.RUNS in mine:
                    said.values.update(dict.fromkeys(spoken_values(firm, literals, language)))
    said.hedged -= said.asserted
    return said


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
    listed = _listed(clause, language)
    return found - {ClaimKind.SUCCESS} | listed if listed else found


def _listed(clause: str, language: Vocabulary) -> set[ClaimKind]:
    """The kinds of checks that a clause says pass together: "build, tests and lint all pass"."""
    found: set[ClaimKind] = set()
    for match in language.lists.finditer(clause):
        members = match["before"] or match["after"] or ""
        for member in re.split(r"\s*,\s*|\s(?:and|et)\s|[/+&]", members):
            kinds = (kind for pattern, kind in language.kinds_of_member if pattern.search(member))
            found |= {ClaimKind(kind) for kind in itertools.islice(kinds, 1)}
    return found


def _number(text: str) -> int | None:
    """The count of tests a sentence names, None for none."""
    for language in _LANGUAGES:
        match = language.numbers.search(text)
        if match is not None:
            word = next(group for group in match.groups() if group is not None)
            return language.words_of_number.get(word) or int(word) or None
    return None
