"""One command, judged: the facade the host uses (spec 3.2, 3.3).

How the host uses this package, in the order of a turn:

1.  Start: `ledger = EpochLedger()`; `facts = ProjectFacts(declared=declared_kinds(…), …)` with `read_makefile` on the
    makefiles it has read and `package_scripts` on each package.json.
2.  After every call: `changes = (Change(…), …)` from what it observed on disk (each with `delivered`, and modes where
    they moved); `new = ledger.after(changes)`; the record's `epoch_before`/`epoch_after` are `ledger.epoch` and
    `new.epoch`.
3.  For a terminal command that ran, `check = assess_command(script, CommandFacts(…), facts, ledger, new)`; the record
    carries it. Every other call has no check. A refused command has none either.
4.  End: `plan_validation(…)`, run each step confined, `classify(…)` each into a `ValidationOutcome` (with
    `assess_command` for its check), offer the one repair when `may_repair(…)` says so.
5.  `report = judge(TurnEvidence.from_records(records, answer, validation=…, weakened=find_weakened(…), …))`, then
    `mark(answer, report)`. Changes made by the validation itself go into a ledger, so pass
    `replace(evidence, ledger=…)` when there were any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spear.evidence.checks.candidates import CheckCandidate, recognise
from spear.evidence.checks.deciding import COLLECTORS
from spear.evidence.checks.invocation import Finding
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.coverage import texts_taken_in
from spear.evidence.elsewhere import SeenCheck, as_seen_there, doubt_of, from_its_root
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts
from spear.evidence.heard import built_in_sight, heard
from spear.evidence.import_path import imports_a_copy
from spear.evidence.kinds import PROVING, CheckCode, CheckKind, CheckStatus
from spear.evidence.losing import loses_statuses
from spear.evidence.naming import names_of
from spear.evidence.ordering import changes_come_first, may_be_put_back, own_output
from spear.evidence.passed_over import passed_over
from spear.evidence.products import NO_PRODUCTS, Products, ProductWrite
from spear.evidence.provenance import Provenance, own_files
from spear.evidence.qualities import WARNINGS, contradicted, has_warned
from spear.evidence.records import CheckRecord, CheckResult, SummaryRecord
from spear.evidence.roots import root_of, within_root
from spear.evidence.runners.output import (
    could_not_start,
    numbers_seen,
    prints_help,
    read_summaries,
    reports_failure,
    says_it_failed,
    together,
)
from spear.evidence.runners.summary import Summary
from spear.evidence.setting import Setting, found_variables, leaves_some_out, sourced
from spear.evidence.status import Known, Lost, OneFailed, Standing, is_harmless, standings
from spear.evidence.tree import leaves
from spear.shell.syntax import Script

STOPPED_BY = frozenset({1, 2, 3, 9, 13, 14, 15, 24, 25})
"""Signals that end a program from outside (HUP, INT, QUIT, KILL, PIPE, ALRM, TERM, XCPU, XFSZ): not its failure."""


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """How a command ended. `output` is its cleaned, bounded output, head and tail; `start` is the workspace-relative
    directory it started in ("" the root), absolute where that lies outside; `environment` is what the session had
    exported, `ended` the directory it ended in. `rewrote` says that it wrote delivered files and left them as they
    were, `dropped` that some of what it wrote did not stay: its checks may have run on another tree than it left.
    `wrote` are the build products it wrote; `backdated` the delivered files it gave a time before its own start,
    so that what is built by time may have passed them over.
    """

    exit_code: int | None
    output: str
    pipe_status: tuple[int, ...] = ()
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    start: str = ""
    environment: Mapping[str, str] | None = None
    ended: str | None = None
    rewrote: bool = False
    dropped: bool = False
    wrote: tuple[ProductWrite, ...] = ()
    backdated: tuple[str, ...] = ()

    @property
    def setting(self) -> Setting:
        """What it started from."""
        return Setting(self.start, self.environment, self.ended)


@dataclass(frozen=True, slots=True)
class _Judged:
    status: CheckStatus
    code: CheckCode
    exit_code: int | None = None
    summary: Summary | None = None


def assess_command(
    script: Script,
    command: CommandFacts,
    facts: ProjectFacts,
    before: EpochLedger,
    after: EpochLedger,
    products: Products = NO_PRODUCTS,
) -> CheckRecord | None:
    """The checks of a command and how each ended; None when it holds none. Pure: same input, same record.

    `before` and `after` are the ledgers around the command, `products` what was known of the build products before it,
    in the state of the source it left.
    Where the command itself changed delivered source, a check in it counts for the state it left only if the structure
    shows that the change came first.
    """
    recognised = as_seen_there(script, recognise(script, facts, start=command.start), facts, command.setting)
    candidates = [c for c in recognised if c.kinds or c.finding.void]
    if not candidates:
        return None
    command = replace(command, exit_code=_ending(command))
    known = standings(script, command.exit_code, command.pipe_status, command.output)
    summaries = _trusted_summaries(script, candidates, command, facts)
    numbers = numbers_seen(command.output)
    said = heard(script, command.output, facts, command.start)
    setting = command.setting
    provenance = Provenance.of(script, candidates, facts, setting, command.wrote, products)
    results: list[CheckResult] = []
    for order, candidate in enumerate(candidates):
        seen = from_its_root(script, candidate, facts, setting)
        own = _summaries_of(candidate, candidates, summaries) if _is_seen(script, candidate) else None
        judged = _judge(candidate, known, candidates, command, own, _members(script, known, candidates))
        decided = judged.status is not CheckStatus.INCONCLUSIVE and bool(candidate.kinds & PROVING)
        if decided and _on_another_tree(script, candidate, facts, command, before, after):
            judged = _Judged(CheckStatus.INCONCLUSIVE, CheckCode.CHANGED_SOURCE, judged.exit_code, judged.summary)
        elif judged.status is CheckStatus.PASSED and (why := doubt_of(script, candidate, facts, setting)) is not None:
            judged = _Judged(CheckStatus.INCONCLUSIVE, why, judged.exit_code, judged.summary)
        if judged.status is CheckStatus.PASSED and judged.summary is None and loses_statuses(seen):
            judged = _Judged(CheckStatus.INCONCLUSIVE, CheckCode.STATUS_LOST, judged.exit_code)
        planted: tuple[str, ...] = ()
        if judged.status is CheckStatus.PASSED and candidate.kinds & PROVING:
            planted = provenance.planted_for(candidate)
            why = CheckCode.PRODUCT_PLANTED if planted else None
            if after.differences and why is None:
                told, activated = found_variables(script, candidate, setting), sourced(script)
                is_present = provenance.is_of_present_source(candidate, seen, results)
                why = None if is_present and not imports_a_copy(seen, told, activated) else CheckCode.BUILT_BEFORE
            if why is not None:
                judged = _Judged(CheckStatus.INCONCLUSIVE, why, judged.exit_code, judged.summary)
        result = _result(candidate, judged, order, after, numbers)
        passed = judged.status is CheckStatus.PASSED
        names = _names(script, seen, said) if passed else ()
        more = {
            "paths": (*result.paths, *(texts_taken_in(seen.facts) if passed else ())),
            "own": own_files(seen),
            "planted": planted,
            "root": seen.root,
            "partly": _is_partly(seen) or leaves_some_out(script, candidate, setting),
            "names": names,
            "passed_over": _passed_over(script, seen, after) if passed and candidate.kinds & PROVING else (),
        }
        results.append(result.model_copy(update=more))
    return CheckRecord.of(results)


def _passed_over(script: Script, seen: SeenCheck, after: EpochLedger) -> tuple[str, ...]:
    """The changed sources of a check's root that it cannot have read, by their recorded names."""
    changed = [within_root(path) for path, _ in after.net_changes() if root_of(path) == seen.root]
    return tuple(seen.facts.recorded(path) for path in passed_over(changed, script, seen.facts))


def _names(script: Script, seen: SeenCheck, said: str) -> tuple[str, ...]:
    """The qualities a check names. Every build whose output was seen names what its compiler warned of."""
    names = names_of(script, seen, said)
    builds = CheckKind.BUILD in seen.candidate.kinds
    return tuple(sorted({*names, WARNINGS})) if builds and built_in_sight(script, seen.candidate.path, said) else names


def complaints(check: CheckRecord | None, output: str) -> tuple[str, ...]:
    """The qualities a command's checks said something against, sorted: warnings of a build's compiler, leaks, races."""
    if check is None:
        return ()
    warned = {WARNINGS} if CheckKind.BUILD in check.kinds and has_warned(output) else set[str]()
    return tuple(sorted(contradicted(output) | warned))


def _is_partly(seen: SeenCheck) -> bool:
    """Whether a runner that collects tests was given some, by files, directories or its own place, and not others."""
    finding, facts = seen.candidate.finding, seen.facts
    if finding.tool not in COLLECTORS or CheckKind.TEST not in finding.kinds or finding.cwd is None:
        return False
    places = (facts.place(word.partition("::")[0], finding.cwd) for word in finding.selectors if word[:1] != "-")
    given = tuple(place for place in places if place and facts.exists(place)) or (finding.cwd,)
    return given != ("",) and facts.tests_beside(COLLECTORS[finding.tool], given)


def _on_another_tree(
    script: Script,
    candidate: CheckCandidate,
    facts: ProjectFacts,
    command: CommandFacts,
    before: EpochLedger,
    after: EpochLedger,
) -> bool:
    """Whether the check may have run on other source than the command left. A new file that only holds what the check
    printed is none."""
    changed = before.epoch != after.epoch
    if changed and (paths := after.moved_since(before)):
        new = {path for path in own_output(script, candidate, facts, command.start) if after.began_absent(path)}
        changed = not paths <= new
    if changed and not changes_come_first(script, candidate, facts, command.start):
        return True
    if any(not after.began_absent(path) for path in command.backdated):
        return True
    return may_be_put_back(script, candidate, facts, command.start, rewrote=command.rewrote, dropped=command.dropped)


def _ending(command: CommandFacts) -> int | None:
    """The exit status as a shell would say it: 128 + n for a command a signal ended, None when that was the host."""
    if command.exit_code is None and command.signal is not None and not (command.timed_out or command.cancelled):
        return 128 + command.signal
    return command.exit_code


def _result(
    candidate: CheckCandidate, judged: _Judged, order: int, ledger: EpochLedger, numbers: tuple[int, ...]
) -> CheckResult:
    finding, summary = candidate.finding, judged.summary
    kinds = candidate.kinds or frozenset({CheckKind.INSPECT})
    return CheckResult(
        command=candidate.command,
        tool=finding.tool,
        kinds=tuple(kind for kind in CheckKind if kind in kinds),
        scope=finding.scope,
        status=judged.status,
        code=judged.code,
        epoch=ledger.epoch,
        fingerprint=ledger.fingerprint,
        order=order,
        selectors=finding.selectors,
        paths=finding.paths,
        cwd="/" if finding.cwd is None else finding.cwd,
        exit_code=judged.exit_code,
        summary=None
        if summary is None
        else SummaryRecord(
            runner=summary.runner,
            passed=summary.passed,
            failed=summary.failed,
            errors=summary.errors,
            skipped=summary.skipped,
            total=summary.total,
        ),
        numbers=numbers if CheckKind.TEST in kinds else (),
    )


def _judge(
    candidate: CheckCandidate,
    known: Mapping[tuple[int, ...], Standing],
    candidates: Sequence[CheckCandidate],
    command: CommandFacts,
    summary: Summary | None,
    members: Mapping[tuple[int, ...], tuple[bool, int]],
) -> _Judged:
    """The status of one candidate: what voids it, then how its command ended, then its status, then its output."""
    void = candidate.finding.void
    if void is not None and void is not CheckCode.STATUS_LOST:
        return _Judged(CheckStatus.INCONCLUSIVE, void)
    if command.timed_out:
        return _Judged(CheckStatus.INCONCLUSIVE, CheckCode.TIMED_OUT)
    if command.cancelled or command.exit_code is None:
        return _Judged(CheckStatus.INCONCLUSIVE, CheckCode.STOPPED)
    standing = Lost() if void is CheckCode.STATUS_LOST else known.get(candidate.path, Lost())
    if isinstance(standing, OneFailed):
        all_checks, count = members.get(standing.group, (False, 2))
        if count == 1:
            standing = Known(standing.code)
        elif (summary is None or summary.nothing) and not says_it_failed(candidate.finding.tool, command.output):
            code = CheckCode.ONE_OF_THESE_FAILED if all_checks else CheckCode.MAY_NOT_HAVE_RUN
            status = CheckStatus.FAILED if all_checks else CheckStatus.INCONCLUSIVE
            if could_not_start(command.output):
                status, code = CheckStatus.INCONCLUSIVE, CheckCode.COULD_NOT_START
            return _Judged(status, code, standing.code)
        else:
            return _by_output(candidate, summary, CheckCode.MAY_NOT_HAVE_RUN, command)
    if isinstance(standing, Lost):
        if standing.why not in (CheckCode.STATUS_LOST, CheckCode.MAY_NOT_HAVE_RUN):
            return _Judged(CheckStatus.INCONCLUSIVE, standing.why)
        return _by_output(candidate, summary, standing.why, command)
    return _by_status(candidate, standing, command, summary)


def _by_output(
    candidate: CheckCandidate, summary: Summary | None, otherwise: CheckCode, command: CommandFacts
) -> _Judged:
    if says_it_failed(candidate.finding.tool, command.output):
        return _Judged(CheckStatus.FAILED, CheckCode.OUTPUT_SUMMARY, None, summary)
    if summary is None or CheckKind.TEST not in candidate.kinds:
        return _Judged(CheckStatus.INCONCLUSIVE, otherwise)
    if summary.bad:
        return _Judged(CheckStatus.FAILED, CheckCode.OUTPUT_SUMMARY, None, summary)
    if summary.nothing:
        return _Judged(CheckStatus.INCONCLUSIVE, CheckCode.NOTHING_TESTED, None, summary)
    return _Judged(CheckStatus.PASSED, CheckCode.OUTPUT_SUMMARY, None, summary)


def _by_status(candidate: CheckCandidate, standing: Known, command: CommandFacts, summary: Summary | None) -> _Judged:
    exit_code, kinds = standing.code, candidate.kinds
    code = CheckCode.PRINTED_STATUS if standing.printed else CheckCode.EXIT_STATUS
    if standing.passed:
        if summary is not None and summary.bad and kinds & {CheckKind.TEST, CheckKind.RUN}:
            return _Judged(CheckStatus.FAILED, CheckCode.SUMMARY_CONTRADICTS, exit_code, summary)
        if CheckKind.TEST in kinds and (
            (summary is not None and summary.nothing) or _says_nothing_to_do(candidate.finding, command.output)
        ):
            return _Judged(CheckStatus.INCONCLUSIVE, CheckCode.NOTHING_TESTED, exit_code, summary)
        tested = CheckKind.TEST in kinds
        if (
            summary is None
            and kinds & {CheckKind.TEST, CheckKind.RUN}
            and reports_failure(command.output, tests=tested)
        ):
            status = CheckStatus.FAILED if tested else CheckStatus.INCONCLUSIVE
            return _Judged(status, CheckCode.SUMMARY_CONTRADICTS, exit_code)
        if candidate.finding.tool == "make" and prints_help(command.output):
            return _Judged(CheckStatus.INCONCLUSIVE, CheckCode.PRINTS_HELP, exit_code, summary)
        return _Judged(CheckStatus.PASSED, code, exit_code, summary)
    void = None if summary is not None and summary.bad else _void_exit(candidate, exit_code, command)
    if void is None and CheckKind.TEST in kinds and candidate.finding.tool not in MAKE_NAMES and _is_empty(summary):
        void = CheckCode.NOTHING_TESTED
    if void is not None:
        return _Judged(CheckStatus.INCONCLUSIVE, void, exit_code, summary)
    return _Judged(CheckStatus.FAILED, code, exit_code, summary)


def _is_empty(summary: Summary | None) -> bool:
    """Whether a runner says that it found no test at all, which some end with a status of failure."""
    return summary is not None and not summary.bad and not summary.total


def _void_exit(candidate: CheckCandidate, exit_code: int | None, command: CommandFacts) -> CheckCode | None:
    """Why a status that is not 0 still says nothing about the source; None when it does."""
    if exit_code in (126, 127):
        return CheckCode.COULD_NOT_START
    if exit_code == 124 and "timeout" in candidate.simple.wrappers:
        return CheckCode.TIMED_OUT
    if command.signal in STOPPED_BY or (exit_code is not None and exit_code - 128 in STOPPED_BY):
        return CheckCode.STOPPED
    if candidate.finding.tool in ("pytest", "py.test", "unittest") and exit_code == 5:
        return CheckCode.NOTHING_TESTED
    if candidate.finding.tool in ("pytest", "py.test") and exit_code == 4:
        return CheckCode.COULD_NOT_START
    return CheckCode.COULD_NOT_START if could_not_start(command.output) else None


def _says_nothing_to_do(finding: Finding, output: str) -> bool:
    """`make: Nothing to be done for 'test'.`, `make: 'test' is up to date.` of a target that was asked for: it only
    names a file or a directory."""
    targets = "|".join(map(re.escape, finding.selectors))
    if finding.tool not in MAKE_NAMES or not targets:
        return False
    said = rf"^make: (?:Nothing to be done for ['`](?:{targets})'|['`](?:{targets})' is up to date)\.$"
    return re.search(said, output, re.MULTILINE) is not None


def _members(
    script: Script, known: Mapping[tuple[int, ...], Standing], candidates: Sequence[CheckCandidate]
) -> dict[tuple[int, ...], tuple[bool, int]]:
    """For each group one of which failed: whether all of it are checks, and how many there are."""
    checks = {c.path for c in candidates if c.kinds & (PROVING | {CheckKind.CLEAN}) and c.finding.void is None}
    groups: dict[tuple[int, ...], tuple[bool, int]] = {}
    for leaf in leaves(script):
        standing = known.get(leaf.path)
        if not isinstance(standing, OneFailed) or leaf.simple.nested is not None:
            continue
        if is_harmless(leaf.simple):
            continue
        every, count = groups.get(standing.group, (True, 0))
        groups[standing.group] = (every and leaf.path in checks, count + 1)
    return groups


def _summaries_of(
    candidate: CheckCandidate, candidates: Sequence[CheckCandidate], summaries: tuple[Summary, ...]
) -> Summary | None:
    """The summary that is this candidate's: all of them when it alone can have printed one, its own in order when
    there is one each, none that can be told apart otherwise."""
    able = [
        c
        for c in candidates
        if c.finding.void in (None, CheckCode.STATUS_LOST) and c.kinds & {CheckKind.TEST, CheckKind.RUN}
    ]
    if candidate not in able:
        return None
    tests = [c for c in able if CheckKind.TEST in c.kinds] or able
    if candidate not in tests:
        return None
    if len(tests) == 1:
        return together(summaries)
    if len(tests) == len(summaries):
        return summaries[tests.index(candidate)]
    return summaries[-1] if summaries and candidate is tests[-1] else None


def _is_seen(script: Script, candidate: CheckCandidate) -> bool:
    """Whether what a check prints can stand in the output: it goes there, or into a file that something names."""
    into = {r.target.raw for r in candidate.simple.redirects if r.writes and r.descriptor in ("", "1")}
    named = (word.raw for leaf in leaves(script) if leaf.path != candidate.path for word in leaf.simple.words)
    return not into or not into.isdisjoint(named)


_PRINTERS = frozenset({"cat", "head", "tail", "less", "more", "sed", "awk", "grep", "echo", "printf", "jq"})


def _trusted_summaries(
    script: Script, candidates: Sequence[CheckCandidate], command: CommandFacts, facts: ProjectFacts
) -> tuple[Summary, ...]:
    """The summaries of the output, unless the script itself prints something that is one: words of its own, or a file
    that this script did not write."""
    checks = {candidate.path for candidate in candidates if candidate.kinds & PROVING}
    written = {
        redirect.target.value
        for leaf in leaves(script)
        for redirect in leaf.simple.redirects
        if redirect.writes and redirect.target.value
    }
    written |= {
        word.value
        for leaf in leaves(script)
        if leaf.simple.name == "tee"
        for word in leaf.simple.argv[1:]
        if word.value
    }
    for leaf in leaves(script):
        if leaf.path in checks or leaf.simple.name not in _PRINTERS:
            continue
        words = [word.value or word.raw for word in leaf.simple.argv[1:]]
        if read_summaries("\n".join(words)) or read_summaries(" ".join(words).replace("\\n", "\n")):
            return ()
        if leaf.simple.heredoc and read_summaries(leaf.simple.heredoc):
            return ()
        files = [w for w in words if w not in written and (p := facts.place(w, command.start)) and facts.exists(p)]
        if files:
            return ()
    return read_summaries(command.output)
