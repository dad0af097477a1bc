"""Whether what a check of a script ran is what a build makes of the present source, and whose the check is (spec 3.3).

A product that no build made takes the force from a pass, and so does a program built before the source changed. A check
that only files of this turn decide stands for none of the project's own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from spear.evidence.checks.candidates import CheckCandidate, recognise
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import PROVING, CheckKind, CheckStatus, Scope
from spear.evidence.planting import Planting, plantings
from spear.evidence.products import Products, ProductWrite
from spear.evidence.records import CheckRecord, CheckResult
from spear.evidence.setting import Setting
from spear.shell.syntax import Script

_RUNS_BUILT = frozenset({"ctest"})
"""Runners that run what was built, and build nothing."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the products around one script come from: `stock` is what was known before it, in the state it left;
    `wrote` what it wrote, `plantings` what of that no build did, `compiled` what compilers made of loose files."""

    facts: ProjectFacts
    stock: Products
    wrote: tuple[ProductWrite, ...]
    plantings: tuple[Planting, ...]
    compiled: frozenset[str]

    @classmethod
    def of(
        cls,
        script: Script,
        candidates: Collection[CheckCandidate],
        facts: ProjectFacts,
        setting: Setting,
        wrote: tuple[ProductWrite, ...],
        stock: Products,
    ) -> Provenance:
        """Read from the script. Costs nothing where it wrote no product."""
        if not wrote:
            return cls(facts, stock, (), (), frozenset())
        found = plantings(script, candidates, facts, setting, wrote)
        copies = _copies_elsewhere(wrote, {planting.path for planting in found}, stock)
        return cls(facts, stock, wrote, tuple(p for p in found if p.path not in copies), _compiled(candidates, facts))

    def planted_for(self, candidate: CheckCandidate) -> tuple[str, ...]:
        """The products this check may have run that no build made, planted earlier or by this very script."""
        finding = candidate.finding
        if finding.scope is Scope.LOOSE:
            return ()  # a compiler runs none of them
        foreign = {planting.path for planting in self.plantings}
        here = {planting.path for planting in self.plantings if not planting.is_after(candidate.path)}
        remade = {write.path for write in self.wrote if not write.touched} - foreign
        runs_one = finding.scope is Scope.PROGRAM and bool(finding.paths)
        if runs_one:
            known = {sha for _, sha in self.stock.made}
            known |= {write.sha256 for write in self.wrote if write.path not in foreign and write.sha256}
            here -= self.compiled | {write.path for write in self.wrote if write.sha256 in known}
        return tuple(sorted(here | (set(self.stock.doubtful(copies_count=runs_one)) - remade)))

    def is_of_present_source(self, candidate: CheckCandidate, earlier: Iterable[CheckResult]) -> bool:
        """Whether what the check runs was built of the source as it is, before the script or earlier in it. True of
        everything that runs no built program."""
        finding = candidate.finding
        paths = [path for path in finding.paths if self.facts.is_built(path)] if finding.scope is Scope.PROGRAM else []
        if not paths and finding.tool not in _RUNS_BUILT:
            return True
        if self.stock.built or any(_is_passed_build(result) for result in earlier):
            return True
        foreign = {planting.path for planting in self.plantings}
        fresh = {write.path for write in self.wrote if not write.touched and write.path not in foreign}
        return bool(paths) and all(path in fresh or self.stock.was_made(path) for path in paths)


def _copies_elsewhere(wrote: Collection[ProductWrite], foreign: set[str], stock: Products) -> frozenset[str]:
    """Copies of what builds made of this state, in places no build of it has written to: `cp build/app dist/`. Where
    builds write, a copy would take the place of another product."""
    made = {*stock.made, *((write.path, write.sha256) for write in wrote if write.path not in foreign)}
    contents = {sha for _, sha in made if sha}
    places = {posixpath.dirname(path) for path, _ in made}
    copies = (write for write in wrote if write.path in foreign and write.sha256 in contents and not write.touched)
    return frozenset(write.path for write in copies if posixpath.dirname(write.path) not in places)


def products_after(
    script: Script,
    start: Setting,
    facts: ProjectFacts,
    wrote: tuple[ProductWrite, ...],
    check: CheckRecord | None,
    stock: Products,
) -> Products:
    """What is known of the products after a command. `stock` is what was known before, in the state of the source the
    command left; `check` what `assess_command` said of it."""
    if wrote:
        candidates = recognise(script, facts, start=start.start)
        found = Provenance.of(script, candidates, facts, start, wrote, stock)
        stock = stock.written(wrote, {planting.path for planting in found.plantings}, found.compiled)
    built = check is not None and any(_is_passed_build(result) for result in check.results)
    return replace(stock, built=True) if built and not stock.built else stock


def own_files(candidate: CheckCandidate, facts: ProjectFacts) -> tuple[str, ...]:
    """The files of this turn's that alone decide the check, where the project had a check of its own to ask: tests of
    its own stand for everything, a build of its own for a build."""
    finding = candidate.finding
    if not candidate.kinds & PROVING or not finding.is_own(facts):
        return ()
    before = facts.shown_before()
    builds = CheckKind.BUILD in before and not candidate.kinds & {CheckKind.TEST, CheckKind.RUN}
    return finding.decided_by if CheckKind.TEST in before or builds else ()


def _is_passed_build(result: CheckResult) -> bool:
    return result.status is CheckStatus.PASSED and CheckKind.BUILD in result.kinds


def _compiled(candidates: Collection[CheckCandidate], facts: ProjectFacts) -> frozenset[str]:
    """What compilers were told to make of loose files of the workspace: no build of the project, and yet known."""
    found = [c.finding for c in candidates if c.finding.scope is Scope.LOOSE and c.finding.reads_workspace]
    return frozenset(p for f in found for name in f.makes if (p := facts.place(name, f.cwd)) is not None)
