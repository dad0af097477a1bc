"""`spear-corpus` answers from the registry the settings name."""

import json

import pytest

from spear.cli import corpus
from spear.errors import ConfigurationError


@pytest.fixture
def environ(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "ws").mkdir()
    return {"HOME": str(tmp_path / "home")}


def test_it_writes_the_registry_every_other_command_reads(tmp_path, environ, capsys):
    ws = tmp_path / "ws"
    assert corpus.run(["add", "demo", ".", "test_commands=make test"], environ, ws) == 0
    registry = tmp_path / "home/.config/spear/projects.json"
    assert json.loads(registry.read_text()) == {"demo": {"path": str(ws), "test_commands": ["make test"]}}
    assert corpus.run(["list"], environ, ws) == 0
    assert f"* demo  {ws}" in capsys.readouterr().out


def test_the_registry_may_be_elsewhere(tmp_path, environ):
    environ["SPEAR_PROJECTS_FILE"] = str(tmp_path / "mine.json")
    assert corpus.run(["add", "demo", "."], environ, tmp_path / "ws") == 0
    assert (tmp_path / "mine.json").exists()


def test_what_is_wrong_goes_to_stderr_with_a_status(tmp_path, environ, capsys):
    assert corpus.run(["rm", "none"], environ, tmp_path / "ws") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no corpus none" in said.err


def test_a_registry_that_cannot_be_read_is_a_configuration_error(tmp_path, environ, monkeypatch, capsys):
    registry = tmp_path / "home/.config/spear/projects.json"
    registry.parent.mkdir(parents=True)
    registry.write_text("{")
    with pytest.raises(ConfigurationError):
        corpus.run(["list"], environ, tmp_path / "ws")
    monkeypatch.setenv("HOME", environ["HOME"])
    monkeypatch.delenv("SPEAR_PROJECTS_FILE", raising=False)
    assert corpus.main(["list"]) == 2
    assert "not valid JSON" in capsys.readouterr().err
