"""The estimate of tokens holds against counts of real tokenizers, and costs no more than the text is long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import Message, Role, ToolCall
from spear.agent.prompt import system_prompt
from spear.agent.tools import SCHEMAS
from spear.agent.window import Gauge, clip, estimate, message_tokens, schema_tokens
from tests.agent.token_samples import COUNTED


@pytest.mark.parametrize(("text", "fewest", "most"), COUNTED.values(), ids=COUNTED.keys())
def test_the_estimate_is_at_most_a_tenth_below_the_greediest_tokenizer(text: str, fewest: int, most: int) -> None:
    """Counts of five tokenizers (SentencePiece 32k, Tekken, DeepSeek, cl100k, o200k): smallest and largest."""
    assert 0.9 * most <= estimate(text) <= 2.3 * fewest


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_estimate_grows_with_the_text(one: str, two: str) -> None:
    assert estimate(one + two) >= 0.5 * max(estimate(one), estimate(two))
    assert estimate(one) <= 5 * len(one) + 1
    assert estimate(one) * 16 >= len(one.replace(" ", ""))


def test_blank_text_takes_nothing_and_any_text_something() -> None:
    assert estimate("") == 0
    assert estimate(" ") == 1


def test_a_gauge_prefers_the_servers_count_and_adds_what_came_after() -> None:
    first = Message(Role.USER, "a question about code " * 20)
    gauge = Gauge([first], SCHEMAS)
    before = gauge.tokens
    gauge.reported(before - 100)
    assert gauge.tokens == before - 100
    later = Message(Role.ASSISTANT, "", (ToolCall("1", "read_file", '{"path": "a"}'),))
    gauge.add(later)
    assert gauge.tokens == before - 100 + message_tokens(later)


@pytest.mark.parametrize("count", [None, 0, 10])
def test_a_gauge_does_not_believe_a_count_that_counts_something_else(count: int | None) -> None:
    gauge = Gauge([Message(Role.USER, "word " * 1000)], SCHEMAS)
    before = gauge.tokens
    gauge.reported(count)
    assert gauge.tokens == before


@given(st.text(alphabet="ab \n1é", max_size=3000), st.integers(-10, 800))
def test_clipping_keeps_head_and_tail_and_never_lengthens_by_more_than_its_note(text: str, room: int) -> None:
    cut = clip(text, room)
    if estimate(text) <= room:
        assert cut is text
    assert len(cut) <= len(text) + 140
    assert cut[:100] == text[:100]
    assert cut[-100:] == text[-100:]


def test_prompt_and_schemas_stay_cheap_and_constant() -> None:
    assert system_prompt() == system_prompt()
    assert len(system_prompt()) <= 2500
    assert system_prompt().isascii()
    assert schema_tokens(SCHEMAS) < 2500


def test_clipping_leaves_whole_lines() -> None:
    lines = [f"{n}|row {n} of the file" for n in range(500)]
    kept = clip("\n".join(lines), 1000).split("\n")
    (note,) = [line for line in kept if "omitted here" in line]
    kept.remove(note)
    assert set(kept) <= set(lines)
    assert (kept[0], kept[-1]) == (lines[0], lines[-1])
    assert "omitted here" in clip("x" * 5000, 100)
