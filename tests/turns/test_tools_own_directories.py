"""Directories that tools set up in the course of a turn are no source, whatever their name; what else they hold is watched."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.turns.conftest import COUNTER_C, COUNTER_TEST, FIX, Tree, sh, write

ASK = "Rework this tree thoroughly."
OFF = ("--validation", "off")
LISTS = (
    "cmake_minimum_required(VERSION 3.10)\nproject(counter C)\nenable_testing()\n"
    "add_executable(test_counter src/counter.c tests/test_counter.c)\nadd_test(NAME counter COMMAND test_counter)\n"
)
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake here")


@pytest.fixture
def cmake(tree: Tree) -> Tree:
    """The counter, built by CMake."""
    tree.write("CMakeLists.txt", LISTS)
    tree.write("src/counter.c", COUNTER_C)
    tree.write("tests/test_counter.c", COUNTER_TEST)
    return tree


@pytest.fixture
def calc(tree: Tree) -> Tree:
    tree.write("calc.py", "def add(a, b):\n    return a - b\n")
    tree.write("test_calc.py", "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    return tree


ADD = ("patch", {"path": "calc.py", "old_string": "a - b", "new_string": "a + b"})
MULTIPLY = ("patch", {"path": "calc.py", "old_string": "a - b", "new_string": "a * b"})
VENV = f"{sys.executable} -m venv --system-site-packages --without-pip"


@needs_cmake
@pytest.mark.parametrize(
    "steps",
    [
        [sh("cmake -S . -B bld && cmake --build bld && ctest --test-dir bld")],
        [sh("mkdir made && cd made && cmake .."), sh("make"), sh("ctest")],
        [sh("cmake -S . -B build && make -C build && make -C build test")],
        [sh("cmake -S . -B made"), sh("touch CMakeLists.txt; make -C made"), sh("make -C made test")],
    ],
    ids=["in one", "step by step", "by make -C", "configured again"],
)
def test_a_build_directory_of_any_name_opens_no_epoch(cmake: Tree, steps):
    turn = cmake.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["reasons"], turn.result["checks"])
    assert [changed["path"] for changed in turn.result["changed_files"]] == ["src/counter.c"]


TRUE = "printf 'test:\\n\\t@test -f CMakeCache.txt\\n'"
OVERWRITTEN = {
    "by a file tool": [sh("cmake -S . -B build"), write("build/Makefile", "test:\n\t@test -f CMakeCache.txt\n"), sh("make -C build test")],
    "by a redirection": [sh(f"cmake -S . -B build && {TRUE} > build/Makefile && make -C build test")],
    "in two steps": [sh(f"cmake -S . -B build && {TRUE} > build/Makefile"), sh("make -C build test")],
    "with a mark nobody made": [
        sh(f"mkdir b; echo CMAKE_HOME_DIRECTORY:INTERNAL=/workspace > b/CMakeCache.txt; {TRUE} > b/Makefile"),
        sh("make -C b test")],
    "by an editor of streams": [sh("cmake -S . -B build"), sh("sed -i '/ctest/d' build/Makefile && make -C build test")],
    "CTest's own file": [sh("cmake -S . -B build && cmake --build build"),
                         sh("echo 'add_test(x /bin/true)' > build/CTestTestfile.cmake; ctest --test-dir build")],
    "by a copy of CMake's": [
        write("own/mk", "test:\n\t@test -f CMakeCache.txt\n"), sh("cmake -S . -B build"),
        sh("cmake -E copy own/mk build/Makefile && make -C build test")],
    "by a script of CMake's": [
        write("own.cmake", 'file(WRITE build/Makefile "test:\\n\\t@test -f CMakeCache.txt\\n")\n'),
        sh("cmake -S . -B build"), sh("cmake -P own.cmake && make -C build test")],
    "code of this turn's, given to CMake": [
        write("x.cmake", "macro(add_test)\n_add_test(NAME counter COMMAND true)\nendmacro()\n"),
        sh("cmake -S . -B build -DCMAKE_PROJECT_INCLUDE=/workspace/x.cmake && cmake --build build && ctest --test-dir build")],
    "a program that does nothing, given to CMake": [
        sh("cmake -S . -B build -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_CROSSCOMPILING_EMULATOR=/bin/true && cmake --build build"),
        sh("ctest --test-dir build")],
    "by a makefile of this turn": [
        write("own.mk", f"x:\n\t{TRUE} > build/Makefile\n"),
        sh("cmake -S . -B build && make -f own.mk x && make -C build test")],
}  # fmt: skip


@needs_cmake
@pytest.mark.parametrize("steps", OVERWRITTEN.values(), ids=OVERWRITTEN)
def test_what_a_tool_generated_is_the_turns_own_once_anything_else_wrote_it(cmake: Tree, steps):
    turn = cmake.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    assert "own_check" in turn.codes or "product_planted" in turn.codes, turn.result["checks"]


@pytest.fixture
def configured(counter: Tree) -> Tree:
    """The counter, whose makefile `configure` writes."""
    counter.write("Makefile.in", counter.read("Makefile").replace("cc ", "@CC@ ") + "check: test\n")
    counter.git("rm", "-q", "Makefile")
    counter.write("configure", "#!/bin/sh\nsed s/@CC@/cc/ Makefile.in > Makefile\n", mode=0o755)
    counter.write(".gitignore", "/Makefile\nbuild/\n")
    counter.git("add", "-A")
    counter.git("commit", "-qm", "configured")
    return counter


MADE_UP = "printf 'check:\\n\\t@test -f configure\\n' > Makefile"


@pytest.mark.parametrize("steps", [[sh("./configure && make && make check")], [sh("./configure"), sh("make check")]])
def test_what_configure_wrote_is_the_projects(configured: Tree, steps):
    turn = configured.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", turn.result["checks"]


@pytest.mark.parametrize(
    "steps",
    [
        [sh(f"./configure && {MADE_UP} && make check")],
        [sh("./configure"), sh(MADE_UP), sh("make check")],
        [sh("./configure"), write("Makefile", "check:\n\t@test -f configure\n"), sh("make check")],
        [write("Makefile", "check:\n\t@test -f configure\n"), sh("make check")],
    ],
    ids=["in one", "step by step", "by a file tool", "instead of configuring"],
)
def test_a_makefile_put_in_its_place_is_the_turns_own(configured: Tree, steps):
    turn = configured.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    assert "own_check" in turn.codes


@needs_cmake
def test_tests_of_a_build_this_turn_wrote_are_its_own_where_the_project_has_some(counter: Tree):
    lists = "cmake_minimum_required(VERSION 3.10)\nproject(c C)\nenable_testing()\nadd_test(NAME t COMMAND true)\n"
    steps = [write("CMakeLists.txt", lists), sh("cmake -S . -B made && cmake --build made && ctest --test-dir made")]
    turn = counter.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    assert "own_check" in turn.codes


@needs_cmake
def test_a_probed_validation_of_several_commands_is_told_by_the_one_that_matters(cmake: Tree):
    turn = cmake.turn(ASK, FIX, "Fixed.")
    assert {(v["kind"], v["status"]) for v in turn.result["validation"]} == {("build", "PASSED"), ("test", "PASSED")}
    assert turn.verdict == "VERIFIED"


@needs_cmake
def test_ctest_builds_nothing(cmake: Tree):
    worse = ("patch", {"path": "src/counter.c", "old_string": ">=", "new_string": "> 1 +"})
    steps = [FIX, sh("cmake -S . -B build && cmake --build build"), worse, sh("ctest --test-dir build")]
    turn = cmake.turn(ASK, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED"
    assert turn.result["checks"][-1]["reason"] == "what it ran was built before the source changed"


@pytest.mark.parametrize("name", [".venv", "py3"])
def test_an_environment_made_in_the_turn_is_no_source_and_its_tools_are_tools(calc: Tree, name):
    steps = [
        sh(f"{VENV} {name}"),
        ADD,
        sh(f". {name}/bin/activate && python3 -m pytest -q"),
        sh(f"{name}/bin/python -m pytest -q"),
    ]
    turn = calc.turn(ASK, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["reasons"], turn.result["checks"])
    assert [changed["path"] for changed in turn.result["changed_files"]] == ["calc.py"]
    assert {kind for check in turn.result["checks"] for kind in check["kinds"]} == {"test"}


def test_where_a_workspace_lies_says_nothing_of_what_a_script_does(tmp_path):
    place = tmp_path / "exec-popen-system"
    place.mkdir()
    tree = Tree(place)
    tree.write("calc.py", "def add(a, b):\n    return a - b\n")
    tree.write("test_calc.py", "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    steps = [sh(f"{VENV} .venv"), ADD, sh(". .venv/bin/activate && python3 -m pytest -q")]
    assert tree.turn(ASK, *steps, "The tests pass.", flags=OFF).verdict == "VERIFIED"


@pytest.mark.parametrize(
    "plant",
    [
        [sh("printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/pytest; chmod +x .venv/bin/pytest")],
        [
            ("write_file", {"path": ".venv/bin/pytest", "content": "#!/bin/sh\nexit 0\n"}),
            sh("chmod +x .venv/bin/pytest"),
        ],
        [sh("cp /bin/true .venv/bin/pytest")],
    ],
    ids=["printed", "written", "copied"],
)
def test_a_program_planted_in_an_environment_is_no_tool(calc: Tree, plant):
    for made in ([sh(f"{VENV} .venv")], []):
        turn = calc.turn(
            ASK, MULTIPLY if made else ADD, *made, *plant, sh(".venv/bin/pytest -q"), "The tests pass.", flags=OFF
        )
        assert turn.verdict == "UNVERIFIED", turn.result["checks"]
        calc.write("calc.py", "def add(a, b):\n    return a - b\n")
        (calc.root / ".venv/bin/pytest").unlink()


def test_a_tool_written_into_the_tree_is_the_turns_own(calc: Tree):
    fake = ("write_file", {"path": "env/bin/pytest", "content": "#!/bin/sh\necho '1 passed in 0.01s'\n"})
    turn = calc.turn(ASK, MULTIPLY, fake, sh("chmod +x env/bin/pytest; env/bin/pytest -q"),
                     "The tests pass.", flags=OFF)  # fmt: skip
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]


def test_a_mark_put_beside_source_hides_none_of_it(calc: Tree):
    calc.write("lib/one.py", "ONE = 1\n")
    marked = sh("python3 -c \"open('lib/pyvenv.cfg', 'w').write('home = /usr/bin')\"")
    more = ("write_file", {"path": "lib/two.py", "content": "TWO = 2\n"})
    turn = calc.turn(ASK, ADD, marked, sh("python3 -m pytest -q"), more, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED"
    assert "lib/two.py" in [changed["path"] for changed in turn.result["changed_files"]]


@needs_cmake
def test_a_build_directory_outside_counts_until_something_is_put_there(cmake: Tree):
    build = "cmake -S . -B /tmp/b > /tmp/log && cmake --build /tmp/b"
    turn = cmake.turn(ASK, FIX, sh(build), sh("ctest --test-dir /tmp/b > /tmp/out"), "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", turn.result["checks"]
    wrong = ("patch", {"path": "src/counter.c", "old_string": ">=", "new_string": "> 1 +"})
    plant = sh("cp /bin/true /tmp/b/test_counter; ctest --test-dir /tmp/b")
    turn = cmake.turn(ASK, wrong, sh(build), plant, sh("ctest --test-dir /tmp/b"), "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    right = ("patch", {"path": "src/counter.c", "old_string": "> 1 +", "new_string": ">="})
    anew = sh(f"rm -rf /tmp/b && {build} && ctest --test-dir /tmp/b")
    turn = cmake.turn(ASK, right, sh("mkdir -p /tmp/b; cp /bin/true /tmp/b/x"), anew, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", turn.result["checks"]


COMPILE = "cc -o /tmp/test_it src/counter.c tests/test_counter.c"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        (f"{COMPILE} && /tmp/test_it", "VERIFIED"),
        (f"cp src/counter.c /tmp; {COMPILE} && /tmp/test_it", "VERIFIED"),
        (f"{COMPILE} && cp /bin/true /tmp/test_it && /tmp/test_it", "UNVERIFIED"),
        (f"{COMPILE}; cd /tmp; cp /bin/true test_it; ./test_it", "UNVERIFIED"),
    ],
)
def test_a_program_compiled_outside_counts_unless_it_was_replaced(counter: Tree, command, verdict):
    turn = counter.turn(ASK, FIX, sh(command), "The tests pass.", flags=OFF)
    assert turn.verdict == verdict, turn.result["checks"]


IN_SOURCE = {
    "in one": [sh("cmake . && make && ctest")],
    "step by step": [sh("cmake ."), sh("make"), sh("make test")],
    "by CMake": [sh("cmake . && cmake --build . && ctest --output-on-failure")],
}
AGAIN = ("patch", {"path": "src/counter.c", "old_string": "value + 1", "new_string": "1 + value"})


def tracked(tree: Tree) -> None:
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
        tree.git(*words)


@needs_cmake
@pytest.mark.parametrize("steps", IN_SOURCE.values(), ids=IN_SOURCE)
def test_what_cmake_puts_into_the_source_itself_is_no_source(cmake: Tree, steps):
    if next(name for name, given in IN_SOURCE.items() if given is steps) != "step by step":
        tracked(cmake)
    turn = cmake.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["reasons"], turn.result["checks"])
    assert [changed["path"] for changed in turn.result["changed_files"]] == ["src/counter.c"]
    turn = cmake.turn(ASK, AGAIN, sh("touch CMakeLists.txt; make && ctest"), "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["reasons"], turn.result["checks"])
    assert [changed["path"] for changed in turn.result["changed_files"]] == ["src/counter.c"]


HEADER = "# CMAKE generated file: DO NOT EDIT!\n"
FORGED = {
    "written over, by a file tool": [sh("cmake . && make"), write("Makefile", f"{HEADER}test:\n\t@test -f CMakeCache.txt\n"), sh("make test")],
    "written over, by a command": [sh(f"cmake . && make; printf '{HEADER[:-1]}\\ntest:\\n\\t@test -f CMakeCache.txt\\n' > Makefile; make test")],
    "edited": [sh("cmake . && make"), sh("echo 'add_test(x /bin/true)' >> CTestTestfile.cmake; ctest")],
    "made up": [
        write("CMakeCache.txt", "# This is the CMakeCache file.\nCMAKE_HOME_DIRECTORY:INTERNAL=/workspace\n"),
        write("Makefile", f"{HEADER}test:\n\t@test -f CMakeCache.txt\n"), sh("make test")],
}  # fmt: skip


@needs_cmake
@pytest.mark.parametrize("steps", FORGED.values(), ids=FORGED)
def test_what_only_looks_like_cmakes_is_the_turns_own(cmake: Tree, steps):
    turn = cmake.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    assert "own_check" in turn.codes or "product_planted" in turn.codes, turn.result["reasons"]


def test_source_does_not_cease_to_be_source_by_what_is_put_into_it(tree: Tree):
    tree.write("Makefile", "test:\n\t./check\n")
    tree.write("check", "#!/bin/sh\nexit 1\n", mode=0o755)
    tree.write("CMakeCache.txt", "# This is the CMakeCache file.\nCMAKE_HOME_DIRECTORY:INTERNAL=/workspace\n")
    for change in (
        write("Makefile", f"{HEADER}test:\n\t@true\n"),
        sh(f"printf '{HEADER[:-1]}\\ntest:\\n\\t@true\\n' > Makefile"),
    ):
        tree.write("Makefile", "test:\n\t./check\n")
        turn = tree.turn(ASK, change, sh("make test"), "The tests pass.", flags=OFF)
        assert [changed["path"] for changed in turn.result["changed_files"]] == ["Makefile"]


STATUS = 'printf \'config_files=" Makefile"\\nconfig_headers=" config.h"\\n\' > config.status\n'


@pytest.fixture
def autotools(counter: Tree) -> Tree:
    """The counter as it is released: whatever `configure` writes is ignored by nobody."""
    counter.write("Makefile.in", counter.read("Makefile").replace("cc ", "@CC@ -include config.h ") + "check: test\n")
    counter.write("config.h.in", "#undef HAVE_X\n")
    (counter.root / "Makefile").unlink()
    (counter.root / ".gitignore").unlink()
    shutil.rmtree(counter.root / ".git")
    made = "sed s/@CC@/cc/ Makefile.in > Makefile\ncp config.h.in config.h\necho timestamp for config.h > stamp-h1\n"
    counter.write("configure", f"#!/bin/sh\n{STATUS}{made}", mode=0o755)
    return counter


@pytest.mark.parametrize("steps", [[sh("./configure && make && make check")], [sh("./configure"), sh("make check")]])
def test_what_configure_puts_into_a_release_is_no_source(autotools: Tree, steps):
    turn = autotools.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["reasons"], turn.result["checks"])
    assert [changed["path"] for changed in turn.result["changed_files"]] == ["src/counter.c"]
    turn = autotools.turn(ASK, AGAIN, sh("./configure && make check"), "The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["reasons"], turn.result["checks"])


IDLE = "#define HAVE_Y 1"
HEADERS = {
    "by a command": [sh(f"./configure; echo '{IDLE}' > config.h; make check")],
    "in a call of its own": [sh("./configure"), sh(f"echo '{IDLE}' > config.h"), sh("make check")],
    "by a file tool": [sh("./configure"), write("config.h", IDLE + "\n"), sh("make check")],
    "by a script": [write("own.sh", f"echo '{IDLE}' > config.h\n"), sh("./configure; sh own.sh; make check")],
}  # fmt: skip


@pytest.mark.parametrize("steps", HEADERS.values(), ids=HEADERS)
def test_a_header_of_configures_that_something_else_wrote_takes_the_force_from_what_is_built_with_it(
    autotools: Tree, steps
):
    turn = autotools.turn(ASK, FIX, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]
    assert "product_planted" in turn.codes, turn.result["reasons"]


def test_no_list_makes_source_into_a_product(tree: Tree):
    tree.write("a.c", "int a;\n")
    tree.write("a.h", "int a;\n")
    tree.write("Makefile", "test:\n\tfalse\n")
    listed = write("config.status", 'config_files=" a.c Makefile a.h"\n')
    turn = tree.turn(ASK, listed, write("a.c.in", "@X@\n"), write("a.h.in", "@X@\n"), write("Makefile.in", "@X@\n@X@\n"),
                     write("a.c", "int b;\n"), write("a.h", "int b;\n"), write("Makefile", "test:\n\ttrue\n"), sh("make test"),
                     "Done.", flags=OFF)  # fmt: skip
    assert {"a.c", "a.h", "Makefile"} <= {changed["path"] for changed in turn.result["changed_files"]}
