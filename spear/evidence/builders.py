"""Which commands make products the way the project makes them (spec 3.2, 3.3)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

from spear.evidence.apart import stands_apart
from spear.evidence.checks.candidates import CheckCandidate
from spear.evidence.checks.invocation import Finding
from spear.evidence.checks.programs import SHELLS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import PROVING, CheckKind, Scope
from spear.evidence.roots import root_of
from spear.evidence.setting import Setting
from spear.evidence.taking_in import brings_in
from spear.evidence.writing import INLINE, INTERPRETERS, place_of
from spear.shell.syntax import Simple
from spear.shell.words import is_pattern


def makes_as_the_project(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a check makes products the way the project does. Compiling loose files does not, nor does a script of
    this turn's, where the project has a way of its own."""
    finding = candidate.finding
    if not candidate.kinds & (PROVING | {CheckKind.CLEAN}) or finding.tool == "python -c":
        return False
    loose = finding.scope is Scope.LOOSE and bool(finding.makes)
    if loose:
        sources = sources_of(candidate, facts, setting)
        places = [*sources, *(place_of(name, candidate.simple, facts, setting) for name in finding.makes)]
        roots = {root_of(place) for place in places}
        if not sources or len(roots) > 1:
            return False
        made = places[len(sources) :]
        own = any(facts.made_matching(path) if is_pattern(path) else facts.made_here(path) for path in sources)
        known = _is_named_after(finding, sources)
        if known and not takes_more_in(candidate, facts, setting) and (not own or _stand_apart(made, facts)):
            return True
        if roots != {""}:
            return False  # what other roots have for their checks is not asked
    return not ((loose or finding.is_own(facts)) and facts.shown_before())


def _stand_apart(made: Collection[str], facts: ProjectFacts) -> bool:
    return all(not is_pattern(place) and stands_apart(place, facts) for place in made)


def takes_more_in(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a compiler is told to take in more than its sources."""
    return brings_in(candidate.simple, lambda word: place_of(word, candidate.simple, facts, setting))


def sources_of(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> tuple[str, ...]:
    """What a compiler is given to read, by its recorded names; () unless all of it lies in the session's roots."""
    finding = candidate.finding
    if finding.reads_workspace:
        return finding.paths
    places = tuple(place_of(word, candidate.simple, facts, setting) for word in finding.selectors)
    return places if all(places) else ()


def is_program_elsewhere(simple: Simple, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a command runs a program or script of another root that this turn did not write: what it makes there is
    built, as what one of the workspace makes."""
    words = [word.value for word in simple.argv]
    if not words or words[0] is None or simple.nested is not None:
        return False
    file: str | None = words[0] if "/" in words[0] else None
    name = simple.name or ""
    if file is None and (is_interpreter(name) or name in INTERPRETERS | SHELLS):
        inline = simple.heredoc is not None or any(word is None or INLINE.fullmatch(word) for word in words[1:])
        file = None if inline else next((word for word in words[1:] if word and not word.startswith("-")), None)
    place = place_of(file, simple, facts, setting) if file is not None else ""
    return bool(root_of(place)) and not facts.made_here(place)


def _is_named_after(finding: Finding, paths: Collection[str]) -> bool:
    """Whether what a compiler makes has the name of what it was compiled from: `build/ring.o` of `src/ring.c`."""
    sources = {PurePosixPath(path).stem for path in paths}
    return all(PurePosixPath(name).stem in sources for name in finding.makes)
