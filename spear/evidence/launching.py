"""Which built programs a check launches: itself, and by the recipes, package scripts and shell scripts it follows
(spec 3.3).

Read as far as it can be. What is not seen here may be launched all the same.
"""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spear.evidence.checks.candidates import CheckCandidate, recognise
from spear.evidence.checks.deciding import COLLECTORS
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.checks.programs import SHELLS
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.facts import ProjectFacts
from spear.evidence.following import Followed, is_for_a_shell, package_scripts, parsed
from spear.evidence.kinds import CheckKind, Scope
from spear.evidence.named_programs import named_programs, runs_programs
from spear.evidence.names import names
from spear.evidence.recipes import make_text
from spear.evidence.weakened import is_test_file

_BUILDS = re.compile(
    r"""["'`](?:[^"'`\s]*/)?(?:cc|c99|gcc|g\+\+|c\+\+|clang(?:\+\+)?|tcc|make|cmake|ninja|meson|scons|bazel|cargo)(?=["'`\s])"""
    r"|\bCC\b|\bCXX\b|distutils|setuptools|\bcffi\b|build_ext"
)
"""How a script of a language that is not read here speaks of compilers and builders."""
_TESTS = {**COLLECTORS, "cargo": names(".rs"), "go": names(".go")}
"""The suffixes of the tests that runners collect, or compile."""
_DEEPEST = 4
_MOST_TESTS = 500
_MOST_TEXTS = 2_000


def launched(seen: SeenCheck) -> frozenset[str]:
    """The built programs a check launches, by their recorded names, and those it hands to what it launches."""
    facts = seen.facts
    reached = tuple(_reached(seen.candidate, facts, 0))
    found = {path for candidate in reached for path in _named(candidate, facts)}
    found |= named_programs(tuple(_texts_of(reached, facts)), facts)
    return frozenset(map(facts.recorded, found))


def runs_what_it_likes(seen: SeenCheck) -> bool:
    """Whether the scripts of a check, its tests or what these may import say that they run programs, or load
    libraries."""
    reached, facts = tuple(_reached(seen.candidate, seen.facts, 0)), seen.facts
    suffixes = frozenset[str]().union(*(_TESTS.get(each.finding.tool, frozenset()) for each in reached))
    texts = itertools.islice(facts.texts(suffixes), _MOST_TEXTS) if suffixes else ()
    return any(runs_programs(text) for _, text in (*_texts_of(reached, facts), *texts))


def checks_reached(seen: SeenCheck) -> tuple[SeenCheck, ...]:
    """A check, and those that recipes and scripts have it run."""
    return tuple(replace(seen, candidate=found) for found in _reached(seen.candidate, seen.facts, 0))


def makes_reached(candidate: CheckCandidate, facts: ProjectFacts) -> tuple[CheckCandidate, ...]:
    """The calls of make a check comes to: itself, and those of its recipes (`$(MAKE) -C lib`)."""
    return tuple(found for found in _reached(candidate, facts, 0) if found.finding.tool in MAKE_NAMES)


def make_call(place: str, targets: Sequence[str], facts: ProjectFacts) -> CheckCandidate | None:
    """Make called for these targets in a directory of the tree, as if it had been typed there."""
    base = posixpath.normpath(posixpath.join(facts.root, place))
    typed = parsed(" ".join(("make", *map(shlex.quote, targets))), base, facts)
    found = recognise(typed.script, facts, start=place) if typed is not None else ()
    return next(iter(found), None)


def builds_itself(seen: SeenCheck) -> bool:
    """Whether a check compiles what it runs, and not where the project's builds do, as far as it can be read."""
    facts, (first, *inner) = seen.facts, _reached(seen.candidate, seen.facts, 0)
    for candidate in inner:
        finding = candidate.finding
        if finding.scope is Scope.LOOSE and not all(facts.place(name, finding.cwd) for name in finding.makes):
            return True
        if CheckKind.BUILD in candidate.kinds and first.finding.tool not in MAKE_NAMES:
            return True
    return any(_BUILDS.search(text) is not None for _, text in _texts_of((first, *inner), facts))


def _reached(candidate: CheckCandidate, facts: ProjectFacts, depth: int) -> Iterator[CheckCandidate]:
    """A check, and those that recipes and scripts have it run."""
    yield candidate
    cwd = candidate.finding.cwd
    if depth >= _DEEPEST or cwd is None:
        return
    followed = _followed(candidate, posixpath.normpath(posixpath.join(facts.root, cwd)), facts)
    if followed is None:
        return
    start = facts.place(followed.directory, "")
    for inner in recognise(followed.script, facts, start=followed.directory if start is None else start):
        yield from _reached(inner, facts, depth + 1)


def followed_by(seen: SeenCheck) -> Iterator[tuple[Followed, bool]]:
    """The scripts that a check follows, and the recipes of what it was asked for, each with whether its shell ends at
    the first failure. Recipes that make files are no tests: make itself ends at their last status."""
    facts = seen.facts
    for candidate in _reached(seen.candidate, facts, 0):
        cwd = candidate.finding.cwd
        base = None if cwd is None else posixpath.normpath(posixpath.join(facts.root, cwd))
        followed = _followed(candidate, base, facts, called=True) if base is not None else None
        if followed is not None:
            yield followed, _ends_at_once(candidate, facts)


def _ends_at_once(candidate: CheckCandidate, facts: ProjectFacts) -> bool:
    finding = candidate.finding
    text = facts.read(posixpath.join(facts.root, finding.decided_by[0])) if finding.decided_by else None
    if text is None:
        return False
    if finding.tool in MAKE_NAMES:
        return re.search(r"^\.(?:POSIX|SHELLFLAGS)\b", text, re.MULTILINE) is not None
    return re.match(r"#!\S*sh(?:\s+\S+)*\s+-\w*e|#!.*\s-e", text) is not None


def _named(candidate: CheckCandidate, facts: ProjectFacts) -> Iterator[str]:
    """The built programs a check runs by their paths, or hands to what it runs."""
    finding = candidate.finding
    if finding.scope is Scope.PROGRAM and candidate.kinds & {CheckKind.TEST, CheckKind.RUN}:
        words = (word.value for word in candidate.simple.argv)
        given = (place for word in words if word and (place := facts.place(word, finding.cwd)))
        yield from (path for path in (*finding.paths, *given) if facts.is_built(path))


def _texts_of(reached: Sequence[CheckCandidate], facts: ProjectFacts) -> Iterator[tuple[str, str]]:
    """The scripts of the tree that run, and the tests that runners collect, with what they say."""
    for candidate in reached:
        finding = candidate.finding
        if finding.scope is Scope.PROGRAM:
            files = ((path, facts.read(posixpath.join(facts.root, path))) for path in finding.paths)
            yield from ((path, text) for path, text in files if text is not None and not facts.is_built(path))
        elif finding.tool in _TESTS and CheckKind.TEST in finding.kinds:
            found = ((path, text) for path, text in facts.texts(_TESTS[finding.tool]) if is_test_file(path))
            yield from itertools.islice(found, _MOST_TESTS)


def _followed(candidate: CheckCandidate, base: str, facts: ProjectFacts, *, called: bool = False) -> Followed | None:
    """What the check has a shell do, from an absolute directory; of make, where it is `called`, what makes no file."""
    finding, words = candidate.finding, [word.value for word in candidate.simple.argv]
    files = [posixpath.join(facts.root, path) for path in finding.decided_by]
    text = facts.read(files[0]) if files else None
    if text is None:
        return None
    if finding.tool in MAKE_NAMES:
        _, make = make_text(text, base, words, facts)
        lines = parsed(make.recipes_of(finding.selectors, called=called), base, facts)
        return None if lines is None else replace(lines, recipes=True)
    if finding.tool.startswith("package script "):
        name = finding.tool.removeprefix("package script ")
        commands = package_scripts(text, name, [word.raw for word in candidate.simple.argv])
        return None if commands is None else parsed(commands, base, facts)
    shells = candidate.simple.name in SHELLS or text.startswith("#!") or files[0].endswith(".sh")
    if finding.scope is not Scope.PROGRAM or not shells or not is_for_a_shell(text):
        return None
    return parsed(text, base, facts, (files[0], *finding.selectors))
