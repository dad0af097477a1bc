"""What doctor says of the endpoint: as each protocol lists its models, and what would have to be started for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.cli.doctor import examine
from spear.cli.tool_memory import ToolMemory
from spear.models.toolless import ToolSupport
from tests.cli.test_settings import World
from tests.scripted_model import ModelServer


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def endpoint(world, *words, **variables):
    loaded = world.load(*words, **variables)
    return next(found for found in examine(loaded, {**world.environ, **variables}) if found.name == "endpoint")


def test_both_protocols_list_their_models(world):
    with ModelServer(context_window=9000) as server:
        found = endpoint(world, "--api-base", server.base_url)
        assert (found.status, found.detail) == ("ok", f"{server.base_url}, model scripted, window 9000")
        address = server.base_url.removesuffix("/v1")
        found = endpoint(world, "--provider", "anthropic", "--api-base", address)
        assert (found.status, found.detail) == ("ok", f"{address}, model scripted, window 9000")
        assert server.paths == ["/v1/models"] * 2


def test_a_server_that_is_known_to_ignore_tools_is_named_so(world):
    with ModelServer() as server:
        state = world.home / ".local/state/spear"
        state.mkdir(parents=True)
        ToolMemory(state / "tool-support.json", server.base_url).remember("scripted", ToolSupport.IGNORED)
        assert "it ignores tools" in endpoint(world, "--api-base", server.base_url).detail


def test_nothing_is_started_to_look_at_it(world, tmp_path):
    world.user("[backends.far]\nurl = 'http://h/v1'\nssh = 'ann@gate'\n")
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    found = endpoint(world, "--backend", "far", PATH=str(tmp_path))
    assert (found.status, found.detail) == (
        "ok",
        "http://h/v1 through ssh ann@gate: not asked, for that would open the tunnel",
    )
    assert endpoint(world, "--backend", "far", PATH="/nowhere").fix == "sudo apt-get install openssh-client"
    found = endpoint(world, "--gguf", "none.gguf")
    assert (found.status, "no such file" in found.detail) == ("warning", True)
    assert not (tmp_path / "started").exists()
