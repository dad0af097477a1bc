"""The rules of a directory come with the first result that reaches it, whichever tool did (spec 4.2)."""

from __future__ import annotations

import pytest

from tests.turns.conftest import sh


@pytest.fixture
def nested(tree):
    """Directories with rules of their own."""
    for name in ("one", "two", "three/deep"):
        tree.write(f"{name}/AGENTS.md", f"RULE-OF-{name.upper()}\n")
        tree.write(f"{name}/x.txt", "y\n")
    return tree


@pytest.mark.parametrize(
    "call",
    [
        ("read_file", {"path": "one/x.txt"}),
        ("search_files", {"pattern": "y", "path": "one"}),
        ("patch", {"path": "one/x.txt", "old_string": "y", "new_string": "z"}),
        sh("cat one/x.txt"),
        sh("cd one && sed -i s/y/z/ x.txt"),
        sh("(cd one; false)"),
        sh("for i in o; do echo z > ${i}ne/x.txt; done"),
        ("terminal", {"command": "cat x.txt", "workdir": "one"}),
    ],
)
def test_whatever_reaches_a_directory_brings_its_rules_once(nested, call):
    turn = nested.turn("Rework these files", call, sh("cat /workspace/one/x.txt /workspace/two/x.txt"), "Done.")
    first, second = turn.results()
    assert first.count("RULE-OF-ONE") == 1 and "RULE-OF-TWO" not in first
    assert "RULE-OF-ONE" not in second and "RULE-OF-TWO" in second


def test_a_command_that_reaches_none_brings_none_and_a_deep_one_its_own(nested):
    turn = nested.turn("Rework these files", sh("ls"), sh("cat three/deep/x.txt"), "Done.")
    first, second = turn.results()
    assert "RULE-OF" not in first
    assert "RULE-OF-THREE/DEEP" in second
