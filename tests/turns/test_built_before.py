"""Whole turns over trees in which programs lie that were built before: a pass on an old one shows nothing, a pass on one
that is still what a build makes does."""

from __future__ import annotations

import subprocess

import pytest

from tests.turns.conftest import COUNTER_TEST, MAKEFILE, Tree, sh, write

ASK = "Rework the limits in this tree thoroughly."
OFF = ("--validation", "off")
LIMITS = "#define FIRST 0\n"
STEP = '#include "limits.h"\nint counter_step(int value, int limit)\n{\n    return value >= limit ? FIRST : value + 1;\n}\n'
BREAK = ("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 7"})
HARMLESS = ("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 00"})
KNOWS = MAKEFILE.replace("src/counter.c tests", "src/counter.c src/limits.h tests", 1)
PARTS = (
    "B = build\nTESTS = $(B)/test_counter $(B)/test_other\nall: $(B)/app\n$(B)/app: src/app.c src/counter.c src/limits.h\n"
    "\tcc -o $@ src/app.c src/counter.c\n$(B)/test_counter: src/counter.c tests/test_counter.c src/limits.h\n"
    "\tcc -o $@ src/counter.c tests/test_counter.c\n$(B)/test_other: tests/other.c\n\tcc -o $@ tests/other.c\n"
    "old:\n\t@for t in $(TESTS); do ./$$t || exit 1; done\nfresh: $(TESTS)\n\t@for t in $^; do ./$$t || exit 1; done\n"
    "test: old\n"
)
PERL = 'use Test::More tests => 1;\nis(system("./build/test_counter > /dev/null"), 0);\n'
RUN = '#!/bin/sh\nset -e\ncd "$(dirname "$0")/.."\n./build/test_counter\n'
ITSELF = '#!/bin/sh\nset -e\nt=$(mktemp -d)\n${CC:-cc} -o "$t/t" src/counter.c tests/test_counter.c\n"$t/t"\n'


@pytest.fixture
def limits(tree: Tree) -> Tree:
    """The counter with a header its makefile does not know, right and built."""
    tree.write("src/limits.h", LIMITS)
    tree.write("src/counter.c", STEP)
    tree.write("src/app.c", "int counter_step(int, int);\nint main(void) { return counter_step(4, 4); }\n")
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write("tests/other.c", "int main(void) { return 0; }\n")
    tree.write("Makefile", MAKEFILE)
    tree.write(".gitignore", "build/\n*.so\ndist/\n/app\n")
    tree.write("README.md", "A counter.\n")
    tree.write("t/counter.t", PERL)
    tree.write("tests/run.sh", RUN, 0o755)
    tree.write("tests/itself.sh", ITSELF, 0o755)
    tree.write("tools/say.py", "print('hello')\n")
    return tree


def built(tree: Tree, command: str = "make all") -> None:
    """The operator has built it before."""
    tree.git("init", "-q")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "start")
    subprocess.run(
        ["sh", "-ec", f"mkdir -p build; {command}"], cwd=tree.root, check=True, capture_output=True, timeout=60
    )


OLD = {
    "a header the makefile does not know": (MAKEFILE, "make all", [sh("make test")], ()),
    "the same, validated by the host": (MAKEFILE, "make all", [], ()),
    "a default that leaves the program out": (PARTS, "make all fresh", [sh("make && ./build/test_counter")], OFF),
    "tests that build nothing": (PARTS, "make all fresh", [sh("make old")], OFF),
    "the same after a build of something else": (PARTS, "make all fresh", [sh("make"), sh("make old")], ()),
    "a script": (MAKEFILE, "make all", [sh("tests/run.sh")], OFF),
    "prove": (MAKEFILE, "make all", [sh("prove t")], OFF),
    "a script of Python's": (MAKEFILE, "make all", [sh("python3 tools/say.py")], OFF),
    "make that builds nothing": (MAKEFILE, "make all", [sh("make")], OFF),
}  # fmt: skip


@pytest.mark.parametrize(("makefile", "before", "steps", "flags"), OLD.values(), ids=OLD)
def test_a_pass_on_what_was_built_before_shows_nothing(limits: Tree, makefile, before, steps, flags):
    limits.write("Makefile", makefile)
    built(limits, before)
    turn = limits.turn(ASK, BREAK, *steps, "I reworked the limits. The tests pass.", flags=flags)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
    assert "built before" in str(turn.result["reasons"]), turn.result["reasons"]


PRESENT = {
    "a header the makefile knows": (KNOWS, "make all", [HARMLESS, sh("make test")]),
    "a clean build": (MAKEFILE, "make all", [HARMLESS, sh("make clean && make test")]),
    "everything anew": (MAKEFILE, "make all", [HARMLESS, sh("make -B test")]),
    "prose afterwards": (KNOWS, "make all", [HARMLESS, sh("make"), write("README.md", "Limits.\n"), sh("./build/test_counter")]),
    "data afterwards": (KNOWS, "make all", [HARMLESS, sh("make test"), write("tests/data.json", "{}\n"), sh("make test")]),
    "a script alone": (MAKEFILE, "make all", [write("tools/say.py", "print('hi')\n"), sh("make test")]),
    "one test of two": (PARTS, "make all fresh", [HARMLESS, sh("make fresh")]),
    "one test of two, built apart": (PARTS, "make all fresh", [HARMLESS, sh("make fresh"), sh("make old")]),
    "a script that compiles": (MAKEFILE, "make all", [HARMLESS, sh("tests/itself.sh")]),
    "a script after the build": (KNOWS, "make all", [HARMLESS, sh("make && tests/run.sh")]),
    "prove after the build": (KNOWS, "make all", [HARMLESS, sh("make"), sh("prove t")]),
    "nothing built before": (MAKEFILE, "true", [HARMLESS, sh("make test")]),
    "a program in the top directory": (
        KNOWS.replace("build/test_counter", "app"), "make all",
        [("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 0 /* the first */"}), sh("make all && ./app")]),
}  # fmt: skip


@pytest.mark.parametrize(("makefile", "before", "steps"), PRESENT.values(), ids=PRESENT)
def test_a_pass_on_what_the_source_makes_counts(limits: Tree, makefile, before, steps):
    limits.write("Makefile", makefile)
    built(limits, before)
    turn = limits.turn(ASK, *steps, "I reworked the limits.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])
