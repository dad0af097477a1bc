from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spear.cli.repl.blocks import BlockStream

LINES = st.sampled_from(["", "text", "- item", "  more", "1. one", "```c", "```", "~~~", "# head", "    code", "| a |"])


def fed(text: str, step: int) -> tuple[list[str], str]:
    stream = BlockStream()
    blocks = [block for start in range(0, len(text), step) for block in stream.feed(text[start : start + step])]
    return blocks, stream.flush()


@given(st.lists(LINES, max_size=60), st.integers(1, 30))
def test_no_text_is_lost_and_the_size_of_the_pieces_does_not_matter(lines, step):
    text = "\n".join(lines)
    blocks, rest = fed(text, step)
    assert "\n".join([*blocks, rest]) == text
    assert (blocks, rest) == fed(text, max(1, len(text)))


def test_a_paragraph_is_finished_when_the_next_line_is_known():
    stream = BlockStream()
    assert stream.feed("one\n\n") == []
    assert stream.feed("two\n") == ["one\n"]


def test_a_list_is_one_block_until_something_else_follows():
    blocks, rest = fed("- a\n\n- b\n\n  more of b\n\nafter\n\nend\n", 5)
    assert blocks == ["- a\n\n- b\n\n  more of b\n", "after\n"]
    assert rest == "end\n"


def test_blank_lines_within_a_fence_do_not_end_it():
    blocks, _ = fed("```c\nint a;\n\nint b;\n```\nafter", 4)
    assert blocks[0] == "```c\nint a;\n\nint b;\n```"


def test_a_very_long_fence_is_printed_in_fences_of_its_own():
    blocks, rest = fed("```py\n" + "x = 1\n" * 500, 100)
    assert len(blocks) > 2
    assert all(block.startswith("```py\n") and block.endswith("\n```") for block in blocks)
    assert rest.startswith("```py")
