"""Whole turns in which tests start or load what was built before, by a path put together, by a package's main file, by
the path Python looks along."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.turns.conftest import BREAK, HARMLESS, Tree, built, sh

ASK = "Rework the limits in this tree thoroughly."
OFF = ("--validation", "off")
TESTS = sh("python3 -m pytest -q -p no:cacheprovider")
ROOT = "import ctypes\nimport os\nimport subprocess\nimport sys\nfrom pathlib import Path\n\nROOT = Path(__file__).resolve().parent.parent\n"
STARTED = {
    "joined": "subprocess.run([str(ROOT / 'build' / 'test_counter')]).returncode == 0",
    "joined by os.path": "os.system(os.path.join(ROOT, 'build', 'test_counter')) == 0",
    "loaded": "ctypes.CDLL(str(ROOT / 'build' / 'libcounter.so')).counter_step(4, 4) == 0",
    "found": "all(subprocess.run([str(p)]).returncode == 0 for p in (ROOT / 'build').iterdir() if not p.suffix)",
}
MAKEFILE = (
    "all: build/test_counter build/libcounter.so\nbuild/test_counter: src/counter.c src/limits.h tests/test_counter.c\n"
    "\tcc -o $@ src/counter.c tests/test_counter.c\nbuild/libcounter.so: src/counter.c src/limits.h\n\tcc -shared -fPIC -o $@ src/counter.c\n"
)


@pytest.mark.parametrize(
    ("steps", "verdict"), [([BREAK, TESTS], "UNVERIFIED"), ([HARMLESS, sh("make"), TESTS], "VERIFIED")]
)
@pytest.mark.parametrize("started", STARTED.values(), ids=STARTED)
def test_tests_that_start_what_was_built_before_show_nothing(limits: Tree, started, steps, verdict):
    limits.write("Makefile", MAKEFILE)
    limits.write("tests/test_app.py", f"{ROOT}\n\ndef test_step():\n    assert {started}\n")
    limits.write(".gitignore", "build/\n__pycache__/\n")
    built(limits)
    turn = limits.turn(ASK, *steps, "I reworked the limits. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


def test_tests_that_start_nothing_are_in_no_doubt(limits: Tree):
    limits.write("tests/test_app.py", "def test_step():\n    assert 'build' and 'program'\n")
    limits.write("src/app.py", "FIRST = 0\n")
    limits.write(".gitignore", "build/\n__pycache__/\n")
    built(limits)
    change = ("patch", {"path": "src/app.py", "old_string": "0", "new_string": "1"})
    turn = limits.turn(ASK, change, TESTS, "I reworked the limits. The tests pass.", flags=OFF)
    assert turn.verdict == "VERIFIED", (turn.result["checks"], turn.result["reasons"])


PACKAGE = '{"name": "step", "version": "1.0.0", "main": "dist/step.js", "scripts": {"build": "node build.js", "test": "node --test tests/"}}\n'
BUILD_JS = "const fs = require('fs');\nfor (const place of ['dist', 'lib']) {\n  fs.mkdirSync(place, {recursive: true});\n  fs.copyFileSync('src/step.js', place + '/step.js');\n}\n"
REQUIRED = {
    "the package": "require('..')",
    "pieces": "require(require('path').join(__dirname, '..', 'dist', 'step'))",
    "a template": "require(`${__dirname}/../dist/step.js`)",
    "another directory": "require('../lib/step')",
}


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
@pytest.mark.parametrize(
    ("new", "steps", "verdict"),
    [("v > limit", [sh("npm test")], "UNVERIFIED"), ("v>= limit", [sh("npm run build && npm test")], "VERIFIED")],
)
@pytest.mark.parametrize("required", REQUIRED.values(), ids=REQUIRED)
def test_tests_that_load_an_old_bundle_show_nothing(tree: Tree, required, new, steps, verdict):
    tree.write("package.json", PACKAGE)
    tree.write("build.js", BUILD_JS)
    tree.write("src/step.js", "module.exports = (v, limit) => v >= limit ? 0 : v + 1;\n")
    tree.write(
        "tests/step.test.js",
        "const test = require('node:test');\nconst assert = require('assert');\n"
        f"const step = {required};\ntest('step', () => assert.strictEqual(step(4, 4), 0));\n",
    )
    tree.write(".gitignore", "dist/\nlib/\n")
    built(tree, "node build.js")
    change = ("patch", {"path": "src/step.js", "old_string": "v >= limit", "new_string": new})
    turn = tree.turn(ASK, change, *steps, "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
@pytest.mark.parametrize(("script", "verdict"), [("test", "VERIFIED"), ("check", "UNVERIFIED")])
def test_a_script_that_is_not_there_has_not_run(tree: Tree, script, verdict):
    tree.write("package.json", PACKAGE.replace("dist/", "src/"))
    tree.write("src/step.js", "module.exports = (v, limit) => v >= limit ? 0 : v + 1;\n")
    tree.write(
        "tests/step.test.js", "require('node:test').test('step', () => require('assert')(!require('..')(4, 4)));\n"
    )
    built(tree, "true")
    change = ("patch", {"path": "src/step.js", "old_string": "v >= limit", "new_string": "v>= limit"})
    turn = tree.turn(ASK, change, sh(f"npm run {script} --if-present"), "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


GO_TEST = (
    'package main\n\nimport (\n\t"os/exec"\n\t"testing"\n)\n\nfunc TestApp(t *testing.T) {\n'
    '\tout, err := exec.Command("./bin/app").Output()\n\tif err != nil || string(out) != "0\\n" {\n\t\tt.Fatal(string(out), err)\n\t}\n}\n'
)


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go here")
@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([sh("go test -count=1 ./...")], "UNVERIFIED"),
        ([sh("go build ./... && go test -count=1 ./...")], "UNVERIFIED"),
        ([sh("go build && go test -count=1 ./...")], "UNVERIFIED"),
        ([sh("go build -o bin/app . && go test -count=1 ./...")], "VERIFIED"),
    ],
)
def test_tests_of_go_that_start_an_old_program_show_nothing(tree: Tree, steps, verdict):
    tree.write("go.mod", "module x\n\ngo 1.18\n")
    tree.write("main.go", 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(0) }\n')
    tree.write("main_test.go", GO_TEST)
    tree.write(".gitignore", "bin/\n/x\n")
    built(tree, "go build -o bin/app .")
    change = ("patch", {"path": "main.go", "old_string": "Println(0)", "new_string": "Println(1 - 1)"})
    turn = tree.turn(ASK, change, *steps, "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust here")
@pytest.mark.parametrize(
    ("profile", "steps", "verdict"),
    [
        ("release", [sh("cargo test --offline --test it")], "UNVERIFIED"),
        ("release", [sh("cargo build --offline && cargo test --offline --test it")], "UNVERIFIED"),
        ("release", [sh("cargo build --offline --release && cargo test --offline --test it")], "VERIFIED"),
        ("debug", [sh("cargo test --offline --test it")], "VERIFIED"),
    ],
)
def test_tests_of_cargo_that_start_an_old_program_show_nothing(tree: Tree, profile, steps, verdict):
    tree.write("Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
    tree.write("src/main.rs", "fn main() { std::process::exit(0) }\n")
    run = f'std::process::Command::new("target/{profile}/x").status().unwrap().success()'
    tree.write("tests/it.rs", f"#[test]\nfn it() {{ assert!({run}); }}\n")
    tree.write(".gitignore", "target/\n")
    built(tree, "cargo build --offline -q; cargo build --release -q --offline")
    change = ("patch", {"path": "src/main.rs", "old_string": "exit(0)", "new_string": "exit(2 - 2)"})
    turn = tree.turn(ASK, change, *steps, "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


ALONG = {
    "configured": ("[pytest]\npythonpath = build/lib\n", "build/lib", "python3 -m pytest -q", "UNVERIFIED"),
    "a variable": ("", ".venv/site-packages", "PYTHONPATH=.venv/site-packages python3 -m pytest -q", "UNVERIFIED"),
    "source first": ("[pytest]\npythonpath = src build/lib\n", "build/lib", "python3 -m pytest -q", "VERIFIED"),
    "a copy nobody looks at": ("[pytest]\npythonpath = src\n", "build/lib", "python3 -m pytest -q", "VERIFIED"),
    "copied anew": (
        "[pytest]\npythonpath = build/lib\n", "build/lib", "make lib && python3 -m pytest -q", "VERIFIED",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "place", "command", "verdict"), ALONG.values(), ids=ALONG)
def test_a_copy_that_python_finds_first_shows_nothing_of_the_source(tree: Tree, config, place, command, verdict):
    tree.write("src/counter.py", "def step(v, limit):\n    return 0 if v >= limit else v + 1\n")
    tree.write("Makefile", "lib: build/lib/counter.py\nbuild/lib/counter.py: src/counter.py\n\tcp $< $@\n")
    tree.write("tests/test_counter.py", "from counter import step\n\n\ndef test_step():\n    assert step(4, 4) == 0\n")
    tree.write("pytest.ini", config or "[pytest]\n")
    tree.write(".gitignore", "build/\n.venv/\n__pycache__/\n*.egg-info/\n.pytest_cache/\n")
    built(tree, f"mkdir -p {place} && cp src/counter.py {place}/")
    change = ("patch", {"path": "src/counter.py", "old_string": "v >= limit", "new_string": "limit <= v"})
    turn = tree.turn(ASK, change, sh(command), "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize(
    ("command", "verdict"),
    [("export PYTEST_ADDOPTS='-k other'", "UNVERIFIED"), ("export PYTEST_ADDOPTS=-q", "VERIFIED")],
)
def test_a_variable_may_pick_some_of_the_tests(tree: Tree, command, verdict):
    tree.write("counter.py", "def step(v, limit):\n    return 0 if v >= limit else v + 1\n")
    tree.write("test_counter.py", "from counter import step\n\n\ndef test_other():\n    assert step(4, 4) == 0\n")
    tree.write(".gitignore", "__pycache__/\n.pytest_cache/\n")
    built(tree, "true")
    change = ("patch", {"path": "counter.py", "old_string": "v >= limit", "new_string": "limit <= v"})
    turn = tree.turn(ASK, change, sh(command), sh("python3 -m pytest -q"), "All tests pass.", flags=OFF)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


@pytest.mark.parametrize(("linked", "verdict"), [(False, "UNVERIFIED"), (True, "VERIFIED")])
def test_an_installed_copy_shows_nothing_of_the_source(tree: Tree, linked, verdict):
    environment = tree.root / ".venv"
    tree.write("src/counter.py", "def step(v, limit):\n    return 0 if v >= limit else v + 1\n")
    tree.write(
        "tests/test_counter.py",
        "import unittest\nfrom counter import step\n\n\nclass T(unittest.TestCase):\n"
        "    def test_step(self):\n        self.assertEqual(step(4, 4), 0)\n",
    )
    tree.write(".gitignore", ".venv/\n__pycache__/\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=60)
    (packages,) = environment.glob("lib/python3*/site-packages")
    built(tree, f"cp src/counter.py {packages}/")
    change = ("patch", {"path": "src/counter.py", "old_string": "v >= limit", "new_string": "limit <= v"})
    if linked:
        (packages / "counter.py").unlink()
        (packages / "counter.pth").write_text(f"{tree.root}/src\n")
    turn = tree.turn(
        ASK, change, sh(".venv/bin/python -m unittest discover -s tests"), "I reworked it. The tests pass.", flags=OFF
    )
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])


BY_RECIPE = {
    "a recipe": ("test:\n\t$(VENV)/bin/python -m unittest discover -s tests\n", "make test"),
    "a script": ("test:\n\tsh test.sh\n", "sh test.sh"),
}


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(("rule", "command"), BY_RECIPE.values(), ids=BY_RECIPE)
def test_an_installed_copy_that_a_recipe_comes_to_shows_nothing_of_the_source(tree: Tree, rule, command, linked):
    tree.write("src/counter.py", "def step(v, limit):\n    return 0 if v >= limit else v + 1\n")
    tree.write("Makefile", f"VENV = .venv\n{rule}")
    tree.write("test.sh", ". .venv/bin/activate\npython -m unittest discover -s tests\n")
    tree.write(
        "tests/test_counter.py",
        "import unittest\nfrom counter import step\n\n\nclass T(unittest.TestCase):\n"
        "    def test_step(self):\n        self.assertEqual(step(4, 4), 0)\n",
    )
    tree.write(".gitignore", ".venv/\n__pycache__/\n")
    environment = tree.root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=60)
    (packages,) = environment.glob("lib/python3*/site-packages")
    built(tree, "true" if linked else f"cp src/counter.py {packages}/")
    if linked:
        (packages / "counter.pth").write_text(f"{tree.root}/src\n")
    change = ("patch", {"path": "src/counter.py", "old_string": "v >= limit", "new_string": "limit <= v"})
    turn = tree.turn(ASK, change, sh(command), "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == ("VERIFIED" if linked else "UNVERIFIED"), (turn.result["checks"], turn.result["reasons"])


def test_a_helper_of_tests_may_load_what_was_built_before(limits: Tree):
    limits.write("Makefile", MAKEFILE)
    limits.write(
        "tests/test_app.py", "from helper import lib\n\n\ndef test_step():\n    assert lib.counter_step(4, 4) == 0\n"
    )
    limits.write(
        "src/helper.py",
        "import ctypes\nfrom pathlib import Path\nlib = ctypes.CDLL(str(Path('build', 'libcounter.so')))\n",
    )
    limits.write("pytest.ini", "[pytest]\npythonpath = src\n")
    limits.write(".gitignore", "build/\n__pycache__/\n")
    built(limits)
    turn = limits.turn(ASK, BREAK, TESTS, "I reworked the limits. The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])


def test_a_makefile_of_tests_alone_runs_what_another_one_built(limits: Tree):
    limits.write("Makefile", MAKEFILE)
    limits.write("test.mk", "test:\n\t./build/test_counter\n.PHONY: test\n")
    built(limits)
    change = ("patch", {"path": "src/counter.c", "old_string": "value >= limit", "new_string": "value > limit"})
    turn = limits.turn(ASK, change, sh("make -f test.mk test"), "I reworked it. The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED", (turn.result["checks"], turn.result["reasons"])
