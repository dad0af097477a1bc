"""Whether what a check of a script ran is what a build makes of the present source, and whose the check is (spec 3.3).

A product that no build made takes the force from a pass, and so does a program built before the source changed. A check
that only files of this turn decide stands for none of the project's own.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from spear.evidence.built_before import Ageing
from spear.evidence.checks.candidates import CheckCandidate, recognise
from spear.evidence.elsewhere import SeenCheck, as_seen_there
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import PROVING, CheckKind, CheckStatus, Scope
from spear.evidence.passed_builds import build_of, is_passed_build
from spear.evidence.planting import Planting, follows_a_build, may_use_scratch, plantings, scratch_writes
from spear.evidence.products import Products, ProductWrite, holds, is_program_beneath
from spear.evidence.records import CheckRecord, CheckResult
from spear.evidence.scratch import scratch_removals, scratch_words
from spear.evidence.setting import Setting, is_scratch, is_scratch_itself
from spear.evidence.tree import Path
from spear.shell.syntax import Script

_RUNS_BUILT = frozenset({"ctest"})
"""Runners that run what was built, and build nothing."""
_ADDED_TEST = re.compile(r'add_test\((?:\[=*\[.*?\]=*\]|\S+) "(?P<program>[^"]+)"')


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the products around one script come from: `stock` is what was known before it, in the state it left;
    `wrote` what it wrote, `plantings` what of that no build did, `compiled` what compilers made of loose files;
    `outside` is what no build wrote to the scratch directories, `removed` what was removed there."""

    facts: ProjectFacts
    stock: Products
    wrote: tuple[ProductWrite, ...]
    plantings: tuple[Planting, ...]
    compiled: frozenset[str]
    outside: tuple[Planting, ...]
    removed: tuple[tuple[str, Path], ...]
    setting: Setting

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
        """Read from the script. Costs next to nothing where it wrote no product and names no scratch directory."""
        wrote = _renewed(script, candidates, facts, setting, wrote)
        outside = scratch_writes(script, candidates, facts, setting)
        removed = scratch_removals(script, facts, setting) if stock.scratch else ()
        found = plantings(script, candidates, facts, setting, wrote) if wrote else ()
        copies = _copies_elsewhere(wrote, {planting.path for planting in found}, stock)
        kept = tuple(planting for planting in found if planting.path not in copies)
        compiled = _compiled(candidates, facts) if wrote else frozenset()
        return cls(facts, stock, wrote, kept, compiled, outside, removed, setting)

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
        earlier = set(self.stock.doubtful(copies_count=runs_one)) - remade
        return tuple(sorted(here | earlier | self._planted_outside(candidate)))

    def _planted_outside(self, candidate: CheckCandidate) -> set[str]:
        """What was put where the check works or what it runs, in the scratch directories: `/tmp/build`, `/tmp/t`."""
        written = {planting.path for planting in self.outside if not planting.is_after(candidate.path)}
        written |= self.still_outside(candidate.path)
        if not written:
            return set()
        places = {posixpath.normpath(path) for path in scratch_words(candidate.simple, self.setting)}
        places = {path for path in places if is_scratch(path, self.facts) and not is_scratch_itself(path)}
        return {path for path in written if any(_meet(path, place) for place in places)}

    def still_outside(self, by: Path | None = None) -> set[str]:
        """What earlier commands put there and this script has not removed, by a place in it (None: its end)."""
        gone = [place for place, where in self.removed if by is None or where < by]
        return {path for path in self.stock.scratch if not any(_meet(path.rstrip("/"), place) for place in gone)}

    def is_of_present_source(self, candidate: CheckCandidate, seen: SeenCheck, earlier: Iterable[CheckResult]) -> bool:
        """Whether what the check runs in its root was built there of the source as it is, before the script or earlier
        in it. True of everything that is not known to run built programs."""
        finding, root = candidate.finding, seen.root
        paths = [path for path in finding.paths if self.facts.is_built(path)] if finding.scope is Scope.PROGRAM else []
        passed = [result for result in earlier if is_passed_build(result) and result.root == root]
        foreign = {planting.path for planting in self.plantings}
        made = {write.path for write in self.wrote if write.path not in foreign} | {path for path, _ in self.stock.made}
        made_now = self.stock.written(self.wrote, {planting.path for planting in self.plantings}, self.compiled)
        stock = replace(made_now, builds=self.stock.builds | {build_of(result, self.facts) for result in passed})
        if not stock.changed:
            return True  # nothing that may go into a product has changed at all
        if finding.tool in _RUNS_BUILT:
            known_built = root in self.stock.built or bool(passed)
            if root:
                return root in stock.wholly or known_built
            place = self.facts.shown(posixpath.join(self.facts.root, finding.cwd)) if finding.cwd is not None else None
            if place is None:
                return "/" in stock.wholly  # outside, nobody watches what was made
            if any(holds(directory, place) for directory in stock.wholly):
                return True
            told = self._programs_of_tests(place)
            known = told <= made if told else any(is_program_beneath(path, place) for path in made)
            return known and known_built
        ageing = Ageing(self.facts, stock)
        return all(path in made or ageing.is_built(path) for path in paths) and not ageing.ran_old(seen)

    def _programs_of_tests(self, place: str) -> set[str]:
        """The programs that the tests of a build directory start, as far as CTest's own file says."""
        text = self.facts.read(posixpath.join(self.facts.root, place, "CTestTestfile.cmake")) or ""
        shown = (self.facts.shown(found["program"]) for found in _ADDED_TEST.finditer(text))
        return {path for path in shown if path and holds(place, path)}


def _renewed(
    script: Script,
    candidates: Collection[CheckCandidate],
    facts: ProjectFacts,
    setting: Setting,
    wrote: tuple[ProductWrite, ...],
) -> tuple[ProductWrite, ...]:
    """The writes, those of a script that first cleans as what they are: a build made the same bytes anew."""
    if not any(write.touched for write in wrote):
        return wrote
    cleans = any(CheckKind.CLEAN in c.kinds and not c.finding.is_own(facts) for c in candidates)
    gone = {facts.shown(place) for place, _ in scratch_removals(script, facts, setting)}
    return tuple(
        replace(write, touched=False)
        if write.touched and (cleans or any(at and _meet(write.path, at) for at in gone))
        else write
        for write in wrote
    )


def _copies_elsewhere(wrote: Collection[ProductWrite], foreign: set[str], stock: Products) -> frozenset[str]:
    """Copies of what builds made of this state, in places no build of it has written to: `cp build/app dist/`. Where
    builds write, a copy would take the place of another product."""
    made = {*stock.made, *((write.path, write.sha256) for write in wrote if write.path not in foreign)}
    contents = {sha for _, sha in made if sha}
    places = {posixpath.dirname(path) for path, _ in made}
    copies = (write for write in wrote if write.path in foreign and write.sha256 in contents and not write.touched)
    return frozenset(write.path for write in copies if posixpath.dirname(write.path) not in places)


def _meet(written: str, place: str) -> bool:
    """Whether what was written is a place, lies in it, or may hold it (a path that ends with a slash)."""
    return (
        written.rstrip("/") == place
        or written.startswith(f"{place}/")
        or (written.endswith("/") and place.startswith(written))
    )


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
    if wrote or may_use_scratch(script, facts, start):
        candidates = as_seen_there(script, recognise(script, facts, start=start.start), facts, start)
        found = Provenance.of(script, candidates, facts, start, wrote, stock)
        left = found.still_outside() | {planting.path for planting in found.outside}
        stock = replace(stock, scratch=frozenset(left)) if left != stock.scratch else stock
        stock = stock.written(found.wrote, {planting.path for planting in found.plantings}, found.compiled)
    results = check.results if check is not None else ()
    passed = [result for result in results if is_passed_build(result)]
    built = {result.root for result in passed}
    if wrote and results and all(result.status is CheckStatus.PASSED for result in results):
        candidates = recognise(script, facts, start=start.start)
        built |= {""} if follows_a_build(script, candidates, facts, start) else set()
    if not passed and built <= stock.built:
        return stock
    builds = {build_of(result, facts) for result in passed}
    return replace(stock, built=stock.built | built, builds=stock.builds | builds)


def own_files(seen: SeenCheck) -> tuple[str, ...]:
    """The files of this turn's that alone decide the check, where its root had a check of its own to ask: tests of
    its own stand for everything, a build of its own for a build."""
    kinds = seen.candidate.kinds
    if not kinds & PROVING or not (own := seen.own_files()):
        return ()
    before = seen.facts.shown_before()
    builds = CheckKind.BUILD in before and not kinds & {CheckKind.TEST, CheckKind.RUN}
    return own if CheckKind.TEST in before or builds else ()


def _compiled(candidates: Collection[CheckCandidate], facts: ProjectFacts) -> frozenset[str]:
    """What compilers were told to make of loose files of the workspace: no build of the project, and yet known."""
    found = [c.finding for c in candidates if c.finding.scope is Scope.LOOSE and c.finding.reads_workspace]
    return frozenset(p for f in found for name in f.makes if (p := facts.place(name, f.cwd)) is not None)
