"""A recorded stream cut at every byte: never a crash, never half a call, always retried or failed (spec 9.2)."""

from __future__ import annotations

import json

import pytest

from spear.agent.messages import FailureKind, Message, ModelFailure, ModelRequest, ModelTurn, Role
from spear.models.backend import BackendSettings
from spear.models.openai_backend import OpenAIBackend
from spear.models.retry import RetryPolicy
from tests.scripted_model import ModelServer, chunks, delta, drop, sse

_ARGUMENTS = [{"path": "é.txt", "content": "}{\n"}, {"command": "rm -rf build && make"}]


def _piece(index: int, **function: str) -> dict:
    return {
        "tool_calls": [{"index": index, **({"id": f"c{index}"} if "name" in function else {}), "function": function}]
    }


_STREAM = [
    delta({"role": "assistant", "content": "I will."}),
    delta(_piece(0, name="write_file", arguments="")),
    delta(_piece(0, arguments=json.dumps(_ARGUMENTS[0])[:14])),
    delta(_piece(0, arguments=json.dumps(_ARGUMENTS[0])[14:])),
    delta(_piece(1, name="terminal", arguments=json.dumps(_ARGUMENTS[1]))),
    delta({}, "tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
]
_WHOLE = b"".join(sse(_STREAM))


@pytest.mark.parametrize("close_delimited", [False, True])
def test_a_stream_cut_at_any_byte_yields_the_whole_turn_or_a_failure(close_delimited: bool) -> None:
    ended = _WHOLE.index(b'"finish_reason": "tool_calls"')
    whole = []
    with ModelServer(close_delimited=close_delimited) as server:
        backend = OpenAIBackend(BackendSettings(server.base_url, model="m", retry=RetryPolicy(per_turn=0)))
        for cut in range(len(_WHOLE)):
            server.script.append(drop(chunks(_STREAM), at_byte=cut))
            found = _outcome(backend)
            if isinstance(found, ModelFailure):
                assert found.kind in (FailureKind.DROPPED_STREAM, FailureKind.UNREACHABLE), (cut, found.message)
            else:
                assert [json.loads(call.arguments) for call in found.tool_calls] == _ARGUMENTS, cut
                whole.append(cut)
        backend.close()
    assert whole
    assert min(whole) > ended


def _outcome(backend: OpenAIBackend) -> ModelTurn | ModelFailure:
    try:
        return backend.complete(ModelRequest((Message(Role.USER, "go"),)))
    except ModelFailure as failure:
        return failure


def test_a_cut_stream_is_asked_for_again() -> None:
    with ModelServer() as server:
        backend = OpenAIBackend(BackendSettings(server.base_url, model="m", retry=RetryPolicy(scale=0, per_turn=999)))
        for cut in range(0, len(_WHOLE), 97):
            server.script[:] = [drop(chunks(_STREAM), at_byte=cut), chunks(_STREAM)]
            turn = backend.complete(ModelRequest((Message(Role.USER, "go"),)))
            assert [json.loads(call.arguments) for call in turn.tool_calls] == _ARGUMENTS
        backend.close()
