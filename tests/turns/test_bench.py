"""`bench`: an acceptance script rates a changing turn for its training episode and changes nothing else (spec 4.1, 7)."""

from __future__ import annotations

import json

import pytest

from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.training.episode import read
from spear.training.store import EpisodeStore

EDIT = ("write_file", {"path": "a.txt", "content": "two\n"})
ASK = "Rework these files"
OFF = ("--validation", "off")


@pytest.fixture
def project(tree):
    """Registers the tree with a bench."""

    def register(script):
        registry = tree.home / ".config/spear/projects.json"
        registry.parent.mkdir(parents=True, exist_ok=True)
        registry.write_text(json.dumps({"demo": {"path": str(tree.root), "bench": script}}), encoding="utf-8")
        return tree

    return register


def rated(tree):
    """Outcome and judge of every episode."""
    store = EpisodeStore(StateDirectory(tree.state), Redactor())
    sessions = [path.name for path in (tree.state / "audit/sessions").iterdir()]
    found = [read(str(path)).facts for session in sessions for path in store.layout.of_turn(session, 1)]
    return [(facts.outcome.value, facts.judge) for facts in found]


@pytest.mark.parametrize(("wanted", "outcome"), [("two", "pass"), ("three", "fail")])
def test_the_script_rates_what_the_turn_left_and_leaves_the_verdict(project, wanted, outcome):
    tree = project(f"grep -q {wanted} a.txt && touch a.txt seen; grep -q {wanted} a.txt")
    turn = tree.turn(ASK, EDIT, "Done.", flags=OFF)
    assert turn.verdict == "UNVERIFIED"
    assert rated(tree) == [(outcome, "bench")]
    assert "it rates the training episode" in turn.done.stderr
    assert not (tree.root / "seen").exists()


def test_it_runs_confined_and_only_where_something_changed(project, tmp_path):
    tree = project(f"touch {tmp_path}/outside")
    turn = tree.turn("Explain a.txt", "It is not there.", flags=OFF)
    assert "bench" not in turn.done.stderr
    assert "bench" in tree.turn(ASK, EDIT, "Done.", flags=OFF).done.stderr
    assert not (tmp_path / "outside").exists()


def test_without_capture_nothing_is_rated(project):
    turn = project("false").turn(ASK, EDIT, "Done.", flags=OFF, env={"SPEAR_TRAINING_CAPTURE": "false"})
    assert "bench" not in turn.done.stderr
