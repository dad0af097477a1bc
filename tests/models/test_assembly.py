"""Assembling chat-completions deltas, as real servers send them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import FailureKind, ModelTurn, StopReason
from spear.models.assembly import TurnAssembler
from spear.models.failures import AttemptFailed
from tests.scripted_model import delta


def assemble(*chunks: Any, taken: tuple[str, ...] = ()) -> ModelTurn:
    assembler = TurnAssembler(taken)
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler.build()


def call(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return delta({"tool_calls": [{"function": function, **more}]})


def found(turn: ModelTurn) -> list[tuple[str, Any]]:
    return [(c.name, json.loads(c.arguments)) for c in turn.tool_calls]


A, B = ("read_file", {"path": "a"}), ("read_file", {"path": "b"})


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([call("read_file", '{"path":"a"}'), call("read_file", '{"path":"b"}')], id="no index, no id"),
        pytest.param(
            [call("read_file", '{"path":"a"}', index=0), call("read_file", '{"path":"b"}', index=0)],
            id="always index 0, no id",
        ),
        pytest.param(
            [
                call("read_file", '{"path":"a"}', index=0, id="x"),
                call("read_file", '{"path":"b"}', index=0, id="y"),
            ],
            id="always index 0, two ids",
        ),
        pytest.param(
            [call("read_file", '{"path":"a"}', id="x"), call("read_file", '{"path":"b"}', id="x")],
            id="one id for two calls",
        ),
        pytest.param(
            [
                call("read_file", "", index=0, id="x"),
                call(None, '{"path":', index=0),
                call(None, '"a"}', index=0),
                call("read_file", None, index=1, id="y"),
                call(None, '{"path":"b"}', index=1),
            ],
            id="by the book",
        ),
        pytest.param(
            [
                call("read_file", '{"pa', index=0, id="x"),
                call("read_file", 'th":"a"}', index=0, id="x"),
                call("read_file", "", index=0, id="x"),
                call("read_file", '{"path":"b"}', index=1, id="y"),
            ],
            id="name and id in every delta",
        ),
        pytest.param(
            [
                call("read_", "", index=0, id="x"),
                call("file", '{"path":"a"}', index=0),
                call("read_file", {"path": "b"}, index="1"),
            ],
            id="a split name, a text index, arguments as a value",
        ),
        pytest.param(
            [
                call("read_file", '{"path":', index=0, id="x"),
                call("read_file", '{"path":', index=1, id="y"),
                call(None, '"b"}', index=1),
                call(None, '"a"}', index=0),
            ],
            id="interleaved",
        ),
        pytest.param(
            [
                call("read_file", '{"path":"a"}', index=0, id="x"),
                call(None, '{"path":"a"}', index=0),
                call("read_file", '{"path":"b"}', index=1),
            ],
            id="the whole arguments sent again",
        ),
        pytest.param(
            [
                call("read_file", '{"path":', id="x"),
                call(None, '"a"}'),
                call("read_file", '{"path":', id="y"),
                call(None, '"b"}', id="y"),
            ],
            id="no index, the rest belongs to the last",
        ),
    ],
)
def test_two_calls_are_two_calls_however_they_are_sent(chunks: list[Any]) -> None:
    turn = assemble(*chunks, delta({}, "stop"))
    assert found(turn) == [A, B]
    assert turn.stop_reason is StopReason.TOOL_CALLS
    assert len({c.id for c in turn.tool_calls}) == 2


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert assemble(call("list", "", index=0), delta({}, "tool_calls")).tool_calls[0].arguments == "{}"
    assert assemble(call("list", None, index=0), delta({}, "tool_calls")).tool_calls[0].arguments == "{}"


def test_the_legacy_function_call_is_a_call() -> None:
    first = delta({"function_call": {"name": "read_file", "arguments": '{"path":'}})
    second = delta({"function_call": {"arguments": '"a"}'}}, "function_call")
    assert found(assemble(first, second)) == [A]


def test_content_may_be_null_a_list_or_missing() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]
    turn = assemble(delta({"content": None}), delta({"content": parts}), delta({}), delta({"content": "!"}, "stop"))
    assert (turn.text, turn.reasoning) == ("yes!", "hm")


def test_usage_counts_wherever_it_comes() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
    for chunks in ([{"usage": usage}, delta({"content": "a"})], [{**delta({"content": "a"}), "usage": usage}]):
        turn = assemble(*chunks)
        assert (turn.usage.input_tokens, turn.usage.output_tokens, turn.usage.cached_tokens) == (7, 3, 5)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.FILTERED),
        ("stop", StopReason.STOP),
        ("eos", StopReason.STOP),
    ],
)
def test_finish_reasons(finish: str, stop: StopReason) -> None:
    assert assemble(delta({"content": "a"}, finish)).stop_reason is stop


def test_a_cut_call_keeps_its_length_stop() -> None:
    turn = assemble(call("write_file", '{"path": "x', index=0), delta({}, "length"))
    assert turn.stop_reason is StopReason.LENGTH
    assert turn.tool_calls[0].arguments == '{"path": "x'


def test_halves_of_an_emoji_in_two_deltas_are_joined_for_the_answer_and_the_screen() -> None:
    assembler = TurnAssembler()
    shown = [assembler.feed(delta({"content": piece})) for piece in ("a\ud83d", "\ude00b", "\ud83d")]
    turn = assembler.build()
    assert turn.text == "a😀b\ufffd"
    assert "".join(shown) + assembler.rest() == turn.text


def test_other_choices_are_not_mixed_in() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
    assert assemble(delta({"content": "yes"}), other).text == "yes"


def test_no_choice_at_all_is_a_bad_reply() -> None:
    with pytest.raises(AttemptFailed) as caught:
        assemble({"choices": []}, {"usage": {"prompt_tokens": 1}})
    assert caught.value.kind is FailureKind.BAD_REPLY


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_ODD = st.dictionaries(
    st.sampled_from(["content", "tool_calls", "function_call", "reasoning", "reasoning_content", "refusal"]),
    _JSON
    | st.lists(
        st.dictionaries(st.sampled_from(["index", "id", "function", "name", "arguments"]), _JSON, max_size=4),
        max_size=3,
    ),
)


@given(st.lists(_ODD, max_size=6))
def test_no_chunk_of_any_shape_is_a_crash(deltas: list[Any]) -> None:
    turn = assemble(*[delta(d) for d in deltas], delta({}, "stop"))
    ids = [c.id for c in turn.tool_calls]
    assert len(ids) == len(set(ids))
    assert all(ids)
    turn.text.encode()


@given(_JSON, _JSON)
def test_no_choice_of_any_shape_is_a_crash(choices: Any, usage: Any) -> None:
    assemble({"choices": choices, "usage": usage}, {"choices": [choices]}, delta({"content": ""}))


@given(st.data())
def test_calls_survive_any_cutting_and_interleaving(data: st.DataObject) -> None:
    """By index, pieces of any size, the calls' pieces in any order that keeps each call's own."""
    values = data.draw(st.lists(st.dictionaries(st.text(max_size=5), _JSON_STRICT, max_size=3), min_size=1, max_size=4))
    queues = []
    for index, value in enumerate(values):
        text = json.dumps(value)
        cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=4)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        queues.append(
            [call("tool", "", index=index, id=f"c{index}"), *(call(None, piece, index=index) for piece in pieces)]
        )
    chunks = [queue.pop(0) for queue in queues]
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        chunks.append(queue.pop(0))
    turn = assemble(*chunks, delta({}, "tool_calls"))
    assert [json.loads(c.arguments) for c in turn.tool_calls] == values


_JSON_STRICT = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.integers(), max_size=3)


@given(st.text(alphabet="ab<think>/\n `é", max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_what_is_shown_ends_as_the_answer_when_no_tag_is_in_it(content: str, cuts: list[int]) -> None:
    assembler = TurnAssembler()
    bounds = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    shown = [assembler.feed(delta({"content": content[a:b]})) for a, b in pairwise(bounds)]
    if "<think>" not in content and "</think>" not in content:
        assert "".join(shown) + assembler.rest() == assembler.build().text == content
