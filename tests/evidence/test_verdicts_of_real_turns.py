"""Verdicts of turns whose commands really ran: the ring project, bash, make and cc."""

from __future__ import annotations

import pytest

from spear.events.names import Verdict
from spear.evidence.assess import CommandFacts, assess_command
from spear.evidence.kinds import CheckKind, CheckStatus
from spear.evidence.marking import MARK, mark
from spear.evidence.reasons import ReasonCode


def codes(report):
    return {reason.code for reason in report.reasons}


def test_an_edit_after_the_check_is_unverified_and_named_at_the_top(fixed):
    fixed.run("make test")
    fixed.edit("src/ring.c", "    return index;", "    return index; /* wrapped */")
    answer = "It wraps at size and the tests pass."
    report = fixed.verdict(answer)
    shown = mark(answer, report)
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.CHANGED_AFTER_CHECK in codes(report)
    assert shown.startswith("**UNVERIFIED**")
    assert MARK in shown
    assert "src/ring.c" in shown.split("\n")[0]


def test_a_change_undone_within_the_turn_is_no_change(fixed):
    fixed.edit("src/ring.c", "index >= size", "index > size")
    report = fixed.verdict("I put it back.")
    assert report.verdict is Verdict.NO_CHANGE
    assert codes(report) == {ReasonCode.CHANGED_BACK}


def test_a_turn_that_changes_nothing_is_no_change(ring):
    ring.run("make -n")
    assert ring.verdict("Nothing to change.").verdict is Verdict.NO_CHANGE


PROVE_NOTHING = [
    "make test &",
    "nohup make test >/dev/null 2>&1 &",
    "nohup make test",
    "make test || true",
    "make test | tail -3; true",
    "make test; true",
    "make -n test",
    "make test --dry-run",
    "make -kn test",
    "MAKEFLAGS=-n make test",
    "echo make test",
    "grep -c test Makefile",
    "make --version",
    "test -f Makefile",
    "cat tests/test_ring.c",
    "true",
    "! make nothing_here",
    "! make test",
    "make -i test",
    "echo $(make test)",
    "if make test; then echo yes; fi",
    "for target in test; do make $target; done",
    "t() { make test; }",
    "false && make test; true",
    "(make test) & wait",
    "make test & wait",
    "bash -c 'make test || true'",
    "bash -c 'make test &'",
    "bash -c 'make test | cat'",
    "(make test | cat)",
    "out=$(make test | cat)",
    "ls build; cat Makefile # make test",
    "cat <<'X'\nmake test\nX",
    "docker run --rm x make test",
    "make test >/dev/null; echo 'test passed'",
    "python3 -c 'print(\"=== 3 passed in 0.10s ===\")'",
    "make test | true; echo '1 passed in 0.10s'",
]


@pytest.mark.parametrize("command", PROVE_NOTHING)
def test_these_prove_nothing(fixed, command):
    check = fixed.run(command)
    assert fixed.verdict("Changed the comparison.").verdict is Verdict.UNVERIFIED, check
    assert check is None or not any(
        result.status is CheckStatus.PASSED and set(result.kinds) - {CheckKind.INSPECT} for result in check.results
    )


DO_COUNT = [
    "make test",
    "make test 2>&1 | tail -5",
    "cd tests && make -C .. test",
    "make -C tests/.. test",
    "env CC=cc make test",
    "timeout 60 make test",
    "bash -c 'make test'",
    'bash -c "cd tests && make -C .. test"',
    "make clean && make test",
    "make clean all test",
    "make all && ./build/test_ring",
    "set -e; make all; make test",
    "set -euo pipefail\nmake all\nmake test | tail -2",
    "make -j2 test",
    "nice -n 5 make test",
    "time make test",
    "{ make test; }",
    "(make test)",
    "t() { make test; }; t",
    "out=$(make test)",
    "make test || exit 1",
    "make test || { echo broken; exit 1; }",
    "make test; exit $?",
    "make test; rc=$?; echo done; exit $rc",
    'make test; echo "status: $?"',
    'make test | tail -3; echo "${PIPESTATUS[0]}"',
    "if make test; then echo yes; else exit 1; fi",
    "cd tests; make -C .. test",
    "set -o pipefail; make test | cat",
    "eval 'make test'",
    "sh <<'X'\nmake test\nX",
    "make test >/dev/null 2>&1",
    "cc -Isrc -o /tmp/spear_test_ring src/ring.c tests/test_ring.c && /tmp/spear_test_ring",
]


@pytest.mark.parametrize("command", DO_COUNT)
def test_these_do_count(fixed, command):
    check = fixed.run(command)
    assert fixed.verdict("The tests pass.").verdict is Verdict.VERIFIED, check


FAILURES = [
    "make test",
    "make test 2>&1 | tail -5",
    "make all && make test",
    "set -e; make all; make test",
    'make test; echo "status: $?"',
    "make test || exit 3",
    "make test | tail -1; exit ${PIPESTATUS[0]}",
    "bash -c 'make test'",
    "make test; exit $?",
    "make test || true",
    "make test | cat; true",
    "ls /nowhere; make test; true",
    "grep -q ring src/ring.c && make test",
]


@pytest.mark.parametrize("command", FAILURES)
def test_a_failure_is_a_failure_however_it_is_wrapped(broken, command):
    check = broken.run(command)
    broken.run("make all")
    report = broken.verdict("It builds.")
    assert report.verdict is Verdict.UNVERIFIED, check
    assert ReasonCode.CHECK_FAILED in codes(report), check


def test_a_build_is_not_a_test(fixed):
    fixed.run("make all")
    assert fixed.verdict("It builds and the tests pass.").verdict is Verdict.UNVERIFIED
    assert fixed.verdict("It builds.").verdict is Verdict.VERIFIED


def test_a_test_target_that_compiles_first_shows_the_build_too(fixed):
    fixed.run("make test")
    assert fixed.verdict("It builds and the tests pass.").verdict is Verdict.VERIFIED


def test_a_test_target_that_compiles_nothing_does_not_show_a_build(project):
    project.setup("Makefile", "test:\n\tpython3 -m unittest\n")
    project.setup("test_x.py", "import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n")
    project.edit("x.py", "", "x = 1\n")
    project.run("make test")
    assert project.verdict("The tests pass.").verdict is Verdict.VERIFIED
    assert project.verdict("It builds.").verdict is Verdict.UNVERIFIED


def test_a_failed_check_is_not_outvoted(broken):
    broken.run("make all")
    broken.run("make test")
    report = broken.verdict("It builds.")
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.CHECK_FAILED in codes(report)


def test_a_failure_is_answered_by_the_same_check_passing_later_on_the_same_state(ring):
    ring.setup(
        "tests/flaky.sh", "#!/bin/sh\n[ -e build/second ] || { mkdir -p build; : > build/second; exit 1; }\n", 0o755
    )
    ring.edit("src/ring.c", "index > size", "index >= size")
    ring.run("./tests/flaky.sh")
    assert ring.verdict("Changed.").verdict is Verdict.UNVERIFIED
    ring.run("make test")
    assert ring.verdict("Changed.").verdict is Verdict.UNVERIFIED
    ring.run("./tests/flaky.sh")
    assert ring.verdict("Changed.").verdict is Verdict.VERIFIED


def test_a_pass_before_the_failure_does_not_answer_it(ring):
    script = "#!/bin/sh\n[ ! -e build/once ] && mkdir -p build && : > build/once\n"
    ring.setup("tests/flaky.sh", script, 0o755)
    ring.edit("src/ring.c", "index > size", "index >= size")
    passed, failed = ring.run("./tests/flaky.sh"), ring.run("./tests/flaky.sh")
    assert [check.results[0].status for check in (passed, failed)] == [CheckStatus.PASSED, CheckStatus.FAILED]
    assert ring.verdict("Changed.").verdict is Verdict.UNVERIFIED


def test_numbers_nobody_saw_are_not_shown(fixed):
    assert fixed.verdict("All 12 tests pass.").verdict is Verdict.UNVERIFIED
    fixed.run("make test")
    report = fixed.verdict("All 12 tests pass.")
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.NUMBER_NOT_SEEN in codes(report)


def test_numbers_a_summary_shows_are(project):
    project.setup(
        "test_x.py",
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n",
    )
    project.edit("x.py", "", "x = 1\n")
    project.run("python3 -m unittest")
    assert project.verdict("Both tests pass: 2 passed.").verdict is Verdict.VERIFIED
    assert project.verdict("All 3 tests pass.").verdict is Verdict.UNVERIFIED


def test_zero_tests_are_no_test(project):
    project.setup("test_calc.py", "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    project.edit("calc.py", "", "def add(a, b):\n    return a + b\n")
    project.run("python3 -m unittest discover -s nothing 2>&1; python3 -m unittest -k zzz")
    assert project.verdict("The tests pass.").verdict is Verdict.UNVERIFIED


def test_zero_tests_behind_a_lost_status_are_none_either(project):
    project.setup("test_x.py", "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n")
    project.edit("x.py", "", "x = 1\n")
    project.run("python3 -m unittest -k zzz; true")
    assert project.verdict("The tests pass.").verdict is Verdict.UNVERIFIED
    project.run("python3 -m unittest; true")
    assert project.verdict("The tests pass.").verdict is Verdict.VERIFIED


def test_a_makefile_that_prints_help_builds_nothing(project):
    project.setup("Makefile", "help:\n\t@echo 'usage: make html | clean'\nhtml:\n\t@echo building\n")
    project.edit("a.py", "", "x = 2\n")
    project.run("make")
    assert project.verdict("It builds.").verdict is Verdict.UNVERIFIED


def test_a_sphinx_makefile_that_prints_help_builds_nothing_either(project):
    project.setup(
        "Makefile", "help:\n\t@python3 -c \"print('Please use `make <target>\\' where <target> is one of')\"\n"
    )
    project.edit("a.py", "", "x = 2\n")
    project.run("make")
    assert project.verdict("It builds.").verdict is Verdict.UNVERIFIED


def test_build_outputs_open_no_epoch(fixed):
    fixed.run("make all")
    fixed.run("make test")
    assert fixed.ledger.epoch == 1
    assert fixed.verdict("The tests pass.").verdict is Verdict.VERIFIED


def test_an_up_to_date_build_on_the_final_state_shows_that_it_builds(fixed):
    fixed.run("make all >/dev/null; true")
    fixed.run("make all")
    assert fixed.verdict("It builds.").verdict is Verdict.VERIFIED


def test_a_check_on_an_equal_state_counts_for_it(fixed):
    fixed.run("make test")
    fixed.edit("src/ring.c", ">=", ">")
    fixed.edit("src/ring.c", "index > size", "index >= size")
    assert fixed.ledger.epoch == 3
    assert fixed.verdict("The tests pass.").verdict is Verdict.VERIFIED


def test_a_change_made_by_the_command_before_its_check_counts(ring):
    check = ring.run("sed -i 's/index > size/index >= size/' src/ring.c && make test")
    assert ring.verdict("The tests pass.").verdict is Verdict.VERIFIED, check


@pytest.mark.parametrize(
    "command",
    [
        "make test; sed -i 's/index > size/index >= size/' src/ring.c",
        "make all && sed -i 's/index > size/index >= size/' src/ring.c && echo ok",
        "sed -i 's/index > size/index >= size/' src/ring.c & make all; wait",
        "make all && echo '/* x */' >> src/ring.c",
    ],
)
def test_a_change_after_or_beside_the_check_leaves_it_inconclusive(ring, command):
    check = ring.run(command)
    assert ring.verdict("It builds.").verdict is Verdict.UNVERIFIED, check


def test_a_check_that_changes_source_itself_is_inconclusive(ring):
    ring.setup("tests/run.sh", "#!/bin/sh\necho '/* x */' >> src/ring.c\n", 0o755)
    ring.run("./tests/run.sh")
    assert ring.verdict("The tests pass.").verdict is Verdict.UNVERIFIED


def test_a_clean_rebuild_needs_clean_build_and_a_look_in_that_order(fixed):
    answer = "It survives a clean rebuild."
    fixed.run("make all")
    fixed.run("make clean")
    assert fixed.verdict(answer).verdict is Verdict.UNVERIFIED
    fixed.run("make all")
    assert fixed.verdict(answer).verdict is Verdict.UNVERIFIED
    fixed.run("ls -l build/test_ring")
    assert fixed.verdict(answer).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    "commands",
    [
        ("make all", "ls -l build/test_ring", "make clean"),
        ("make clean", "ls -l", "make all"),
        ("make all", "make clean", "ls -l"),
        ("make all", "ls -l build"),
    ],
)
def test_a_clean_rebuild_in_another_order_is_not_shown(fixed, commands):
    for command in commands:
        fixed.run(command)
    report = fixed.verdict("It survives a clean rebuild.")
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.REBUILD_NOT_SHOWN in codes(report)


def test_documentation_is_verified_only_by_what_reads_it(ring):
    ring.edit("README.md", "", "# Ring\n")
    ring.run("make clean all")
    report = ring.verdict("I wrote the page.")
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.NOTHING_READS in codes(report)


@pytest.mark.parametrize(
    ("commands", "verdict"),
    [
        (["make test"], Verdict.UNVERIFIED),
        (["cc -fsyntax-only -Isrc src/extra.c", "make test"], Verdict.VERIFIED),
        (["make test", "cc -fsyntax-only -Isrc src/extra.c"], Verdict.VERIFIED),
    ],
)
def test_a_source_outside_the_build_is_read_by_what_compiles_it(fixed, commands, verdict):
    fixed.edit("src/extra.c", "", "int extra(void) { return 1; }\n")
    for command in commands:
        fixed.run(command)
    report = fixed.verdict("I added it. The tests pass.", project_declares=True)
    assert report.verdict is verdict, report.reasons
    assert (ReasonCode.NOTHING_READS in codes(report)) is (verdict is Verdict.UNVERIFIED)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("python3 -m unittest tests/test_n.py > log 2>&1; python3 show.py", CheckStatus.INCONCLUSIVE),
        ("python3 -m unittest tests/test_n.py > log 2>&1; sort results.txt", CheckStatus.INCONCLUSIVE),
        ("python3 -m unittest tests/test_n.py 2> log; cat log", CheckStatus.FAILED),
        ("python3 -m unittest tests/test_n.py > log 2>&1; cat log", CheckStatus.FAILED),
    ],
)
def test_a_summary_is_no_checks_whose_output_went_elsewhere(fixed, command, status):
    fixed.setup("tests/test_n.py", "import unittest\nclass T(unittest.TestCase):\n    def test_n(self): self.fail()\n")
    fixed.setup("results.txt", "Ran 12 tests in 0.001s\n\nOK\n")
    fixed.setup("show.py", "print(open('results.txt').read())\n")
    results = fixed.run(command).results
    assert results[0].status is status, results


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("No tests found, exiting with code 1", CheckStatus.INCONCLUSIVE),
        ("Tests:       1 failed, 1 total", CheckStatus.FAILED),
        ("Tests:       1 skipped, 1 total", CheckStatus.FAILED),
        ("something broke", CheckStatus.FAILED),
    ],
)
def test_a_runner_that_found_no_test_has_not_failed(fixed, said, status):
    fixed.setup("tests/run.sh", f"echo '{said}'\nexit 1\n")
    (result,) = fixed.run("sh tests/run.sh").results
    assert result.status is status, result


def test_a_timeout_proves_nothing_either_way(fixed):
    fixed.setup("tests/slow.sh", "#!/bin/sh\nexec sleep 20\n", 0o755)
    check = fixed.run("./tests/slow.sh", timeout=0.3)
    assert check.results[0].status is CheckStatus.INCONCLUSIVE
    check = fixed.run("timeout 0.2 ./tests/slow.sh")
    assert check.results[0].status is CheckStatus.INCONCLUSIVE


def test_a_crash_of_a_test_program_is_a_failure(fixed):
    fixed.setup("tests/crash.sh", "#!/bin/sh\nkill -SEGV $$\n", 0o755)
    check = fixed.run("./tests/crash.sh")
    assert check.results[0].status is CheckStatus.FAILED


def test_a_look_that_finds_nothing_is_no_failure(fixed):
    fixed.run("make test")
    fixed.run("ls no_such_file; test -f nothing")
    assert fixed.verdict("The tests pass.").verdict is Verdict.VERIFIED


def test_a_failed_clean_is_no_failure_of_the_source(broken):
    broken.run("make clean && make test")
    broken.edit("src/ring.c", "size + 1", "size + 2")
    check = broken.run("make clean && make test")
    assert {result.status for result in check.results} == {CheckStatus.FAILED}
    assert "`make clean`" not in "".join(reason.text for reason in broken.verdict("Changed.").reasons)


def test_a_directory_that_is_not_there_proves_nothing(fixed):
    check = fixed.run("cd nowhere && make test")
    assert check.results[0].status is CheckStatus.INCONCLUSIVE


def test_a_failure_is_not_taken_for_a_missing_program_because_its_output_names_one(fixed):
    fixed.setup("tests/run.sh", "#!/bin/bash\nfrobnicate\nexit 3\n", 0o755)
    check = fixed.run("./tests/run.sh")
    assert check.results[0].status is CheckStatus.FAILED


def test_a_program_ended_by_its_own_signal_failed(parser, fixed):
    fixed.setup("tests/run.sh", "", 0o755)
    script = parser.parse("./tests/run.sh")
    for signal, status in ((11, CheckStatus.FAILED), (9, CheckStatus.INCONCLUSIVE)):
        facts = CommandFacts(None, "", signal=signal)
        check = assess_command(script, facts, fixed.facts(), fixed.ledger, fixed.ledger)
        assert check.results[0].status is status


def test_a_runner_that_is_not_there_proves_nothing(fixed):
    for command in ("no-such-pytest tests", "make no_such_target", "python3 -m pytest_missing_zz"):
        check = fixed.run(command)
        assert check is None or check.results[0].status is CheckStatus.INCONCLUSIVE, check


def test_a_summary_that_contradicts_the_status_is_a_failure(project):
    project.setup("scratch.py", "print('=== 2 failed, 1 passed in 0.10s ===')\n")
    project.edit("x.py", "", "x = 1\n")
    check = project.run("python3 scratch.py")
    assert check.results[0].status is CheckStatus.FAILED


def test_an_old_report_that_is_printed_is_not_a_run(fixed):
    fixed.setup("build/results.txt", "=== 3 passed in 0.10s ===\n")
    fixed.run("make test >/dev/null; cat build/results.txt")
    assert fixed.verdict("The tests pass.").verdict is Verdict.UNVERIFIED


def test_every_reason_names_what_it_speaks_of(broken):
    broken.run("make test")
    report = broken.verdict("The tests pass.")
    text = "\n".join(reason.text for reason in report.reasons)
    assert "`make test` failed" in text
    assert "src/ring.c" in text


@pytest.mark.parametrize(
    ("command", "answer", "verdict"),
    [
        ("python3 -m pytest -q -k zero", "Fixed; all tests pass.", Verdict.UNVERIFIED),
        ("python3 -m pytest -q test_calc.py::test_zero", "The full test suite passes.", Verdict.UNVERIFIED),
        ("python3 -m pytest -q -k zero", "Tous les tests passent.", Verdict.UNVERIFIED),
        ("python3 -m pytest -q -k zero", "The zero test passes.", Verdict.VERIFIED),
        ("python3 -m pytest -q test_calc.py", "All the tests pass.", Verdict.VERIFIED),
    ],
)
def test_a_picked_test_does_not_speak_of_all_of_them(ring, command, answer, verdict):
    ring.setup("test_calc.py", "from calc import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n")
    ring.edit("calc.py", "", "def add(a, b):\n    return a + b\n")
    ring.run(command)
    assert ring.verdict(answer).verdict is verdict
