"""Choosing a backend, and what that costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from spear.agent.messages import Message, ModelFailure, ModelRequest, Role
from spear.errors import ConfigurationError
from spear.models.anthropic_backend import AnthropicBackend
from spear.models.backend import BackendSettings, Provider
from spear.models.recording import RecordingBackend, ReplayBackend
from spear.models.selection import open_backend
from spear.models.toolless import ToolAwareBackend
from tests.scripted_model import ModelServer, raw, text


def test_settings_choose_the_backend(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    tape.touch()
    settings = BackendSettings("http://127.0.0.1:8080/v1")
    anthropic = BackendSettings("https://api.anthropic.com", Provider.ANTHROPIC)
    assert isinstance(open_backend(settings), ToolAwareBackend)
    assert isinstance(open_backend(anthropic), AnthropicBackend)
    assert isinstance(open_backend(settings, replay=tape), ReplayBackend)
    recording = open_backend(settings, record=tmp_path / "new")
    assert isinstance(recording, RecordingBackend)
    recording.close()


def test_the_endpoint_is_named_by_host_and_port_alone() -> None:
    assert BackendSettings("http://user:secret@127.0.0.1:8080/v1?key=secret").endpoint == "127.0.0.1:8080"
    assert BackendSettings("https://[::1]:9/v1").endpoint == "[::1]:9"
    assert BackendSettings("https://127.0.0.1:4444/v1", host="far.example:9").endpoint == "far.example:9"
    assert BackendSettings("https://api.example.com/v1").endpoint == "api.example.com"


@pytest.mark.parametrize(
    "address", ["", "localhost:8080", "ftp://host/v1", "http://", "http://[::1/v1", "http://h:99999/v1", "http://h:x"]
)
def test_an_address_that_can_never_be_used_is_a_configuration_error(address: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        BackendSettings(address)
    assert "http" in caught.value.hint


def test_a_key_is_trimmed_and_one_that_no_header_can_carry_is_refused_without_being_told() -> None:
    assert BackendSettings("http://h/v1", api_key=" sk-1\n").api_key == "sk-1"
    assert BackendSettings("http://h/v1", api_key=" \n").api_key is None
    for key in ("clé-secrète", "two\nlines"):
        with pytest.raises(ConfigurationError) as caught:
            BackendSettings("http://h/v1", api_key=key)
        assert key not in str(caught.value)


def test_a_proxy_that_cannot_be_used_is_told_and_a_loopback_endpoint_does_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "gopher://proxy.invalid:1")
    far = open_backend(BackendSettings("http://192.0.2.1/v1", model="m"))
    with pytest.raises(ModelFailure) as caught:
        far.complete(ModelRequest((Message(Role.USER, "hi"),)))
    assert "proxy" in caught.value.message.lower()
    with ModelServer([text("near")]) as server:
        near = open_backend(BackendSettings(server.base_url))
        assert near.complete(ModelRequest((Message(Role.USER, "hi"),))).text == "near"
        near.close()


def test_the_providers_own_variables_change_neither_the_address_nor_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1")
    message = {"type": "message", "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"}
    with ModelServer([text("yes"), raw(json.dumps(message).encode())]) as server:
        for provider in Provider:
            backend = open_backend(BackendSettings(server.base_url, provider, model="m"))
            assert backend.complete(ModelRequest((Message(Role.USER, "hi"),))).text == "yes"
            backend.close()
        assert "environment" not in str(server.headers)


def test_choosing_imports_no_provider_package() -> None:
    code = (
        "import sys, spear.models.selection as s, spear.models.backend as b\n"
        "s.open_backend(b.BackendSettings('http://127.0.0.1:1/v1'))\n"
        "print(sorted({'openai', 'anthropic', 'httpx2', 'httpx', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
