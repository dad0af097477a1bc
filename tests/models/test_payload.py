"""Request bodies: stable, valid, and built from what is new alone."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import Message, ModelRequest, Role, ToolCall, ToolSchema
from spear.models.anthropic_payload import MessagesPayload
from spear.models.payload import CallIds, ChatPayload, Dialect, Once

_TEXT = st.text(alphabet=st.characters(codec=None), max_size=12)
_CALLS = st.lists(st.builds(ToolCall, _TEXT, _TEXT, _TEXT | st.just('{"a": "\\ud800"}')), max_size=2).map(tuple)
_MESSAGES = st.lists(st.builds(Message, st.sampled_from(list(Role)), _TEXT, _CALLS, _TEXT, _TEXT), max_size=5)


def _no_lone_surrogates(value: object) -> None:
    match value:
        case str():
            value.encode()
        case list():
            for inner in value:
                _no_lone_surrogates(inner)
        case dict():
            for key, inner in value.items():
                key.encode()
                _no_lone_surrogates(inner)


@given(_MESSAGES)
def test_any_conversation_is_valid_json_without_lone_surrogates(messages: list[Message]) -> None:
    dialect = Dialect(reasoning_key="reasoning_content")
    body = json.loads(ChatPayload().body("m", ModelRequest(messages), dialect))
    _no_lone_surrogates(body)
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            arguments = json.loads(call["function"]["arguments"])
            assert isinstance(arguments, dict)
            _no_lone_surrogates(arguments)


@given(_MESSAGES)
def test_any_conversation_alternates_for_the_messages_protocol(messages: list[Message]) -> None:
    body = json.loads(MessagesPayload().body("m", ModelRequest(messages), stream=True))
    _no_lone_surrogates(body)
    roles = [entry["role"] for entry in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    assert all(entry["content"] for entry in body["messages"])


@given(_MESSAGES, st.data())
def test_a_longer_conversation_extends_the_bytes_of_a_shorter_one(messages: list[Message], data: st.DataObject) -> None:
    payload, tools = ChatPayload(), (ToolSchema("a", "b", {"type": "object"}),)
    count = data.draw(st.integers(0, len(messages)))
    shorter = payload.body("m", ModelRequest(messages[:count], tools), Dialect())
    longer = payload.body("m", ModelRequest(messages, tools), Dialect())
    assert longer.startswith(shorter.removesuffix(b"]}"))
    assert longer == ChatPayload().body("m", ModelRequest(messages, tools), Dialect())


def test_only_what_is_new_is_converted_and_what_left_is_forgotten() -> None:
    converted: list[str] = []
    once = Once(lambda message: converted.append(message.content) or message.content)
    messages = [Message(Role.USER, str(n)) for n in range(5)]
    for count in range(1, 6):
        assert once.all(messages[:count]) == [m.content for m in messages[:count]]
    assert converted == ["0", "1", "2", "3", "4"]
    once.all(messages[:1])
    once.all(messages[:2])
    assert converted[5:] == ["1"]


SAID = [
    Message(Role.ASSISTANT, str(n), tool_calls=(ToolCall(f"call_{n % 5}", "terminal", "{}"),) if n % 2 else ())
    for n in range(8)
]
CONVERSATIONS = st.lists(st.lists(st.sampled_from(SAID), max_size=8), max_size=6)


@given(CONVERSATIONS)
def test_whatever_the_conversation_becomes_its_messages_and_ids_are_its_own(
    conversations: list[list[Message]],
) -> None:
    once, ids = Once(lambda message: message.content), CallIds()
    for messages in conversations:
        assert once.all(messages) == [message.content for message in messages]
        assert set(ids.of(messages)) == {call.id for message in messages for call in message.tool_calls}


@given(st.lists(st.sampled_from(SAID), unique_by=id), st.integers(0, 8))
def test_a_conversation_that_grows_or_is_cut_converts_nothing_twice(messages: list[Message], kept: int) -> None:
    converted: list[str] = []
    once = Once(lambda message: converted.append(message.content) or message.content)
    once.all(messages[:kept])
    once.all(messages)
    assert converted == [message.content for message in messages]
    once.all(messages[-kept:] if kept else [])
    assert len(converted) == len(messages)
