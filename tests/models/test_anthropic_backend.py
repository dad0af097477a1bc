"""The Anthropic backend, through the real `anthropic` client, against a server on a real socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from spear.agent.messages import (
    FailureKind,
    Message,
    ModelFailure,
    ModelRequest,
    ModelTurn,
    Role,
    StopReason,
    ToolCall,
    ToolSchema,
)
from spear.models.anthropic_backend import AnthropicBackend
from spear.models.backend import BackendSettings, Provider
from spear.models.retry import RetryPolicy
from tests.scripted_model import ModelServer, chunks, drop, raw, sse, status

TOOLS = (ToolSchema("a", "First.", {"type": "object"}), ToolSchema("b", "Last.", {"type": "object"}))
HELLO = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Hello"))


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def message(*blocks: list[dict[str, Any]], stop: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 7, "output_tokens": 1}
    events: list[Any] = [{"type": "message_start", "message": {"usage": usage}}, {"type": "ping"}]
    events += [event for part in blocks for event in part]
    events += [{"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}}]
    return chunks([*events, {"type": "message_stop"}], done=False)


THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "secret "},
    {"type": "thinking_delta", "thinking": "plan"},
    {"type": "signature_delta", "signature": "sig=="},
)
SAID = block(
    1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "It is "}, {"type": "text_delta", "text": "a ring."}
)
USED = block(
    2,
    {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {}},
    {"type": "input_json_delta", "partial_json": '{"path": '},
    {"type": "input_json_delta", "partial_json": '"x"}'},
)


@contextmanager
def opened(server: ModelServer, **settings: Any) -> Iterator[AnthropicBackend]:
    settings = {"api_key": "sk-ant-0123456789", "model": "m", "retry": RetryPolicy(scale=0.01), **settings}
    backend = AnthropicBackend(BackendSettings(server.base_url, Provider.ANTHROPIC, **settings))
    try:
        yield backend
    finally:
        backend.close()


def ask(server: ModelServer, request: ModelRequest | None = None, **settings: Any) -> ModelTurn:
    with opened(server, **settings) as backend:
        return backend.complete(request or ModelRequest(HELLO, TOOLS))


def test_an_answer_with_thinking_and_a_call_arrives_and_only_its_text_is_shown() -> None:
    shown: list[str] = []
    with ModelServer([message(THINKING, SAID, USED, stop="tool_use")]) as server:
        turn = ask(server, ModelRequest(HELLO, TOOLS, on_text=shown.append))
        assert server.paths == ["/v1/messages"]
    assert turn.text == "".join(shown) == "It is a ring."
    assert turn.tool_calls == (ToolCall("toolu_1", "a", '{"path": "x"}'),)
    assert turn.stop_reason is StopReason.TOOL_CALLS
    assert (turn.usage.input_tokens, turn.usage.output_tokens, turn.usage.cached_tokens) == (50, 9, 40)
    assert turn.usage.written_tokens == 7


def test_a_whole_reply_is_read_like_a_stream() -> None:
    content = [{"type": "text", "text": "Hi."}, {"type": "tool_use", "id": "t", "name": "a", "input": {"n": 1}}]
    reply = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 2}}
    with ModelServer([raw(json.dumps(reply).encode())]) as server:
        turn = ask(server, stream=False)
        assert "stream" not in server.requests[0]
    assert (turn.text, turn.tool_calls) == ("Hi.", (ToolCall("t", "a", '{"n": 1}'),))


def test_caching_marks_stand_on_the_system_the_last_tool_and_the_newest_message() -> None:
    with ModelServer([message(SAID)]) as server:
        ask(server, ModelRequest((*HELLO, Message(Role.ASSISTANT, "Yes?"), Message(Role.USER, "Go")), TOOLS))
        body = server.requests[0]
    marked = {"type": "ephemeral"}
    assert [block.get("cache_control") for block in body["system"]] == [marked]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, marked]
    blocks = [block for entry in body["messages"] for block in entry["content"]]
    assert [block.get("cache_control") for block in blocks] == [None, None, marked]


def test_the_conversation_alternates_and_results_and_thinking_go_back_as_they_came() -> None:
    with (
        ModelServer([message(THINKING, SAID, USED, stop="tool_use"), message(SAID)]) as server,
        opened(server) as backend,
    ):
        turn = backend.complete(ModelRequest(HELLO, TOOLS))
        answer = Message(Role.ASSISTANT, turn.text, turn.tool_calls, reasoning=turn.reasoning)
        results = (Message(Role.TOOL, "one", tool_call_id="toolu_1"), Message(Role.USER, "and?"))
        backend.complete(ModelRequest((*HELLO, answer, *results), TOOLS))
        sent = server.requests[1]["messages"]
    assert [entry["role"] for entry in sent] == ["user", "assistant", "user"]
    thinking, said, used = sent[1]["content"]
    assert thinking == {"type": "thinking", "thinking": "secret plan", "signature": "sig=="}
    assert said["text"] == "It is a ring."
    assert used == {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {"path": "x"}}
    assert [entry["type"] for entry in sent[2]["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize("reasoning", ["plain words", "[not json", "[1, 2]", '[{"type": "text", "text": "x"}]'])
def test_reasoning_of_another_provider_is_not_sent(reasoning: str) -> None:
    with ModelServer([message(SAID)]) as server:
        ask(server, ModelRequest((*HELLO, Message(Role.ASSISTANT, "Yes?", reasoning=reasoning), *HELLO[1:])))
        assert server.requests[0]["messages"][1]["content"] == [{"type": "text", "text": "Yes?"}]


def test_what_the_service_would_refuse_is_not_sent() -> None:
    """Blank text, a conversation that begins with an answer, arguments that are no object, another's reasoning."""
    history = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.ASSISTANT, " ", (ToolCall("t", "a", '{"cut'),), reasoning="[not blocks"),
        Message(Role.TOOL, "", tool_call_id="t"),
        Message(Role.USER, ""),
    )
    with ModelServer([message(SAID)]) as server:
        ask(server, ModelRequest(history, TOOLS))
        first, second, third = server.requests[0]["messages"]
    assert first["role"] == "user"
    assert second["content"] == [{"type": "tool_use", "id": "t", "name": "a", "input": {"invalid_json": '{"cut'}}]
    assert third["content"] == [{"type": "tool_result", "tool_use_id": "t"}]


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", StopReason.STOP),
        ("stop_sequence", StopReason.STOP),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("refusal", StopReason.FILTERED),
    ],
)
def test_stop_reasons(stop: str, reason: StopReason) -> None:
    with ModelServer([message(SAID, stop=stop)]) as server:
        assert ask(server).stop_reason is reason


def _error(kind: str, text: str = "x") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}}


def test_an_overloaded_service_is_asked_again_whether_it_says_so_before_or_within_the_stream() -> None:
    within = chunks([{"type": "message_start", "message": {}}, _error("overloaded_error")], done=False)
    before = status(529, body=_error("overloaded_error"))
    with ModelServer([before, within, message(SAID)]) as server:
        assert ask(server).text == "It is a ring."
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (status(400, body=_error("invalid_request_error", "prompt is too long: 9 > 8")), FailureKind.CONTEXT_OVERFLOW),
        (status(400, body=_error("invalid_request_error")), FailureKind.BAD_REQUEST),
        (status(401, body=_error("authentication_error")), FailureKind.AUTHENTICATION),
        (chunks([_error("invalid_request_error")], done=False), FailureKind.BAD_REQUEST),
        (chunks([_error("authentication_error")], done=False), FailureKind.AUTHENTICATION),
    ],
)
def test_a_failure_that_another_attempt_cannot_cure_is_not_retried(step: dict[str, Any], kind: FailureKind) -> None:
    with ModelServer([step]) as server:
        with pytest.raises(ModelFailure) as caught:
            ask(server)
        assert len(server.requests) == 1
    assert caught.value.kind is kind


@pytest.mark.parametrize("close_delimited", [False, True])
def test_a_stream_cut_at_any_byte_yields_the_whole_turn_or_a_failure(close_delimited: bool) -> None:
    step = message(SAID, USED, stop="tool_use")
    size = len(b"".join(sse(step["chunks"], done=False)))
    with ModelServer(close_delimited=close_delimited) as server:
        with opened(server, retry=RetryPolicy(per_turn=0)) as backend:
            for cut in range(0, size, 3):
                server.script.append(drop(step, at_byte=cut))
                with pytest.raises(ModelFailure) as caught:
                    backend.complete(ModelRequest(HELLO, TOOLS))
                assert caught.value.kind in (FailureKind.DROPPED_STREAM, FailureKind.UNREACHABLE), cut
            server.script.append(step)
            assert backend.complete(ModelRequest(HELLO, TOOLS)).tool_calls[0].arguments == '{"path": "x"}'


def test_the_window_and_the_first_model_are_the_services_own() -> None:
    listing = {"data": [{"id": "claude", "max_input_tokens": 200_000, "max_tokens": 64_000}]}
    with ModelServer([message(SAID)], models=listing) as server, opened(server, model=None) as backend:
        backend.complete(ModelRequest(HELLO))
        assert server.requests[0]["model"] == "claude"
        assert backend.context_window() == 200_000
