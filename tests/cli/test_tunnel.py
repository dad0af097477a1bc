"""A backend behind an ssh tunnel: through the program, with a real sshd where there is one (spec 1.3, 8.4)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spear.agent.messages import FailureKind, Message, ModelFailure, ModelRequest, Role
from spear.cli.tunnel import Tunnel
from spear.models.backend import BackendSettings
from spear.models.retry import RetryPolicy
from spear.models.selection import open_backend
from tests.cli.ssh_world import SSHD, SshWorld, StandInWorld
from tests.scripted_model import ModelServer, calls, stall, text
from tests.turns.conftest import PROGRAM, Tree

HELLO = ModelRequest((Message(Role.USER, "hi"),))
WORLDS = [StandInWorld, *([SshWorld] if SSHD else [])]
REAL_WORLDS = WORLDS[1:]


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(params=WORLDS, ids=lambda world: world.__name__)
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SshWorld | StandInWorld]:
    with request.param(tmp_path / "far") as world:
        yield world


class Behind(Tree):
    """A tree whose configuration names a backend behind the far end."""

    def __init__(self, place: Path, destination: str, url: str, program: Path | None) -> None:
        super().__init__(place)
        config = self.home / ".config/spear/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f"[backends.far]\nurl = '{url}'\nssh = '{destination}'\n")
        self.env["PATH"] = f"{program}{os.pathsep}{self.env['PATH']}" if program else str(Path(sys.executable).parent)
        del self.env["SPEAR_MODEL_NAME"]


def url_of(server: ModelServer) -> str:
    return server.base_url.replace("127.0.0.1", "localhost")


def test_a_changing_turn_runs_through_the_tunnel_which_is_closed_behind_it(far, tmp_path):
    script = [
        calls(("write_file", {"path": "a.py", "content": "x = 1\n"})),
        calls(("terminal", {"command": "python3 -m py_compile a.py"})),
        text("Written."),
    ]
    with ModelServer(script) as server:
        tree = Behind(tmp_path, far.destination, url_of(server), far.bin)
        done = tree.run("-p", "Create a.py that sets x to 1.", "--auto", "--backend", "far")
        assert done.returncode in (0, 3), done.stderr
        assert tree.read("a.py") == "x = 1\n"
        assert {headers["host"] for headers in map(_lowered, server.headers)} == {url_of(server).split("/")[2]}
        until(lambda: far.tunnels == 0)
        assert tree.run("-p", "Hello?").stdout.strip() == "Script ended."  # the backend used last
    until(lambda: far.tunnels == 0)


def test_a_program_that_is_killed_leaves_no_tunnel(far, tmp_path):
    with ModelServer([stall(text("long"))]) as server:
        tree = Behind(tmp_path, far.destination, url_of(server), far.bin)
        command = [PROGRAM, "-p", "Hello?", "--backend", "far"]
        with subprocess.Popen(
            command, cwd=tree.root, env=tree.env, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        ) as program:
            assert server.arrived.wait(30)
            assert far.tunnels > 0
            program.send_signal(signal.SIGKILL)
        until(lambda: far.tunnels == 0)


def test_a_tunnel_that_broke_is_opened_again(far, tmp_path):
    with ModelServer([text("one"), text("two")]) as server:
        environment = {**os.environ, "PATH": f"{far.bin}{os.pathsep}{os.environ['PATH']}"}
        url = url_of(server)
        settings = BackendSettings(url, model="m", retry=RetryPolicy(scale=0.001))
        backend = open_backend(settings, companion=Tunnel(far.destination, url, environment))
        assert backend.complete(HELLO).text == "one"
        far.cut()
        until(lambda: far.tunnels == 0)
        assert backend.complete(HELLO).text == "two"
        backend.close()
        until(lambda: far.tunnels == 0)
        with pytest.raises(ModelFailure) as caught:  # closed for good: a late thread opens no tunnel
            backend.complete(HELLO)
        assert caught.value.kind is FailureKind.CANCELLED


def test_without_ssh_the_turn_says_what_to_install(tmp_path):
    tree = Behind(tmp_path, "ann@gate", "http://far:8000/v1", None)
    done = tree.run("-p", "Hello?", "--backend", "far", "--output", "json")
    assert done.returncode == 75
    assert '"endpoint_error"' in done.stdout
    assert "the ssh tunnel to ann@gate cannot be opened: there is no ssh program" in done.stderr
    assert "apt-get install openssh-client" in done.stderr
    assert "no endpoint is configured" not in done.stderr


def ssh_that(place: Path, script: str) -> Path:
    program = place / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program.parent


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("ann@gate: Permission denied (publickey).", "ssh-copy-id ann@gate"),
        ("Host key verification failed.", "accept its host key once: ssh ann@gate"),
        ("ssh: Could not resolve hostname gate", "correct ssh ="),
        ("kex_exchange_identification: closed", "ssh -v ann@gate"),
    ],
)
def test_a_tunnel_that_fails_says_why_and_what_to_do(tmp_path, said, remedy):
    program = ssh_that(tmp_path, f"echo '{said}' >&2; exit 255")
    tree = Behind(tmp_path, "ann@gate", "http://far:8000/v1", program)
    done = tree.run("-p", "Hello?", "--backend", "far")
    assert done.returncode == 75
    assert f"the ssh tunnel to ann@gate ended with status 255: {said}" in done.stderr
    assert remedy in done.stderr


@pytest.mark.parametrize("world", REAL_WORLDS)
def test_a_real_sshd_that_lets_nobody_in_is_told_from_one_nobody_knows(tmp_path, world):
    with world(tmp_path / "far") as far:
        environment = {**os.environ, "PATH": f"{far.bin}{os.pathsep}{os.environ['PATH']}"}
        companion = Tunnel(far.destination, "http://localhost:1/v1", environment)
        for configuration, remedy in (({"identity": "host"}, "ssh-copy-id"), ({"known": "none"}, "host key once")):
            far.configure(**configuration)
            backend = open_backend(BackendSettings("http://localhost:1/v1", model="m"), companion=companion)
            with pytest.raises(ModelFailure) as caught:
                backend.complete(HELLO)
            assert remedy in caught.value.hint
            backend.close()


@pytest.mark.parametrize("world", REAL_WORLDS)
def test_an_endpoint_that_is_not_there_at_the_far_end_is_told_by_ssh(tmp_path, world):
    with world(tmp_path / "far") as far:
        environment = {**os.environ, "PATH": f"{far.bin}{os.pathsep}{os.environ['PATH']}"}
        settings = BackendSettings("http://localhost:1/v1", model="m", retry=RetryPolicy(scale=0.001))
        backend = open_backend(settings, companion=Tunnel(far.destination, settings.api_base, environment))
        with pytest.raises(ModelFailure, match="Connection refused"):
            backend.complete(HELLO)
        backend.close()


def test_waiting_for_a_tunnel_ends_with_the_turn(tmp_path):
    started = tmp_path / "started"
    program = ssh_that(tmp_path, f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 600")
    tree = Behind(tmp_path, "ann@gate", "http://far:8000/v1", program)
    command = [PROGRAM, "-p", "Hello?", "--backend", "far"]
    with subprocess.Popen(
        command, cwd=tree.root, env=tree.env, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    ) as running:
        until(started.exists)
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 130
    pid = int(started.read_text())
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_the_far_end_is_named_as_ssh_takes_it():
    def forward(address: str) -> str:
        words = Tunnel("ann@gate", address, {}).command()
        assert words[:2] == ["ssh", "-N"]
        assert words[-2:] == ["--", "ann@gate"]
        return words[words.index("-L") + 1]

    assert forward("http://far:8000/v1") == "127.0.0.1:0:far:8000"
    assert forward("https://far/v1").endswith(":far:443")
    assert forward("http://far/v1").endswith(":far:80")
    assert forward("http://[::1]:9/v1").endswith(":[::1]:9")


def _lowered(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
