"""Servers that ignore tools: found out, and served without their help."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import (
    FailureKind,
    Message,
    ModelFailure,
    ModelRequest,
    ModelTurn,
    Role,
    StopReason,
    ToolSchema,
)
from spear.models.backend import BackendSettings
from spear.models.openai_backend import OpenAIBackend
from spear.models.retry import RetryPolicy
from spear.models.toolless import ToolAwareBackend, ToollessBackend, ToolSupport, probe
from spear.models.toolless_text import fenced_call, object_turn
from tests.scripted_model import ModelServer, calls, status, text

READ = ToolSchema(
    "read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
)
RUN = ToolSchema("terminal", "Run.", {"type": "object", "properties": {"command": {"type": "string"}}})
ASK = ModelRequest((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Read a.c")), (READ, RUN))
CALL = {"name": "read_file", "arguments": {"path": "a.c"}}
FENCED = f"I will read it.\n```json\n{json.dumps(CALL)}\n```\n"


@contextmanager
def served(answer: Any) -> Iterator[tuple[ModelServer, OpenAIBackend]]:
    with ModelServer([answer] * 20) as server:
        backend = OpenAIBackend(BackendSettings(server.base_url, model="m", retry=RetryPolicy(scale=0.001)))
        yield server, backend
        backend.close()


def ignoring(body: dict[str, Any]) -> dict[str, Any]:
    """A server that answers tools with prose, but holds to a schema."""
    if "response_format" in body:
        newest = body["messages"][-1]["content"]
        return text(json.dumps({"answer": "It is a ring."} if "Result of the call" in newest else CALL))
    return text("Sure! Let me read the file for you.")


def fencing(body: dict[str, Any]) -> dict[str, Any]:
    """A server that knows neither tools nor schemas."""
    return (
        status(400, body={"error": {"message": "unknown field response_format"}})
        if "response_format" in body
        else text(FENCED)
    )


def test_a_probe_tells_who_calls_and_who_talks() -> None:
    with served(calls(("report_ready", {"ready": True}))) as (server, backend):
        assert probe(backend) is ToolSupport.NATIVE
        assert server.requests[0]["tool_choice"] == "required"
    with served(text("I am ready.")) as (_, backend):
        assert probe(backend) is ToolSupport.IGNORED
    with served(text("Thinking about", finish="length")) as (_, backend):
        assert probe(backend) is ToolSupport.UNKNOWN
    with served(status(401)) as (_, backend), pytest.raises(ModelFailure):
        probe(backend)


def test_a_probe_does_without_a_tool_choice_that_is_rejected() -> None:
    def step(body: dict[str, Any]) -> dict[str, Any]:
        return status(400) if "tool_choice" in body else calls(("report_ready", {}))

    with served(step) as (_, backend):
        assert probe(backend) is ToolSupport.NATIVE


def test_a_server_that_ignores_tools_is_noticed_at_the_first_turn_and_served_with_a_schema() -> None:
    found: list[tuple[str, ToolSupport]] = []
    with served(ignoring) as (server, inner):
        backend = ToolAwareBackend(inner, on_support=lambda *pair: found.append(pair))
        turn = backend.complete(ASK)
        assert [(c.name, json.loads(c.arguments)) for c in turn.tool_calls] == [("read_file", {"path": "a.c"})]
        assert turn.stop_reason is StopReason.TOOL_CALLS
        asked = len(server.requests)
        answer = Message(Role.ASSISTANT, turn.text, turn.tool_calls)
        result = Message(Role.TOOL, "1|int ring;", tool_call_id=turn.tool_calls[0].id)
        last = backend.complete(ModelRequest((*ASK.messages, answer, result), ASK.tools))
        bodies = server.requests
    assert found == [("m", ToolSupport.IGNORED)]
    assert (last.text, last.tool_calls) == ("It is a ring.", ())
    assert len(bodies) == asked + 1
    schema = bodies[-1]["response_format"]["json_schema"]["schema"]
    assert [entry["properties"].get("name", {}).get("const") for entry in schema["anyOf"]] == [
        "read_file",
        "terminal",
        None,
    ]
    assert "tools" not in bodies[-1]
    assert bodies[-1]["messages"][: len(bodies[-2]["messages"])] == bodies[-2]["messages"]
    assert {message["role"] for message in bodies[-1]["messages"]} == {"system", "user", "assistant"}


def test_a_server_without_schemas_is_asked_for_one_fenced_block() -> None:
    with served(fencing) as (server, inner):
        backend = ToolAwareBackend(inner)
        turn = backend.complete(ASK)
        assert (turn.text, turn.tool_calls[0].name) == ("I will read it.", "read_file")
        backend.complete(ASK)
        assert "response_format" not in server.requests[-1]
        assert sum("response_format" in body for body in server.requests) == 1


def test_a_server_that_refuses_tools_is_served_without() -> None:
    def step(body: dict[str, Any]) -> dict[str, Any]:
        return (
            status(400, body={"error": {"message": "tiny does not support tools"}}) if "tools" in body else text(FENCED)
        )

    with served(step) as (_, inner):
        assert ToolAwareBackend(inner).complete(ASK).tool_calls[0].name == "read_file"


@pytest.mark.parametrize(
    "answer", ["Nothing to do.", '```json\n{"name": "ring", "version": 1}\n```', "read_file reads."]
)
def test_a_plain_answer_costs_one_request_and_nothing_is_concluded_from_it(answer: str) -> None:
    with served(text(answer)) as (server, inner):
        backend = ToolAwareBackend(inner)
        assert backend.complete(ASK).text == answer
        assert len(server.requests) == 1
        assert backend.support is ToolSupport.UNKNOWN


def test_a_model_that_calls_natively_may_write_about_calls() -> None:
    """The fenced block is text then, and never a call: once after a native call, once after the probe."""

    def step(body: dict[str, Any]) -> dict[str, Any]:
        return calls(("report_ready", {})) if "tool_choice" in body else text(FENCED)

    with served(step) as (server, inner):
        backend = ToolAwareBackend(inner)
        for _ in range(3):
            turn = backend.complete(ASK)
            assert (turn.text, turn.tool_calls) == (FENCED, ())
        assert sum("tool_choice" in body for body in server.requests) == 1


def test_what_is_remembered_saves_the_probe() -> None:
    with served(ignoring) as (server, inner):
        assert ToolAwareBackend(inner, lambda _: ToolSupport.IGNORED).complete(ASK).tool_calls
        assert len(server.requests) == 1


def test_a_failing_probe_leaves_the_answer_at_hand() -> None:
    def step(body: dict[str, Any]) -> dict[str, Any]:
        return status(500) if body["messages"][0]["content"].startswith("Call the tool") else text("Let me see.")

    with served(step) as (_, inner):
        assert ToolAwareBackend(inner).complete(ASK).text == "Let me see."


def test_a_probe_that_shows_nothing_is_not_repeated() -> None:
    def step(body: dict[str, Any]) -> dict[str, Any]:
        return text("hm", finish="length") if "tool_choice" in body else text("Let me see.")

    with served(step) as (server, inner):
        backend = ToolAwareBackend(inner)
        assert [backend.complete(ASK).text for _ in range(3)] == ["Let me see."] * 3
        assert sum("tool_choice" in body for body in server.requests) == 1


def test_a_cut_answer_is_no_call() -> None:
    with served(text(FENCED, finish="length")) as (_, inner):
        turn = ToollessBackend(inner).complete(ASK)
    assert turn.tool_calls == ()
    assert turn.stop_reason is StopReason.LENGTH


def test_the_json_of_an_answer_is_not_streamed_but_the_answer_is_shown() -> None:
    shown: list[str] = []
    with served(text('{"answer": "Done."}')) as (_, inner):
        ToollessBackend(inner).complete(ModelRequest(ASK.messages, ASK.tools, on_text=shown.append))
    assert shown == ["Done."]


def test_a_request_without_tools_is_passed_on_as_it_is() -> None:
    with served(text("A summary.")) as (server, inner):
        assert ToollessBackend(inner).complete(ModelRequest(ASK.messages)).text == "A summary."
        assert server.requests[0]["messages"][0]["content"] == "Be brief."


def test_an_endpoint_failure_is_not_mistaken_for_missing_schemas() -> None:
    with served(status(401)) as (server, inner), pytest.raises(ModelFailure) as caught:
        ToollessBackend(inner).complete(ASK)
    assert caught.value.kind is FailureKind.AUTHENTICATION
    assert len(server.requests) == 1


NAMES = ("read_file", "terminal")


@pytest.mark.parametrize(
    "answer",
    [
        "no block at all",
        FENCED + FENCED,
        FENCED.replace("```json", "```"),
        FENCED.replace("read_file", "rm_file"),
        FENCED.replace('"arguments"', '"args"'),
        FENCED.replace('{"path": "a.c"}', '"a.c"'),
        FENCED.replace('{"path": "a.c"}', '{"path": "a.c"'),
        FENCED.replace('"name"', '"extra": 1, "name"'),
        FENCED.replace('"name"', '"name": "terminal", "name"'),
        FENCED.removesuffix("```\n"),
        FENCED + "\n```sh\nmake\n```\n",
        f"    {json.dumps(CALL)}",
    ],
)
def test_what_is_not_exactly_one_call_in_one_fenced_block_is_text(answer: str) -> None:
    assert fenced_call(ModelTurn(answer), NAMES, ()) is None


@given(st.text(max_size=40) | st.text(alphabet='`json{}"name:,arguments\n ', max_size=60))
def test_no_text_is_a_crash_and_only_offered_tools_are_called(answer: str) -> None:
    for read in (fenced_call, object_turn):
        turn = read(ModelTurn(answer), NAMES, ("call_1",))
        for call in turn.tool_calls if turn else ():
            assert call.name in NAMES
            assert call.id != "call_1"
