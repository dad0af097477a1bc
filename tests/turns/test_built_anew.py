"""Whole turns in which the host validates what lies in doubt: a step does without what no build made, and without what
is older than the source, and keeps what it could not make anew."""

from __future__ import annotations

import pytest

from tests.turns.conftest import BREAK, FIX, HARMLESS, WRONG, Tree, built, sh, write

ASK = "Rework the limits in this tree thoroughly."
DRIVER = (
    "import subprocess\nimport sys\n\nfor command in (['make', 'all'], ['make', 'test']):\n"
    "    done = subprocess.run(command, check=False, capture_output=True, text=True)\n    print(done.stdout)\n"
    "    if done.returncode != 0:\n        sys.exit(1)\n"
)
JS = "const { execSync } = require('child_process');\nexecSync('make test', { stdio: 'inherit' });\n"
WHILE = '#!/bin/bash\nset -e\nmake all\nfind build -type f -name "test_*" | while read -r t; do\n  "$t"\ndone\n'
DEFINES = "define run\n@./$(1)\nendef\nextra: all\n\t$(call run,build/test_counter)\ninclude Makefile\n"
UNREADABLE = {
    "a driver of Python's": [write("check.py", DRIVER), sh("python3 check.py")],
    "a driver of JavaScript's": [write("check.js", JS), sh("node check.js")],
    "a loop over what is found": [write("ci.sh", WHILE), sh("bash ci.sh")],
    "a makefile with functions": [write("own.mk", DEFINES), sh("make -f own.mk extra")],
}


@pytest.mark.parametrize("steps", UNREADABLE.values(), ids=UNREADABLE)
def test_what_nobody_can_read_costs_no_verdict_where_the_host_builds(counter: Tree, steps):
    right = counter.turn(ASK, FIX, *steps, "The tests pass.")
    assert right.verdict == "VERIFIED", (right.result["checks"], right.result["reasons"])


def test_what_was_planted_is_not_what_the_host_runs(counter: Tree):
    put = "mkdir -p build; cp /bin/true build/test_counter; touch -d 2030-01-01 build/test_counter"
    turn = counter.turn(ASK, WRONG, sh(put), sh("make test"), "The tests pass.", "I could not do it.")
    assert turn.verdict == "UNVERIFIED"
    assert "validation_failed" in turn.codes, turn.result["reasons"]


def test_a_planted_product_that_the_build_needs_stays(counter: Tree):
    """A library the operator asked for, in a place of products: the host cannot make it, and loses nothing."""
    makefile = counter.read("Makefile").replace("tests/test_counter.c\ntest", "tests/test_counter.c build/lib.a\ntest")
    counter.write("Makefile", makefile)
    get = "mkdir -p build; echo 'int x;' > /tmp/x.c; cc -c -o /tmp/x.o /tmp/x.c; cp /tmp/x.o build/lib.a"
    turn = counter.turn(ASK, FIX, sh(get), "I fixed the counter.")
    assert (counter.root / "build" / "lib.a").is_file()
    assert turn.verdict == "UNVERIFIED", turn.result["reasons"]
    assert "product_planted" in turn.codes, turn.result["reasons"]


def test_the_host_builds_anew_what_is_older_than_the_source(limits: Tree):
    built(limits)
    right = limits.turn(ASK, HARMLESS, "I reworked the limits. The tests pass.")
    assert right.verdict == "VERIFIED", (right.result["checks"], right.result["reasons"])


def test_what_is_built_anew_and_fails_has_failed(limits: Tree):
    built(limits)
    wrong = limits.turn(ASK, BREAK, "I reworked the limits. The tests pass.", "I could not repair it.")
    assert wrong.verdict == "UNVERIFIED"
    assert "validation_failed" in wrong.codes, wrong.result["reasons"]
    assert any("FAIL" in str(message) for message in wrong.requests[-1]["messages"]), "the one repair is offered"


def test_what_cannot_be_built_anew_stays_and_is_in_doubt(limits: Tree):
    limits.write("Makefile", "all:\n\t@echo nothing to build\ntest:\n\t./build/test_counter\n")
    built(limits, "cc -o build/test_counter src/counter.c tests/test_counter.c")
    before = (limits.root / "build" / "test_counter").read_bytes()
    turn = limits.turn(ASK, BREAK, "I reworked the limits. The tests pass.")
    assert (limits.root / "build" / "test_counter").read_bytes() == before
    assert turn.verdict == "UNVERIFIED"
    assert "built before" in str(turn.result["reasons"]), turn.result["reasons"]


ARCHIVE = (
    "OBJS = $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))\nall: build/test_counter\nbuild/%.o: src/%.c\n\tcc -c -o $@ $<\n"
    "build/libc.a: $(OBJS)\n\tar rcs $@ $^\nbuild/test_counter: tests/test_counter.c build/libc.a\n"
    "\tcc -o $@ tests/test_counter.c build/libc.a\ntest: all\n\t./build/test_counter\n"
)
USES = "int util(int);\nint counter_step(int value, int limit) { return value >= limit ? util(0) : value + 1; }\n"


@pytest.mark.parametrize("used", [True, False])
def test_an_archive_keeps_no_object_of_a_source_that_was_removed(counter: Tree, used):
    counter.write("Makefile", ARCHIVE)
    counter.write("src/counter.c", USES if used else USES.replace("util(0)", "0"))
    counter.write("src/util.c", "int util(int x) { return x; }\n")
    counter.write("src/x.c", "int x;\n")
    counter.git("add", "-A")
    built(counter)
    remove, change = sh("git rm -q src/util.c"), write("src/x.c", "int x = 1;\n")
    off = counter.turn(ASK, remove, change, sh("make test"), "The tests pass.", flags=("--validation", "off"))
    assert off.verdict == "UNVERIFIED", (off.result["checks"], off.result["reasons"])
    counter.git("reset", "-q", "--hard")
    turn = counter.turn(ASK, remove, change, sh("make test"), "The tests pass.", "I could not.")
    assert turn.verdict == ("UNVERIFIED" if used else "VERIFIED"), (turn.result["checks"], turn.result["reasons"])


SKIPS = (
    "all: build/app\nbuild/app: src/app.c src/counter.c\n\tcc -o $@ src/app.c src/counter.c\ntests: build/test_counter\n"
    "build/test_counter: src/counter.c tests/test_counter.c\n\tcc -o $@ src/counter.c tests/test_counter.c\n"
    "test:\n\t@for t in build/test_*; do [ -x $$t ] || continue; ./$$t || exit 1; done\n"
)


def test_a_test_that_passes_over_what_it_does_not_find_shows_nothing_anew(limits: Tree):
    limits.write("Makefile", SKIPS)
    built(limits, "make all tests")
    turn = limits.turn(ASK, BREAK, sh("make test"), "I reworked the limits. The tests pass.")
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
