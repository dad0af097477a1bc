"""Completion scripts: bash is asked for real, the other shells' scripts name everything there is."""

from __future__ import annotations

import subprocess

import pytest

from spear.cli.completion import SHELLS, script
from spear.cli.options import global_options
from spear.cli.subcommand_table import COMMANDS, command_named


def bash_replies(*words: str) -> list[str]:
    driver = (
        'source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spear_chat; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", driver, "bash", *words],
        input=script("bash", COMMANDS),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["spear-chat", "au"], ["audit"]),
        (["spear-chat", "--aut"], ["--auto"]),
        (["spear-chat", "audit", "ver"], ["verify"]),
        (["spear-chat", "audit", "verify", "--j"], ["--json"]),
        (["spear-chat", "--validation", "d"], ["declared"]),
        (["spear-chat", "completion", "z"], ["zsh"]),
        (["spear-chat", "--state-dir", "/tmp", "undo", "--y"], ["--yes"]),
        (["spear-chat", "audit", "--auto"], []),
    ],
)
def test_bash_completes(words, expected):
    assert bash_replies(*words) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_every_flag_and_command(shell):
    text = script(shell, COMMANDS)
    for option in global_options():
        for name in option.names:
            assert name in text or (
                shell == "fish" and f" -{'l' if name[:2] == '--' else 's'} {name.lstrip('-')}" in text
            )
    for command in COMMANDS:
        assert command.name in text
        for action in command.actions:
            assert action.name in text


@pytest.mark.parametrize("shell", SHELLS)
def test_only_commands_that_exist_are_completed(shell):
    assert "knowledge " not in script(shell, (command_named("doctor"),)).replace("knowledge (", "")


def test_another_shell_is_a_defect():
    with pytest.raises(ValueError, match="csh"):
        script("csh", COMMANDS)
