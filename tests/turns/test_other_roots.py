"""Other registered trees are roots of the session too: what a turn changes there can be put back there (spec 2.2, 3.6)."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.turns.conftest import PROGRAM, sh


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
