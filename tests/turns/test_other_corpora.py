"""A request that names another registered corpus: the operator is told once how to go there, and nothing else happens
(spec 4.1)."""

from __future__ import annotations

import json

import pytest

from spear.cli.arguments import parse
from spear.cli.settings import load
from spear.cli.subcommands import WIRED
from spear.cli.turn_context import SessionContext
from spear.cli.workspace import open_workspace
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor


@pytest.fixture
def registered(tree, tmp_path):
    """A registered corpus beside the launch directory."""
    (tmp_path / "modem").mkdir()
    registry = tree.home / ".config/spear/projects.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"modem": {"path": str(tmp_path / "modem")}}), encoding="utf-8")
    return tmp_path / "modem"


def test_the_way_to_another_corpus_is_told_and_the_turn_stays_where_it_is(tree, registered):
    turn = tree.turn("Explain how the modem project logs.", "I cannot see it from here.")
    assert turn.done.stderr.count(f"cd {registered} && spear-chat") == 1
    assert turn.result["changed_files"] == [] and len(turn.requests) == 1
    assert "spear-chat" not in json.dumps(turn.requests[0]["messages"])


def test_a_request_that_names_none_is_told_nothing(tree, registered):
    assert "another corpus" not in tree.turn("Explain modem.c.", "It is not there.").done.stderr


def test_it_is_told_once_a_session(tree, registered):
    environ = {**tree.env, "HOME": str(tree.home)}
    settings = load(parse(["-p", "x"], WIRED), environ, tree.root).settings
    workspace = open_workspace(settings, tree.root)
    session = SessionContext(workspace, settings, StateDirectory(tree.state), Redactor(), environ)
    assert len(session.ways_elsewhere("Explain the modem project")) == 1
    assert session.ways_elsewhere("And what else does the modem project do?") == ()
