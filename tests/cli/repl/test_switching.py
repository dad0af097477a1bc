"""`/model` and `/clear` in the chat of `spear-chat` itself: another endpoint with its own key, and one that stays."""

from __future__ import annotations

import json

import pytest

from spear.cli.main import main
from tests.cli.ssh_world import StandInWorld


@pytest.fixture
def opened(workspace, state, tmp_path, terminal):
    """Opens `spear-chat` with a configuration file."""
    shown = []

    def start(config, *flags, path=terminal.PATH):
        (tmp_path / "config.toml").write_text(config)
        environment = {
            "PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "SPEAR_STATE_DIR": str(state), "SPEAR_CONFIG": str(tmp_path / "config.toml"),
            "OPENAI_API_KEY": "near-key-123", "FAR_KEY": "far-key-456",
        }  # fmt: skip
        shown.append(terminal.Terminal(lambda: main(list(flags)), workspace, environment))
        shown[-1].wait(r"session +20")
        return shown[-1]

    yield start
    for each in shown:
        each.kill()


def authorized(server):
    return {headers.get("Authorization", headers.get("authorization")) for headers in server.headers}


def test_another_backend_answers_with_its_own_key_and_the_recording_goes_on(opened, scripted, tmp_path, state):
    tape = tmp_path / "tape"
    with scripted.ModelServer([scripted.text("I am near.")]) as near:
        with scripted.ModelServer([scripted.text("I am far."), scripted.text("I am other.")], model="big") as far:
            r = opened(
                f"[backends.local]\nurl = '{near.base_url}'\nmodel = 'small'\n"
                f"[backends.remote]\nurl = '{far.base_url}'\napi_key_env = 'FAR_KEY'\n",
                "--local", "--record", str(tape),
            )  # fmt: skip
            r.line("Hello?")
            r.wait(r"I am near\.")
            r.line("/model remote")
            r.wait(r"at remote \(http")
            r.line("Hello again?")
            r.wait(r"I am far\.")
            r.line("/model other")
            r.wait(r"other at remote")
            r.line("And now?")
            r.wait(r"I am other\.")
            r.line("/quit")
            assert r.end() == 0
            assert [body["model"] for body in (*near.requests, *far.requests)] == ["small", "big", "other"]
            assert authorized(near) == {"Bearer near-key-123"}
            assert authorized(far) == {"Bearer far-key-456"}
    assert [json.loads(line)["text"] for line in tape.read_text().splitlines()] == [
        "I am near.", "I am far.", "I am other.",
    ]  # fmt: skip
    assert (state / "last-backend").read_text() == "remote\n"


def test_a_tunnel_outlives_a_conversation_and_ends_with_a_switch_or_the_chat(opened, scripted, tmp_path, terminal):
    with StandInWorld(tmp_path / "far") as far, scripted.ModelServer([scripted.text("One.")]) as server:
        config = f"[backends.near]\nurl = '{server.base_url}'\n" + "".join(
            f"[backends.far{n}]\nurl = '{server.base_url}'\nssh = '{far.destination}'\n" for n in (1, 2)
        )
        r = opened(config, "--backend", "far1", path=f"{far.bin}:{terminal.PATH}")
        r.line("Hello?")
        r.wait(r"One\.")
        first = far.tunnels
        r.line("/clear")
        r.wait(r"is stored")
        r.mark()
        r.line("Still there?")
        r.wait(r"Script ended\.")
        assert (first, far.tunnels, far.opened) == (1, 1, 1)
        r.line("/model near")
        r.until(lambda: far.tunnels == 0)
        r.line("/model far2")
        r.until(lambda: far.tunnels == 1)
        r.line("/quit")
        assert r.end() == 0
        assert far.tunnels == 0


def test_a_backend_that_cannot_be_reached_says_so_after_a_switch(opened, scripted, tmp_path):
    with scripted.ModelServer() as server:
        config = f"[backends.near]\nurl = '{server.base_url}'\n[backends.file]\ngguf = 'none.gguf'\n"
        r = opened(config, "--backend", "near")
        r.line("/model file")
        r.wait(r"cannot\s+read\s+.*none\.gguf:\s+No\s+such\s+file\s+or\s+directory\s+—\s+name\s+a\s+GGUF\s+file")
        r.mark()
        r.line("/model near")
        r.wait(r"at near \(http")
        r.line("Hello?")
        r.wait(r"Script ended\.")
        r.line("/quit")
        assert r.end() == 0
