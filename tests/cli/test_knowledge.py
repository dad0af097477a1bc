"""`spear-chat knowledge` finds the workspace of the launch directory and answers with a status."""

import json

import pytest

from spear.cli import knowledge
from spear.cli.arguments import parse
from spear.cli.subcommands import WIRED
from spear.errors import StateError, UsageError


@pytest.fixture
def chat(tmp_path, capsys):
    """Runs `spear-chat …` words; gives status, stdout and stderr."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "ws/src").mkdir(parents=True)
    environ = {"HOME": str(home), "SPEAR_STATE_DIR": str(tmp_path / "state")}

    def run(*words, cwd="ws"):
        status = knowledge.run(parse(words, WIRED), environ, tmp_path / cwd)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_what_is_recorded_is_listed_as_json(chat):
    assert chat("knowledge", "add", "--subject", "x", "A fact.")[0] == 0
    status, out, err = chat("knowledge", "list", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)[0]["statement"] == "A fact."


def test_a_refusal_goes_to_stderr(chat):
    status, out, err = chat("knowledge", "add", "Always run make test.")
    assert (status, out) == (2, "")
    assert "rule" in err


def test_a_registered_project_is_one_workspace_from_every_directory(tmp_path, chat):
    registry = tmp_path / "home/.config/spear/projects.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"demo": {"path": str(tmp_path / "ws")}}))
    (tmp_path / "elsewhere").mkdir()
    chat("knowledge", "add", "A fact.", cwd="ws/src")
    assert "A fact." in chat("knowledge", "list")[1]
    assert "A fact." not in chat("knowledge", "list", cwd="elsewhere")[1]
    assert "A fact." in chat("--corpus", "demo", "knowledge", "list", cwd="elsewhere")[1]
    with pytest.raises(UsageError, match="no corpus none"):
        chat("--corpus", "none", "knowledge", "list")


def test_the_database_may_be_elsewhere(tmp_path, chat):
    chat("--knowledge-db", str(tmp_path / "k.sqlite3"), "knowledge", "add", "A fact.")
    assert (tmp_path / "k.sqlite3").exists()
    assert not (tmp_path / "state/knowledge.sqlite3").exists()


def test_a_damaged_database_is_an_error_with_a_way_out(tmp_path, chat):
    (tmp_path / "state").mkdir()
    (tmp_path / "state/knowledge.sqlite3").write_text("prose " * 1000)
    with pytest.raises(StateError) as error:
        chat("knowledge", "list")
    assert error.value.hint
