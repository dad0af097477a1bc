"""Whole turns over trees in which programs lie that were built before: a pass on an old one shows nothing, a pass on one
that is still what a build makes does."""

from __future__ import annotations

import shutil
import sysconfig

import pytest

from tests.turns.conftest import BREAK, COUNTER_TEST, HARMLESS, LIMITS, MAKEFILE, Tree, built, sh, write

ASK = "Rework the limits in this tree thoroughly."
OFF = ("--validation", "off")
KNOWS = MAKEFILE.replace("src/counter.c tests", "src/counter.c src/limits.h tests", 1)
LIBRARY = (
    "all: build/libcounter.so build/test_counter\nbuild/libcounter.so: src/counter.c src/limits.h\n\tcc -shared -fPIC -o $@ src/counter.c\n"
    "build/test_counter: tests/test_counter.c | build/libcounter.so\n\tcc -o $@ $< -Lbuild -lcounter\n"
)
PARTS = (
    "B = build\nTESTS = $(B)/test_counter $(B)/test_other\nall: $(B)/app\n$(B)/app: src/app.c src/counter.c src/limits.h\n"
    "\tcc -o $@ src/app.c src/counter.c\n$(B)/test_counter: src/counter.c tests/test_counter.c src/limits.h\n"
    "\tcc -o $@ src/counter.c tests/test_counter.c\n$(B)/test_other: tests/other.c\n\tcc -o $@ tests/other.c\n"
    "old:\n\t@for t in $(TESTS); do ./$$t || exit 1; done\nfresh: $(TESTS)\n\t@for t in $^; do ./$$t || exit 1; done\n"
    "test: old\n"
)
OBJECTS = (
    "all: build/test_counter\nbuild/test_counter: build/counter.o build/test_counter.o\n\tcc -o $@ $^\n"
    "build/counter.o: src/counter.c\n\tcc -c -o $@ $<\nbuild/test_counter.o: tests/test_counter.c\n\tcc -Isrc -c -o $@ $<\n"
    "test: all\n\t./build/test_counter\nclean:\n\trm -rf build/*\n"
)
TAKES_IN = '#include "more.h"\n' + COUNTER_TEST
TOLD = OBJECTS.replace("cc -c", "cc -MMD -c").replace("-Isrc -c", "-Isrc -MMD -c") + "-include $(wildcard build/*.d)\n"
CALLS = (
    "import subprocess\n\n\ndef test_counter():\n    assert subprocess.run(['./build/test_counter']).returncode == 0\n"
)
JS = '{"name": "x", "version": "1.0.0", "scripts": {"build": "node build.js", "test": "%s"}}\n'
BUILD_JS = "const fs = require('fs');\nfs.mkdirSync('dist', {recursive: true});\nfs.copyFileSync('src/step.js', 'dist/step.js');\nfs.copyFileSync('src/check.js', 'dist/check.js');\n"
CHECK_JS = "const assert = require('assert');\nassert.strictEqual(require('./step.js')(4, 4), 0);\nconsole.log('ok');\n"
TEST_JS = "const test = require('node:test');\nconst assert = require('assert');\nconst step = require('../dist/step');\ntest('step', () => assert.strictEqual(step(4, 4), 0));\n"


ANOTHERS = (
    KNOWS.replace("src/counter.c src/limits.h tests", "src/counter.c tests", 1)
    + "app: src/app.c src/limits.h\n\tcc -o $@ src/app.c src/counter.c\n"
)
ITS_OWN = OBJECTS.replace(
    "build/counter.o: src/counter.c\n", "build/%.o: src/%.c src/%.h\n\tcc -c -o $@ $<\nbuild/counter.o: src/counter.c\n"
)
ELSEWHERE = MAKEFILE + "HDRS = $(wildcard include/*.h)\nother: $(HDRS)\n"
OLD = {
    "a header of another target": (ANOTHERS, "make all app", [sh("make test")], OFF),
    "a header of its own name alone": (ITS_OWN, "make all", [sh("make test")], OFF),
    "headers of another directory": (ELSEWHERE, "make all", [sh("make test")], OFF),
    "a header the makefile does not know": (MAKEFILE, "make all", [sh("make test")], ()),
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


def test_an_object_that_takes_in_a_header_nobody_knows_is_old(limits: Tree):
    limits.write("Makefile", OBJECTS)
    limits.write("src/more.h", '#include "limits.h"\n')
    limits.write("tests/test_counter.c", TAKES_IN)
    built(limits)
    other = ("patch", {"path": "src/counter.c", "old_string": "value + 1", "new_string": "1 + value"})
    steps = [HARMLESS, other, sh("make test")]
    turn = limits.turn(ASK, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
    assert "built before" in str(turn.result["reasons"]), turn.result["reasons"]
    again = limits.turn(ASK, HARMLESS, *steps[1:-1], sh("make clean && make test"), "The tests pass.", flags=OFF)
    assert again.verdict == "VERIFIED", (again.result["checks"], again.result["reasons"])


def test_compilers_may_tell_what_takes_in_a_header(limits: Tree):
    limits.write("Makefile", TOLD)
    limits.write("src/more.h", '#include "limits.h"\n')
    limits.write("tests/test_counter.c", TAKES_IN)
    built(limits)
    turn = limits.turn(ASK, HARMLESS, sh("make test"), "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize("step", ["./build/test_counter", "make test"])
def test_a_program_that_make_has_looked_at_is_not_old(limits: Tree, step):
    """Another program was edited last; make knows its source and has built it."""
    limits.write("Makefile", PARTS)
    limits.write("src/app.c", "int counter_step(int, int);\nint main(void) { return counter_step(4, 4); }\n")
    built(limits, "make all fresh")
    edit = ("patch", {"path": "src/app.c", "old_string": "(4, 4)", "new_string": "(5, 5)"})
    turn = limits.turn(
        ASK, HARMLESS, sh("make all fresh"), edit, sh("make all fresh"), sh(step), "The tests pass.", flags=OFF
    )
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


def test_pytest_on_an_old_program_shows_nothing(limits: Tree):
    limits.write("Makefile", KNOWS)
    limits.write("tests/test_calls.py", CALLS)
    built(limits)
    turn = limits.turn(ASK, BREAK, sh("python3 -m pytest -q tests"), "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
    again = limits.turn(ASK, ("patch", {"path": "src/limits.h", "old_string": "FIRST 7", "new_string": "FIRST 0"}), sh("make"),
                        sh("python3 -m pytest -q tests"), "The tests pass.", flags=OFF)  # fmt: skip
    assert again.verdict == "VERIFIED", (again.result["checks"], again.result["reasons"])


def test_pytest_on_an_old_extension_shows_nothing(tree: Tree):
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    tree.write("src/limits.h", LIMITS)
    tree.write("fast.c", "int first(void) { return 0; }\n")
    tree.write("tests/test_fast.py", "def test_fast():\n    assert True\n")
    tree.write(".gitignore", "*.so\n")
    built(tree, f"cc -shared -o fast{suffix} fast.c")
    edit = ("patch", {"path": "fast.c", "old_string": "return 0", "new_string": "return 7"})
    turn = tree.turn(ASK, edit, sh("python3 -m pytest -q tests"), "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
    assert "built before" in str(turn.result["reasons"]), turn.result["reasons"]


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
@pytest.mark.parametrize("script", ["node dist/check.js", "node --test tests/", "node tests/step.test.js"])
def test_a_package_tested_on_an_old_bundle_shows_nothing(tree: Tree, script: str):
    tree.write("package.json", JS % script)
    tree.write("build.js", BUILD_JS)
    tree.write("src/step.js", "module.exports = (value, limit) => value >= limit ? 0 : value + 1;\n")
    tree.write("src/check.js", CHECK_JS)
    tree.write("tests/step.test.js", TEST_JS)
    tree.write(".gitignore", "dist/\n")
    built(tree, "node build.js")
    edit = ("patch", {"path": "src/step.js", "old_string": "? 0", "new_string": "? 7"})
    back = ("patch", {"path": "src/step.js", "old_string": "? 7", "new_string": "? 0 "})
    turn = tree.turn(ASK, edit, sh("npm test"), "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
    assert "built before" in str(turn.result["reasons"]), turn.result["reasons"]
    again = tree.turn(ASK, back, sh("npm run build"), sh("npm test"), "The tests pass.", flags=OFF)
    assert again.verdict == "VERIFIED", (again.result["checks"], again.result["reasons"])


RECURSIVE = {
    "Makefile": "all:\n\tfor d in src tests; do $(MAKE) -C $$d || exit 1; done\ncheck: all\n\t$(MAKE) -C tests check\n",
    "src/Makefile": "all: libcounter.a app\nlibcounter.a: counter.o\n\tar rcs $@ $^\ncounter.o: counter.c limits.h\napp: app.o libcounter.a\n\t$(CC) -o $@ app.o -L. -lcounter\n",
    "tests/Makefile": "all: test_counter\ntest_counter: test_counter.o ../src/libcounter.a\n\t$(CC) -o $@ $^\n../src/libcounter.a:\n\t$(MAKE) -C ../src libcounter.a\ncheck: all\n\t./test_counter\n",
    ".gitignore": "*.o\n*.a\nsrc/app\ntests/test_counter\n",
}
APP = ("patch", {"path": "src/app.c", "old_string": "(4, 4)", "new_string": "(5, 5)"})


@pytest.mark.parametrize(
    "steps", [[sh("make check")], [sh("make"), sh("make check")], [sh("make -C src"), sh("make -C tests check")]]
)
def test_makes_of_makes_say_what_goes_into_what(limits: Tree, steps):
    for path, text in RECURSIVE.items():
        limits.write(path, text)
    built(limits)
    turn = limits.turn(ASK, APP, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])
    header = ("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 7"})
    wrong = limits.turn(ASK, header, sh("make -C tests check"), "The tests pass.", flags=OFF)
    assert wrong.verdict == "UNVERIFIED", (wrong.result["checks"], wrong.result["reasons"])


LISTS = (
    "cmake_minimum_required(VERSION 3.10)\nproject(c C)\nenable_testing()\n"
    "add_executable(test_counter src/counter.c tests/test_counter.c)\nadd_test(NAME c COMMAND test_counter)\n"
)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")
@pytest.mark.parametrize("steps", [[], [HARMLESS, sh("cmake --build build")]], ids=["nothing compiled", "built before"])
@pytest.mark.parametrize(
    "after",
    [
        ("tests/data.json", "[2]\n"),
        (".gitignore", "build/\n*.orig\n"),
        ("tools/say.py", "print('hi')\n"),
        ("README.md", "More.\n"),
    ],
)
@pytest.mark.parametrize("check", ["ctest --test-dir build", "./build/test_counter"])
def test_what_goes_into_no_product_makes_none_old(limits: Tree, steps, after, check):
    limits.write("CMakeLists.txt", LISTS)
    limits.write("tests/data.json", "[1]\n")
    built(limits, "cmake -B build && cmake --build build")
    told = after[0] if not steps and after[0] != "tools/say.py" else ""
    turn = limits.turn(ASK, *steps, write(*after), sh(check), "The tests pass.", flags=OFF)
    assert {c["status"] for c in turn.result["checks"]} == {"passed"}, turn.result["checks"]
    assert turn.verdict == "VERIFIED" or told, turn.result["reasons"]


@pytest.mark.parametrize("ignored", ["", "/configure\n", "/configure\nMakefile.in\nautom4te.cache/\nconfig.status\n"])
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.skipif(shutil.which("autoreconf") is None, reason="no autotools here")
def test_what_autotools_put_there_is_a_builds(limits: Tree, ignored, apart):
    limits.write(
        "configure.ac",
        "AC_INIT([c], [1])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    )
    limits.write(
        "Makefile.am",
        "check_PROGRAMS = test_counter\ntest_counter_SOURCES = src/counter.c tests/test_counter.c\nTESTS = test_counter\n",
    )
    (limits.root / "Makefile").unlink()
    limits.write(".gitignore", f"*.o\ntest_counter\nMakefile\n*.log\n*.trs\n{ignored}")
    built(limits, "true")
    steps = (
        [sh("autoreconf -i"), sh("./configure"), sh("make check")]
        if apart
        else [sh("autoreconf -i && ./configure && make check")]
    )
    turn = limits.turn(ASK, HARMLESS, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize("steps", [[sh("make && make test")], [sh("make"), sh("make test")]])
def test_a_target_that_is_a_directory_tests_nothing(limits: Tree, steps):
    limits.write("Makefile", KNOWS.replace(".PHONY: all test clean\n", "").replace("test: build/test_counter", "test:"))
    limits.write("test/readme.txt", "Nothing.\n")
    built(limits, "true")
    turn = limits.turn(ASK, BREAK, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize("step", [sh("git rm -q src/util.c"), sh("git mv src/util.c src/helper.c")])
def test_an_object_of_a_source_that_is_gone_is_linked_no_more(limits: Tree, step):
    text = OBJECTS.replace("build/counter.o build", "build/counter.o build/util.o build", 1)
    limits.write("Makefile", text + "build/util.o: $(wildcard src/util.c)\n\tcc -c -o $@ $<\n")
    limits.write("src/util.c", "int util(int x) { return x; }\n")
    built(limits)
    turn = limits.turn(ASK, step, sh("make test"), "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])


def test_a_test_program_of_before_that_is_cleaned_away_is_no_check_changed(limits: Tree):
    limits.write(
        "Makefile",
        KNOWS.replace("build/", "") + "app: src/app.c src/counter.c src/limits.h\n\tcc -o $@ src/app.c src/counter.c\n",
    )
    limits.write(".gitignore", "/app\n/test_counter\n")
    built(limits)
    turn = limits.turn(ASK, HARMLESS, sh("rm -f test_counter app && make app && ./app"), "It builds.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


def test_what_a_build_makes_to_the_same_bytes_is_as_new_as_it(limits: Tree):
    limits.write("Makefile", KNOWS)
    built(limits)
    turn = limits.turn(ASK, HARMLESS, sh("make"), sh("make"), "It builds.", flags=OFF)
    assert "cc -Wall" in turn.results()[-2] and "Nothing to be done" in turn.results()[-1], turn.results()
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


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
    "what loads the library that is new": (LIBRARY, "make all", [
        ("patch", {"path": "src/counter.c", "old_string": "value >= limit", "new_string": "limit <= value"}), sh("make && LD_LIBRARY_PATH=build ./build/test_counter")]),
    "a script after the build": (KNOWS, "make all", [HARMLESS, sh("make && tests/run.sh")]),
    "prove after the build": (KNOWS, "make all", [HARMLESS, sh("make"), sh("prove t")]),
    "nothing built before": (MAKEFILE, "true", [HARMLESS, sh("make test")]),
    "a program in the top directory": (
        KNOWS.replace("build/test_counter", "app"), "make all",
        [("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 0 /* the first */"}), sh("make all && ./app")]),
}  # fmt: skip


NOBODY_COMPILES = {
    "a new file beside it": write("examples/demo.c", "int main(void) { return 0; }\n"),
    "one that was there": ("patch", {"path": "tests/other.c", "old_string": "0", "new_string": "1"}),
}


@pytest.mark.parametrize("change", NOBODY_COMPILES.values(), ids=NOBODY_COMPILES)
def test_a_file_nobody_compiles_makes_nothing_old(limits: Tree, change):
    limits.write("Makefile", KNOWS)
    built(limits, "make all")
    turn = limits.turn(ASK, HARMLESS, sh("make"), change, sh("make test"), "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED" and turn.codes[0] == "nothing_reads", (
        turn.result["checks"],
        turn.result["reasons"],
    )
    assert "check_inconclusive" not in turn.codes


@pytest.mark.parametrize(("makefile", "before", "steps"), PRESENT.values(), ids=PRESENT)
def test_a_pass_on_what_the_source_makes_counts(limits: Tree, makefile, before, steps):
    limits.write("Makefile", makefile)
    built(limits, before)
    turn = limits.turn(ASK, *steps, "I reworked the limits.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


TESTS_OF = {
    "tests/test_one.py": ("python3 -m pytest -q tests/test_one.py", "UNVERIFIED"),
    "a directory": ("cd sub && python3 -m pytest -q", "UNVERIFIED"),
    "all by their directories": ("python3 -m pytest -q tests sub", "VERIFIED"),
    "all": ("python3 -m pytest -q", "VERIFIED"),
}


@pytest.mark.parametrize(("command", "verdict"), TESTS_OF.values(), ids=TESTS_OF)
def test_some_tests_do_not_speak_of_all(tree: Tree, command, verdict):
    tree.write("counter.py", "def step(value):\n    return value + 1\n")
    for path in ("tests/test_one.py", "tests/test_two.py", "sub/test_three.py"):
        tree.write(path, "def test_it():\n    assert True\n")
    tree.write("tests/helper.py", "X = 1\n")
    built(tree, "true")
    edit = ("patch", {"path": "counter.py", "old_string": "value + 1", "new_string": "1 + value"})
    turn = tree.turn(ASK, edit, sh(command), "All tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])
    some = tree.turn(ASK, ("patch", {"path": "counter.py", "old_string": "1 + value", "new_string": "value + 1"}), sh(command),
                     "The tests pass.", flags=OFF)  # fmt: skip
    assert some.verdict == "VERIFIED", (some.result["checks"], some.result["reasons"])


@pytest.mark.parametrize(("more", "verdict"), [("", "UNVERIFIED"), ("\n\ntest_step()\n", "VERIFIED")])
def test_a_file_that_only_defines_tests_runs_none(tree: Tree, more, verdict):
    tree.write("counter.py", "def step(value):\n    return value + 1\n")
    tree.write("tests/test_c.py", f"def test_step():\n    assert True\n{more}")
    built(tree, "true")
    edit = ("patch", {"path": "counter.py", "old_string": "value + 1", "new_string": "1 + value"})
    turn = tree.turn(ASK, edit, sh("python3 tests/test_c.py"), "The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust here")
@pytest.mark.parametrize("wrong", ["cargo check --offline", "cargo build --offline --release"])
def test_a_builder_covers_only_what_it_writes(tree: Tree, wrong):
    tree.write("Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
    tree.write("src/main.rs", 'fn main() { println!("1"); }\n')
    tree.write(".gitignore", "target/\n")
    built(tree, "cargo build --offline")
    edit = ("patch", {"path": "src/main.rs", "old_string": '"1"', "new_string": '"2"'})
    turn = tree.turn(ASK, edit, sh(f"{wrong} && ./target/debug/x"), "It runs.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
    right = tree.turn(ASK, ("patch", {"path": "src/main.rs", "old_string": '"2"', "new_string": '"3"'}),
                      sh("cargo build --offline && ./target/debug/x"), "It runs.", flags=OFF)  # fmt: skip
    assert right.verdict == "VERIFIED", (right.result["checks"], right.result["reasons"])


FLAGS = "CFLAGS = -DFIRST=0\n" + MAKEFILE.replace("cc -Wall", "cc $(CFLAGS)")


@pytest.mark.parametrize("flags", [OFF, ()], ids=["by the model", "by the host"])
@pytest.mark.parametrize("makefile", [FLAGS, MAKEFILE.replace("cc -Wall", "cc -DFIRST=0")], ids=["variable", "recipe"])
def test_flags_that_changed_make_what_is_there_old(limits: Tree, makefile, flags):
    limits.write("src/limits.h", "\n")
    limits.write("Makefile", makefile)
    built(limits)
    edit = ("patch", {"path": "Makefile", "old_string": "FIRST=0", "new_string": "FIRST=7"})
    turn = limits.turn(ASK, edit, sh("make test"), "The tests pass.", "I could not.", flags=flags)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize("flags", [OFF, ()], ids=["by the model", "by the host"])
@pytest.mark.parametrize(
    ("old", "new"),
    [("clean:\n", "run: all\n\t./build/test_counter\nclean:\n"), (".PHONY: all", "# Targets\n.PHONY: run all")],
)
def test_a_makefile_that_makes_it_as_before_leaves_nothing_old(limits: Tree, old, new, flags):
    limits.write("Makefile", KNOWS)
    built(limits)
    change = ("patch", {"path": "Makefile", "old_string": old, "new_string": new})
    turn = limits.turn(ASK, change, sh("make test"), "I reworked the makefile. The tests pass.", flags=flags)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


RIGHT = "int counter_step(int value, int limit) { return value >= limit ? 0 : value + 1; }\n"
RECIPE = "test: build/t\n\t./build/t\n.PHONY: test\n"
MADE_OF = {
    "what only its recipe finds": (
        "SRCS := $(shell find src -name '*.c')\nbuild/t: tests/test_counter.c\n\tmkdir -p build\n\tcc -o $@ $(sort $^ $(SRCS))\n",
        "build/t: tests/test_counter.c $(SRCS)",
    ),
    "what only has to be there": (
        "build/t: tests/test_counter.c | build/c.o\n\tcc -o $@ $< build/c.o\nbuild/c.o: src/counter.c\n"
        "\tmkdir -p build\n\tcc -c -o $@ $<\n",
        "build/t: tests/test_counter.c build/c.o |",
    ),
    "what its recipe links": (
        "build/t: tests/test_counter.c\n\tmkdir -p build\n\t$(MAKE) build/libc.a\n\tcc -o $@ $< build/libc.a\n"
        "build/libc.a: src/counter.c\n\tcc -c -o build/c.o $<\n\tar rcs $@ build/c.o\n",
        "build/t: tests/test_counter.c build/libc.a",
    ),
    "what a script reads": (
        "build/t: build/gen.c tests/test_counter.c\n\tcc -o $@ $^\nbuild/gen.c: tools/gen.py\n\tmkdir -p build\n\tpython3 tools/gen.py\n",
        "build/gen.c: tools/gen.py src/counter.c",
    ),
}  # fmt: skip


@pytest.mark.parametrize("knows", [False, True], ids=["unknown to make", "known to make"])
@pytest.mark.parametrize(("makefile", "right"), MADE_OF.values(), ids=MADE_OF)
def test_a_program_is_as_old_as_what_it_is_made_of(tree: Tree, makefile, right, knows):
    tree.write("src/counter.c", RIGHT)
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write("tools/gen.py", "open('build/gen.c', 'w').write(open('src/counter.c').read())\n")
    tree.write(".gitignore", "build/\n")
    wrong = next(line for line in makefile.split("\n") if line.startswith(right.split(":")[0] + ":"))
    tree.write("Makefile", (makefile.replace(wrong, right) if knows else makefile) + RECIPE)
    built(tree, "make build/t")
    change = ("patch", {"path": "src/counter.c", "old_string": "value >= limit", "new_string": "limit <= value"})
    turn = tree.turn(ASK, change, sh("make test"), "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == ("VERIFIED" if knows else "UNVERIFIED"), (turn.result["checks"], turn.result["reasons"])
    wrong = ("patch", {"path": "src/counter.c", "old_string": "limit <= value", "new_string": "value > limit"})
    turn = tree.turn(ASK, wrong, sh("make test"), "I reworked it. The tests pass.", "I leave it.")
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
