"""Whole turns whose answers name values, qualities and lists of checks: each needs a check that shows it (spec 3.4)."""

from __future__ import annotations

import pytest

from tests.turns.conftest import FIX, Tree, sh

ASK = "Rework the counter in this tree thoroughly."
OFF = ("--validation", "off")
FIXED = "I fixed the comparison. "


def verdict(tree: Tree, *steps, answer: str):
    """The verdict and the codes of a turn that makes the fix, takes these steps and answers."""
    turn = tree.turn(ASK, FIX, *steps, FIXED + answer, flags=OFF)
    return turn.verdict, set(turn.codes)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("`counter_step(4, 4)` returns 0.", ("VERIFIED", {"check_passed"})),
        ("`make test` prints `ok`.", ("VERIFIED", {"check_passed"})),
        ("`counter_step(4, 4)` returns 5 now.", ("UNVERIFIED", {"value_not_seen"})),
        ("Running `./build/test_counter` prints `hello`.", ("UNVERIFIED", {"value_not_seen"})),
        ("Le programme affiche 42.", ("UNVERIFIED", {"value_not_seen"})),
        ("valgrind reports no leaks.", ("UNVERIFIED", {"quality_not_shown"})),
        ("The tests pass and CI is green.", ("UNVERIFIED", {"quality_not_shown"})),
        ("Build, tests and lint all pass.", ("UNVERIFIED", {"claim_not_shown"})),
        ("I left the CI workflow and the benchmarks alone; the tests pass.", ("VERIFIED", {"check_passed"})),
    ],
)
def test_after_the_tests_passed(counter, answer, expected):
    assert verdict(counter, sh("make test"), answer=answer) == expected


def test_a_value_that_the_command_itself_printed_is_none_of_the_check_s(counter):
    assert verdict(counter, sh("echo 42; make test"), answer="The program prints 42.")[0] == "UNVERIFIED"


def test_what_a_run_printed_shows_a_value_that_stands_in_no_file(counter):
    counter.write("say.py", "print(6 * 7)\n")
    run = sh("make test && python3 say.py")
    assert verdict(counter, run, answer="The script prints 42.")[0] == "VERIFIED"


def test_no_warnings_where_the_build_printed_none(counter):
    assert verdict(counter, sh("make all"), answer="It builds without warnings.")[0] == "VERIFIED"


@pytest.mark.parametrize("command", ["make all", "make all; make all", "make all 2>/dev/null"])
def test_no_warnings_where_it_printed_one_or_nobody_saw(counter, command):
    counter.write("tests/test_counter.c", counter.read("tests/test_counter.c").replace("int got", "int unused, got"))
    state, codes = verdict(counter, sh(command), answer="There are no compiler warnings.")
    assert state == "UNVERIFIED"
    assert codes & {"complaint_seen", "quality_not_shown"}


def test_a_warning_does_not_speak_against_a_build(counter):
    counter.write("tests/test_counter.c", counter.read("tests/test_counter.c").replace("int got", "int unused, got"))
    assert verdict(counter, sh("make all"), answer="It builds.")[0] == "VERIFIED"


def test_sanitizers_that_the_makefile_switches_on(counter):
    counter.write("Makefile", counter.read("Makefile").replace("-Wall", "-Wall -fsanitize=undefined"))
    assert verdict(counter, sh("make test"), answer="The sanitizers find nothing.")[0] == "VERIFIED"


def test_the_project_s_own_validation_shows_values(counter):
    turn = counter.turn(ASK, FIX, FIXED + "`make test` prints `ok`.")
    assert turn.verdict == "VERIFIED"
    turn = counter.turn(
        ASK,
        ("write_file", {"path": "src/counter.c", "content": counter.read("src/counter.c") + "\n"}),
        FIXED + "`make test` prints `hello`.",
    )
    assert turn.verdict == "UNVERIFIED"
    assert "value_not_seen" in turn.codes


def test_no_record_holds_what_was_printed_or_what_a_file_says(counter):
    counter.write(
        "tests/test_counter.c", counter.read("tests/test_counter.c").replace('"ok\\n"', '"UNIQUE-OUTPUT-31337\\n"')
    )
    assert verdict(counter, sh("make test"), answer="`make test` prints `UNIQUE-OUTPUT-31337`.")[0] == "VERIFIED"
    records = [
        path for path in counter.state.rglob("*.jsonl") if "evidence" in path.name or "tool-actions" in path.name
    ]
    assert records
    assert not any(b"UNIQUE-OUTPUT-31337" in path.read_bytes() for path in records)
