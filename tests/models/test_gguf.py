"""A model file served by llama.cpp: what is said when that cannot be, and with a real model where one is named.

SPEAR_TEST_GGUF names a GGUF file of a small chat model; the `spear-chat[local]` extra must be installed then. With the 135M
model this was written with, that is plumbing only: it shows that a real model answers, nothing about its answers.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import FailureKind, Message, ModelFailure, ModelRequest, Role, ToolSchema
from spear.models.backend import BackendSettings
from spear.models.gguf import GgufServer, trained_window
from spear.models.selection import open_backend
from spear.models.toolless import ToolSupport

HELLO = ModelRequest((Message(Role.USER, "Say hello."),), max_tokens=16)
SETTINGS = BackendSettings("http://127.0.0.1:8080/v1")


def text_of(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def header(*pairs: bytes) -> bytes:
    return struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


NAME = text_of(b"general.name") + struct.pack("<I", 8) + text_of(b"tiny")
FLAGS = text_of(b"general.flags") + struct.pack("<IIQ", 9, 4, 3) + b"\0" * 12
WINDOW = text_of(b"llama.context_length") + struct.pack("<II", 4, 8192)
WORDS = text_of(b"tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 1) + text_of(b"x")


@pytest.mark.parametrize(
    ("data", "window"),
    [
        (header(NAME, FLAGS, WINDOW), 8192),
        (header(NAME), None),
        (header(WORDS, WINDOW), None),
        (header(WINDOW)[:-1], None),
        (b"", None),
    ],
)
def test_the_window_a_model_was_trained_for_is_read_from_its_header(data: bytes, window: int | None) -> None:
    assert trained_window(io.BytesIO(data)) == window


@given(st.binary(max_size=200), st.integers(0, 100))
def test_no_header_whatever_breaks_the_reader(noise: bytes, cut: int) -> None:
    for data in (noise, header(NAME, FLAGS, WINDOW)[:cut] + noise):
        found = trained_window(io.BytesIO(data))
        assert found is None or found > 0


def refused(file: Path) -> ModelFailure:
    backend = open_backend(SETTINGS, companion=GgufServer(file, 4096, os.environ))
    with pytest.raises(ModelFailure) as caught:
        backend.complete(HELLO)
    backend.close()
    assert caught.value.kind is FailureKind.UNREACHABLE
    return caught.value


def test_a_file_that_is_no_model_is_told_before_anything_starts(tmp_path: Path) -> None:
    assert "cannot read" in refused(tmp_path / "none.gguf").message
    other = tmp_path / "other.gguf"
    other.write_text("not a model")
    assert "is no GGUF file" in refused(other).message
    assert "cannot read" in refused(tmp_path).message


def test_without_the_extra_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF" + header(NAME))
    failure = refused(file)
    assert "m.gguf needs the extra spear-chat[local], which is not installed" in failure.message
    assert "pip install 'spear-chat[local]'" in failure.hint


if MODEL := os.environ.get("SPEAR_TEST_GGUF"):

    def test_135m_plumbing_only_a_real_model_answers_by_key_and_is_gone_afterwards() -> None:
        server = GgufServer(Path(str(MODEL)), 2048, os.environ)
        children = []
        start = server.start

        def noting():
            children.append(start())
            return children[-1]

        server.start = noting  # type: ignore[method-assign]
        backend = open_backend(BackendSettings(SETTINGS.api_base, api_key=server.key), companion=server)
        assert backend.model == Path(str(MODEL)).stem
        assert backend.context_window() == 2048
        turn = backend.complete(HELLO)
        assert turn.text
        assert turn.usage.output_tokens
        address = children[0].output[0]
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{address}/v1/models")
        assert caught.value.code == 401
        caught.value.close()
        backend.close()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{address}/health").close()
            except urllib.error.URLError:
                break
        else:
            raise AssertionError("it still serves")

    def test_135m_plumbing_only_a_schema_holds_it_to_a_call_or_an_answer() -> None:
        server = GgufServer(Path(str(MODEL)), 2048, os.environ)
        parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        tools = (ToolSchema("read_file", "Read a file.", parameters),)
        asked = ModelRequest((Message(Role.USER, "Call read_file with the path a.py."),), tools, max_tokens=200)
        settings = BackendSettings(SETTINGS.api_base, api_key=server.key)
        backend = open_backend(settings, companion=server, recall=lambda _: ToolSupport.IGNORED)
        turn = backend.complete(asked)
        assert turn.text or [call.name for call in turn.tool_calls] == ["read_file"]
        assert "{" not in turn.text  # an answer was taken out of the object that the schema asked for
        backend.close()

    def test_135m_plumbing_only_a_damaged_file_is_told(tmp_path: Path) -> None:
        damaged = tmp_path / "damaged.gguf"
        damaged.write_bytes(Path(str(MODEL)).read_bytes()[:100_000])
        failure = refused(damaged)
        assert "llama.cpp with damaged.gguf ended with status 1: " in failure.message
        assert "may be damaged" in failure.hint
