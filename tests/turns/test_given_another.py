"""Whole turns in which the real tools are given another program, another module or another tree."""

from __future__ import annotations

import shutil

import pytest

from tests.turns.conftest import MAKEFILE, WRONG, Tree, sh, write

ASK = "Rework this tree thoroughly."
OFF = ("--validation", "off")
MULTIPLY = ("patch", {"path": "calc.py", "old_string": "a - b", "new_string": "a * b"})
JS_WRONG = ("patch", {"path": "calc.js", "old_string": "a - b", "new_string": "a * b"})
JS_RIGHT = ("patch", {"path": "calc.js", "old_string": "a - b", "new_string": "a + b"})
FAKED = "import calc\ncalc.add = lambda a, b: 3\n"
ASSERTS = (
    "#include <assert.h>\nint counter_step(int, int);\nint main(void) { assert(counter_step(4, 4) == 0); return 0; }\n"
)
UNITTEST = (
    "import unittest\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n"
    "    def test_add(self):\n        assert add(1, 2) == 3\n"
)
JS_TEST = (
    'const test = require("node:test");\nconst assert = require("node:assert");\n'
    'const { add } = require("../calc.js");\ntest("adds", () => { assert.strictEqual(add(1, 2), 3); });\n'
)
LINKED = "mkdir -p /tmp/q; printf 'test:\\n\\t@true\\n' > /tmp/q/Makefile; ln -s /tmp/q q"
USER_MODULE = 'CODE=\'import sys; sys.path.insert(0, "."); import calc; calc.add = lambda a, b: 3\'; d=$(/usr/bin/python3 -m site --user-site); mkdir -p $d; echo "$CODE" > $d/usercustomize.py'
needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="no Node here")


@pytest.fixture
def calc(tree: Tree) -> Tree:
    tree.write("calc.py", "def add(a, b):\n    return a - b\n")
    tree.write("test_calc.py", UNITTEST)
    return tree


@pytest.fixture
def package(tree: Tree) -> Tree:
    tree.write("package.json", '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}\n')
    tree.write("calc.js", "exports.add = (a, b) => a - b;\n")
    tree.write("test/calc.test.js", JS_TEST)
    return tree


MAKE = {
    "a variable": [sh("make test RUN=true")],
    "an environment": [sh("export RUN=true"), sh("make test")],
    "its standard input": [sh("printf 'test:\\n\\t@true\\n' | make -f - test")],
    "a directory behind a link": [sh(f"{LINKED}; make -C q test")],
    "a linked directory entered": [sh(LINKED), sh("cd q && make test")],
    "no assertions": [sh("CFLAGS=-DNDEBUG make test")],
}


@pytest.mark.parametrize("steps", MAKE.values(), ids=MAKE)
def test_a_make_that_runs_something_else_shows_nothing(counter: Tree, steps):
    counter.write("Makefile", MAKEFILE.replace("\t./build", "\t$(RUN) ./build").replace("cc -Wall", "cc $(CFLAGS)"))
    counter.write("tests/test_counter.c", ASSERTS)
    turn = counter.turn(ASK, WRONG, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]


PYTHON = {
    "without assertions": [sh("python3 -O -m unittest -q")],
    "a runner of its own": [write("pytest.py", "print('1 passed in 0.01s')\n"), sh("python3 -m pytest -q")],
    "a plugin": [write("plugin.py", FAKED), sh("python3 -m pytest -q -p plugin")],
    "a plugin a conftest names": [write("plugin.py", FAKED), write("conftest.py", "pytest_plugins = ['plugin']\n"),
                                  sh("python3 -m pytest -q")],
    "a module loaded before all others": [write("sitecustomize.py", FAKED), sh("PYTHONPATH=. python3 -m pytest -q")],
    "a module at home": [sh(USER_MODULE), sh("/usr/bin/python3 -m unittest -q")],
}  # fmt: skip


@pytest.mark.parametrize("steps", PYTHON.values(), ids=PYTHON)
def test_a_python_that_loads_something_else_shows_nothing(calc: Tree, steps):
    turn = calc.turn(ASK, MULTIPLY, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]


NODE = {
    "another shell": [sh("npm test --script-shell=/bin/true")],
    "another shell, set at home": [sh("npm config set script-shell /bin/true"), sh("npm test")],
    "another shell, set in the tree": [write(".npmrc", "script-shell=/bin/true\n"), sh("npm test")],
    "a module loaded first": [write("fake.js", "require('./calc.js').add = (a, b) => a + b;\n"),
                              sh("node -r ./fake.js test/calc.test.js")],
}  # fmt: skip


@needs_node
@pytest.mark.parametrize("steps", NODE.values(), ids=NODE)
def test_a_node_that_runs_something_else_shows_nothing(package: Tree, steps):
    turn = package.turn(ASK, JS_WRONG, *steps, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", turn.result["checks"]


@needs_node
def test_the_projects_own_npm_test_counts(package: Tree):
    turn = package.turn(ASK, JS_RIGHT, sh("npm test"), "The tests pass.")
    assert turn.verdict == "VERIFIED", turn.result["reasons"]


GO_TEST = 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n'


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go here")
def test_a_go_test_counts_and_one_that_runs_another_program_does_not(tree: Tree):
    tree.write("go.mod", "module example.org/calc\n\ngo 1.19\n")
    tree.write("calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n")
    tree.write("calc_test.go", GO_TEST)
    patch = ("patch", {"path": "calc.go", "old_string": "a - b", "new_string": "a * b"})
    for command in ("go test -exec true ./...", "go test -run NONE ./...", "go test ./..."):
        turn = tree.turn(ASK, patch, sh(command), "The tests pass.", flags=OFF)
        assert turn.verdict == "UNVERIFIED", (command, turn.result["checks"])
        tree.write("calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n")
    right = ("patch", {"path": "calc.go", "old_string": "a - b", "new_string": "a + b"})
    assert tree.turn(ASK, right, sh("go test ./..."), "The tests pass.").verdict == "VERIFIED"
