"""Commands that rewrite many files at once in a confined turn: what is in scope stays, the rest is said and dropped."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from spear.agent.host import Outcome

UNTIDY = "x  =  1\n"
TIDY = "x = 1\n"


@pytest.fixture
def python_tree(bench, monkeypatch):
    """A package with files nobody has formatted, and the formatter of this environment on the PATH."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for path in ("ring.py", "uart.py", "tests/test_ring.py", "docs/conf.py"):
        bench.put(path, UNTIDY)
    bench.put("gen.py", f"# DO NOT EDIT\n{UNTIDY}")
    bench.repository()
    return bench


def test_a_formatter_over_the_tree_keeps_what_is_in_scope_and_names_the_rest(python_tree):
    turn = python_tree.turn("ring.py")
    result = turn.run("ruff format --no-cache . && echo formatted")
    assert "formatted" in result.text
    assert "exit 0" in result.text
    assert python_tree.text("ring.py") == TIDY
    assert python_tree.text("tests/test_ring.py") == TIDY
    assert python_tree.text("uart.py") == python_tree.text("docs/conf.py") == UNTIDY
    assert result.outcome is Outcome.REFUSED
    for path in ("uart.py", "docs/conf.py", "gen.py"):
        assert f"refused: {path}" in result.text
    assert {change.path for change in turn.record.changes} == {"ring.py", "tests/test_ring.py"}


def test_a_formatter_after_every_edit_does_not_stall_a_turn_that_goes_on(python_tree):
    turn = python_tree.turn("ring.py")
    for number in range(7):
        turn.read("ring.py")
        assert turn.write("ring.py", f"x  =  {number}\n").outcome is Outcome.OK
        assert "refused: uart.py" in turn.run("ruff format --no-cache .").text
        assert turn.after.stop is None
    for _ in range(4):  # and now it only repeats itself
        turn.run("ruff format --no-cache .")
    assert turn.after.stop is not None
    assert turn.after.stop[0] == "stalled_refusals"


def test_a_formatter_with_nothing_to_do_elsewhere_is_not_told_of_anything(python_tree):
    for path in ("uart.py", "docs/conf.py", "gen.py"):
        python_tree.put(path, TIDY)
    result = python_tree.turn("ring.py").run("ruff format --no-cache .")
    assert result.outcome is Outcome.OK, result.text
    assert python_tree.text("ring.py") == TIDY


def test_a_generated_file_among_many_does_not_stop_the_others(python_tree):
    result = python_tree.turn().run("sed -i 's/  =  / = /' *.py")
    assert "refused: gen.py" in result.text
    assert python_tree.text("ring.py") == python_tree.text("uart.py") == TIDY
    assert UNTIDY in python_tree.text("gen.py")


def test_an_edit_that_finds_nothing_in_the_other_files_is_no_change_of_them(ring):
    turn = ring.turn("src/ring.c")
    result = turn.run("sed -i 's/ring_next/ring_step/' src/*.c && cat src/ring.c")
    assert "ring_step" in ring.text("src/ring.c")
    assert result.outcome is Outcome.OK, result.text


def test_a_file_may_become_a_directory_in_one_command(bench):
    bench.put("a.txt", "x\n")
    result = bench.turn().run("rm a.txt; mkdir a.txt; echo y > a.txt/q")
    assert result.outcome is Outcome.OK, result.text
    assert bench.text("a.txt/q") == "y\n"


def test_a_file_that_only_passes_through_the_tree_is_no_write_and_one_that_stays_is(ring):
    turn = ring.turn("src/ring.c")
    through = turn.run("sed 's/index/at/g' src/ring.c > src/ring.new && mv src/ring.new src/ring.c")
    assert through.outcome is Outcome.OK, through.text
    assert "int at" in ring.text("src/ring.c")
    stays = turn.run("cp src/ring.c src/copy.c; false && rm src/copy.c")
    assert "refused: src/copy.c" in stays.text
    assert not (ring.root / "src/copy.c").exists()
