from __future__ import annotations

from pathlib import Path

import pytest

from spear.cli.commands.changes import report_page
from spear.cli.commands.reference import commands_page, keys_table
from spear.cli.commands.registry import COMMANDS, Command, Unknown, resolve
from spear.workspace.checkpoints import UndoReport

DOCS = Path(__file__).parents[3] / "docs"


def test_every_name_is_one_commands_and_resolves_to_it():
    names = [name for command in COMMANDS for name in command.names]
    assert len(names) == len(set(names))
    for command in COMMANDS:
        assert all(resolve(name) is command for name in command.names)


def test_every_unique_prefix_resolves():
    names = [(name, command) for command in COMMANDS for name in command.names]
    for name, command in names:
        for end in range(1, len(name)):
            others = {c.name for n, c in names if n.startswith(name[:end])}
            if others == {command.name}:
                assert resolve(name[:end]) is command


@pytest.mark.parametrize(("typed", "meant"), [("undoo", "/undo"), ("knowlege", "/knowledge"), ("quti", "/quit")])
def test_an_unknown_command_suggests_the_nearest(typed, meant):
    found = resolve(typed)
    assert isinstance(found, Unknown)
    assert f"did you mean {meant}?" in found.sentence


def test_an_ambiguous_prefix_names_what_it_could_be():
    found = resolve("re")
    assert isinstance(found, Unknown)
    assert "/resume" in found.sentence
    assert "/redo" in found.sentence


def test_what_an_ambiguous_prefix_names_begins_with_it():
    for typed in "abcdefghijklmnopqrstuvwxyz":
        found = resolve(typed)
        if isinstance(found, Unknown) and "could be" in found.sentence:
            assert all(name.startswith(f"/{typed}") for name in found.sentence.partition(" could be ")[2].split(", "))


def test_the_commands_of_the_specification_are_all_there():
    expected = (
        "undo redo diff clear new history resume fork sessions context rules skills tools model switch mode "
        "permissions status verdict remember recall knowledge forget search reindex corpus standard finetune good bad "
        "export doctor help quit"
    )
    for name in expected.split():
        assert isinstance(resolve(name), Command), name


def test_the_documentation_is_what_the_registry_says():
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == commands_page()
    assert keys_table() in (DOCS / "repl.md").read_text(encoding="utf-8")


def test_an_undo_lists_what_a_person_changed_before_what_tools_keep():
    report = UndoReport("u", (".pytest_cache/v", "__pycache__/a.pyc", "src/a.py", ".github/w.yml"), (), ("build",))
    first, *rest = report_page(report).split("\n")
    assert first == "4 files restored: .github/w.yml, src/a.py, .pytest_cache/v, __pycache__/a.pyc"
    assert rest == ["removed, empty now: build"]


def test_what_only_looks_at_a_standard_answers_while_a_turn_runs():
    command = resolve("standard")
    assert isinstance(command, Command)
    assert command.during_turn
    assert {"search", "show", "cite", "list", "status", "candidates"}.isdisjoint(command.waits)
    assert {"use", "unbind", "ingest", "remove", "rebuild", "approve", "export"} <= set(command.waits)
