"""Real small projects in several languages: a right and a wrong change each get the right verdict, with the model's own
check and with none (spec 3.3–3.5). A language is here when its tools are on this machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import pytest

from tests.turns.conftest import sh


@dataclass(frozen=True)
class Project:
    """Files, the check a model would run, the file to mend, what is wrong in it, what is right, what is still wrong."""

    name: str
    needs: str
    files: dict[str, str]
    check: str
    target: str
    wrong: str
    right: str
    still_wrong: str


PROJECTS = [
    Project(
        "python-unittest", "python3",
        {"calc.py": "def add(a, b):\n    return a - b\n",
         "test_calc.py": "import unittest\nfrom calc import add\n\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n"
                         "        self.assertEqual(add(1, 2), 3)\n"},
        "python3 -m unittest", "calc.py", "a - b", "a + b", "a * b",
    ),
    Project(
        "python-pytest", "pytest",
        {"calc.py": "def add(a, b):\n    return a - b\n", "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
         "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"},
        "pytest -q", "calc.py", "a - b", "a + b", "a * b",
    ),
    Project(
        "javascript-node", "node",
        {"package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
         "calc.js": "exports.add = (a, b) => a - b;\n",
         "calc.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./calc');\n"
                         "test('adds', () => assert.strictEqual(add(1, 2), 3));\n"},
        "npm test --silent", "calc.js", "a - b", "a + b", "a * b",
    ),
    Project(
        "rust-cargo", "cargo",
        {"Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n', ".gitignore": "target/\n",
         "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n"
                       "        assert_eq!(super::add(1, 2), 3);\n    }\n}\n"},
        "cargo test --offline", "src/lib.rs", "a - b", "a + b", "a * b",
    ),
    Project(
        "shell", "sh",
        {"add.sh": "#!/bin/sh\necho $(($1 - $2))\n", "tests/run.sh": "#!/bin/sh\n[ \"$(sh add.sh 1 2)\" = 3 ] || { echo FAIL; exit 1; }\n"},
        "sh tests/run.sh", "add.sh", "$1 - $2", "$1 + $2", "$1 * $2",
    ),
]  # fmt: skip
HERE = [project for project in PROJECTS if shutil.which(project.needs)]


def set_up(tree, project):
    for path, content in project.files.items():
        tree.write(path, content)
    tree.git("init", "-q")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "start")


def edit(project, new):
    return "patch", {"path": project.target, "old_string": project.wrong, "new_string": new}


@pytest.mark.parametrize("project", HERE, ids=lambda p: p.name)
def test_a_right_change_that_was_tested_is_verified(tree, project):
    set_up(tree, project)
    turn = tree.turn(f"Fix {project.target}", edit(project, project.right), sh(project.check), "Fixed; the tests pass.",
                     flags=("--validation", "off"))  # fmt: skip
    assert turn.verdict == "VERIFIED", turn.result["reasons"]
    changed = {change["path"] for change in turn.result["changed_files"]}
    assert changed - {"Cargo.lock"} == {project.target}  # cargo writes its lock file on its first run


@pytest.mark.parametrize("project", HERE, ids=lambda p: p.name)
def test_a_wrong_change_is_unverified_whatever_the_model_says(tree, project):
    set_up(tree, project)
    turn = tree.turn(f"Fix {project.target}", edit(project, project.still_wrong), sh(project.check), "All tests pass.",
                     flags=("--validation", "off"))  # fmt: skip
    assert turn.verdict == "UNVERIFIED" and "check_failed" in turn.codes, turn.result["reasons"]


@pytest.mark.parametrize("project", [p for p in HERE if p.name != "shell"], ids=lambda p: p.name)
def test_the_projects_own_tests_decide_when_the_model_ran_none(tree, project):
    set_up(tree, project)
    good = tree.turn(f"Fix {project.target}", edit(project, project.right), "Fixed.")
    assert good.verdict == "VERIFIED", good.result["reasons"]
    back = ("patch", {"path": project.target, "old_string": project.right, "new_string": project.still_wrong})
    bad = tree.turn(f"Change {project.target}", back, "Changed.", "I leave it.")
    assert bad.verdict == "UNVERIFIED", bad.result["reasons"]
