"""A plain command has one reading, and it is the grammar's (spec 2.6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.shell.plain import plain_tree
from spear.shell.shfmt import find_shfmt, read_grammar

FIRST = st.sampled_from(
    ["true", "ls", "make", "time", "if", "export", "let", "[", "!", "{", "A=b", "a+", "3", "function", "x"]
)
WORD = st.text("ab-_./:@%+,=1~#*?!$&|;<>()[]{}'\"\\ \t\n", max_size=6)


@settings(max_examples=300, deadline=None)
@given(first=st.one_of(FIRST, WORD), rest=st.lists(WORD, max_size=3))
def test_the_tree_of_a_plain_command_is_the_one_the_grammar_gives(first: str, rest: list[str]) -> None:
    text = " ".join([first, *rest])
    written = plain_tree(text)
    assert written is None or written == read_grammar(find_shfmt(), text)


@pytest.mark.parametrize("text", ["true", "ls -la src/a.c", "make  -j4 CC=gcc test", "git log -n5 --stat"])
def test_everyday_commands_are_plain(text: str) -> None:
    assert plain_tree(text) == read_grammar(find_shfmt(), text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ls",
        "ls ",
        "ls\n",
        "a;b",
        "a&",
        "a|b",
        "a>b",
        "$x",
        "`a`",
        "a*",
        "~",
        "{a,b}",
        "A=b c",
        "time ls",
        "export A=b",
        "# a",
        "é",
    ],
)
def test_what_the_grammar_must_decide_is_left_to_it(text: str) -> None:
    assert plain_tree(text) is None
