"""What holds of verdicts for any sequence of calls (spec 3.4)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spear.agent.host import Outcome
from spear.events.names import Verdict
from spear.evidence.completion import judge
from spear.evidence.epochs import EpochLedger
from spear.evidence.kinds import PROVING, CheckCode, CheckKind, CheckStatus, Scope
from spear.evidence.records import Change, CheckRecord, CheckResult, CommandRecord, EvidenceRecord, read_lines
from spear.evidence.turn import (
    Origin,
    TurnEvidence,
    ValidationKind,
    ValidationOutcome,
    ValidationStatus,
    Weakening,
)

PATHS = st.sampled_from(["a.c", "b.c", "README.md", "data.json", "build/x.o"])
CONTENTS = st.sampled_from(["0", "1", "2"])
ANSWERS = st.sampled_from(
    [
        "",
        "Changed.",
        "The tests pass.",
        "It builds.",
        "It builds and all 3 tests pass.",
        "Lint is clean.",
        "It works.",
        "It survives a clean rebuild.",
        "The tests should pass.",
        "Fixed.",
        "It prints 42.",
        "`f(1)` returns 42 and the tests pass.",
        "There are no compiler warnings.",
        "valgrind reports no leaks.",
        "The coverage is 97 %.",
        "ruff and mypy are clean.",
        "Build, tests and lint all pass.",
    ]
)
NAMES = st.sampled_from([(), ("compiler warnings",), ("memory checker",), ("coverage",), ("mypy", "ruff")])
OUTPUTS = st.dictionaries(st.integers(0, 8), st.sampled_from(["", "42\n", "TOTAL 97%\n", "7\n"]))
COMPLAINTS = st.sampled_from([(), (), ("compiler warnings",), ("memory checker",)])


@st.composite
def changes(draw, tree):
    """A true change of a tree of contents, which it brings up to date."""
    path, after = draw(PATHS), draw(st.one_of(st.none(), CONTENTS))
    before = tree.get(path)
    if before == after:
        return ()
    tree[path] = after
    kind = "created" if before is None else "deleted" if after is None else "modified"
    delivered = not path.startswith("build/")
    return (Change(path=path, kind=kind, before_sha256=before, after_sha256=after, delivered=delivered),)


@st.composite
def results(draw, ledger):
    kinds = draw(st.sets(st.sampled_from(list(CheckKind)), min_size=1, max_size=3))
    return CheckResult(
        command=draw(st.sampled_from(["make test", "make", "pytest", "cc x.c"])),
        tool=draw(st.sampled_from(["make", "pytest"])),
        kinds=tuple(sorted(kinds)),
        scope=draw(st.sampled_from(list(Scope))),
        status=draw(st.sampled_from(list(CheckStatus))),
        code=draw(st.sampled_from(list(CheckCode))),
        epoch=ledger.epoch,
        fingerprint=ledger.fingerprint,
        order=0,
        numbers=draw(st.sampled_from([(), (3,), (4,)])),
        names=draw(NAMES),
        paths=draw(st.sampled_from([(), (), ("a.c",)])),
        passed_over=draw(st.sampled_from([(), (), ("a.c",), ("b.c",)])),
    )


def record(seq, before, change=(), check=None, complaints=()):
    after = before.after(change)
    return after, EvidenceRecord(
        seq=seq,
        turn=1,
        call_id=str(seq),
        tool="terminal",
        arguments_digest="",
        started="2026-01-01T00:00:00Z",
        duration_s=0,
        outcome=Outcome.OK,
        changes=change,
        command=CommandRecord(script="make", complaints=complaints) if complaints else None,
        check=CheckRecord.of([check]) if check else None,
        epoch_before=before.epoch,
        epoch_after=after.epoch,
        effect="mutating",
        replay="unsafe",
    )


@st.composite
def turns(draw):
    """The records of a turn: true changes and checks of any kind and status on the state they ran on."""
    ledger, records = EpochLedger(), []
    tree = {"a.c": "0", "README.md": "0"}
    for seq in range(draw(st.integers(0, 8))):
        if draw(st.booleans()):
            ledger, made = record(seq, ledger, change=draw(changes(tree)))
        else:
            ledger, made = record(seq, ledger, check=draw(results(ledger)), complaints=draw(COMPLAINTS))
        records.append(made)
    return tuple(records)


@given(turns(), ANSWERS, OUTPUTS)
def test_the_verdict_is_a_function_of_its_evidence(records, answer, outputs):
    evidence = TurnEvidence.from_records(records, answer, outputs=outputs)
    assert judge(evidence) == judge(TurnEvidence.from_records(records, answer, outputs=outputs))


@given(turns(), ANSWERS, OUTPUTS)
def test_dropping_a_check_never_verifies_unless_it_was_a_failure(records, answer, outputs):
    if judge(TurnEvidence.from_records(records, answer, outputs=outputs)).verdict is not Verdict.UNVERIFIED:
        return
    droppable = [
        index
        for index, item in enumerate(records)
        if item.check is not None and item.check.results[0].status is not CheckStatus.FAILED
    ]
    for index in droppable:
        fewer = (*records[:index], records[index].model_copy(update={"check": None}), *records[index + 1 :])
        assert judge(TurnEvidence.from_records(fewer, answer, outputs=outputs)).verdict is Verdict.UNVERIFIED


@given(turns(), ANSWERS, OUTPUTS)
def test_a_source_that_everything_passes_over_is_never_verified(records, answer, outputs):
    changed = dict(EpochLedger().after(change for item in records for change in item.changes).net_changes())
    if "a.c" not in changed:
        return
    unread = tuple(
        item
        if item.check is None
        else item.model_copy(
            update={
                "check": CheckRecord.of(
                    [r.model_copy(update={"passed_over": ("a.c",), "paths": ()}) for r in item.check.results]
                )
            }
        )
        for item in records
    )
    assert judge(TurnEvidence.from_records(unread, answer, outputs=outputs)).verdict is Verdict.UNVERIFIED


@given(turns(), ANSWERS, OUTPUTS)
def test_forgetting_what_was_printed_never_verifies(records, answer, outputs):
    if judge(TurnEvidence.from_records(records, answer, outputs=outputs)).verdict is Verdict.UNVERIFIED:
        assert judge(TurnEvidence.from_records(records, answer)).verdict is Verdict.UNVERIFIED


@given(turns(), ANSWERS)
def test_a_new_source_change_at_the_end_always_unverifies(records, answer):
    change = Change(path="z.c", kind="created", before_sha256=None, after_sha256="new", delivered=True)
    ledger = TurnEvidence.from_records(records, answer).ledger
    _, last = record(99, ledger, change=(change,))
    assert judge(TurnEvidence.from_records((*records, last), answer)).verdict is Verdict.UNVERIFIED


@given(turns(), ANSWERS, OUTPUTS)
@settings(max_examples=300)
def test_verified_implies_a_passing_check_of_the_last_state(records, answer, outputs):
    evidence = TurnEvidence.from_records(records, answer, outputs=outputs)
    if judge(evidence).verdict is not Verdict.VERIFIED:
        return
    final = [
        seen.result
        for seen in evidence.checks
        if seen.result.epoch == evidence.ledger.epoch or seen.result.fingerprint == evidence.ledger.fingerprint
    ]
    assert any(result.status is CheckStatus.PASSED and set(result.kinds) & PROVING for result in final)


@given(turns(), ANSWERS)
def test_no_change_means_that_nothing_delivered_differs(records, answer):
    evidence = TurnEvidence.from_records(records, answer)
    verdict = judge(evidence).verdict
    assert (verdict is Verdict.NO_CHANGE) == (not evidence.ledger.differences)


@given(turns(), ANSWERS, st.sampled_from(list(ValidationKind)), st.sampled_from(list(Origin)))
def test_a_failed_validation_of_the_final_state_is_never_verified(records, answer, kind, origin):
    ledger = TurnEvidence.from_records(records, answer).ledger
    failed = ValidationOutcome(kind, origin, "x", ValidationStatus.FAILED, 1, ledger.epoch, ledger.fingerprint)
    report = judge(TurnEvidence.from_records(records, answer, validation=(failed,)))
    assert report.verdict is not Verdict.VERIFIED


@given(turns(), ANSWERS)
def test_a_weakened_check_never_helps(records, answer):
    weakening = Weakening("tests/t.c", "it was emptied", True, PROVING)
    report = judge(TurnEvidence.from_records(records, answer, weakened=(weakening,)))
    assert report.verdict is not Verdict.VERIFIED


@given(turns(), ANSWERS)
def test_every_unverified_turn_has_a_reason_that_is_a_sentence(records, answer):
    report = judge(TurnEvidence.from_records(records, answer))
    assert report.reasons
    assert all(reason.text.endswith((".", "”")) and "{" not in reason.text for reason in report.reasons)


@given(turns())
def test_records_survive_their_json_lines(records):
    data = "\n".join(item.line() for item in records).encode() + b'\n{"seq": 3, "tor'
    again, bad = read_lines(data)
    assert again == records
    assert bad == (len(records) + 1,) if records else bad


@given(turns())
def test_equal_trees_have_equal_fingerprints_and_the_epoch_still_moves_on(records):
    ledger = EpochLedger()
    for item in records:
        after = ledger.after(item.changes)
        delivered = any(change.delivered for change in item.changes)
        assert after.epoch == ledger.epoch + delivered
        if delivered:
            back = [
                change.model_copy(update={"before_sha256": change.after_sha256, "after_sha256": change.before_sha256})
                for change in item.changes
            ]
            assert after.after(back).fingerprint == ledger.fingerprint
            assert after.fingerprint != ledger.fingerprint
        ledger = after
