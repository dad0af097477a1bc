"""Other registered trees are roots of the session too: what a turn changes there can be put back there (spec 2.2, 3.6)."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.turns.conftest import FIX, PROGRAM, sh


@pytest.fixture
def two(tree, tmp_path):
    """The launch directory, and a registered tree called lib."""
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "a.txt").write_text("one\n", encoding="utf-8")
    registry = tree.home / ".config/spear/projects.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"lib": {"path": str(lib)}}), encoding="utf-8")
    return tree, lib


def test_a_change_in_another_root_is_undone_from_there(two):
    tree, lib = two
    turn = tree.turn(
        "Rework these trees", ("write_file", {"path": "/workspaces/lib/a.txt", "content": "two\n"}),
        sh("echo three > /workspaces/lib/b.txt"), ("write_file", {"path": "c.txt", "content": "c\n"}), "Done.",
    )  # fmt: skip
    assert not any("refused" in result for result in turn.results())
    assert (lib / "a.txt").read_text(encoding="utf-8") == "two\n" and (lib / "b.txt").exists()
    done = subprocess.run([PROGRAM, "undo", "--yes"], cwd=lib, env=tree.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (lib / "a.txt").read_text(encoding="utf-8") == "one\n" and not (lib / "b.txt").exists()
    assert tree.read("c.txt") == "c\n"
    assert tree.run("undo", "--yes").returncode == 0 and not (tree.root / "c.txt").exists()


def test_single_root_leaves_other_trees_out(two):
    tree, lib = two
    turn = tree.turn(
        "Rework these trees", ("write_file", {"path": "/workspaces/lib/a.txt", "content": "two\n"}), "Done.",
        flags=("--single-root",),
    )  # fmt: skip
    assert "refused" in turn.results()[0] and (lib / "a.txt").read_text(encoding="utf-8") == "one\n"


OFF = ("--validation", "off")
ASK = "Rework these trees thoroughly."
RIGHT = ("patch", {"path": "/workspaces/lib/lib.c", "old_string": "return 1", "new_string": "return 2"})
WRONG = ("patch", {"path": "/workspaces/lib/lib.c", "old_string": "return 1", "new_string": "return 3"})


@pytest.fixture
def checked(counter, tmp_path):
    """The counter, and a registered tree with a test of its own."""
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "lib.c").write_text("int lib(void) { return 1; }\n", encoding="utf-8")
    (lib / "Makefile").write_text("test:\n\tgrep -q 'return 2' lib.c\n", encoding="utf-8")
    registry = counter.home / ".config/spear/projects.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"lib": {"path": str(lib)}}), encoding="utf-8")
    return counter


@pytest.mark.parametrize(
    "command",
    ["cd /workspaces/lib && make test", "make -C /workspaces/lib test", ("make test", "/workspaces/lib")],
)
def test_a_check_in_another_root_speaks_of_what_changed_there(checked, command):
    where = {"workdir": command[1]} if isinstance(command, tuple) else {}
    run = sh(command[0] if isinstance(command, tuple) else command, **where)
    assert checked.turn(ASK, RIGHT, run, "The tests pass.", flags=OFF).verdict == "VERIFIED"
    back = ("patch", {"path": "/workspaces/lib/lib.c", "old_string": "return 2", "new_string": "return 3"})
    turn = checked.turn(ASK, back, run, "The tests pass.", flags=OFF)
    assert turn.verdict == "UNVERIFIED" and "check_failed" in turn.codes


def test_each_root_that_changed_needs_a_check_of_its_own(checked):
    turn = checked.turn(ASK, WRONG, sh("make all"), "Done.", flags=OFF)
    assert turn.verdict == "UNVERIFIED"
    assert any("/workspaces/lib/lib.c" in reason["text"] for reason in turn.result["reasons"])
    back = ("patch", {"path": "/workspaces/lib/lib.c", "old_string": "return 3", "new_string": "return 2"})
    turn = checked.turn(ASK, back, FIX, sh("make -C /workspaces/lib test"), "Done.", flags=OFF)
    assert turn.verdict == "UNVERIFIED"
    assert any("src/counter.c" in reason["text"] for reason in turn.result["reasons"])
    more = ("patch", {"path": "src/counter.c", "old_string": "value + 1", "new_string": "1 + value"})
    again = ("patch", {"path": "/workspaces/lib/lib.c", "old_string": "(void)", "new_string": "( void )"})
    both = sh("make test && make -C /workspaces/lib test")
    assert checked.turn(ASK, more, again, both, "The tests pass.", flags=OFF).verdict == "VERIFIED"
