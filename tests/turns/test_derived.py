"""Whole turns over trees whose builds generate what they compile: a generator that changed and was not run again leaves
old what it made."""

from __future__ import annotations

import shutil

import pytest

from tests.turns.conftest import COUNTER_TEST, Tree, built, sh, write

ASK = "Rework the counter in this tree thoroughly."
OFF = ("--validation", "off")
COUNTER = '#include "first.h"\nint counter_step(int value, int limit) { return value >= limit ? FIRST : value + 1; }\n'
GENERATOR = "print('#define FIRST 0')\n"
BREAK = ("patch", {"path": "tools/gen.py", "old_string": "FIRST 0", "new_string": "FIRST 7"})
HARMLESS = ("patch", {"path": "tools/gen.py", "old_string": "FIRST 0", "new_string": "FIRST 00"})
NAMED = (
    "all: build/test_counter\nbuild/first.h:{needs}\n\tmkdir -p build\n\tpython3 tools/gen.py > $@\n"
    "build/test_counter: src/counter.c tests/test_counter.c build/first.h\n\tcc -Ibuild -o $@ src/counter.c tests/test_counter.c\n"
    "test: all\n\t./build/test_counter\nclean:\n\trm -rf build\ncheck-style:\n\tpython3 tools/style.py\n"
    "report:\n\tpython3 tools/report.py\n.PHONY: all test clean check-style report\n"
)
LISTS = (
    "cmake_minimum_required(VERSION 3.10)\nproject(c C)\nenable_testing()\nset(GENERATOR ${{CMAKE_SOURCE_DIR}}/tools/gen.py)\n"
    "add_custom_command(OUTPUT ${{CMAKE_BINARY_DIR}}/first.h COMMAND python3 ${{GENERATOR}} > ${{CMAKE_BINARY_DIR}}/first.h{needs})\n"
    "include_directories(${{CMAKE_BINARY_DIR}})\nfile(GLOB T {depends}tests/test_*.c)\nforeach(t ${{T}})\n"
    " get_filename_component(n ${{t}} NAME_WE)\n add_executable(${{n}} src/counter.c ${{t}} ${{CMAKE_BINARY_DIR}}/first.h)\n"
    " add_test(NAME ${{n}} COMMAND ${{n}})\nendforeach()\n"
)
CMAKE = sh("cmake --build build && ctest --test-dir build")


@pytest.fixture
def generated(tree: Tree) -> Tree:
    """The counter whose first value a script says."""
    tree.write("tools/gen.py", GENERATOR)
    tree.write("tools/style.py", "print('fine')\n")
    tree.write("src/counter.c", COUNTER)
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write(".gitignore", "build/\n")
    return tree


@pytest.mark.parametrize("steps", [[sh("make test")], [sh("make"), sh("make test")], [sh("./build/test_counter")]])
def test_a_generator_that_was_not_run_again_leaves_old_what_it_made(generated: Tree, steps):
    generated.write("Makefile", NAMED.format(needs=""))
    built(generated)
    turn = generated.turn(ASK, HARMLESS, *steps, "I reworked the generator. The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    assert "built before" in str(turn.result["reasons"]), turn.result["reasons"]


@pytest.mark.parametrize(("change", "verdict"), [(HARMLESS, "VERIFIED"), (BREAK, "UNVERIFIED")])
def test_the_host_has_it_run_again(generated: Tree, change, verdict):
    generated.write("Makefile", NAMED.format(needs=""))
    built(generated)
    turn = generated.turn(ASK, change, sh("make test"), "I reworked the generator. The tests pass.", "I leave it.")
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize(
    ("flags", "verdict"), [(OFF, "UNVERIFIED"), ((), "VERIFIED")], ids=["by the model", "by the host"]
)
def test_a_module_that_a_generator_imports_counts_like_it(generated: Tree, flags, verdict):
    generated.write("tools/gen.py", "from first import FIRST\nprint('#define FIRST', FIRST)\n")
    generated.write("tools/first.py", "FIRST = 0\n")
    generated.write("Makefile", NAMED.format(needs=" tools/gen.py"))
    built(generated)
    change = write("tools/first.py", "FIRST = 1 - 1\n")
    turn = generated.turn(ASK, change, sh("make test"), "I reworked it. The tests pass.", flags=flags)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


RUN_AGAIN = {
    "the rule depends on it": (" tools/gen.py", [HARMLESS, sh("make test")]),
    "it is removed first": ("", [HARMLESS, sh("rm build/first.h && make test")]),
    "everything is cleaned": ("", [HARMLESS, sh("make clean && make test")]),
    "nothing is made of the script": ("", [write("tools/style.py", "print('well')\n"), sh("make test")]),
    "the rule is named before all": ("", [HARMLESS, sh("rm -r build"), sh("make"), sh("make test")]),
}  # fmt: skip


@pytest.mark.parametrize(("needs", "steps"), RUN_AGAIN.values(), ids=RUN_AGAIN)
def test_what_a_generator_made_anew_counts(generated: Tree, needs, steps):
    generated.write("Makefile", NAMED.format(needs=needs))
    built(generated)
    turn = generated.turn(ASK, *steps, "I reworked the generator. The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")
@pytest.mark.parametrize(("needs", "verdict"), [("", "UNVERIFIED"), (" DEPENDS ${GENERATOR}", "VERIFIED")])
def test_cmake_runs_again_what_a_command_depends_on(generated: Tree, needs, verdict):
    generated.write("CMakeLists.txt", LISTS.format(needs=needs, depends=""))
    built(generated, "cmake -S . -B build && cmake --build build")
    turn = generated.turn(ASK, HARMLESS, CMAKE, "I reworked the generator. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


SET_UP = {
    "not set up anew": ("", [CMAKE], "UNVERIFIED"),
    "set up anew": ("", [sh("cmake -S . -B build"), CMAKE], "VERIFIED"),
    "all at once": ("", [sh("cmake -S . -B build && cmake --build build && ctest --test-dir build")], "VERIFIED"),
    "by itself": ("CONFIGURE_DEPENDS ", [CMAKE], "VERIFIED"),
    "in a place of its own": ("", [sh("cmake -S . -B /tmp/b && cmake --build /tmp/b && ctest --test-dir /tmp/b")], "VERIFIED"),
}  # fmt: skip


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")
@pytest.mark.parametrize(("depends", "steps", "verdict"), SET_UP.values(), ids=SET_UP)
def test_a_source_that_cmake_finds_is_built_once_it_is_set_up_anew(generated: Tree, depends, steps, verdict):
    generated.write("CMakeLists.txt", LISTS.format(needs="", depends=depends))
    built(generated, "cmake -S . -B build && cmake --build build")
    more = write(
        "tests/test_more.c", "int counter_step(int, int);\nint main(void) { return counter_step(1, 4) != 2; }\n"
    )
    turn = generated.turn(ASK, more, *steps, "I added a test. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


CONFIGURE = (
    "#!/bin/sh\nprintf '# Generated by configure. DO NOT EDIT.\\nall:\\n\\tmkdir -p build\\n\\tpython3 tools/gen.py > build/first.h\\n"
    '\\tcc %s -Ibuild -o build/t src/counter.c tests/test_counter.c\\ntest: all\\n\\t./build/t\\n\' "$*" > Makefile\n'
)


def test_a_tree_that_is_set_up_again_has_its_build_files_written(generated: Tree):
    generated.write("configure", CONFIGURE, 0o755)
    generated.write(".gitignore", "build/\n/Makefile\n")
    built(generated, "./configure && make")
    turn = generated.turn(ASK, HARMLESS, sh("./configure -O2"), sh("make test"), "The tests pass.", flags=OFF)
    assert "refused" not in str(turn.results()), turn.results()
    assert "cc -O2" in generated.read("Makefile")
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")
@pytest.mark.parametrize("command", ["cmake -P edit.cmake", "cmake -E copy edit.cmake src/$(echo table.c)"])
def test_a_generated_file_that_a_command_writes_itself_is_refused(generated: Tree, command):
    generated.write("src/table.c", "/* Generated by gen.py. DO NOT EDIT. */\nint table[1];\n")
    generated.write("edit.cmake", 'file(WRITE src/table.c "int table[2];")\n')
    generated.write("Makefile", NAMED.format(needs=""))
    built(generated, "true")
    turn = generated.turn(ASK, sh(command), "I leave it.", flags=OFF)
    assert "src/table.c" in turn.results()[-1] and "refused" in turn.results()[-1]
    assert "Generated by" in generated.read("src/table.c")


READ = {
    "by a flag": ("CFLAGS = -DFIRST=$$(cat first.txt)\n", "build/test_counter: src/counter.c", "cc $(CFLAGS) -o $@"),
    "by a recipe": ("", "build/test_counter: src/counter.c", "cc -DFIRST=$$(cat first.txt) -o $@"),
}


@pytest.mark.parametrize(("knows", "verdict"), [("", "UNVERIFIED"), (" first.txt", "VERIFIED")])
@pytest.mark.parametrize(("flags", "rule", "command"), READ.values(), ids=READ)
def test_a_text_that_a_recipe_reads_counts_like_its_sources(tree: Tree, flags, rule, command, knows, verdict):
    tree.write("first.txt", "0\n")
    tree.write("src/counter.c", COUNTER.replace('#include "first.h"\n', ""))
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write(".gitignore", "build/\n")
    tree.write(
        "Makefile",
        f"{flags}all: build/test_counter\n{rule} tests/test_counter.c{knows}\n\tmkdir -p build\n"
        f"\t{command} src/counter.c tests/test_counter.c\ntest: all\n\t./build/test_counter\n.PHONY: all test\n",
    )
    built(tree, "make")
    turn = tree.turn(ASK, write("first.txt", "00\n"), sh("make test"), "The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")
@pytest.mark.parametrize(
    ("steps", "verdict"), [([CMAKE], "UNVERIFIED"), ([sh("cmake -S . -B build"), CMAKE], "VERIFIED")]
)
@pytest.mark.parametrize(
    "reads", ["file(READ first.txt FIRST)", "execute_process(COMMAND cat first.txt OUTPUT_VARIABLE FIRST)"]
)
def test_a_text_that_cmake_reads_is_read_once_it_is_set_up_anew(tree: Tree, reads, steps, verdict):
    tree.write("first.txt", "0")
    tree.write("src/counter.c", COUNTER.replace('#include "first.h"\n', ""))
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write(".gitignore", "build/\n")
    tree.write(
        "CMakeLists.txt",
        f"cmake_minimum_required(VERSION 3.10)\nproject(c C)\nenable_testing()\n{reads.replace('cat ', 'cat ${CMAKE_SOURCE_DIR}/')}\n"
        "add_executable(t src/counter.c tests/test_counter.c)\ntarget_compile_definitions(t PRIVATE FIRST=${FIRST})\n"
        "add_test(NAME t COMMAND t)\n",
    )
    built(tree, "cmake -S . -B build && cmake --build build")
    turn = tree.turn(ASK, write("first.txt", "00"), *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


TARGETS = {"what the check comes to": ("make test", "UNVERIFIED"), "another target's": ("make unit", "VERIFIED")}


@pytest.mark.parametrize(("command", "verdict"), TARGETS.values(), ids=TARGETS)
def test_what_is_derived_for_another_target_makes_no_check_old(generated: Tree, command, verdict):
    generated.write("src/counter.c", COUNTER.replace('#include "first.h"\n', "").replace("FIRST", "0"))
    generated.write(
        "Makefile",
        "all: build/t build/manual.html\nbuild/manual.html:\n\tmkdir -p build\n\tpython3 tools/gen.py > $@\n"
        "build/t: src/counter.c tests/test_counter.c\n\tmkdir -p build\n\tcc -o $@ $^\n"
        "test: all\n\tgrep -q FIRST build/manual.html && ./build/t\nunit: build/t\n\t./build/t\n.PHONY: all test unit\n",
    )
    built(generated)
    turn = generated.turn(ASK, HARMLESS, sh(command), "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])
