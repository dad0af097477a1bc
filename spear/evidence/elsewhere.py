"""A check of another root as that root sees it: its makefiles, its checks, what this turn wrote there (spec 3.3)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, replace

from spear.evidence.checks.candidates import CheckCandidate, read_invocation
from spear.evidence.checks.deciding import decided_by
from spear.evidence.checks.registry import identify
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode
from spear.evidence.setting import Setting, doubt, is_given_another, other_root
from spear.shell.syntax import Script


@dataclass(frozen=True, slots=True)
class SeenCheck:
    """A check from the root it works in. `root` is the shown name of that root, "" for the primary one; the paths of
    `candidate` and `facts` are relative to it."""

    root: str
    candidate: CheckCandidate
    facts: ProjectFacts

    def own_files(self) -> tuple[str, ...]:
        """The recorded names of the files that decide it, where this turn wrote all of them; none otherwise."""
        finding = self.candidate.finding
        return tuple(map(self.facts.recorded, finding.decided_by)) if finding.is_own(self.facts) else ()


def from_its_root(script: Script, candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> SeenCheck:
    """The check as the root it works in sees it. Costs nothing where there is no other root."""
    root = other_root(script, candidate, facts, setting)
    there = facts.elsewhere(root) if root else None
    if there is None:
        return SeenCheck(root, candidate, facts)
    cwd = candidate.simple.cwd
    base = setting.ended if cwd is None else posixpath.normpath(posixpath.join(facts.root, setting.start, cwd))
    simple = replace(candidate.simple, cwd=base)
    compiled = candidate.finding.tool == (simple.argv[0].value if simple.argv else None)
    made = frozenset({candidate.finding.tool}) if compiled else frozenset()
    invocation = read_invocation(simple, there, "", made)
    if invocation is None:
        return SeenCheck(root, candidate, there)
    if invocation.cwd is None:
        invocation = replace(invocation, cwd=base)
    found = identify(invocation, there) or candidate.finding
    found = replace(found, void=candidate.finding.void or found.void)
    found = replace(found, decided_by=decided_by(found, invocation, there))
    return SeenCheck(root, replace(candidate, simple=simple, finding=found), there)


def as_seen_there(
    script: Script, candidates: Iterable[CheckCandidate], facts: ProjectFacts, setting: Setting
) -> tuple[CheckCandidate, ...]:
    """The checks with what those of other roots are for as these roots see it: what a target's recipe does, what is
    declared there. Their paths stay relative to the primary root."""
    return tuple(_known_better(candidate, from_its_root(script, candidate, facts, setting)) for candidate in candidates)


def _known_better(candidate: CheckCandidate, seen: SeenCheck) -> CheckCandidate:
    if seen.candidate is candidate:
        return candidate
    found = seen.candidate.finding
    return replace(candidate, finding=replace(candidate.finding, kinds=found.kinds, void=found.void))


def doubt_of(script: Script, candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> CheckCode | None:
    """Why a pass of this check says nothing of the tree it works in, None where it does."""
    seen = from_its_root(script, candidate, facts, setting)
    why = doubt(script, candidate, facts, setting)
    if why is not None or seen.candidate is candidate:
        return why
    finding = seen.candidate.finding
    places = {finding.cwd or "", *finding.paths, *finding.decided_by}
    if any(seen.facts.leads_out(path) for path in places if path and not path.startswith("/")):
        return CheckCode.ELSEWHERE
    return CheckCode.NOT_ITSELF if is_given_another(script, seen.candidate, seen.facts, setting) else None
