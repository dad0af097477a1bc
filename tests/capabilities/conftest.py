"""Sessions of providers that end with the test."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.capabilities.setting import SERVER, Setting, provider_entry, until


@pytest.fixture
def setting(tmp_path):
    made = []

    def make(*entries):
        found = Setting(tmp_path, list(entries) or [provider_entry()])
        made.append(found)
        return found

    yield make
    for each in made:
        each.providers.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    found = Setting(tmp_path_factory.mktemp("tracker"), [provider_entry()])
    yield found
    found.providers.close()


@pytest.fixture
def tracker(running):
    """A session shared by tests that leave its provider as it was."""
    running.fresh()
    return running


@pytest.fixture
def web(tmp_path):
    port, log = tmp_path / "port", tmp_path / "http.log"
    environ = {**os.environ, "FIXTURE_LOG": str(log)}
    server = subprocess.Popen([sys.executable, str(SERVER), "--tools", "1", "--http", str(port)], env=environ)
    assert until(port.exists)
    yield f"http://127.0.0.1:{port.read_text()}/mcp/", log, server
    server.kill()
    server.wait()
