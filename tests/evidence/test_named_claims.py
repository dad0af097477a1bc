"""Claims of values and of qualities: what shows them, and what does not (spec 3.4)."""

from __future__ import annotations

import pytest

from spear.agent.host import Outcome
from spear.events.names import Verdict
from spear.evidence.completion import judge
from spear.evidence.epochs import EpochLedger
from spear.evidence.kinds import CheckCode, CheckKind, CheckStatus, Scope
from spear.evidence.reasons import ReasonCode
from spear.evidence.records import Change, CheckRecord, CheckResult, CommandRecord, EvidenceRecord
from spear.evidence.turn import (
    VALIDATION_TOOL,
    Origin,
    TurnEvidence,
    ValidationKind,
    ValidationOutcome,
    ValidationStatus,
)

CHANGE = Change(path="a.c", kind="modified", before_sha256="0", after_sha256="1", delivered=True)
LEDGER = EpochLedger().after((CHANGE,))
KINDS = {"b": CheckKind.BUILD, "t": CheckKind.TEST, "l": CheckKind.LINT, "r": CheckKind.RUN}


def check(letters, *names, command="make", scope=Scope.PROJECT, status=CheckStatus.PASSED):
    return CheckResult(
        command=command,
        tool="make",
        kinds=tuple(KINDS[letter] for letter in letters),
        scope=scope,
        status=status,
        code=CheckCode.EXIT_STATUS,
        epoch=LEDGER.epoch,
        fingerprint=LEDGER.fingerprint,
        exit_code=0,
        names=names,
    )


def record(seq, change=(), result=None, complaints=(), tool="terminal", script="make"):
    return EvidenceRecord(
        seq=seq,
        turn=1,
        call_id=str(seq),
        tool=tool,
        arguments_digest="",
        started="2026-01-01T00:00:00Z",
        duration_s=0,
        outcome=Outcome.OK,
        changes=change,
        command=CommandRecord(script=script, complaints=complaints),
        check=CheckRecord.of([result] if result else []),
        epoch_before=0,
        epoch_after=1,
        effect="mutating",
        replay="unsafe",
    )


def report(answer, *checks, texts=(), complaints=()):
    """The report of a turn that changed a.c and then ran these checks: (result, output)."""
    records = [record(0, (CHANGE,))]
    records += [record(seq, (), result) for seq, (result, _) in enumerate(checks, start=1)]
    records += [record(9, (), None, complaints)]
    outputs = {seq: output for seq, (_, output) in enumerate(checks, start=1)}
    return judge(TurnEvidence.from_records(records, answer, outputs=outputs, texts=texts))


def verified(answer, *checks, **more):
    return report(answer, *checks, **more).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("answer", "output", "shown"),
    [
        ("It prints 42.", "the answer: 42\n", True),
        ("It prints 42.", "142\n4.2\n42.5\n-42\n1,142\n", False),
        ("It prints 42.", "x=42;\n", True),
        ("It prints -1.", "got -1\n", True),
        ("It prints 1000.", "1000\n", True),
        ("It prints `a b`.", "say a\n   b\n", True),
        ("It prints `Hello`.", "hello\n", False),
        ('It prints "Hello, World!".', "Hello, World!\n", True),
        ("It prints `a` and `b`.", "a\n", False),
        ("It prints `a` and `b`.", "a\nb\n", True),
        ("Output: 42", "7\n", False),
        ("It exits with status 3 for bad input.", "status: 3\n", True),
        ("It exits with status 3 for bad input.", "ok\n", False),
        ("It exits with status 0.", "", True),
        ("It prints the total.", "", True),
        ("It works.", "", True),
        ("Le programme affiche 42.", "42\n", True),
        ("Le programme affiche 42.", "24\n", False),
        ("Il se termine avec le code 3.", "code 3\n", True),
    ],
)
def test_what_is_printed_stands_in_the_output_of_a_run(answer, output, shown):
    found = report(answer, (check("r"), output), texts=("42 Hello a b 3",))
    assert (found.verdict is Verdict.VERIFIED) == shown
    assert shown or ReasonCode.VALUE_NOT_SEEN in {reason.code for reason in found.reasons}


@pytest.mark.parametrize(
    ("answer", "text", "shown"),
    [
        ("`f(4)` returns 0.", "assert f(4) == 0", True),
        ("`f(4)` returns 5 now.", "assert f(4) == 0", False),
        ("`f(4)` returns 5 now.", "assert f(4) == 15 or 5.5 or v5", False),
        ("`f(4)` returns 5 now.", "return 5u;", True),
        ("`f(4)` returns `None`.", "    return None", True),
        ("`f(4)` returns `None`.", "    return x", False),
        ("`f(4)` returns `[1, 2]`.", "assert f(4) == [1,2]", True),
        ('`f(4)` returns `{"a": 1}`.', "assert f(4) == {'a': 1}", True),
        ("`f(4)` returns `True`.", "assert f(4)", True),
        ("`f(4)` returns `[]`.", "return [x for x in y]", True),
        ("`f(4)` returns the right value.", "", True),
        ("It returns an empty list.", "", True),
        ("`f(4)` renvoie 5.", "assert f(4) == 0", False),
    ],
)
@pytest.mark.parametrize("letters", ["t", "r", "bt"])
def test_what_is_returned_may_stand_in_a_test_or_in_the_changed_source(answer, text, shown, letters):
    assert verified(answer, (check(letters), ""), texts=("int f(void);", text)) == shown


def test_tests_show_what_is_printed_where_they_or_the_source_state_it():
    assert verified("It prints `hello`.", (check("t"), "ok\n"), texts=('puts("hello");',))
    assert not verified("It prints `hello`.", (check("r"), "ok\n"), texts=('puts("hello");',))


def test_a_command_that_asserts_a_value_shows_it():
    assert verified("`f(4)` returns 5.", (check("r", command="python3 -c 'import a; assert a.f(4) == 5'"), ""))
    assert not verified("`f(4)` returns 5.", (check("r", command="python3 -c 'import a; a.f(5)'"), ""))


def test_a_value_needs_a_run_or_a_test_at_all():
    assert not verified("It prints 42.", (check("b"), "42\n"))
    assert not verified("It prints 42.", (check("r", status=CheckStatus.INCONCLUSIVE), "42\n"), (check("b"), ""))


def test_the_project_s_own_validation_shows_what_it_printed():
    outcome = ValidationOutcome(
        ValidationKind.ACCEPTANCE, Origin.DECLARED, "./app", ValidationStatus.PASSED, 0, LEDGER.epoch, LEDGER.fingerprint
    )  # fmt: skip
    records = [record(0, (CHANGE,)), record(1, (), None, (), VALIDATION_TOOL, "./app")]

    def verdict(output):
        evidence = TurnEvidence.from_records(records, "It prints 42.", validation=(outcome,), outputs={1: output})
        return judge(evidence).verdict

    assert verdict("42\n") is Verdict.VERIFIED
    assert verdict("41\n") is Verdict.UNVERIFIED


@pytest.mark.parametrize(
    ("answer", "name", "letters"),
    [
        ("valgrind reports no leaks.", "memory checker", "r"),
        ("The sanitizers find nothing.", "sanitizer", "t"),
        ("It is now twice as fast.", "benchmark", "r"),
        ("CI is green.", "continuous integration", "t"),
        ("It compiles for ARM.", "ARM", "b"),
        ("The tests pass on macOS.", "macOS", "t"),
        ("The docs build without errors.", "documentation build", "b"),
        ("The release build works.", "release build", "b"),
        ("Integration tests succeed.", "integration tests", "t"),
        ("ruff is clean.", "ruff", "l"),
        ("clang-format is happy.", "clang-format", "l"),
        ("valgrind ne signale aucune fuite.", "memory checker", "r"),
        ("La CI est verte.", "continuous integration", "t"),
        ("Ça marche aussi sous Windows.", "Windows", "r"),
    ],
)
def test_a_quality_needs_a_check_that_names_it(answer, name, letters):
    assert verified(answer, (check(letters, name), ""))
    found = report(answer, (check("btlr"), "42\n"))
    assert found.verdict is Verdict.UNVERIFIED
    assert {reason.code for reason in found.reasons} == {ReasonCode.QUALITY_NOT_SHOWN}
    assert found.unsupported


def test_every_tool_that_is_named_needs_a_check_of_its_own():
    assert verified(
        "mypy and ruff report nothing.", (check("l", "mypy"), ""), (check("l", "ruff"), ""), (check("b"), "")
    )
    assert not verified("mypy and ruff report nothing.", (check("l", "ruff"), ""), (check("b"), ""))


@pytest.mark.parametrize(
    ("answer", "name", "output", "shown"),
    [
        ("The coverage is 97 %.", "coverage", "TOTAL 100 3 97%\n", True),
        ("The coverage is 97 %.", "coverage", "TOTAL 96.8%\n", True),
        ("The coverage is 97 %.", "coverage", "TOTAL 100 3 79%\n", False),
        ("The coverage is 100 %.", "coverage", "..... [100%]\nTOTAL 80%\n", False),
        ("The benchmark takes 3 ms.", "benchmark", "bench: 3.1 ms\n", True),
        ("The benchmark takes 3 ms.", "benchmark", "real\t0m0.003s\n", True),
        ("The benchmark takes 3 ms.", "benchmark", "bench: 30 ms\n", False),
        ("La couverture est de 92,5 %.", "coverage", "TOTAL 92.5%\n", True),
    ],
)
def test_a_figure_stands_in_the_output_of_a_check_that_names_what_was_measured(answer, name, output, shown):
    assert verified(answer, (check("t", name), output)) == shown
    assert not verified(answer, (check("t"), output))


def test_versions_are_named_one_by_one():
    answer = "The tests pass with Python 3.8 to 3.13."
    assert not verified(answer, (check("t"), "3 passed"))
    assert not verified(answer, (check("t", command="python3.8 -m pytest"), ""))
    assert verified(answer, (check("t", command="python3.8 -m pytest"), ""), (check("t"), "  py313: OK\n"))


def test_warnings_are_denied_by_a_build_that_was_seen_and_by_none_that_warned():
    answer = "There are no compiler warnings."
    build = (check("b", "compiler warnings"), "cc -c a.c\n")
    assert verified(answer, build)
    assert not verified(answer, (check("b"), ""))
    assert not verified(answer, (check("t", "compiler warnings"), ""))
    found = report(answer, build, complaints=("compiler warnings",))
    assert {reason.code for reason in found.reasons} == {ReasonCode.COMPLAINT_SEEN}
    assert verified("It builds.", build, complaints=("compiler warnings",))


def test_a_checker_that_found_something_on_the_final_state_speaks_against_a_later_run():
    clean = (check("r", "memory checker"), "")
    assert not verified("valgrind reports no leaks.", clean, complaints=("memory checker",))


def test_documentation_may_be_built_beside_what_shows_the_source():
    docs = (check("b", "documentation build", scope=Scope.DOCUMENTATION), "")
    assert verified("The docs build without errors.", (check("t"), ""), docs)
    assert not verified("The docs build without errors.", docs)


@pytest.mark.parametrize(
    "answer",
    [
        "Build, tests and lint all pass.",
        "Every check is green: build, tests and lint.",
        "All checks pass (build, tests, lint)",
        "Build: OK. Tests: OK. Lint: OK",
        "Compilation, tests et lint passent.",
        "Tout passe : compilation, tests et lint.",
    ],
)
def test_a_list_of_kinds_claims_each_of_them(answer):
    assert verified(answer, (check("btl"), ""))
    for letters in ("bt", "bl", "tl"):
        assert not verified(answer, (check(letters), "")), letters


@pytest.mark.parametrize(
    "answer",
    [
        "I added a CI workflow.",
        "See the coverage report; the threshold is 80 %.",
        "I ran valgrind.",
        "The benchmark directory was left alone.",
        "Windows line endings are kept.",
        "It should print 42.",
        "mypy was not run.",
        "La couverture n'a pas été mesurée.",
    ],
)
def test_what_is_only_spoken_of_needs_nothing(answer):
    assert verified(answer, (check("b"), ""))


@pytest.mark.parametrize(
    ("answer", "letters", "exit_code", "shown"),
    [
        ("The program exits with status 2 for a missing file.", "r", 2, True),
        ("`./app /none` se termine avec le code 2.", "r", 2, True),
        ("The program exits with status 2 for a missing file.", "r", 1, False),
        ("The program exits with status 2 for a missing file.", "t", 2, False),
        ("The program exits with status 139.", "r", 139, False),
        ("The change is in place.", "r", 2, False),
        ("It should exit with status 2.", "r", 2, False),
    ],
)
def test_a_run_that_ended_as_is_claimed_is_no_failure(answer, letters, exit_code, shown):
    failed = check(letters, status=CheckStatus.FAILED).model_copy(update={"exit_code": exit_code})
    assert verified(answer, (check("t"), "ok\n"), (failed, "")) is shown
    assert not verified(answer, (failed, ""))  # which shows nothing else
