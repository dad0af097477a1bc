"""The verdict: a pure function of what ran, what changed and what the answer claims (spec 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from spear.events.names import Verdict
from spear.events.turn import CheckReport
from spear.evidence.claims import Claim, ClaimKind, read_claims
from spear.evidence.coverage import Material, covers, material
from spear.evidence.kinds import PROVING, SUBSTANTIAL, WHY, CheckCode, CheckKind, CheckStatus, Scope
from spear.evidence.qualities import DOCUMENTATION, SPEED
from spear.evidence.reasons import Reason, ReasonCode, reason
from spear.evidence.records import CheckResult
from spear.evidence.roots import root_of
from spear.evidence.showing import exit_statuses, is_named, unseen_values
from spear.evidence.turn import (
    Complaint,
    Origin,
    Repair,
    SeenCheck,
    TurnEvidence,
    ValidationKind,
    ValidationOutcome,
    ValidationStatus,
)

_AFTER_EVERY_CALL = 1 << 62
_SHOWN_CHECKS = 4

KINDS_OF_VALIDATION: dict[ValidationKind, frozenset[CheckKind]] = {
    ValidationKind.BUILD: frozenset({CheckKind.BUILD}),
    ValidationKind.TEST: frozenset({CheckKind.TEST}),
    ValidationKind.LINT: frozenset({CheckKind.LINT}),
    ValidationKind.ACCEPTANCE: frozenset({CheckKind.TEST, CheckKind.RUN}),
}
"""What a passing validation step shows."""

KINDS_OF_CLAIM: dict[ClaimKind, frozenset[CheckKind]] = {
    ClaimKind.BUILDS: frozenset({CheckKind.BUILD}),
    ClaimKind.TESTS_PASS: frozenset({CheckKind.TEST}),
    ClaimKind.LINT_CLEAN: frozenset({CheckKind.LINT}),
    ClaimKind.RUNS: frozenset({CheckKind.RUN, CheckKind.TEST}),
    ClaimKind.SUCCESS: SUBSTANTIAL,
    ClaimKind.REBUILDS: frozenset({CheckKind.CLEAN, CheckKind.BUILD}),
    ClaimKind.NAMED: PROVING,
}
"""One kind of these must have passed for a claim to be shown (REBUILDS asks for an order as well, NAMED for a check
that names the quality)."""


@dataclass(frozen=True, slots=True)
class VerdictReport:
    """The verdict with its reasons, the checks as they were judged, the delivered files that differ from the start of
    the turn, and the unhedged claims nothing shows.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    checks: tuple[CheckReport, ...] = ()
    files: tuple[str, ...] = ()
    unsupported: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class _FinalState:
    """What ran on the final state: what passed and may count, what failed and stands unanswered, the rest. Runs that
    ended `as_claimed` are evidence of the status the answer names, and no failures."""

    passing: tuple[SeenCheck, ...]
    failing: tuple[SeenCheck, ...]
    loose: tuple[SeenCheck, ...]
    inconclusive: tuple[SeenCheck, ...]
    own: tuple[SeenCheck, ...]
    looks: tuple[SeenCheck, ...]
    as_claimed: tuple[SeenCheck, ...]


def judge(evidence: TurnEvidence) -> VerdictReport:
    """The verdict of a turn. Total and pure: same evidence, same report; no input raises."""
    ledger = evidence.ledger
    files = tuple(path for path, _ in ledger.net_changes())
    checks = tuple(_report(seen.result) for seen in evidence.checks if not _is_look(seen.result))
    if not files:
        touched = tuple(path for path, _ in ledger.current)
        code = ReasonCode.CHANGED_BACK if touched else ReasonCode.NOTHING_CHANGED
        return VerdictReport(Verdict.NO_CHANGE, (reason(code, files=touched),), checks)
    claims = [claim for claim in read_claims(evidence.answer) if not claim.hedged]
    final = _final_state(evidence, files, exit_statuses(value for claim in claims for value in claim.values))
    unsupported = tuple(claim for claim in claims if not _shown(claim, final, evidence))
    blocking = [
        *_failures(evidence, final),
        *_weakenings(evidence, certain=True),
        *_nothing_shown(evidence, final, files, has_claims=bool(claims)),
        *_passed_over(final),
        *(_unshown(claim, final, evidence) for claim in unsupported),
    ]
    notes = [*_weakenings(evidence, certain=False), *_failed_before(evidence, final), *_not_run(evidence)]
    if blocking:
        reasons = (*blocking, *_explanations(evidence, final), *notes)
        return VerdictReport(Verdict.UNVERIFIED, reasons, checks, files, unsupported)
    return VerdictReport(Verdict.VERIFIED, (*_successes(evidence, final), *notes), checks, files)


def _final_state(evidence: TurnEvidence, files: tuple[str, ...], statuses: frozenset[int]) -> _FinalState:
    """Sort everything that ran on the final state. Passes lose the kinds something took the force from."""
    here = [
        seen
        for seen in (*evidence.checks, *_validation_checks(evidence.validation))
        if _is_final(evidence, seen.result)
    ]
    void = _void_kinds(evidence)
    passing: list[SeenCheck] = []
    loose: list[SeenCheck] = []
    own: list[SeenCheck] = []
    changes_what_was_there = any(_is_source_that_was_there(path, evidence) for path in files)
    for seen in here:
        if seen.result.status is not CheckStatus.PASSED or not covers(seen.result, files):
            continue
        kinds = tuple(kind for kind in seen.result.kinds if kind not in void)
        if seen.result.scope is Scope.LOOSE and evidence.project_declares:
            loose.append(seen)
        elif seen.result.own and changes_what_was_there:
            own.append(seen)
        elif set(kinds) & PROVING:
            passing.append(replace(seen, result=seen.result.model_copy(update={"kinds": kinds})))
    failed = [s for s in here if s.result.status is CheckStatus.FAILED and set(s.result.kinds) & PROVING]
    as_claimed = tuple(s for s in failed if s.result.kinds == (CheckKind.RUN,) and s.result.exit_code in statuses)
    failed = [s for s in failed if s not in as_claimed]
    passed = [s for s in here if s.result.status is CheckStatus.PASSED]
    return _FinalState(
        passing=tuple(passing),
        failing=tuple(s for s in failed if not any(_answers(later, s) for later in passed)),
        loose=tuple(loose),
        inconclusive=tuple(s for s in here if s.result.status is CheckStatus.INCONCLUSIVE),
        own=tuple(own),
        looks=tuple(s for s in passed if s.result.scope is not Scope.LOOSE or not evidence.project_declares),
        as_claimed=as_claimed,
    )


def _is_source_that_was_there(path: str, evidence: TurnEvidence) -> bool:
    """Whether a changed file is source that the turn found: what it wrote itself, its own checks may speak of."""
    return material((path,)) is Material.SOURCE and not evidence.ledger.began_absent(path)


def _answers(later: SeenCheck, failed: SeenCheck) -> bool:
    """Whether a pass answers a failure: the same check, run later on the same state, over at least as much."""
    new, old = later.result, failed.result
    if later.place <= failed.place or new.tool != old.tool or (new.cwd, new.root) != (old.cwd, old.root):
        return False
    if not set(old.kinds) <= set(new.kinds):
        return False
    wider = old.scope is Scope.SELECTION and new.scope is Scope.PROJECT and not new.selectors
    return new.selectors == old.selectors or wider


def _validation_checks(outcomes: Iterable[ValidationOutcome]) -> Iterator[SeenCheck]:
    """PASSED and FAILED steps of the project's own validation, as checks that ran after every call."""
    for order, outcome in enumerate(outcomes):
        if outcome.status is ValidationStatus.PASSED:
            status = CheckStatus.PASSED
        elif outcome.status is ValidationStatus.FAILED:
            status = CheckStatus.FAILED
        else:
            continue
        kinds = KINDS_OF_VALIDATION[outcome.kind] | set(outcome.check.kinds if outcome.check else ())
        base = outcome.check or CheckResult(
            command=outcome.command,
            tool=outcome.command,
            kinds=(),
            scope=Scope.PROJECT,
            status=status,
            code=CheckCode.EXIT_STATUS,
            epoch=outcome.epoch,
            fingerprint=outcome.fingerprint,
            exit_code=outcome.exit_code,
        )
        result = base.model_copy(
            update={
                "kinds": tuple(kind for kind in CheckKind if kind in kinds),
                "status": status,
                "epoch": outcome.epoch,
                "fingerprint": outcome.fingerprint,
                "scope": Scope.PROJECT if base.scope is Scope.LOOSE else base.scope,
            }
        )
        yield SeenCheck((_AFTER_EVERY_CALL, order), result, output=outcome.output)


def _is_final(evidence: TurnEvidence, result: CheckResult | Complaint) -> bool:
    """Whether a check ran on the state the turn left."""
    return result.epoch == evidence.ledger.epoch or result.fingerprint == evidence.ledger.fingerprint


def _on_final(evidence: TurnEvidence, outcome: ValidationOutcome) -> bool:
    return outcome.epoch == evidence.ledger.epoch or outcome.fingerprint == evidence.ledger.fingerprint


def _could_not_run(evidence: TurnEvidence) -> tuple[ValidationOutcome, ...]:
    return tuple(
        outcome
        for outcome in evidence.validation
        if outcome.origin is Origin.DECLARED
        and outcome.status in (ValidationStatus.NOT_RUN, ValidationStatus.ERROR)
        and _on_final(evidence, outcome)
    )


def _void_kinds(evidence: TurnEvidence) -> frozenset[CheckKind]:
    """Kinds nothing can show in this turn, because a declared command of the kind could not run."""
    void: set[CheckKind] = set()
    for outcome in _could_not_run(evidence):
        void |= {CheckKind.RUN} if outcome.kind is ValidationKind.ACCEPTANCE else KINDS_OF_VALIDATION[outcome.kind]
    return frozenset(void)


def _shown(claim: Claim, final: _FinalState, evidence: TurnEvidence) -> bool:
    match claim.kind:
        case ClaimKind.REBUILDS:
            return _rebuilt(final)
        case ClaimKind.TESTS_PASS:
            passing = [s.result for s in final.passing if CheckKind.TEST in s.result.kinds]
            if claim.whole:
                passing = [result for result in passing if not _is_picked(result)]
            if claim.number is None:
                return bool(passing)
            return any(claim.number in _numbers(result) for result in passing)
        case ClaimKind.RUNS:
            running = _running(claim, final)
            return bool(running) and not unseen_values(claim.values, running, evidence.texts)
        case ClaimKind.NAMED:
            denied = bool(_complaints(claim, evidence))
            return not denied and is_named(claim.named, claim.values, _naming(claim, final))
        case ClaimKind.BUILDS | ClaimKind.LINT_CLEAN | ClaimKind.SUCCESS:
            wanted = KINDS_OF_CLAIM[claim.kind]
            return any(wanted & set(seen.result.kinds) for seen in final.passing)
        case _:
            assert_never(claim.kind)


def _running(claim: Claim, final: _FinalState) -> list[SeenCheck]:
    """What shows that something runs: runs and tests, runs of what only this turn wrote, and of a claim that names how
    a program ends, runs that ended so."""
    own = [seen for seen in final.own if CheckKind.RUN in seen.result.kinds]
    ran = [seen for seen in final.passing if KINDS_OF_CLAIM[ClaimKind.RUNS] & set(seen.result.kinds)]
    return [*ran, *own, *(final.as_claimed if exit_statuses(claim.values) else ())]


def _naming(claim: Claim, final: _FinalState) -> list[SeenCheck]:
    """What may name a quality: what counts for the source; for documentation what reads that alone, and for speed a
    benchmark of this turn's own."""
    more: tuple[SeenCheck, ...] = ()
    if claim.named == DOCUMENTATION:
        more = tuple(seen for seen in final.looks if seen.result.scope is Scope.DOCUMENTATION)
    elif claim.named == SPEED:
        more = final.own
    return [*final.passing, *more]


def _complaints(claim: Claim, evidence: TurnEvidence) -> tuple[Complaint, ...]:
    """What was said on the final state against the quality that is claimed."""
    return tuple(c for c in evidence.complaints if c.quality == claim.named and _is_final(evidence, c))


def _is_picked(result: CheckResult) -> bool:
    """Whether only some tests were picked, by name or mark (`-k`, `-m`, `file::test`), by file or by directory: it
    cannot speak of all."""
    return result.partly or any(selector.startswith("-") or "::" in selector for selector in result.selectors)


def _numbers(result: CheckResult) -> set[int]:
    seen = set(result.numbers)
    if result.summary is not None:
        seen |= {result.summary.passed, result.summary.total}
    return seen


def _rebuilt(final: _FinalState) -> bool:
    """Clean, then build, then a look at the result (a run, a test, an inspection), all on the final state."""
    cleans = [s.place for s in final.looks if CheckKind.CLEAN in s.result.kinds]
    builds = [s.place for s in final.passing if CheckKind.BUILD in s.result.kinds]
    looks = [
        s.place
        for s in final.looks
        if set(s.result.kinds) & {CheckKind.RUN, CheckKind.TEST, CheckKind.INSPECT}
        and s.result.code is not CheckCode.DRY_RUN
    ]
    return any(clean < build < look for clean in cleans for build in builds for look in looks)


def _failures(evidence: TurnEvidence, final: _FinalState) -> Iterator[Reason]:
    for outcome in evidence.validation:
        if outcome.status is ValidationStatus.FAILED and _on_final(evidence, outcome):
            yield reason(
                ReasonCode.VALIDATION_FAILED,
                kind=outcome.kind,
                command=outcome.command,
                origin=outcome.origin,
                status=f"exit status {outcome.exit_code}",
            )
    for seen in final.failing:
        if seen.place[0] != _AFTER_EVERY_CALL:
            yield reason(ReasonCode.CHECK_FAILED, command=seen.result.command, status=_status(seen.result))
    match evidence.repair:
        case Repair.STOPPED:
            yield reason(ReasonCode.REPAIR_UNFINISHED, why="stopped before it was finished")
        case Repair.CHANGED_NOTHING:
            yield reason(ReasonCode.REPAIR_UNFINISHED, why="changed nothing")
        case Repair.FINISHED:
            ran = {ValidationStatus.PASSED, ValidationStatus.FAILED}
            if not any(o.status in ran and _on_final(evidence, o) for o in evidence.validation):
                yield reason(ReasonCode.REPAIR_UNFINISHED, why="was not followed by a validation that ran")
        case Repair.NONE:
            pass
        case _:
            assert_never(evidence.repair)


def _status(result: CheckResult) -> str:
    if result.code is CheckCode.EXIT_STATUS:
        return f"exit status {result.exit_code}"
    return WHY[result.code]


def _weakenings(evidence: TurnEvidence, *, certain: bool) -> Iterator[Reason]:
    """Checks' own files that changed: to pass, which no pass can make good, or in any other way, which is only said."""
    code = ReasonCode.CHECK_WEAKENED if certain else ReasonCode.CHECK_CHANGED
    return (
        reason(code, files=(weakening.path,), why=weakening.why)
        for weakening in evidence.weakened
        if weakening.certain is certain
    )


def _failed_before(evidence: TurnEvidence, final: _FinalState) -> Iterator[Reason]:
    """Checks that failed, and pass now that nothing but checks' own files has changed. Whether the expectation or the
    check was wrong nobody can tell from here: it is said."""
    own = {weakening.path for weakening in evidence.weakened}
    passing = {seen.result.command for seen in final.passing}
    told: dict[str, tuple[str, ...]] = {}
    for seen in evidence.checks:
        if seen.result.status is CheckStatus.FAILED and seen.ledger is not None and seen.result.command in passing:
            moved = evidence.ledger.moved_since(seen.ledger)
            if moved and moved <= own:
                told[seen.result.command] = tuple(sorted(moved))
    return (reason(ReasonCode.FAILED_BEFORE, command=command, files=files) for command, files in told.items())


def _nothing_shown(
    evidence: TurnEvidence, final: _FinalState, files: tuple[str, ...], *, has_claims: bool
) -> Iterator[Reason]:
    """Nothing passed that could show anything; or, where nothing is claimed, no build, test or run did."""
    wanted = PROVING if has_claims else SUBSTANTIAL
    shown = {seen.result.root for seen in final.passing if wanted & set(seen.result.kinds)}
    files = tuple(path for path in files if root_of(path) not in shown)
    if not files:
        return
    earlier = [
        seen.result
        for seen in evidence.checks
        if seen.result.status is CheckStatus.PASSED
        and set(seen.result.kinds) & PROVING
        and seen.result.epoch != evidence.ledger.epoch
    ]
    could_not = _could_not_run(evidence)
    if material(files) is not Material.SOURCE and not could_not:
        yield reason(ReasonCode.NOTHING_READS, files=files)
    elif earlier and not final.failing:
        yield reason(ReasonCode.CHANGED_AFTER_CHECK, files=files, command=earlier[-1].command)
    else:
        yield reason(ReasonCode.NOTHING_RAN, files=files)


def _passed_over(final: _FinalState) -> Iterator[Reason]:
    """Changed sources that nothing which passed can have read, whatever it shows of the others."""
    read = {path for seen in (*final.passing, *final.loose, *final.looks) for path in seen.result.paths}
    for root in sorted({seen.result.root for seen in final.passing}):
        unread = [set(seen.result.passed_over) for seen in final.passing if seen.result.root == root]
        if files := sorted(set.intersection(*unread) - read):
            yield reason(ReasonCode.NOTHING_READS, files=files)


def _not_run(evidence: TurnEvidence) -> Iterator[Reason]:
    return (
        reason(
            ReasonCode.VALIDATION_NOT_RUN,
            kind=outcome.kind,
            command=outcome.command,
            origin=outcome.origin,
            why=f", {outcome.detail}" if outcome.detail else "",
        )
        for outcome in _could_not_run(evidence)
    )


def _unshown(claim: Claim, final: _FinalState, evidence: TurnEvidence) -> Reason:
    if claim.kind is ClaimKind.REBUILDS:
        return reason(ReasonCode.REBUILD_NOT_SHOWN, sentence=claim.sentence)
    if claim.kind is ClaimKind.NAMED:
        if seen := _complaints(claim, evidence):
            return reason(ReasonCode.COMPLAINT_SEEN, command=seen[-1].command, sentence=claim.sentence)
        return reason(ReasonCode.QUALITY_NOT_SHOWN, quality=claim.named, sentence=claim.sentence)
    if claim.kind is ClaimKind.RUNS and (running := _running(claim, final)):
        missing = unseen_values(claim.values, running, evidence.texts)
        named = ", ".join(value.text for value in missing)
        return reason(ReasonCode.VALUE_NOT_SEEN, value=named, sentence=claim.sentence)
    wanted = KINDS_OF_CLAIM[claim.kind]
    if claim.number is not None and any(wanted & set(seen.result.kinds) for seen in final.passing):
        return reason(ReasonCode.NUMBER_NOT_SEEN, sentence=claim.sentence)
    kinds = " or ".join(kind for kind in CheckKind if kind in wanted)
    return reason(ReasonCode.CLAIM_NOT_SHOWN, kind=kinds, sentence=claim.sentence)


def _explanations(evidence: TurnEvidence, final: _FinalState) -> Iterator[Reason]:
    """Why what did run on the final state shows nothing, latest first, a few at most."""
    for seen in final.own[-_SHOWN_CHECKS:]:
        yield reason(ReasonCode.OWN_CHECK, command=seen.result.command, files=seen.result.own)
    by_host = [o.check for o in evidence.validation if o.check is not None and o.check.planted]
    doubted = [result for result in by_host if _is_final(evidence, result)]
    doubted += [seen.result for seen in final.inconclusive if seen.result.planted]
    for command, planted in list(dict.fromkeys((result.command, result.planted) for result in doubted))[
        -_SHOWN_CHECKS:
    ]:
        yield reason(ReasonCode.PRODUCT_PLANTED, command=command, files=planted)
    for seen in final.loose[-_SHOWN_CHECKS:]:
        yield reason(ReasonCode.LOOSE_COMPILATION, command=seen.result.command)
    rest = [seen.result for seen in final.inconclusive if not seen.result.planted]
    old = [o.check for o in evidence.validation if o.check is not None and o.check.code is CheckCode.BUILT_BEFORE]
    rest += [result for result in old if _is_final(evidence, result)]
    for command, code in reversed(list(dict.fromkeys((r.command, r.code) for r in rest))[-_SHOWN_CHECKS:]):
        yield reason(ReasonCode.CHECK_INCONCLUSIVE, command=command, why=WHY[code])


def _successes(evidence: TurnEvidence, final: _FinalState) -> Iterator[Reason]:
    for outcome in evidence.validation:
        if outcome.status is ValidationStatus.PASSED and _on_final(evidence, outcome):
            yield reason(
                ReasonCode.VALIDATION_PASSED,
                kind=outcome.kind,
                command=outcome.command,
                origin=outcome.origin,
            )
    by_calls = [seen.result for seen in final.passing if seen.place[0] != _AFTER_EVERY_CALL]
    for result in by_calls[-_SHOWN_CHECKS:]:
        yield reason(ReasonCode.CHECK_PASSED, command=result.command, status=_status(result))


def _is_look(result: CheckResult) -> bool:
    return result.kinds == (CheckKind.INSPECT,) and result.status is not CheckStatus.INCONCLUSIVE


def _report(result: CheckResult) -> CheckReport:
    return CheckReport(
        command=result.command,
        kinds=[str(kind) for kind in result.kinds],
        status=result.status.value,
        epoch=result.epoch,
        reason=WHY[result.code],
    )
