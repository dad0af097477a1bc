"""Reasoning is kept out of what is shown, however the text is cut, and text about tags stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.reasoning import Scrubber, strip


@pytest.mark.parametrize(
    ("text", "visible", "hidden"),
    [
        ("<think>secret plan</think>It is a ring.", "It is a ring.", "secret plan"),
        ("<THINK>a</Think >\n\nb", "b", "a"),
        ("<thinking>a</thinking><reasoning>b</reasoning>c", "c", "a\nb"),
        ("<REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD>b", "b", "a"),
        ("one <thought>two</thought>three", "one three", "two"),
        ("<think>never closed", "", "never closed"),
        ("Fine.\n  <think>never\nclosed", "Fine.\n  ", "never\nclosed"),
        ("the prompt opened it\n</think>\n\nThe answer.", "The answer.", "the prompt opened it"),
        ("Just text.</think>", "Just text.", ""),
        ("<think>a <thinking> b</think>c", "c", "a <thinking> b"),
        ("<think>a<think>b</think>c</think>answer", "answer", "c\na<think>b"),
        ('<tool_call>{"name": "x"}</tool_call>', "", '{"name": "x"}'),
        ("if a < b and c <thing> d", "if a < b and c <thing> d", ""),
        ("", "", ""),
    ],
)
def test_reasoning_is_separated_from_the_answer(text: str, visible: str, hidden: str) -> None:
    assert strip(text) == (visible, hidden)


@pytest.mark.parametrize(
    "text",
    [
        "Put it between `<think>` and `</think>`.",
        'The template starts with "<think>" and ends.',
        "```\n<think>\nexample\n</think>\n```\nThat is the format.",
        "~~~xml\n<tool_call>{}</tool_call>\n~~~",
        "  two spaces first, and a trailing newline\n",
        "An opening <think> in a line that nothing closes",
        "One <think> after another <thinking> in a line",
    ],
)
def test_text_about_tags_is_left_alone(text: str) -> None:
    assert strip(text) == (text, "")


def test_a_stream_shows_text_at_once_and_holds_back_only_what_may_be_a_tag() -> None:
    scrubber = Scrubber()
    assert scrubber.feed("Hello <") == "Hello "
    assert scrubber.feed("b> and <thi") == "<b> and "
    assert scrubber.feed("nk>no</thi") == ""
    assert scrubber.feed("nk>yes") == "yes"
    assert scrubber.finish() == ""
    assert scrubber.reasoning == "no"


_PIECES = st.sampled_from(
    ["<think>", "</think>", "<thinking>", "</thinking>", "<Tool_Call >", "</tool_call>", "<", ">", "</",
     "<th", "```", "\n", "`", " ", "a", "text ", '"', "é"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=30).map("".join), st.data())
def test_any_cut_of_a_stream_shows_the_same_text(text: str, data: st.DataObject) -> None:
    whole = Scrubber()
    expected = whole.feed(text) + whole.finish()
    pieces = Scrubber()
    shown, rest = "", text
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        shown += pieces.feed(rest[:size])
        rest = rest[size:]
    assert shown + pieces.finish() == expected
    assert pieces.reasoning == whole.reasoning


@given(st.lists(_PIECES, max_size=20).map("".join))
def test_a_closed_block_at_the_start_never_shows(text: str) -> None:
    visible, _ = strip(f"<think>SECRET</think>{text}")
    assert "SECRET" not in visible


@given(st.text())
def test_text_without_tags_is_unchanged(text: str) -> None:
    assert strip(text.replace("<", "(")) == (text.replace("<", "("), "")
