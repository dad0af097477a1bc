"""Which built files tests and scripts name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from spear.evidence.facts import ProjectFacts
from spear.evidence.named_programs import named_programs, runs_programs

BUILT = ("app", "build/app", "build/sub/tool", "build/app.o", "dist/index.js", "dist/step.js", "bin/app")
PACKAGE = '{"name": "step", "main": "dist/index.js", "exports": {".": {"require": "./dist/step.js"}}}'


def facts() -> ProjectFacts:
    def built(matches: Callable[[str], bool]) -> Iterator[str]:
        return filter(matches, BUILT)

    return ProjectFacts(root="/ws", read={"/ws/package.json": PACKAGE}.get, is_built=BUILT.__contains__, built=built)


NAMED = [
    ("subprocess.run(['./build/app'])", {"build/app"}),
    ("APP = ROOT / 'build' / 'app'", {"build/app"}),
    ("APP = os.path.join(ROOT, 'build', 'app')", {"build/app"}),
    ("run([ROOT / 'build/sub/tool'])", {"build/sub/tool"}),
    ("const step = require('../dist/step')", {"dist/step.js"}),
    ("require(`${__dirname}/../dist/step.js`)", {"dist/step.js"}),
    ("require(path.join(__dirname, '..', 'dist', 'step'))", {"dist/step.js"}),
    ("require('..')", {"dist/index.js", "dist/step.js"}),
    ("import step from 'step'", {"dist/index.js", "dist/step.js"}),
    ("import other from 'other'", set()),
    ('exec.Command("./bin/app")', {"bin/app"}),
    ("run('./app')", {"app"}),
    ("'build'", set()),
    ("print('a tool of build sub')", set()),
]


@pytest.mark.parametrize(("text", "named"), NAMED)
def test_texts_name_built_files(text, named):
    found = named_programs((("tests/test_it.py", text),), facts())
    assert {path for path in found if not path.endswith(".o")} - {"app"} == named - {"app"}
    assert ("app" in found) >= ("app" in named)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("import subprocess", True),
        ("lib = ctypes.CDLL(path)", True),
        ("const { execFile } = require('child_process')", True),
        ("std::process::Command::new(x)", True),
        ("the executor executes", False),
        ("def test_step(): assert step(4, 4) == 0", False),
    ],
)
def test_texts_say_that_they_run_programs(text, runs):
    assert runs_programs(text) is runs
