"""The project's own validation: planned from declarations and files, classified, and its one repair."""

from __future__ import annotations

import pytest

from spear.events.names import Stop, Verdict
from spear.evidence.completion import judge
from spear.evidence.epochs import EpochLedger
from spear.evidence.kinds import CheckCode, CheckKind, CheckStatus, Scope
from spear.evidence.probes import ProjectFiles, probe
from spear.evidence.reasons import ReasonCode
from spear.evidence.records import Change, CheckResult
from spear.evidence.turn import (
    Origin,
    Repair,
    SeenCheck,
    TurnEvidence,
    ValidationKind,
    ValidationOutcome,
    ValidationStatus,
)
from spear.evidence.validation import (
    StepResult,
    ValidationMode,
    ValidationStep,
    classify,
    declared_kinds,
    may_repair,
    plan_validation,
    repair_message,
)

MAKEFILE = "all: x\nx:\n\tcc x.c\ntest: x\n\t./x\n"
HELP = "help:\n\t@echo 'usage: make html | clean'\nhtml:\n\t@echo building\n"
B, T = ValidationKind.BUILD, ValidationKind.TEST

PROBES = [
    ({"Makefile": MAKEFILE}, (), {B: "make", T: "make test"}),
    ({"Makefile": "check:\n\t./c\nall:\n\tcc x.c\n"}, (), {B: "make all", T: "make check"}),
    ({"Makefile": HELP}, (), {}),
    ({"Makefile": "test:\n\t@echo no tests yet\n"}, (), {}),
    ({"Cargo.toml": "[package]\n"}, (), {B: "cargo build", T: "cargo test"}),
    ({"go.mod": "module x\n"}, ("a.go",), {B: "go build ./..."}),
    ({"go.mod": "module x\n"}, ("a_test.go",), {B: "go build ./...", T: "go test ./..."}),
    ({"package.json": '{"scripts": {"test": "jest", "build": "tsc"}}'}, (), {B: "npm run build", T: "npm run test"}),
    ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, (), {}),
    ({"package.json": '{"scripts": {"test": "vitest"}}'}, ("pnpm-lock.yaml",), {T: "CI=1 pnpm run test"}),
    ({"package.json": "not json"}, (), {}),
    ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, (), {T: "python3 -m pytest -q"}),
    ({}, ("test_calc.py",), {T: "python3 -m pytest -q"}),
    ({"tox.ini": "[tox]\n"}, (), {T: "tox"}),
    ({"pom.xml": "<project/>"}, (), {B: "mvn -q -B -DskipTests package", T: "mvn -B test"}),
    (
        {"build.gradle.kts": ""},
        ("gradlew",),
        {B: "./gradlew --console=plain assemble", T: "./gradlew --console=plain test"},
    ),
    ({}, ("app.csproj", "tests/app.tests.csproj"), {B: "dotnet build", T: "dotnet test"}),
    ({"Package.swift": ""}, ("Tests/a.swift",), {B: "swift build", T: "swift test"}),
    ({"build.zig": 'b.step("test", "run")'}, (), {B: "zig build", T: "zig build test"}),
    ({"dune-project": ""}, (), {B: "dune build", T: "dune test"}),
    ({"mix.exs": ""}, ("test/a_test.exs",), {B: "mix compile", T: "mix test"}),
    ({}, (), {}),
]


@pytest.mark.parametrize(("contents", "names", "expected"), PROBES)
def test_a_probe_reads_how_a_project_is_verified(contents, names, expected):
    assert probe(ProjectFiles(contents, frozenset(names))) == expected


def test_cmake_and_meson_are_built_before_they_are_tested():
    found = probe(ProjectFiles({"CMakeLists.txt": "project(x)\nenable_testing()\nadd_test(NAME a COMMAND a)\n"}))
    assert found[T].startswith("cmake -S . -B build && cmake --build build && ctest")
    assert "test" in probe(ProjectFiles({"meson.build": "project('x', 'c')\ntest('a', exe)\n"}))[T]


def test_without_pytest_the_standard_library_runs_the_tests():
    files = ProjectFiles({}, frozenset({"tests/test_a.py"}), installed=lambda program: False)
    assert probe(files) == {T: "python3 -m unittest discover -s tests -t ."}


def planned(declared):
    return [(s.kind, s.origin, s.command) for s in plan_validation(declared, ProjectFiles({"Makefile": MAKEFILE}))]


def test_a_declared_command_wins_and_a_probe_fills_the_rest():
    assert planned({B: ["./build.sh"]}) == [(B, Origin.DECLARED, "./build.sh"), (T, Origin.PROBED, "make test")]
    assert planned({}) == [(B, Origin.PROBED, "make"), (T, Origin.PROBED, "make test")]


def test_a_declared_test_stands_for_its_build():
    assert planned({T: ["./ci"]}) == [(T, Origin.DECLARED, "./ci")]


def test_a_declared_command_the_model_runs_is_what_the_project_says():
    found = declared_kinds({T: ["cd sub &&  ./verify --all"], B: ["./verify --all"]})
    assert found["./verify --all"] == {CheckKind.TEST, CheckKind.BUILD}
    assert found["cd sub && ./verify --all"] == {CheckKind.TEST}


def test_modes_limit_what_is_planned():
    files = ProjectFiles({"Makefile": MAKEFILE})
    assert [step.command for step in plan_validation({T: ["./ci"]}, files, ValidationMode.DECLARED)] == ["./ci"]
    assert plan_validation({T: ["./ci"]}, files, ValidationMode.OFF) == ()


def step(command, origin=Origin.PROBED, kind=T):
    return ValidationStep(kind, origin, command)


CLASSIFIED = [
    (step("make test"), StepResult(0, "ok\n"), ValidationStatus.PASSED),
    (
        step("make test"),
        StepResult(2, "FAIL: ring_next(3, 4) = 4\nmake: *** [Makefile:6: test] Error 1"),
        ValidationStatus.FAILED,
    ),
    (step("false", Origin.DECLARED), StepResult(1, ""), ValidationStatus.FAILED),
    (
        step("no-such --all", Origin.DECLARED),
        StepResult(127, "bash: line 1: no-such: command not found"),
        ValidationStatus.NOT_RUN,
    ),
    (
        step("make test", Origin.DECLARED),
        StepResult(127, "./t.sh: line 2: frobnicate: command not found"),
        ValidationStatus.FAILED,
    ),
    (
        step("make test", Origin.DECLARED),
        StepResult(2, "sh: 1: pytest: not found\nmake: *** [test] Error 127"),
        ValidationStatus.FAILED,
    ),
    (
        step("make test"),
        StepResult(2, "sh: 1: pytest: not found\nmake: *** [test] Error 127"),
        ValidationStatus.NOT_RUN,
    ),
    (step("python3 -m pytest -q"), StepResult(1, "/usr/bin/python3: No module named pytest"), ValidationStatus.NOT_RUN),
    (step("python3 -m pytest -q"), StepResult(5, "no tests ran in 0.00s"), ValidationStatus.NOT_RUN),
    (step("python3 -m pytest -q"), StepResult(0, "=== 2 skipped in 0.01s ==="), ValidationStatus.NOT_RUN),
    (step("python3 -m pytest -q"), StepResult(1, "=== 1 failed, 2 passed in 0.01s ==="), ValidationStatus.FAILED),
    (
        step("python3 -m pytest -q"),
        StepResult(2, "E  ModuleNotFoundError: No module named 'requests'\n1 error in 0.10s"),
        ValidationStatus.NOT_RUN,
    ),
    (step("npm run test"), StepResult(1, "Error: Cannot find module './calc'"), ValidationStatus.FAILED),
    (step("cargo test"), StepResult(101, "error: failed to download `serde v1.0`"), ValidationStatus.NOT_RUN),
    (step("make", kind=B), StepResult(0, "usage: make html | clean\n"), ValidationStatus.NOT_RUN),
    (step("make test"), StepResult(None, "", timed_out=True), ValidationStatus.ERROR),
    (step("make test"), StepResult(None, "", stopped=True), ValidationStatus.ERROR),
    (step("make test"), StepResult(None, "", could_not_run="the network is off"), ValidationStatus.NOT_RUN),
    (step("make test"), StepResult(137, "Killed"), ValidationStatus.ERROR),
]


@pytest.mark.parametrize(("planned", "result", "status"), CLASSIFIED)
def test_a_step_is_classified_by_what_it_did(planned, result, status):
    assert classify(planned, result)[0] is status


def test_a_check_that_failed_against_its_own_status_fails_the_step():
    check = CheckResult(
        command="x", tool="x", kinds=(CheckKind.TEST,), scope=Scope.PROJECT, status=CheckStatus.FAILED,
        code=CheckCode.SUMMARY_CONTRADICTS, epoch=1, fingerprint="f",
    )  # fmt: skip
    assert classify(step("x"), StepResult(0, "1 failed", check=check))[0] is ValidationStatus.FAILED


LEDGER = EpochLedger().after([Change(path="a.c", kind="modified", before_sha256="0", after_sha256="1", delivered=True)])


def outcome(status, kind=T, origin=Origin.DECLARED, command="make test", epoch=None):
    fingerprint = LEDGER.fingerprint if epoch is None else "another"
    return ValidationOutcome(kind, origin, command, status, 1, LEDGER.epoch if epoch is None else epoch, fingerprint)


def passing(*kinds, scope=Scope.PROJECT, command="make test"):
    result = CheckResult(
        command=command, tool="make", kinds=kinds, scope=scope, status=CheckStatus.PASSED, code=CheckCode.EXIT_STATUS,
        epoch=LEDGER.epoch, fingerprint=LEDGER.fingerprint, exit_code=0,
    )  # fmt: skip
    return SeenCheck((1, 0), result)


def verdict(answer, *outcomes, checks=(), repair=Repair.NONE, declares=True):
    return judge(
        TurnEvidence(
            answer, ledger=LEDGER, checks=checks, validation=outcomes, project_declares=declares, repair=repair
        )
    )


def test_passed_validation_verifies():
    report = verdict("Fixed.", outcome(ValidationStatus.PASSED))
    assert report.verdict is Verdict.VERIFIED
    assert report.reasons[0].code is ReasonCode.VALIDATION_PASSED


def test_failed_validation_outweighs_other_passes():
    report = verdict("It builds.", outcome(ValidationStatus.FAILED), checks=(passing(CheckKind.BUILD),))
    assert report.verdict is Verdict.UNVERIFIED


def test_a_failure_of_an_earlier_state_does_not_stand():
    report = verdict("Fixed.", outcome(ValidationStatus.FAILED, epoch=0), outcome(ValidationStatus.PASSED))
    assert report.verdict is Verdict.VERIFIED


@pytest.mark.parametrize("status", [ValidationStatus.NOT_RUN, ValidationStatus.ERROR])
def test_a_declared_command_that_could_not_run_leaves_its_claims_unshown(status):
    tests = (passing(CheckKind.TEST),)
    report = verdict("The tests pass.", outcome(status), checks=tests)
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.VALIDATION_NOT_RUN in {reason.code for reason in report.reasons}
    built = (passing(CheckKind.BUILD, command="make"),)
    assert verdict("It builds.", outcome(status), checks=built).verdict is Verdict.VERIFIED


def test_a_probed_command_that_could_not_run_takes_nothing_away():
    probed = outcome(ValidationStatus.NOT_RUN, origin=Origin.PROBED)
    assert verdict("The tests pass.", probed, checks=(passing(CheckKind.TEST),)).verdict is Verdict.VERIFIED


def test_loose_compilation_is_not_the_projects_verification():
    loose = (passing(CheckKind.BUILD, scope=Scope.LOOSE, command="cc -c a.c"),)
    assert verdict("It compiles.", checks=loose, declares=True).verdict is Verdict.UNVERIFIED
    assert verdict("It compiles.", checks=loose, declares=False).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("repair", [Repair.STOPPED, Repair.CHANGED_NOTHING])
def test_a_repair_that_did_not_finish_is_unverified(repair):
    assert verdict("Fixed.", outcome(ValidationStatus.PASSED), repair=repair).verdict is Verdict.UNVERIFIED


def test_a_repair_whose_validation_could_not_run_is_unverified():
    built = (passing(CheckKind.BUILD),)
    report = verdict("It builds.", outcome(ValidationStatus.NOT_RUN), checks=built, repair=Repair.FINISHED)
    assert report.verdict is Verdict.UNVERIFIED
    assert verdict("Fixed.", outcome(ValidationStatus.PASSED), repair=Repair.FINISHED).verdict is Verdict.VERIFIED


def test_the_one_repair_is_offered_only_to_a_failure_of_a_turn_that_may_repair():
    failed = [outcome(ValidationStatus.FAILED)]
    assert may_repair(failed, stop=Stop.ANSWERED, read_only=False, mixed=False)
    assert not may_repair([outcome(ValidationStatus.NOT_RUN)], stop=Stop.ANSWERED, read_only=False, mixed=False)
    assert not may_repair(failed, stop=Stop.ANSWERED, read_only=True, mixed=False)
    assert not may_repair(failed, stop=Stop.ANSWERED, read_only=False, mixed=True)
    assert not may_repair(failed, stop=Stop.ANSWERED, read_only=False, mixed=False, already=Repair.FINISHED)
    for stop in set(Stop) - {Stop.ANSWERED}:
        assert not may_repair(failed, stop=stop, read_only=False, mixed=False)


def test_the_repair_message_says_what_ran_and_bounds_its_output():
    failed = outcome(ValidationStatus.FAILED)
    text = repair_message(
        [failed, outcome(ValidationStatus.PASSED, command="make")], {"make test": "x" * 50_000 + "FAIL: 3"}
    )
    for needed in ("make test", "declared", "test", "exit status: 1", "epoch: 1", "FAIL: 3"):
        assert needed in text
    assert len(text) < 8_000
    assert "command: make\n" not in text
