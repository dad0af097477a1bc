"""Whole turns that change a source which the build was never told of: it passes, and says nothing of that source."""

from __future__ import annotations

import shutil

import pytest

from tests.turns.conftest import Tree, built, sh, write

ASK = "Rework the counter in this tree thoroughly."
OFF = ("--validation", "off")
COUNTER = "int step(int v, int limit) { return v >= limit ? 0 : v + 1; }\n"
COUNTER_TEST = "int step(int, int);\nint main(void) { return step(4, 4) != 0; }\n"
BROKEN = "this is no C\n"
LISTED = (
    "all: build/t\nbuild/t: {sources}\n\tmkdir -p build\n\tcc -o $@ $^\ntest: build/t\n\t./build/t\n.PHONY: all test\n"
)
BY_OBJECT = (
    "O = counter.o {more}\nbuild/t: $(O) tests/t.c\n\tmkdir -p build\n\tcc -o $@ $^\n%.o: src/%.c\n\tcc -c -o $@ $<\n"
    "test: build/t\n\t./build/t\n.PHONY: test\n"
)
CMAKE = (
    "cmake_minimum_required(VERSION 3.10)\nproject(c C)\nenable_testing()\n{found}\n"
    "add_executable(t {sources} tests/t.c)\nadd_test(NAME t COMMAND t)\n"
)
ADDED = {
    "it is not listed": ("Makefile", LISTED.format(sources="src/counter.c tests/t.c"), "UNVERIFIED"),
    "it is listed": ("Makefile", LISTED.format(sources="src/counter.c src/extra.c tests/t.c"), "VERIFIED"),
    "no object is": ("Makefile", BY_OBJECT.format(more=""), "UNVERIFIED"),
    "its object is": ("Makefile", BY_OBJECT.format(more="extra.o"), "VERIFIED"),
    "by a variable": (
        "Makefile",
        "E = extra\n" + LISTED.format(sources="src/counter.c src/$E.c tests/t.c"),
        "VERIFIED",
    ),
    "it is found": ("Makefile", LISTED.format(sources="$(wildcard src/*.c) tests/t.c"), "VERIFIED"),
    "a shell finds it": ("Makefile", LISTED.format(sources="$(shell find src -name '*.c') tests/t.c"), "VERIFIED"),
    "a recipe finds it": (
        "Makefile",
        "test:\n\tmkdir -p build && cc -o build/t src/*.c tests/t.c && ./build/t\n.PHONY: test\n",
        "VERIFIED",
    ),
}


@pytest.fixture
def counted(tree: Tree) -> Tree:
    tree.write("src/counter.c", COUNTER)
    tree.write("tests/t.c", COUNTER_TEST)
    tree.write(".gitignore", "build/\n*.o\n")
    return tree


@pytest.mark.parametrize("flags", [(), OFF], ids=["auto", "off"])
@pytest.mark.parametrize(("name", "text", "verdict"), ADDED.values(), ids=ADDED)
def test_a_new_source_counts_where_the_build_was_told_of_it(counted: Tree, name, text, verdict, flags):
    counted.write(name, text)
    built(counted, "true")
    content = "int extra(void) { return 1; }\n" if verdict == "VERIFIED" else BROKEN
    turn = counted.turn(ASK, write("src/extra.c", content), sh("make test"), "I added it. The tests pass.", flags=flags)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])
    if verdict == "UNVERIFIED":
        assert turn.codes[0] == "nothing_reads"
        assert "src/extra.c" in turn.result["reasons"][0]["text"]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")
@pytest.mark.parametrize(
    ("found", "sources", "verdict"),
    [
        ("", "src/counter.c", "UNVERIFIED"),
        ("", "src/counter.c src/extra.c", "VERIFIED"),
        ("file(GLOB S src/*.c)", "${S}", "VERIFIED"),
        ("aux_source_directory(src S)", "${S}", "VERIFIED"),
    ],
    ids=["not listed", "listed", "globbed", "a directory"],
)
def test_a_new_source_counts_where_cmake_was_told_of_it(counted: Tree, found, sources, verdict):
    counted.write("CMakeLists.txt", CMAKE.format(found=found, sources=sources))
    built(counted, "true")
    turn = counted.turn(
        ASK,
        write("src/extra.c", "int extra(void) { return 1; }\n"),
        sh("cmake -S . -B build && cmake --build build && ctest --test-dir build"),
        "I added it. The tests pass.",
    )
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize(("include", "verdict"), [("", "UNVERIFIED"), ('#include "extra.h"\n', "VERIFIED")])
def test_a_header_counts_where_something_takes_it_in(counted: Tree, include, verdict):
    counted.write("Makefile", LISTED.format(sources="src/counter.c tests/t.c"))
    built(counted, "true")
    turn = counted.turn(
        ASK,
        write("src/extra.h", "#define EXTRA 1\n"),
        write("src/counter.c", include + COUNTER.replace("v >= limit", "limit <= v")),
        sh("make test"),
        "I added it. The tests pass.",
    )
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([sh("make test")], "UNVERIFIED"),
        ([sh("cc -c -o /tmp/other.o src/other.c && make test")], "VERIFIED"),
        ([sh("cc -fsyntax-only src/other.c"), sh("make test")], "VERIFIED"),
    ],
    ids=["passed over", "in one command", "by one of its own"],
)
def test_a_source_that_is_not_built_here_counts_once_something_reads_it(counted: Tree, steps, verdict):
    counted.write("Makefile", LISTED.format(sources="src/counter.c tests/t.c"))
    counted.write("src/other.c", COUNTER.replace("step", "other"))
    built(counted, "true")
    change = ("patch", {"path": "src/other.c", "old_string": "v >= limit", "new_string": "limit <= v"})
    turn = counted.turn(ASK, change, *steps, "I reworked it. The tests pass.")
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


def test_what_is_taken_in_by_another_source_is_read(counted: Tree):
    counted.write("Makefile", LISTED.format(sources="src/counter.c tests/t.c"))
    counted.write("src/part.c", "static int limited(int v) { return v; }\n")
    counted.write("src/counter.c", '#include "part.c"\n' + COUNTER)
    built(counted, "true")
    change = ("patch", {"path": "src/part.c", "old_string": "return v;", "new_string": "return +v;"})
    turn = counted.turn(ASK, change, sh("make test"), "I reworked it. The tests pass.")
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize("lists", ["", "cc -o build/t src/*.c tests/t.c"], ids=["no build file", "a script finds it"])
def test_a_tree_without_lists_passes_nothing_over(counted: Tree, lists):
    counted.write("run_tests.sh", lists or "cd tests && python3 -c 'assert 1'\n")
    built(counted, "true")
    turn = counted.turn(
        ASK,
        write("src/extra.c", "int extra(void) { return 1; }\n"),
        sh("mkdir -p build && sh run_tests.sh"),
        "I added it.",
    )
    assert "nothing_reads" not in turn.codes, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Cargo here")
@pytest.mark.parametrize(
    ("declared", "path", "verdict"),
    [
        ("", "src/extra.rs", "UNVERIFIED"),
        ("mod extra;\n", "src/extra.rs", "VERIFIED"),
        ("mod extra;\n", "src/extra/mod.rs", "VERIFIED"),
        ("", "src/bin/extra.rs", "VERIFIED"),
        ("", "tests/extra.rs", "VERIFIED"),
    ],
)
def test_a_module_of_rust_counts_where_it_is_declared(tree: Tree, declared, path, verdict):
    tree.write("Cargo.toml", '[package]\nname = "c"\nversion = "0.1.0"\nedition = "2021"\n')
    tree.write("src/lib.rs", "#[test]\nfn counts() { assert_eq!(1 + 1, 2); }\n")
    tree.write(".gitignore", "target/\n")
    built(tree, "true")
    content = {"src": "pub fn extra() -> i32 { 1 }\n", "tests": "#[test]\nfn more() {}\n"}[path.split("/")[0]]
    if "bin" in path:
        content = "fn main() {}\n"
    lib = declared + "#[test]\nfn counts() { assert_eq!(1 + 1, 1 + 1); }\n"
    turn = tree.turn(
        ASK, write(path, content), write("src/lib.rs", lib), sh("cargo test"), "I added it. The tests pass."
    )
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])
