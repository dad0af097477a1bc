"""Choosing a backend, and what that costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from spear.models.anthropic_backend import AnthropicBackend
from spear.models.backend import BackendSettings, Provider
from spear.models.recording import RecordingBackend, ReplayBackend
from spear.models.selection import open_backend
from spear.models.toolless import ToolAwareBackend, ToolSupport


def test_settings_choose_the_backend(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    tape.touch()
    settings = BackendSettings("http://127.0.0.1:8080/v1")
    anthropic = BackendSettings("https://api.anthropic.com", Provider.ANTHROPIC)
    plain = open_backend(settings, support=ToolSupport.NATIVE)
    assert isinstance(plain, ToolAwareBackend)
    assert plain.support is ToolSupport.NATIVE
    assert isinstance(open_backend(anthropic), AnthropicBackend)
    assert isinstance(open_backend(settings, replay=tape), ReplayBackend)
    recording = open_backend(settings, record=tmp_path / "new")
    assert isinstance(recording, RecordingBackend)
    recording.close()


def test_the_endpoint_is_named_by_host_and_port_alone() -> None:
    assert BackendSettings("http://user:secret@127.0.0.1:8080/v1?key=secret").endpoint == "127.0.0.1:8080"
    assert BackendSettings("https://[::1]:9/v1").endpoint == "[::1]:9"
    assert BackendSettings("https://api.example.com/v1").endpoint == "api.example.com"


def test_choosing_imports_no_provider_package() -> None:
    code = (
        "import sys, spear.models.selection as s, spear.models.backend as b\n"
        "s.open_backend(b.BackendSettings('http://127.0.0.1:1/v1'))\n"
        "print(sorted({'openai', 'anthropic', 'httpx2', 'httpx', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
