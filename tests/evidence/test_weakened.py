"""A check that was changed to pass is named; one that merely grew is not accused."""

from __future__ import annotations

import pytest

from spear.events.names import Verdict
from spear.evidence.kinds import CheckKind
from spear.evidence.reasons import ReasonCode
from spear.evidence.weakened import FileTexts, find_weakened

PYTEST = (
    "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_zero():\n    assert add(0,"
    " 0) == 0\n"
)
SHELL = "#!/bin/sh\nset -e\nmake all\n./build/test_ring\n"
MAKE = "test: build/t\n\t./build/t\nbuild/t: t.c\n\tcc -o $@ t.c\n"
JEST = "describe('add', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3);\n  });\n});\n"

WEAKENED = [
    (
        "tests/test_ring.c",
        "int main(void)\n{\n    if (next(3) != 0)\n        return 1;\n    return 0;\n}\n",
        ("return 1;", "return 0;"),
    ),
    (
        "tests/test_ring.c",
        "int main(void)\n{\n    assert(next(3) == 0);\n    return 0;\n}\n",
        ("    assert(next(3) == 0);\n", ""),
    ),
    ("tests/test_ring.c", "int main(void)\n{\n    if (next(3)) return 1;\n}\n", ("{\n", "{\n    return 0;\n")),
    ("test_calc.py", PYTEST, (PYTEST, "")),
    ("test_calc.py", PYTEST, (PYTEST, "# nothing here\n")),
    ("test_calc.py", PYTEST, ("    assert add(1, 2) == 3\n", "    pass\n")),
    ("test_calc.py", PYTEST, ("assert add(1, 2) == 3", "assert True")),
    ("test_calc.py", PYTEST, ("def test_add", "@pytest.mark.skip\ndef test_add")),
    ("test_calc.py", PYTEST, ("def test_add", "@pytest.mark.xfail\ndef test_add")),
    ("test_calc.py", PYTEST, ("def test_zero():\n    assert add(0, 0) == 0\n", "")),
    ("test_calc.py", PYTEST, ("def test_zero", "def zero")),
    ("src/add.test.js", JEST, ("it('adds'", "it.skip('adds'")),
    ("src/add.test.js", JEST, ("    expect(add(1, 2)).toBe(3);\n", "")),
    ("scripts/check", SHELL, ("set -e\n", "exit 0\n")),
    ("scripts/check.sh", SHELL, ("./build/test_ring", "./build/test_ring || true")),
    ("build.sh", SHELL, ("make all", "exit 0\nmake all")),
    ("tests/run.sh", SHELL, ("#!/bin/sh\n", "#!/bin/sh\nexit 0\n")),
    ("Makefile", MAKE, ("\t./build/t\n", "\t-./build/t\n")),
    ("Makefile", MAKE, ("\t./build/t\n", "\t@echo ok\n")),
    ("Makefile", MAKE, ("\tcc -o $@ t.c\n", "\tcp /bin/true $@\n")),
    (
        "Makefile",
        MAKE.replace("cc ", "$(CC) "),
        ("\t$(CC) -o $@ t.c\n", "\tmkdir -p build\n\tprintf '#!/bin/sh\\n' > $@\n"),
    ),
    ("Makefile", MAKE, ("\t./build/t\n", "\t./build/t || true\n")),
    ("package.json", '{"scripts": {"test": "jest"}}', ('"jest"', '"echo ok"')),
    ("package.json", '{"scripts": {"test": "jest"}}', ('"jest"', '"jest --passWithNoTests"')),
    (
        "src/lib_test.go",
        "func TestA(t *testing.T) {\n\tif a() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
        ("t.Fatal()", "t.Skip()"),
    ),
]

PIPED = ("Makefile", MAKE, ("\t./build/t\n", "\t./build/t | cat\n"))
HOOKED = ("conftest.py", "import sys\n", ("import sys\n", "def pytest_runtest_makereport(item, call):\n    pass\n"))
WEAKENED += [PIPED, HOOKED]
TIDY = MAKE + "clean:\n\trm -f build/t\nall: build/t\n"
RUNNER = "#!/bin/sh\nset -e\n./build/t\necho done\n"
WEAKENED += [
    ("Makefile", MAKE, ("\t./build/t\n", "")),
    ("Makefile", MAKE, ("\t./build/t\n", "test: unit\nunit:\n\t@true\n")),
    ("Makefile", MAKE, ("\t./build/t\n", "test: app\napp:\n\tcc -o app t.c\n")),
    ("Makefile", TIDY, ("\t./build/t\n", "\t-./build/t\n")),
    ("Makefile", TIDY, ("\t./build/t\n", "\trm -f x; ./build/t || true\n")),
    ("tests/run.sh", RUNNER, ("./build/t\n", "./build/t || true\n")),
    ("tests/run.sh", RUNNER, ("./build/t\n", "exit 0\n./build/t\n")),
]
GREW = [
    (
        "test_calc.py",
        PYTEST,
        ("assert add(0, 0) == 0\n", "assert add(0, 0) == 0\n\n\ndef test_more():\n    assert add(2, 2) == 4\n"),
    ),
    ("test_calc.py", PYTEST, ("add(1, 2) == 3", "add(1, 3) == 4")),
    (
        "tests/test_ring.c",
        "int main(void)\n{\n    if (next(3) != 0)\n        return 1;\n    return 0;\n}\n",
        ("    return 0;\n", "    if (next(2) != 3)\n        return 1;\n    return 0;\n"),
    ),
    ("Makefile", MAKE, ("build/t: t.c\n", "build/t: t.c u.c\n")),
    ("Makefile", MAKE, ("\tcc -o $@ t.c\n", "\tmkdir -p build\n\tgcc -O2 -o $@ t.c && cp $@ dist/\n")),
    ("Makefile", MAKE, ("\tcc -o $@ t.c\n", "\tcmake --build build\n")),
    ("Makefile", MAKE, ("test: build/t\n", "check: test\ntest: build/t\n")),
    ("Makefile", MAKE, ("test: build/t\n", "test: unit\nunit: build/t\n")),
    ("Makefile", MAKE, ("test: build/t\n", "test_more: test_more.o\ntest: build/t\n")),
    (
        "Makefile",
        MAKE,
        ("test: build/t\n", "VERSION := $(shell git describe --tags 2>/dev/null || echo none)\ntest: build/t\n"),
    ),
    ("Makefile", TIDY, ("\trm -f build/t\n", "\t-rm -f build/t\n\trmdir build 2>/dev/null || true\n")),
    ("Makefile", TIDY, ("clean:\n", "distclean: clean\n\t-rm -rf build\nclean:\n")),
    ("tests/run.sh", RUNNER, ("set -e\n", "set -e\nvg=$(command -v valgrind || true)\n")),
    ("tests/run.sh", RUNNER, ("echo done\n", "rm -f core || true\necho done\n")),
    ("tests/run.sh", RUNNER, ("set -e\n", 'set -e\nif [ "${1:-}" = --help ]; then\n  echo usage\n  exit 0\nfi\n')),
    ("src/add.test.js", JEST, ("toBe(3);\n", "toBe(3);\n    expect(add(2, 2)).toBe(4);\n")),
    ("package.json", '{"scripts": {"test": "jest"}}', ('"jest"', '"jest --ci"')),
]


@pytest.mark.parametrize(("path", "before", "change"), WEAKENED)
def test_a_check_changed_to_pass_is_named(path, before, change):
    after = before.replace(*change)
    assert after != before
    (found,) = find_weakened([FileTexts(path, before, after)])
    assert (found.certain, found.path) == (True, path), found
    assert CheckKind.TEST in found.kinds


MOVED = [
    ("tests/test_a.py", "tests/unit/test_a.py", False),
    ("tests/test_a.py", "tests/test_renamed.py", False),
    ("src/a.test.js", "test/a.test.js", False),
    ("tests/a_test.c", "tests/b_test.c", False),
    ("tests/test_a.py", "tests/a_disabled.py", True),
    ("tests/test_a.py", "tests/.disabled/test_a.py", True),
    ("tests/test_a.py", "build/test_a.py", True),
    ("src/a.test.js", "src/a.js", True),
    ("pkg/a_test.go", "pkg/a_old.go", True),
]


@pytest.mark.parametrize(("old", "new", "is_lost"), MOVED)
def test_a_test_that_is_moved_to_where_no_runner_looks_is_deleted(old, new, is_lost):
    text = "def test_a():\n    assert 1 + 1 == 2\n"
    found = find_weakened([FileTexts(old, text, None), FileTexts(new, None, text)])
    assert [weakening.path for weakening in found if weakening.certain] == ([old] if is_lost else [])


@pytest.mark.parametrize(("path", "before", "change"), GREW)
def test_a_check_that_was_extended_is_not_accused(path, before, change):
    after = before.replace(*change)
    assert after != before
    (found,) = find_weakened([FileTexts(path, before, after)])
    assert not found.certain, found


NEW_AND_DECIDING = [
    ("conftest.py", "def pytest_collection_modifyitems(items):\n    items[:] = items[:1]\n"),
    ("tests/conftest.py", "collect_ignore = ['test_a.py']\n"),
    ("conftest.py", "def pytest_runtest_makereport(item, call):\n    pass\n"),
    ("pytest.ini", "[pytest]\naddopts = -q -k zero\n"),
    ("tox.ini", "[pytest]\npython_files = ok_*.py\n"),
    ("GNUmakefile", "test:\n\t-./t\n"),
]
NEW_AND_NAMED = [
    ("pytest.ini", "[pytest]\ntestpaths = tests\n"),
    ("conftest.py", "import sys\nsys.path.insert(0, 'src')\n"),
    ("pytest.ini", "[pytest]\naddopts = -q\n"),
    ("GNUmakefile", "test: build/t\n\t./build/t\n"),
]


@pytest.mark.parametrize(("path", "text"), NEW_AND_DECIDING)
def test_a_new_file_that_hides_the_tests_that_were_there_is_named(path, text):
    (found,) = find_weakened([FileTexts(path, None, text)])
    assert found.certain
    assert CheckKind.TEST in found.kinds
    assert find_weakened([FileTexts(path, None, text)], had_tests=False) == ()


@pytest.mark.parametrize(("path", "text"), NEW_AND_NAMED)
def test_a_new_file_that_only_decides_what_runs_is_named_and_no_more(path, text):
    (found,) = find_weakened([FileTexts(path, None, text)])
    assert not found.certain


def test_a_new_test_or_makefile_is_nobodys_weakening():
    assert find_weakened([FileTexts("tests/test_new.py", None, PYTEST), FileTexts("Makefile", None, MAKE)]) == ()


RUST = "pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n"
DOCTEST = 'def add(a, b):\n    """Adds.\n\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n'


@pytest.mark.parametrize(
    ("path", "text", "change", "certain"),
    [
        ("src/lib.rs", RUST, ("    #[test]", "    #[test]\n    #[ignore]"), True),
        ("src/lib.rs", RUST, ("        assert_eq!(add(1, 2), 3);\n", ""), True),
        ("src/lib.rs", RUST, ("2), 3)", "2), 4)"), False),
        ("calc.py", DOCTEST, ("    3\n", "    4\n"), False),
    ],
)
def test_the_tests_a_source_file_holds_are_watched_like_those_of_a_test_file(path, text, change, certain):
    (found,) = find_weakened([FileTexts(path, text, text.replace(*change))])
    assert found.certain is certain
    assert (
        find_weakened([FileTexts(path, text, text.replace("add() {}", "add() { 1 }").replace("a + b", "b + a"))]) == ()
    )


def test_source_files_are_no_checks():
    assert (
        find_weakened([FileTexts("src/ring.c", "return 1;", "return 0;"), FileTexts("docs/testing.md", "a", "")]) == ()
    )


def test_a_deleted_test_is_named_and_a_moved_one_is_not():
    (found,) = find_weakened([FileTexts("tests/test_a.py", PYTEST, None)])
    assert found.certain
    assert "deleted" in found.why
    assert (
        find_weakened([FileTexts("tests/test_a.py", PYTEST, None), FileTexts("tests/unit/test_a.py", None, PYTEST)])
        == ()
    )


def test_the_verdict_names_the_weakened_file_and_its_check_does_not_count(fixed):
    before = (fixed.root / "tests/test_ring.c").read_text()
    fixed.edit("tests/test_ring.c", "return 1;", "return 0;")
    fixed.run("make test")
    weakened = find_weakened([FileTexts("tests/test_ring.c", before, (fixed.root / "tests/test_ring.c").read_text())])
    report = fixed.verdict("The tests pass.", weakened=weakened)
    named = [reason for reason in report.reasons if "tests/test_ring.c" in reason.text]
    assert report.verdict is Verdict.UNVERIFIED
    assert ReasonCode.CHECK_WEAKENED in {reason.code for reason in named}


def test_an_extended_test_is_named_in_a_verified_turn(fixed):
    before = (fixed.root / "tests/test_ring.c").read_text()
    fixed.edit(
        "tests/test_ring.c", '    printf("ok\\n");', '    if (ring_next(0, 4) != 1) return 1;\n    printf("ok\\n");'
    )
    fixed.run("make test")
    weakened = find_weakened([FileTexts("tests/test_ring.c", before, (fixed.root / "tests/test_ring.c").read_text())])
    report = fixed.verdict("The tests pass.", weakened=weakened)
    assert report.verdict is Verdict.VERIFIED
    assert any(r.code is ReasonCode.CHECK_CHANGED and r.files == ("tests/test_ring.c",) for r in report.reasons)
