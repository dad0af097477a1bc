"""The OpenAI backend, through the real `openai` client, against a server on a real socket."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

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
from spear.models.backend import BackendSettings, Timeouts
from spear.models.openai_backend import OpenAIBackend
from spear.models.retry import RetryPolicy
from tests.scripted_model import (
    ModelServer,
    calls,
    chunks,
    delta,
    drop,
    raw,
    raw_calls,
    stall,
    status,
    text,
)

KEY = "sk-test-0123456789abcdef"
QUICK = RetryPolicy(scale=0.01)
READ = ToolSchema("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
HELLO = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Hello"))


@contextmanager
def opened(server: ModelServer, **settings: object) -> Iterator[OpenAIBackend]:
    settings = {"api_key": KEY, "model": "scripted", "retry": QUICK, **settings}
    backend = OpenAIBackend(BackendSettings(server.base_url, **settings))  # type: ignore[arg-type]
    try:
        yield backend
    finally:
        backend.close()


def ask(server: ModelServer, request: ModelRequest | None = None, **settings: object) -> ModelTurn:
    with opened(server, **settings) as backend:
        return backend.complete(request or ModelRequest(HELLO))


def failure(server: ModelServer, **settings: object) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        ask(server, **settings)
    return caught.value


def test_an_answer_arrives_with_its_usage_and_streams_as_it_comes() -> None:
    shown: list[str] = []
    with ModelServer([text("It wraps an index, and " * 5)]) as server:
        turn = ask(server, ModelRequest(HELLO, on_text=shown.append))
    assert turn.text == "It wraps an index, and " * 5
    assert turn.stop_reason is StopReason.STOP
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (10, 5)
    assert "".join(shown) == turn.text
    assert len(shown) > 1


@pytest.mark.parametrize("stream", [True, False])
def test_tool_calls_arrive_whole_in_order_and_with_the_tools_offered(stream: bool) -> None:
    step = calls(("read_file", {"path": "a" * 200}), ("read_file", {"path": "b"}), content="Reading.")
    with ModelServer([step]) as server:
        turn = ask(server, ModelRequest(HELLO, (READ,), max_tokens=99), stream=stream)
        body = server.requests[0]
    assert [json.loads(call.arguments)["path"] for call in turn.tool_calls] == ["a" * 200, "b"]
    assert turn.stop_reason is StopReason.TOOL_CALLS
    assert turn.text == "Reading."
    assert body["tools"][0]["function"]["name"] == "read_file"
    assert body["max_tokens"] == 99
    assert "temperature" not in body


def test_reasoning_in_tags_and_in_its_own_field_stays_out_of_the_answer_and_of_the_stream() -> None:
    shown: list[str] = []
    script = [text("<think>secret plan</think>It is a ring."), text("Yes.", reasoning="private")]
    with ModelServer(script) as server, opened(server) as backend:
        first = backend.complete(ModelRequest(HELLO, on_text=shown.append))
        second = backend.complete(ModelRequest(HELLO, on_text=shown.append))
    assert (first.text, first.reasoning) == ("It is a ring.", "secret plan")
    assert (second.text, second.reasoning) == ("Yes.", "private")
    assert "".join(shown) == "It is a ring.Yes."


def test_reasoning_is_carried_back_in_the_field_the_server_used() -> None:
    thought = chunks([delta({"reasoning": "hm"}), delta({"tool_calls": [CALL]}), delta({}, "tool_calls")])
    with ModelServer([thought]) as server, opened(server) as backend:
        turn = backend.complete(ModelRequest(HELLO, (READ,)))
        answer = Message(Role.ASSISTANT, turn.text, turn.tool_calls, reasoning=turn.reasoning)
        result = Message(Role.TOOL, "text", tool_call_id=turn.tool_calls[0].id)
        backend.complete(ModelRequest((*HELLO, answer, result), (READ,)))
        assert server.requests[1]["messages"][2]["reasoning"] == "hm"


CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}


def test_the_request_grows_by_its_end_alone_byte_for_byte() -> None:
    messages = list(HELLO)
    with ModelServer([calls(("read_file", {"path": str(n)})) for n in range(4)]) as server, opened(server) as backend:
        for _ in range(4):
            turn = backend.complete(ModelRequest(tuple(messages), (READ,)))
            messages.append(Message(Role.ASSISTANT, turn.text, turn.tool_calls))
            messages.append(Message(Role.TOOL, "é\ud800 done", tool_call_id=turn.tool_calls[0].id))
        bodies = list(server.raw)
    for earlier, later in pairwise(bodies):
        assert later.startswith(earlier.removesuffix(b"]}"))
    assert "é\ufffd done" in bodies[-1].decode("utf-8")


def test_arguments_that_are_not_json_are_sent_back_as_json() -> None:
    broken = Message(Role.ASSISTANT, "", (ToolCall("c1", "read_file", '{"path": "a'),))
    with ModelServer() as server:
        ask(server, ModelRequest((*HELLO, broken, Message(Role.TOOL, "invalid", tool_call_id="c1"))))
        sent = server.requests[0]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"invalid_json": '{"path": "a'}


def test_ids_that_are_missing_or_used_already_are_made_unique() -> None:
    call = {"name": "read_file", "arguments": "{}"}
    earlier = Message(Role.ASSISTANT, "", (ToolCall("same", "read_file", "{}"),))
    history = (*HELLO, earlier, Message(Role.TOOL, "x", tool_call_id="same"))
    with ModelServer([raw_calls([{**call, "id": "same"}, {**call, "id": "same"}, call])]) as server:
        turn = ask(server, ModelRequest(history, (READ,)))
    ids = [call.id for call in turn.tool_calls]
    assert len({*ids, "same"}) == 4
    assert all(ids)


def test_server_errors_and_rate_limits_are_retried_until_an_answer() -> None:
    with ModelServer([status(503), status(429, {"Retry-After": "0"}), status(408), text("fine")]) as server:
        assert ask(server).text == "fine"
        assert len(server.requests) == 4
        assert len(set(server.raw)) == 1


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (status(400), FailureKind.BAD_REQUEST),
        (status(401), FailureKind.AUTHENTICATION),
        (status(403), FailureKind.AUTHENTICATION),
        (status(404), FailureKind.BAD_REQUEST),
        (status(422), FailureKind.BAD_REQUEST),
        (status(301, {"Location": "http://127.0.0.1:9/"}), FailureKind.BAD_REQUEST),
        (
            status(400, body={"error": {"code": "context_length_exceeded", "message": "x"}}),
            FailureKind.CONTEXT_OVERFLOW,
        ),
        (
            status(500, body={"error": {"message": "the request exceeds the available context size"}}),
            FailureKind.CONTEXT_OVERFLOW,
        ),
        (
            status(400, body={"message": "This model's maximum context length is 4096 tokens."}),
            FailureKind.CONTEXT_OVERFLOW,
        ),
        (status(429, body={"error": {"code": "insufficient_quota", "message": "pay"}}), FailureKind.RATE_LIMITED),
        (status(429, {"Retry-After": "86400"}), FailureKind.RATE_LIMITED),
    ],
)
def test_a_failure_that_another_attempt_cannot_cure_is_not_retried(step: dict, kind: FailureKind) -> None:
    with ModelServer([step]) as server:
        assert failure(server).kind is kind
        assert len(server.requests) == 1


def test_retries_are_bounded_per_call_and_per_turn() -> None:
    policy = RetryPolicy(scale=0.001, per_turn=7)
    with ModelServer([status(503)] * 50) as server, opened(server, retry=policy) as backend:
        for expected in (6, 9, 10):
            with pytest.raises(ModelFailure):
                backend.complete(ModelRequest(HELLO))
            assert len(server.requests) == expected
        backend.begin_turn()
        with pytest.raises(ModelFailure):
            backend.complete(ModelRequest(HELLO))
        assert len(server.requests) == 16


def test_a_refused_connection_fails_naming_the_endpoint_and_not_the_key() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    backend = OpenAIBackend(
        BackendSettings(f"http://user:{KEY}@127.0.0.1:{port}/v1", api_key=KEY, model="m", retry=QUICK)
    )
    with pytest.raises(ModelFailure) as caught:
        backend.complete(ModelRequest(HELLO))
    backend.close()
    assert caught.value.kind is FailureKind.UNREACHABLE
    assert f"127.0.0.1:{port}" in caught.value.message
    assert KEY not in caught.value.message + caught.value.hint


def test_a_key_echoed_by_the_server_does_not_reach_the_message() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY} and plainsecret"}}
    with ModelServer([status(401, body=body)]) as server:
        assert KEY not in failure(server).message
    with ModelServer([status(401, body=body)]) as server:
        assert KEY not in failure(server, api_key="another").message
    with ModelServer([status(401, body=body)]) as server:
        assert "plainsecret" not in failure(server, api_key="plainsecret").message
    with ModelServer([status(401, body=body)]) as server:
        assert "Incorrect" in failure(server, api_key="c").message  # the placeholder of a local server


def test_the_key_is_not_in_the_representation_of_the_settings() -> None:
    assert KEY not in repr(BackendSettings("http://localhost", api_key=KEY))


def test_a_dropped_stream_is_retried_and_what_was_shown_is_not_shown_again() -> None:
    answer = text("0123456789" * 20)
    shown: list[str] = []
    with ModelServer([drop(answer, after=3), drop(answer, after=2), answer]) as server:
        turn = ask(server, ModelRequest(HELLO, on_text=shown.append))
        assert len(server.requests) == 3
    assert "".join(shown) == turn.text == "0123456789" * 20


@pytest.mark.parametrize(
    "reply",
    [
        raw(b"data: {not json}\n\n", content_type="text/event-stream"),
        raw(b"data: [1, 2]\n\n", content_type="text/event-stream"),
        raw(b"<html>Bad gateway</html>", content_type="text/html"),
        raw(b'{"choices": []}'),
        raw(b'{"choices": null}'),
        raw(b'{"half": '),
        chunks([{"choices": []}]),
    ],
)
def test_a_reply_that_is_not_one_is_retried_a_bounded_number_of_times(reply: dict) -> None:
    with ModelServer([reply, text("fine")]) as server:
        assert ask(server).text == "fine"
    with ModelServer([reply] * 20) as server:
        assert failure(server).kind is FailureKind.BAD_REPLY
        assert len(server.requests) == 3


def test_an_empty_reply_is_a_dropped_one() -> None:
    with ModelServer([raw(b"")] * 20) as server:
        assert failure(server).kind is FailureKind.DROPPED_STREAM
        assert len(server.requests) == 4


def test_a_reply_without_end_is_cut_at_the_cap() -> None:
    with ModelServer([text("x" * 400_000)] * 5) as server:
        found = failure(server, max_reply_bytes=100_000)
    assert found.kind is FailureKind.BAD_REPLY
    assert "100000" in found.message


def test_a_whole_reply_to_a_streaming_request_is_read_whatever_its_content_type() -> None:
    body = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    with ModelServer([raw(json.dumps(body).encode(), content_type="text/plain")]) as server:
        assert ask(server).text == "whole"


def test_an_error_inside_a_stream_is_the_failure_it_names() -> None:
    overflow = chunks([delta({"content": "a"}), {"error": {"code": "context_length_exceeded", "message": "long"}}])
    with ModelServer([overflow]) as server:
        assert failure(server).kind is FailureKind.CONTEXT_OVERFLOW
    overloaded = chunks([{"error": {"message": "overloaded"}}])
    with ModelServer([overloaded, text("fine")]) as server:
        assert ask(server).text == "fine"


@pytest.mark.parametrize("refused", ["stream_options", "max_tokens", "stream"])
def test_a_parameter_the_server_rejects_is_left_out_from_then_on(refused: str) -> None:
    words = {
        "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "stream": "streaming is not supported",
        "stream_options": "Extra inputs are not permitted",
    }

    def step(body: dict) -> dict:
        return status(400, body={"error": {"message": words[refused]}}) if refused in body else text("fine")

    with ModelServer([step] * 4) as server, opened(server) as backend:
        assert backend.complete(ModelRequest(HELLO, max_tokens=7)).text == "fine"
        assert backend.complete(ModelRequest(HELLO, max_tokens=7)).text == "fine"
        assert len(server.requests) == 3
        assert refused != "max_tokens" or server.requests[-1]["max_completion_tokens"] == 7


def test_without_a_configured_model_the_first_listed_one_is_asked() -> None:
    listing = {"data": [{"id": "first", "context_length": 4096}, {"id": "second"}]}
    with ModelServer(models=listing) as server, opened(server, model=None) as backend:
        backend.complete(ModelRequest(HELLO))
        backend.complete(ModelRequest(HELLO))
        assert [request["model"] for request in server.requests] == ["first", "first"]
        assert server.paths.count("/v1/models") == 1
        assert backend.context_window() == 4096


@pytest.mark.parametrize(
    ("listing", "window"),
    [
        ({"data": [{"id": "scripted", "max_model_len": 8192}]}, 8192),
        ({"data": [{"id": "scripted", "meta": {"n_ctx": 2048, "n_ctx_train": 131072}}]}, 2048),
        ({"data": [{"id": "other", "max_model_len": 1}, {"id": "scripted", "context_window": 99}]}, 99),
        ({"data": [{"id": "/models/a.gguf", "meta": {"n_ctx": 512}}]}, 512),
        ({"data": [{"id": "a", "n_ctx": 1}, {"id": "b", "n_ctx": 2}]}, None),
        ({"data": [{"id": "scripted"}]}, None),
        ({"data": [{"id": "scripted", "max_model_len": "many"}]}, None),
        ({"data": "odd"}, None),
        ([], None),
        (404, None),
    ],
)
def test_the_window_is_the_endpoints_own_figure_or_unknown(listing: object, window: int | None) -> None:
    with ModelServer(models=listing) as server, opened(server) as backend:
        assert backend.context_window() == window


def test_an_unreachable_endpoint_reports_no_window() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert OpenAIBackend(BackendSettings(f"http://127.0.0.1:{port}/v1", model="m")).context_window() is None


@pytest.mark.parametrize("after", [0, 2])
def test_cancelling_cuts_a_silent_server_off(after: int) -> None:
    """Both before the reply has begun (headers only) and in the middle of it."""
    stop = threading.Event()
    with ModelServer([stall(text("x" * 200), after=after), text("next")]) as server, opened(server) as backend:
        canceller = threading.Thread(target=lambda: (server.arrived.wait(10), stop.set()))
        canceller.start()
        with pytest.raises(ModelFailure) as caught:
            backend.complete(ModelRequest(HELLO, cancelled=stop.is_set))
        canceller.join()
        assert caught.value.kind is FailureKind.CANCELLED
        assert server.left.wait(10), "the server still believes that somebody listens"
        assert backend.complete(ModelRequest(HELLO)).text == "next"


def test_cancelling_cuts_the_wait_for_a_server_that_never_answers_at_all() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = BackendSettings(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", model="m")
        backend = OpenAIBackend(settings)
        polls = iter([False] * 5)
        with pytest.raises(ModelFailure) as caught:
            backend.complete(ModelRequest(HELLO, cancelled=lambda: next(polls, True)))
        backend.close()
    assert caught.value.kind is FailureKind.CANCELLED


def test_cancelling_cuts_the_pause_before_a_retry() -> None:
    with ModelServer([status(429, {"Retry-After": "100"})]) as server:
        with opened(server) as backend:
            started = time.monotonic()
            with pytest.raises(ModelFailure) as caught:
                backend.complete(
                    ModelRequest(HELLO, cancelled=lambda: bool(server.requests) and time.monotonic() > started)
                )
    assert caught.value.kind is FailureKind.CANCELLED


def test_an_exception_in_the_caller_cuts_the_request_off() -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with ModelServer([stall(text("x" * 200), after=3)]) as server, opened(server) as backend:
        with pytest.raises(KeyboardInterrupt):
            backend.complete(ModelRequest(HELLO, on_text=interrupt))
        assert server.left.wait(10)


def test_a_silent_server_is_given_up_on_after_the_read_timeout() -> None:
    with ModelServer([stall(text("x"), after=1)] * 9) as server:
        found = failure(server, timeouts=Timeouts(read_s=0.2))
        assert len(server.requests) == 2
    assert found.kind is FailureKind.DROPPED_STREAM
    assert "0.2 s" in found.message


def test_rounds_share_one_connection() -> None:
    with ModelServer([text("one"), calls(("read_file", {})), text("three")]) as server, opened(server) as backend:
        for _ in range(3):
            backend.complete(ModelRequest(HELLO))
        assert len(server.connections) == 1


def test_a_redirect_is_not_followed_so_that_the_key_stays_where_it_was_sent() -> None:
    with ModelServer() as other, ModelServer([status(307, {"Location": other.base_url})]) as server:
        found = failure(server)
        assert other.requests == []
        assert other.paths == []
    assert "--api-base" in found.hint
