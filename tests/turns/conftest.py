"""Whole turns: the installed program, a real tree, a real sandbox, a scripted model on a real socket."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import loaded_program
from tests.scripted_model import ModelServer, calls, text

PROGRAM = shutil.which("spear-chat", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@dataclass
class Turn:
    """What a finished one-shot left: its process, the requests the model saw, its JSON."""

    done: subprocess.CompletedProcess[str]
    requests: list[dict[str, Any]]
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return self.result["verdict"]

    @property
    def codes(self) -> list[str]:
        return [reason["code"] for reason in self.result["reasons"]]

    def results(self, request: int = -1) -> list[str]:
        """The tool results the model was shown in one request."""
        return [m["content"] for m in self.requests[request]["messages"] if m["role"] == "tool"]


class Tree:
    """A workspace, a home and a state directory of its own."""

    def __init__(self, place: Path) -> None:
        self.root = place / "ws"
        self.home = place / "home"
        self.state = place / "state"
        self.root.mkdir()
        self.home.mkdir()
        self.env = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SPEAR_STATE_DIR": str(self.state),
            "SPEAR_MODEL_NAME": "scripted",
            "OPENAI_API_KEY": "test-key",
        }

    def write(self, path: str, content: str | bytes, mode: int | None = None) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            target.chmod(mode)
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def run(
        self, *words: str, stdin: str | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The program with these words."""
        assert PROGRAM, "spear-chat is not installed"
        return subprocess.run(
            [PROGRAM, *words],
            cwd=self.root,
            env={**self.env, **(env or {})},
            capture_output=True,
            text=True,
            timeout=100,
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
        )

    def turn(
        self,
        request: str,
        *steps: Any,
        mode: str = "--auto",
        flags: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
    ) -> Turn:
        """One turn. A step is an answer (str), a call (name, arguments), a list of calls, or a step of the server."""
        script = [_step(step) for step in steps]
        with ModelServer(script) as server:
            words = ("-p", request, mode, "--output", "json", "--api-base", server.base_url, *flags)
            done = loaded_program.run(words, cwd=self.root, env={**self.env, **(env or {})})
        turn = Turn(done, server.requests)
        assert done.stdout.strip(), f"status {done.returncode}: {done.stderr[-2000:]}"
        turn.result = json.loads(done.stdout)
        return turn

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for path in sorted(self.state.glob("audit/sessions/*/events.jsonl"))
                for line in path.read_bytes().split(b"\n") if line]  # fmt: skip

    def files(self) -> dict[str, tuple[Any, ...]]:
        """Every file, link and directory with its bytes and mode; git's own and build/ left out."""
        found: dict[str, tuple[Any, ...]] = {}
        for path in sorted(self.root.rglob("*")):
            relative = path.relative_to(self.root)
            if {".git", "build"} & set(relative.parts):
                continue
            if path.is_symlink():
                found[str(relative)] = ("link", os.readlink(path))
            elif path.is_dir():
                found[str(relative)] = ("directory",)
            else:
                found[str(relative)] = ("file", path.read_bytes(), path.stat().st_mode)
        return found


def _step(step: Any) -> Any:
    if isinstance(step, str):
        return text(step)
    if isinstance(step, tuple):
        return calls(step)
    if isinstance(step, list):
        return calls(*step)
    return step


def sh(command: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """A terminal call."""
    return "terminal", {"command": command, **arguments}


def write(path: str, content: str) -> tuple[str, dict[str, str]]:
    """A call that writes a whole file."""
    return "write_file", {"path": path, "content": content}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


COUNTER_C = "int counter_step(int value, int limit)\n{\n    return value > limit ? 0 : value + 1;\n}\n"
COUNTER_TEST = (
    "#include <stdio.h>\nint counter_step(int, int);\nint main(void)\n{\n    int got = counter_step(4, 4);\n"
    '    if (got != 0) {\n        printf("FAIL: counter_step(4, 4) = %d\\n", got);\n        return 1;\n    }\n'
    '    printf("ok\\n");\n    return 0;\n}\n'
)
MAKEFILE = (
    "all: build/test_counter\nbuild/test_counter: src/counter.c tests/test_counter.c\n\tmkdir -p build\n"
    "\tcc -Wall -o $@ src/counter.c tests/test_counter.c\ntest: build/test_counter\n\t./build/test_counter\n"
    "clean:\n\trm -rf build\n.PHONY: all test clean\n"
)
FIX = ("patch", {"path": "src/counter.c", "old_string": "value > limit", "new_string": "value >= limit"})
WRONG = ("patch", {"path": "src/counter.c", "old_string": "value > limit", "new_string": "value > limit + 1"})
ASK = "Fix the off-by-one in counter_step() in src/counter.c, then run the tests."


@pytest.fixture
def counter(tree: Tree) -> Tree:
    """A small C project whose test fails because of an off-by-one."""
    tree.write("src/counter.c", COUNTER_C)
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write("Makefile", MAKEFILE)
    tree.write(".gitignore", "build/\n")
    tree.git("init", "-q")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "start")
    return tree


LIMITS = "#define FIRST 0\n"
STEP = '#include "limits.h"\nint counter_step(int value, int limit)\n{\n    return value >= limit ? FIRST : value + 1;\n}\n'
BREAK = ("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 7"})
HARMLESS = ("patch", {"path": "src/limits.h", "old_string": "FIRST 0", "new_string": "FIRST 00"})
PERL = 'use Test::More tests => 1;\nis(system("./build/test_counter > /dev/null"), 0);\n'
RUN = '#!/bin/sh\nset -e\ncd "$(dirname "$0")/.."\n./build/test_counter\n'
ITSELF = '#!/bin/sh\nset -e\nt=$(mktemp -d)\n${CC:-cc} -o "$t/t" src/counter.c tests/test_counter.c\n"$t/t"\n'


@pytest.fixture
def limits(tree: Tree) -> Tree:
    """The counter with a header its makefile does not know, right and built."""
    tree.write("src/limits.h", LIMITS)
    tree.write("src/counter.c", STEP)
    tree.write("src/app.c", "int counter_step(int, int);\nint main(void) { return counter_step(4, 4); }\n")
    tree.write("tests/test_counter.c", COUNTER_TEST)
    tree.write("tests/other.c", "int main(void) { return 0; }\n")
    tree.write("Makefile", MAKEFILE)
    tree.write(".gitignore", "build/\n*.so\ndist/\n/app\n")
    tree.write("README.md", "A counter.\n")
    tree.write("t/counter.t", PERL)
    tree.write("tests/run.sh", RUN, 0o755)
    tree.write("tests/itself.sh", ITSELF, 0o755)
    tree.write("tools/say.py", "print('hello')\n")
    return tree


def built(tree: Tree, command: str = "make all") -> None:
    """The operator has built it before."""
    tree.git("init", "-q")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "start")
    subprocess.run(
        ["sh", "-ec", f"mkdir -p build; {command}"], cwd=tree.root, check=True, capture_output=True, timeout=60
    )
