"""Host commands: recognised at command words, split but never expanded, alone on one line."""

from __future__ import annotations

import pytest

from spear.shell.host_commands import HostCommand, HostCommandProblem, host_command
from spear.shell.parse import ShellParser
from spear.shell.syntax import Script

PARSER = ShellParser()


def found(text: str):
    tree = PARSER.parse(text)
    return host_command(text, tree if isinstance(tree, Script) else None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spear-knowledge find ring", ("spear-knowledge", "find", "ring")),
        ("  spear-capability call 'a b' \"c d\"  ", ("spear-capability", "call", "a b", "c d")),
        ("spear-capability call $HOME $(ls) *", ("spear-capability", "call", "$HOME", "$(ls)", "*")),
    ],
)
def test_its_words_are_split_and_never_expanded(text, words):
    assert found(text) == HostCommand(words)


@pytest.mark.parametrize(
    "text",
    [
        "spear-knowledge find x; ls",
        "ls; spear-knowledge find x",
        "spear-knowledge find x | head",
        "echo $(spear-capability list)",
        "spear-knowledge find x > y",
        "(spear-capability list)",
        "spear-knowledge a\nspear-knowledge b",
        "echo `spear-capability list`",
        "A=1 spear-capability list",
        "spear-capability list &",
        "spear-capability 'a",
    ],
)
def test_it_must_stand_alone(text):
    assert isinstance(found(text), HostCommandProblem)


@pytest.mark.parametrize(
    "text", ["grep spear-knowledge README.md", "echo 'spear-capability list'", "man spear-knowledge", "ls"]
)
def test_elsewhere_the_name_is_ordinary_text(text):
    assert found(text) is None
