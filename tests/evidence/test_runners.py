"""Summaries as runners really print them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.evidence.runners.output import (
    could_not_start,
    numbers_seen,
    prints_help,
    read_summaries,
    reports_failure,
    together,
)

# text, (runner, passed, failed + errors, skipped)
SUMMARIES = [
    ("===== 3 passed, 1 skipped in 0.12s =====", ("pytest", 3, 0, 1)),
    ("3 passed in 0.01s", ("pytest", 3, 0, 0)),
    ("=== 1 failed, 2 passed, 1 error, 1 warning in 61.20s (0:01:01) ===", ("pytest", 2, 2, 0)),
    ("==== 4 deselected in 0.02s ====", ("pytest", 0, 0, 4)),
    ("=== no tests ran in 0.00s ===", ("pytest", 0, 0, 0)),
    ("2 skipped in 0.01s", ("pytest", 0, 0, 2)),
    ("========== 12 tests collected in 0.01s ==========", ("pytest", 0, 0, 0)),
    ("1/3 tests collected (2 deselected) in 0.01s", ("pytest", 0, 0, 0)),
    ("Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 passed, 2 total\n", ("jest", 2, 1, 0)),
    (" Test Files  1 failed | 1 passed (2)\n      Tests  1 passed (1)\n", ("vitest", 1, 1, 0)),
    (" Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n", ("vitest", 1, 1, 0)),
    ("No tests defined.", ("none", 0, 0, 0)),
    ("There are no tests to run", ("none", 0, 0, 0)),
    ("[info] No tests to run for Test / test", ("none", 0, 0, 0)),
    ("No test is available in /x/y.dll. Make sure that", ("none", 0, 0, 0)),
    ("Ran 3 tests in 0.001s\n\nOK", ("unittest", 3, 0, 0)),
    ("Ran 3 tests in 0.001s\n\nOK (skipped=3)", ("unittest", 0, 0, 3)),
    ("Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)", ("unittest", 1, 2, 0)),
    ("Ran 0 tests in 0.000s\n\nOK", ("unittest", 0, 0, 0)),
    ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", ("unittest", 0, 0, 0)),
    ("Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n", ("jest", 2, 1, 0)),
    ("Tests:       2 skipped, 2 total", ("jest", 0, 0, 2)),
    ("No tests found, exiting with code 0", ("jest", 0, 0, 0)),
    (" Test Files  1 passed (1)\n      Tests  3 passed (3)\n", ("vitest", 3, 0, 0)),
    ("      Tests  1 failed | 2 passed | 1 skipped (4)", ("vitest", 2, 1, 1)),
    ("  3 passing (12ms)\n  1 pending\n", ("mocha", 3, 0, 1)),
    ("  2 passing (1s)\n  1 failing\n", ("mocha", 2, 1, 0)),
    ("  0 passing (0ms)\n", ("mocha", 0, 0, 0)),
    (
        "ℹ tests 2\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 50",
        ("node --test", 1, 1, 0),
    ),
    (
        "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ("cargo test", 5, 0, 1),
    ),
    ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out", ("cargo test", 1, 2, 0)),
    (
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out",
        ("cargo test", 0, 0, 4),
    ),
    ("ok  \texample.org/a\t0.012s\nok  \texample.org/b\t(cached)\n", ("go test", 2, 0, 0)),
    ("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.org/a\t0.003s\nFAIL", ("go test", 0, 1, 0)),
    ("?   \texample.org/a\t[no test files]", ("go test", 0, 0, 0)),
    ("ok  \texample.org/a\t0.003s [no tests to run]", ("go test", 0, 0, 0)),
    ("100% tests passed, 0 tests failed out of 4", ("ctest", 4, 0, 0)),
    ("75% tests passed, 1 tests failed out of 4", ("ctest", 3, 1, 0)),
    ("No tests were found!!!", ("ctest", 0, 0, 0)),
    ("Ok:                 3   \nFail:               1   \nSkipped:            1   \n", ("meson test", 3, 1, 1)),
    (
        "Ok:                 2\nExpected Fail:      0\nFail:               0\n"
        "Unexpected Pass:    0\nSkipped:            0\nTimeout:            1\n",
        ("meson test", 2, 1, 0),
    ),
    ("[==========] 3 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 3 tests.", ("gtest", 3, 0, 0)),
    (
        "[==========] 3 tests from 1 test suite ran. (0 ms total)\n"
        "[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:",
        ("gtest", 2, 1, 0),
    ),
    ("All tests passed (8 assertions in 3 test cases)", ("catch2", 3, 0, 0)),
    ("1..3\nok 1\nnot ok 2 - x\nok 3 # skip no\n", ("tap", 1, 1, 1)),
    ("1..3\nok 1\nok 2\n", ("tap", 2, 1, 0)),
    ("1..0 # no tests", ("tap", 0, 0, 0)),
    (
        "t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=4,  0 wallclock secs ( 0.02 usr)\nResult: PASS",
        ("prove", 4, 0, 0),
    ),
    ("Files=1, Tests=4,  0 wallclock secs\nResult: FAIL", ("prove", 0, 1, 0)),
    ("# TOTAL: 3\n# PASS:  2\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0", ("automake", 2, 1, 0)),
    ("[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1", ("maven surefire", 4, 0, 1)),
    ("[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 0", ("maven surefire", 3, 2, 0)),
    ("[INFO] No tests to run.", ("maven surefire", 0, 0, 0)),
    ("10 tests completed, 2 failed, 1 skipped", ("gradle", 7, 2, 1)),
    ("Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 5 ms", ("dotnet test", 3, 0, 0)),
    ('<testsuite name="x" tests="4" failures="1" errors="0" skipped="1">', ("junit", 2, 1, 1)),
    ("3 examples, 0 failures", ("rspec", 3, 0, 0)),
    ("3 examples, 1 failure, 1 pending", ("rspec", 1, 1, 1)),
    ("0 examples, 0 failures, 1 error occurred outside of examples", ("rspec", 0, 1, 0)),
    ("5 runs, 9 assertions, 1 failures, 0 errors, 2 skips", ("minitest", 2, 1, 2)),
    ("OK (4 tests, 9 assertions)", ("phpunit", 4, 0, 0)),
    ("Tests: 4, Assertions: 9, Failures: 1, Skipped: 1.", ("phpunit", 2, 1, 1)),
    ("No tests executed!", ("phpunit", 0, 0, 0)),
    ("3 tests, 0 failures", ("exunit", 3, 0, 0)),
    ("2 doctests, 3 tests, 1 failure, 1 excluded", ("exunit", 1, 1, 1)),
    ("  All 7 tests passed.", ("eunit", 7, 0, 0)),
]


@pytest.mark.parametrize(("text", "expected"), SUMMARIES)
def test_a_summary_is_read(text, expected):
    summary = together(read_summaries(f"some output\n{text}\n"))
    assert summary is not None
    assert (summary.runner, summary.passed, summary.failed + summary.errors, summary.skipped) == expected
    assert summary.nothing == (expected[1] == 0 and expected[2] == 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3 passed",
        "ok",
        "all good",
        "make: Nothing to be done for 'all'.",
        "the 3 tests passed in 1s last week",
        "Ran 3 tests",
        "1..3",
    ],
)
def test_what_is_no_summary_is_none(text):
    assert read_summaries(text) == ()


def test_several_binaries_are_one_run():
    line = "test result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    summary = together(read_summaries(line.format(2) + line.format(0) + line.format(3)))
    assert (summary.passed, summary.nothing) == (5, False)


def test_the_real_runners_print_what_is_read(tmp_path):
    (tmp_path / "test_x.py").write_text("import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n")
    for module, runner in (("unittest", "unittest"), ("pytest", "pytest")):
        done = subprocess.run(
            [sys.executable, "-m", module, "-p", "no:cacheprovider"]
            if module == "pytest"
            else [sys.executable, "-m", module],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        (summary,) = read_summaries(done.stdout + done.stderr)
        assert (summary.runner, summary.passed, summary.failed) == (runner, 1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "usage: make html | clean",
        "Sphinx v7.2.6\nPlease use `make target' where target is one of",
        "Please use `make <target>' where <target> is one of\n  html",
        "Available targets:\n  all",
    ],
)
def test_help_is_told_from_work(text):
    assert prints_help(text)
    assert not prints_help("cc -o x x.c\nusage: none")


@pytest.mark.parametrize(
    "text",
    [
        "sh: 1: pytest: not found\nmake: *** [Makefile:2: test] Error 127",
        "bash: line 1: cd: nowhere: No such file or directory",
        "/usr/bin/python3: No module named pytest",
        "make: *** No rule to make target 'test'.  Stop.",
        "make: *** No targets specified and no makefile found.  Stop.",
        'npm error Missing script: "test"',
        "error: could not find `Cargo.toml` in `/x` or any parent directory",
    ],
)
def test_what_never_began_is_known(text):
    assert could_not_start(text)


def test_a_missing_source_file_is_a_failure_of_the_build():
    assert not could_not_start("make: *** No rule to make target 'src/x.c', needed by 'x.o'.  Stop.")


def test_counts_are_seen_in_any_form():
    assert set(numbers_seen("12 tests ok, 3/4 passed\npassed: 7")) >= {12, 3, 7}


@given(st.text(max_size=400))
def test_any_output_can_be_read(text):
    for summary in read_summaries(text):
        assert min(summary.passed, summary.failed, summary.errors, summary.skipped) >= 0
    prints_help(text)
    could_not_start(text)


FAILURES = ["FAIL: add(1, 2) = 4", "  FAILED test_a", "1 failed, 2 passed", "Traceback (most recent call last):", "not ok 2 - add",
            "AssertionError: 3 != 4", "a.out: t.c:3: main: Assertion `x == 1' failed.", "Some tests failed", "failures: 2", "FAIL"]  # fmt: skip
NONE = ["# FAIL:  0", "FAIL: 0", "0 failed", "no failures", "failed attempts: 0", "ok", "XFAIL: known", "PASS", "fail-safe mode on",
        "checks that 1 of them may be failed over"]  # fmt: skip


@pytest.mark.parametrize("line", FAILURES)
def test_a_program_that_prints_its_failures_shows_no_pass(line):
    assert reports_failure(f"running\n{line}\ndone\n", tests=True)


@pytest.mark.parametrize("line", NONE)
def test_what_prints_no_failure_is_left_alone(line):
    assert not reports_failure(f"running\n{line}\ndone\n", tests=True)


def test_what_is_no_test_may_count_failures_of_its_own():
    assert not reports_failure("3 failed logins\n", tests=False)
    assert reports_failure("FAIL: x\n", tests=False)
