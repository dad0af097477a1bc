"""Which qualities real and made-up checks name, and what of an output counts as theirs."""

from __future__ import annotations

import pytest

from spear.events.names import Verdict
from spear.evidence.assess import CommandFacts, assess_command, complaints
from spear.evidence.epochs import EpochLedger
from spear.evidence.facts import ProjectFacts, read_makefile
from spear.evidence.heard import MOST_HEARD, bounded, heard
from spear.evidence.qualities import NAMES, has_warned

MAKEFILE = """\
CFLAGS = -Wall
all: app
app: app.c
\tcc $(CFLAGS) -o app app.c
asan: CFLAGS += -fsanitize=address
asan: app
optimised:
\tcc -O2 -o app app.c
check: all
\t$(LINT) app.c
LINT = clang-tidy
lint:
\truff check .
windows:
\tx86_64-w64-mingw32-gcc -o app.exe app.c
"""
FILES = {
    "/ws/Makefile": MAKEFILE,
    "/ws/tox.ini": "[testenv:type]\ncommands = mypy src\n",
    "/ws/.pre-commit-config.yaml": "repos:\n  - id: ruff\n  # - id: mypy\n",
    "/ws/run.sh": "#!/bin/sh\n# valgrind ./app\nshellcheck run.sh\n",
    "/ws/pyproject.toml": "[tool.mypy]\nstrict = true\n[tool.coverage]\n",
    "/ws/rust/Cargo.toml": "[workspace.metadata]\nlinter = 'cargo clippy'\n",
    "/ws/out/Makefile": "all:\n",
    "/ws/out/CMakeCache.txt": "CMAKE_HOME_DIRECTORY:INTERNAL=/ws\nCMAKE_BUILD_TYPE:STRING=Debug\n",
    "/ws/asan/Makefile": "all:\n",
    "/ws/asan/CMakeCache.txt": "CMAKE_HOME_DIRECTORY:INTERNAL=/ws\nASAN:BOOL=ON\nCMAKE_BUILD_TYPE:STRING=Release\n",
    "/ws/CMakeLists.txt": "if(ASAN)\nadd_compile_options(-fsanitize=address)\nendif()\n",
}
FACTS = ProjectFacts(
    makefiles={"": read_makefile(MAKEFILE)},
    scripts={"": {"lint": "eslint src", "test": "npm run lint && jest"}},
    root="/ws",
    exists=lambda path: f"/ws/{path}" in FILES or path in ("tests/integration", "app", "notes.txt"),
    read=FILES.get,
)


def names(parser, command, output=""):
    ledger = EpochLedger()
    found = assess_command(parser.parse(command), CommandFacts(0, output), FACTS, ledger, ledger)
    assert found is not None, command
    return {name for result in found.results for name in result.names} - {"compiler warnings"}


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("make", "", set()),
        ("make asan", "", {"sanitizer", "memory checker"}),
        ("make optimised", "", {"release build"}),
        ("make lint", "", {"ruff"}),
        ("make windows", "", {"Windows"}),
        ("ruff check .", "", {"ruff"}),
        ("cargo fmt --check", "", {"rustfmt"}),
        ("cargo clippy -- -D warnings", "", {"clippy"}),
        ("cargo build --release", "", {"release build"}),
        ("cd rust && cargo test", "", set()),
        ("cmake --build out", "", set()),
        ("cmake --build asan", "", {"sanitizer", "release build"}),
        ("npm run lint", "", {"eslint"}),
        ("pre-commit run --all-files", "", {"pre-commit", "ruff"}),
        ("tox", "", {"mypy", "integration tests"}),
        ("sh run.sh", "", {"shellcheck"}),
        ("valgrind ./app", "", {"memory checker"}),
        ("valgrind ./app", "ERROR SUMMARY: 2 errors from 2 contexts", set()),
        ("CFLAGS=-fsanitize=undefined make", "", {"sanitizer"}),
        ("pytest tests/unit", "", set()),
        ("pytest tests/integration", "", {"integration tests"}),
        ("pytest", "", {"integration tests"}),
        ("pytest tests/unit --cov", "", {"coverage"}),
        ("pytest tests/unit", "tests/test_os.py::windows PASSED\nci docs release", set()),
        ("time ./app", "", {"benchmark"}),
        ("make", "==12== Memcheck, a memory error detector", {"memory checker"}),
        ("echo valgrind; make", "valgrind\n", set()),
        ("sphinx-build -b html docs out", "", {"documentation build"}),
    ],
)
def test_a_check_names_what_its_command_its_recipe_or_its_output_says(parser, command, output, expected):
    assert names(parser, command, output) == expected


def test_names_are_of_the_closed_list(parser):
    assert names(parser, "make asan") <= NAMES


@pytest.mark.parametrize(
    ("command", "output", "seen"),
    [
        ("make", "cc -c a.c\n", True),
        ("make 2>&1 | tail -5", "cc -c a.c\n", True),
        ("make 2>&1 | tail -5", "1\n2\n3\n4\n5\n", False),
        ("make 2>&1 | grep -v warning", "cc -c a.c\n", False),
        ("make > /dev/null 2>&1", "", False),
        ("make 2> log.txt", "cc -c a.c\n", False),
        ("make 2>&1 | tee log.txt", "cc -c a.c\n", True),
        ("make", "make: Nothing to be done for 'all'.\n", False),
    ],
)
def test_a_build_denies_warnings_only_where_all_it_printed_was_seen(parser, command, output, seen):
    ledger = EpochLedger()
    facts = CommandFacts(0, output, (0, 0) if "|" in command else ())
    found = assess_command(parser.parse(command), facts, FACTS, ledger, ledger)
    assert ("compiler warnings" in found.results[0].names) == seen


@pytest.mark.parametrize(
    ("line", "warns"),
    [
        ("src/a.c:3:5: warning: unused variable 'x' [-Wunused-variable]", True),
        ("warning: unused import: `x`", True),
        ("a.cpp(3): warning C4996: deprecated", True),
        ("[WARNING] a.java: uses deprecated API", True),
        ("1 warning generated.", True),
        ("CMake Warning at CMakeLists.txt:3", True),
        ("0 warnings generated.", False),
        ("make: warning:  Clock skew detected.", False),
        ("cc -Wall -Wno-warning -c warning.c", False),
        ("test_warning_is_shown ok", False),
    ],
)
def test_what_a_compiler_s_warning_looks_like(line, warns):
    assert has_warned(f"cc -c a.c\n{line}\n") == warns


def test_a_warning_is_a_complaint_of_a_build_alone(parser):
    ledger = EpochLedger()
    for command, expected in (("make", ("compiler warnings",)), ("pytest", ())):
        check = assess_command(parser.parse(command), CommandFacts(0, ""), FACTS, ledger, ledger)
        assert complaints(check, "a.c:1: warning: x\n") == expected
    assert complaints(None, "a.c:1: warning: x\n") == ()


@pytest.mark.parametrize(
    ("command", "output", "left"),
    [
        ("./app", "42\n", "42\n"),
        ("echo 42; ./app", "42\n7\n", "7"),
        ("./app && printf '42\\n'", "7\n42\n", "7"),
        ('./app; echo "status: $?"', "7\nstatus: 0\n", "7\nstatus: 0\n"),
        ("echo 42 | ./app", "42\n", "42\n"),
        ("cat notes.txt; ./app", "42\n", ""),
        ("git diff; ./app", "42\n", ""),
        ("./app > out.txt; cat out.txt", "42\n", "42\n"),
        ("./app | tail -3", "42\n", "42\n"),
        ("cat <<'X'\n42\nX\n./app", "42\n", ""),
    ],
)
def test_what_a_command_prints_itself_is_no_check_s(parser, command, output, left):
    assert heard(parser.parse(command), output, FACTS) == left


def test_only_head_and_tail_of_a_long_output_are_kept():
    text = "a" * MOST_HEARD + "b" * MOST_HEARD
    assert len(bounded(text)) <= MOST_HEARD + 1
    assert bounded(text).startswith("a")
    assert bounded(text).endswith("b")


def test_a_real_build_that_warned_denies_that_there_are_no_warnings(ring):
    ring.edit("src/ring.c", "index > size", "index >= size")
    ring.run("make all")
    assert ring.verdict("There are no compiler warnings.").verdict is Verdict.VERIFIED
    ring.edit(
        "src/ring.c", "int ring_next(int index, int size)\n{", "int ring_next(int index, int size)\n{\n    int x;"
    )
    ring.run("make all")
    ring.run("make clean all 2>/dev/null")
    assert ring.verdict("It builds.").verdict is Verdict.VERIFIED
    assert ring.verdict("It builds without warnings.").verdict is Verdict.UNVERIFIED


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("`ring_next(3, 4)` returns 0.", True),
        ("`ring_next(3, 4)` returns 5 now.", False),
        ("The test prints `ok` and it works.", True),
        ("Running `./build/test_ring` prints `ok`.", True),
        ("Running `./build/test_ring` prints `hello`.", False),
    ],
)
def test_values_of_a_real_test(fixed, answer, shown):
    fixed.run("make test")
    assert (fixed.verdict(answer).verdict is Verdict.VERIFIED) == shown
