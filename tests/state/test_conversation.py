"""Conversations come back from JSON as they were, and resendable after a crash."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import Message, Role, ToolCall
from spear.state.conversation import INTERRUPTED, decode_message, encode, redact, repair
from spear.state.redaction import Redactor

NAMES = st.text("ab1", min_size=1, max_size=2)
CALLS = st.lists(st.builds(ToolCall, NAMES, st.text(max_size=6), st.text(max_size=12)), max_size=3).map(tuple)
MESSAGES = st.builds(Message, st.sampled_from(Role), st.text(), CALLS, st.just("") | NAMES, st.text(max_size=5))


@given(MESSAGES)
def test_a_message_survives_the_journey_through_json(message):
    assert decode_message(json.loads(json.dumps(encode(message)))) == message


def test_a_lone_surrogate_survives():
    message = Message(Role.TOOL, "half an emoji \ud83d and a line\u2028separator", tool_call_id="c")
    assert decode_message(json.loads(json.dumps(encode(message)))) == message


@pytest.mark.parametrize(
    "encoded",
    [
        None,
        [],
        {},
        {"role": "nobody"},
        {"role": "user", "content": 3},
        {"role": "user", "tool_calls": "x"},
        {"role": "user", "tool_calls": [3]},
    ],
)
def test_what_is_no_message_is_refused(encoded):
    with pytest.raises(ValueError):
        decode_message(encoded)


def assistant(*ids):
    return Message(Role.ASSISTANT, "", tuple(ToolCall(i, "terminal", "{}") for i in ids))


def result(call, text="done"):
    return Message(Role.TOOL, text, tool_call_id=call)


def test_a_call_without_a_result_gets_one_that_says_interrupted():
    user = Message(Role.USER, "go")
    conversation = [user, assistant("a", "b"), result("a"), user, assistant("c")]
    assert repair(conversation) == (
        *(user, assistant("a", "b"), result("a"), result("b", INTERRUPTED)),
        *(user, assistant("c"), result("c", INTERRUPTED)),
    )
    assert "interrupted" in INTERRUPTED


def test_results_nobody_asked_for_go():
    conversation = [Message(Role.USER, "go"), result("x"), assistant("a"), result("a"), result("a", "again")]
    assert repair(conversation) == (conversation[0], conversation[2], conversation[3])


@given(st.lists(MESSAGES, max_size=12))
def test_any_conversation_ends_with_exactly_one_result_a_call(conversation):
    repaired = repair(conversation)
    assert repair(repaired) == repaired
    waiting: set[str] = set()
    for message in repaired:
        if message.role is Role.TOOL:
            assert message.tool_call_id in waiting
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting
            waiting = {call.id for call in message.tool_calls}
    assert not waiting
    assert [m for m in repaired if m.role is not Role.TOOL] == [m for m in conversation if m.role is not Role.TOOL]


def test_redacted_arguments_stay_json():
    call = ToolCall("c", "terminal", json.dumps({"command": 'echo "KEY=abc" && curl --token "x y"'}))
    redacted = redact(Message(Role.ASSISTANT, "", (call,)), Redactor())
    assert json.loads(redacted.tool_calls[0].arguments) == {
        "command": 'echo "KEY=[redacted]" && curl --token "[redacted]"'
    }


def test_arguments_without_secrets_keep_their_bytes():
    message = Message(Role.ASSISTANT, "", (ToolCall("c", "terminal", '{"command" :  "make test"}'),))
    assert redact(message, Redactor()) == message
