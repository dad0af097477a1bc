"""The page on standards names every action and every flag of the command."""

from __future__ import annotations

from pathlib import Path

from spear.cli.standards.commands import ACTIONS
from spear.cli.subcommand_table import command_named

PAGE = (Path(__file__).parents[2] / "docs/standards.md").read_text(encoding="utf-8")


def test_every_action_is_answered_and_documented():
    declared = command_named("standard").actions
    assert {action.name for action in declared} == set(ACTIONS)
    for action in declared:
        assert f"`{action.name}" in PAGE, action.name
        for option in action.options:
            assert option.names[-1] in PAGE, (action.name, option.names)
