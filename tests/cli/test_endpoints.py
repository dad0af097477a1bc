"""Which endpoint a turn reaches, with which key: providers, named backends, what is remembered (spec 1.3, 8.4)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from spear.cli.repl.switching import with_model
from spear.cli.tool_memory import ToolMemory
from spear.models.toolless import ToolSupport
from tests.cli.test_settings import World
from tests.models.test_anthropic_backend import block, message
from tests.scripted_model import ModelServer, calls, status, text
from tests.turns.conftest import Tree

TEST = "import unittest, app\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(app.f(), 2)\n"
FIX = ("patch", {"path": "app.py", "old_string": "return 1", "new_string": "return 2"})
CHECK = ("terminal", {"command": "python3 -m unittest -q"})


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path)
    made.write("app.py", "def f():\n    return 1\n")
    made.write("test_app.py", TEST)
    made.git("init", "-q")
    made.git("add", "-A")
    made.git("commit", "-qm", "s")
    return made


def configured(tree: Tree, text: str) -> None:
    file = tree.home / ".config/spear/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def headers(server: ModelServer, number: int = -1) -> dict[str, str]:
    return {name.lower(): value for name, value in server.headers[number].items()}


# --- Anthropic ----------------------------------------------------------------------------------------------------------


def said(words: str) -> list[dict[str, object]]:
    return block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": words})


def used(number: int, name: str, arguments: dict[str, object]) -> list[dict[str, object]]:
    start = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
    return block(0, start, {"type": "input_json_delta", "partial_json": json.dumps(arguments)})


def test_a_whole_coding_turn_through_anthropic_is_verified(tree):
    script = [
        message(used(1, *FIX), stop="tool_use"),
        message(used(2, *CHECK), stop="tool_use"),
        message(said("f() returns 2. The tests pass.")),
    ]
    with ModelServer(script) as server:
        done = tree.run(
            "-p", "Fix f() in app.py and run the tests.", "--auto", "--output", "json", "--provider", "anthropic",
            "--api-base", server.base_url, "--model", "claude", env={"ANTHROPIC_API_KEY": "sk-ant-of-anthropic"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert (result["verdict"], result["answer"]) == ("VERIFIED", "f() returns 2. The tests pass.")
        assert set(server.paths) == {"/v1/messages", "/v1/models"}  # the second for the window
        assert all("sk-ant-of-anthropic" in str(each) for each in server.headers)
        assert "test-key" not in str(server.headers)
        assert result["usage"]["input_tokens"] == 150
        prefixes = [body["messages"] for body in server.requests]
        assert len(server.requests[0]["tools"]) == 6
    assert [len(messages) for messages in prefixes] == [1, 3, 5]
    assert "return 2" in tree.read("app.py")


def test_anthropic_goes_without_saying_where_and_by_which_key(world):
    settings = world.load("--provider", "anthropic").settings
    assert (settings.api_base, settings.api_key_env) == ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
    assert not world.load("--provider", "anthropic").is_default("api_base")
    ours = world.load("--provider", "anthropic", "--api-base", "http://h", "--api-key-env", "MINE").settings
    assert (ours.api_base, ours.api_key_env) == ("http://h", "MINE")
    assert world.load().settings.api_key_env == "OPENAI_API_KEY"


def test_the_address_variable_of_one_protocol_is_not_heard_by_the_other(world):
    both = {"OPENAI_BASE_URL": "http://o/v1", "ANTHROPIC_BASE_URL": "http://a"}
    assert world.load(**both).settings.api_base == "http://o/v1"
    assert world.load("--provider", "anthropic", **both).settings.api_base == "http://a"
    alone = world.load("--provider", "anthropic", OPENAI_BASE_URL="http://o/v1").settings
    assert alone.api_base == "https://api.anthropic.com"


def test_a_named_backend_of_anthropic_needs_no_url_and_takes_its_own_key(world):
    world.user("api_key_env = 'MINE'\n[backends.claude]\nprovider = 'anthropic'\nmodel = 'c'\n")
    settings = world.load("--backend", "claude").settings
    assert (settings.api_base, settings.api_key_env) == ("https://api.anthropic.com", "ANTHROPIC_API_KEY")


# --- named backends -----------------------------------------------------------------------------------------------------


def test_the_backend_used_last_is_the_one_a_later_run_uses(tree):
    with ModelServer([text("near")]) as near, ModelServer([text("far"), text("far again")]) as far:
        configured(
            tree,
            f"[backends.local]\nurl = '{near.base_url}'\n"
            f"[backends.remote]\nurl = '{far.base_url}'\napi_key_env = 'FAR_KEY'\n",
        )
        keys = {"FAR_KEY": "key-of-the-far-one"}
        assert tree.run("-p", "Hello?", "--remote", env=keys).stdout.strip() == "far"
        assert tree.run("-p", "Hello?", env=keys).stdout.strip() == "far again"
        assert headers(far)["authorization"] == "Bearer key-of-the-far-one"
        assert tree.run("-p", "Hello?", "--local", env=keys).stdout.strip() == "near"
        assert tree.run("-p", "Hello?", env=keys).stdout.strip() == "Script ended."
        assert len(near.requests) == 2
        assert "key-of-the-far-one" not in str(near.headers)


def test_what_names_another_endpoint_does_without_the_backend_used_last(tree):
    with ModelServer([text("near")]) as near, ModelServer([text("other")]) as other:
        configured(tree, f"[backends.local]\nurl = '{near.base_url}'\nmodel = 'small'\n")
        del tree.env["SPEAR_MODEL_NAME"]
        assert tree.run("-p", "Hello?", "--local").stdout.strip() == "near"
        assert tree.run("-p", "Hello?", "--api-base", other.base_url).stdout.strip() == "other"
        assert other.requests[-1]["model"] == "scripted"
        assert tree.run("-p", "Hello?").stdout.strip() == "Script ended."
        assert near.requests[-1]["model"] == "small"


def test_a_provider_that_is_named_does_without_the_backend_used_last(world):
    world.user("[backends.local]\nurl = 'http://local/v1'\n")
    state = world.home / ".local/state/spear"
    state.mkdir(parents=True)
    (state / "last-backend").write_text("local\n", encoding="utf-8")
    assert world.load().settings.backend == "local"
    settings = world.load("--provider", "anthropic").settings
    assert (settings.backend, settings.api_base) == ("", "https://api.anthropic.com")
    assert world.load("--provider", "openai-compatible").settings.backend == "local"


def test_a_backend_is_reached_in_its_own_way(world):
    world.user("ssh = 'ann@gate'\n[backends.near]\nurl = 'http://near/v1'\n[backends.file]\ngguf = 'm.gguf'\n")
    assert world.load().settings.ssh == "ann@gate"
    assert world.load("--backend", "near").settings.ssh == ""
    assert world.load("--backend", "file").settings.ssh == ""
    world.user("gguf = 'm.gguf'\n[backends.near]\nurl = 'http://near/v1'\n")
    near = world.load("--backend", "near").settings
    assert (near.gguf, near.api_base) == (None, "http://near/v1")


def test_a_recording_that_is_played_back_uses_no_backend(tree):
    with ModelServer([text("told")]) as server:
        configured(tree, f"[backends.local]\nurl = '{server.base_url}'\n")
        tree.run("-p", "Hello?", "--record", "tape", "--api-base", server.base_url)
        assert tree.run("-p", "Hello?", "--local", "--replay", "tape").stdout.strip() == "told"
        assert not (tree.state / "last-backend").exists()
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("[backends.x]\nurl = 'http://h/v1'\ngguf = 'm.gguf'\n", ["backends.x", "either a gguf file or an endpoint"]),
        ("[backends.x]\ngguf = 'm.gguf'\nssh = 'a@b'\n", ["backends.x", "either a gguf file or an endpoint"]),
        ("[backends.x]\nurl = 'http://h/v1'\nssh = '-oProxyCommand=x'\n", ["backends.x.ssh", "user@host"]),
        ("ssh = 'a b'\n", ["ssh", "user@host"]),
        ("api_base = 'http://h/v1'\ngguf = 'm.gguf'\n", ["api_base and gguf both name the endpoint", "line 2"]),
    ],
)
def test_an_endpoint_named_twice_or_a_way_that_is_none_is_an_error(world, config, words):
    world.user(config)
    said = world.fails()
    assert all(word in said for word in words), said


def test_a_stronger_endpoint_takes_nothing_of_a_weaker_one(world):
    world.user("gguf = 'm.gguf'\n")
    assert world.load().settings.gguf == world.user_file.parent / "m.gguf"
    assert world.load("--api-base", "http://h/v1").settings.gguf is None
    world.user("api_base = 'http://far/v1'\nssh = 'ann@gate'\n")
    assert world.load().settings.ssh == "ann@gate"
    assert world.load("--api-base", "http://h/v1").settings.ssh == ""
    local = world.load("--gguf", "n.gguf")
    assert (local.settings.gguf, local.settings.ssh) == (world.workspace / "n.gguf", "")
    assert not local.is_default("api_base")


# --- another model in a running chat ------------------------------------------------------------------------------------

BACKENDS = """
[backends.local]
url = 'http://local/v1'
model = 'small'
ctx = 9000
[backends.remote]
url = 'http://remote/v1'
api_key_env = 'REMOTE_KEY'
api_key_cmd = ['pass', 'remote']
ssh = 'ann@gate'
[backends.file]
gguf = '~/m.gguf'
"""


def test_switching_brings_everything_of_a_backend_and_nothing_of_the_one_before(world):
    world.user(BACKENDS)
    began = world.load("--backend", "remote", "--temp", "0.5")
    local = with_model(began, "local")
    assert local.settings == world.load("--backend", "local", "--temp", "0.5").settings
    assert not local.is_default("ctx")
    assert (local.settings.api_key_env, local.settings.api_key_cmd, local.settings.ssh) == ("OPENAI_API_KEY", (), "")
    file = with_model(local, "file")
    assert file.settings == world.load("--backend", "file", "--temp", "0.5").settings
    assert file.settings.gguf == world.home / "m.gguf"
    assert file.is_default("ctx")
    assert with_model(file, "remote").settings == began.settings


def test_switching_leaves_what_the_command_line_said_of_the_first_endpoint(world):
    world.user(BACKENDS)
    began = world.load("--api-base", "http://h/v1", "--api-key-env", "SECRET", "--model", "big", "--ctx", "5000")
    local = with_model(began, "remote").settings
    assert (local.api_base, local.api_key_env, local.model, local.ctx) == ("http://remote/v1", "REMOTE_KEY", "", 32768)


def test_a_name_that_is_no_backend_is_a_model_of_the_same_endpoint(world):
    world.user(BACKENDS)
    began = world.load("--backend", "remote")
    other = with_model(began, "other")
    assert other.settings == began.settings.model_copy(update={"model": "other"})
    assert str(other.origins["model"]) == "chat /model"


# --- what a server does with tools --------------------------------------------------------------------------------------


def ignoring(body):
    """A server that answers tools with prose, and holds to a schema."""
    return text('{"answer": "It returns 1."}' if body.get("response_format") else "I'll read app.py first.")


def test_a_server_that_ignores_tools_is_told_once_and_asked_the_short_way_from_then_on(tree):
    with ModelServer([ignoring] * 9) as server:
        first = tree.run("-p", "What does f() in app.py return?", "--api-base", server.base_url)
        asked = len(server.requests)
        assert "scripted at " in first.stderr
        assert "ignores tools" in first.stderr
        second = tree.run("-p", "What does f() in app.py return?", "--api-base", server.base_url)
        assert "ignores tools" not in second.stderr
        assert all("tools" not in body for body in server.requests[asked:])
        assert not any(body.get("tool_choice") for body in server.requests[asked:])
        remembered = json.loads((tree.state / "tool-support.json").read_text(encoding="utf-8"))
        assert [row["support"] for row in remembered.values()] == ["ignored"]
        another = tree.run("-p", "What does f() return?", "--api-base", server.base_url, "--model", "another")
        assert "ignores tools" in another.stderr  # each model is found out for itself


def test_what_is_remembered_of_tools_is_asked_again_after_a_week(tmp_path):
    now = [time.time()]
    memory = ToolMemory(tmp_path / "memory.json", "http://h/v1", lambda: now[0])
    other = ToolMemory(tmp_path / "memory.json", "http://other/v1")
    memory.remember("m", ToolSupport.IGNORED)
    other.remember("m", ToolSupport.NATIVE)
    assert (memory.recall("m"), other.recall("m")) == (ToolSupport.IGNORED, ToolSupport.NATIVE)
    assert memory.recall("n") is ToolSupport.UNKNOWN
    now[0] += 8 * 86_400
    assert memory.recall("m") is ToolSupport.UNKNOWN


@pytest.mark.parametrize("content", ["", "[]", "{", '{"http://h/v1 m": 1}', '{"http://h/v1 m": {"support": "x"}}'])
def test_a_memory_that_cannot_be_read_is_empty(tmp_path, content):
    file = tmp_path / "memory.json"
    file.write_text(content, encoding="utf-8")
    memory = ToolMemory(file, "http://h/v1")
    assert memory.recall("m") is ToolSupport.UNKNOWN
    memory.remember("m", ToolSupport.NATIVE)
    assert memory.recall("m") is ToolSupport.NATIVE


def test_a_server_that_takes_no_tools_any_more_is_served_without_them_all_the_same(tree):
    def refusing(body):
        refusal = status(400, body={"error": {"message": "tiny does not support tools"}})
        return refusal if "tools" in body else ignoring(body)

    request = "What does f() in app.py return?"
    with ModelServer([calls(("read_file", {"path": "app.py"})), text("It returns 1."), *[refusing] * 3]) as server:
        tree.run("-p", request, "--api-base", server.base_url)
        assert "native" in (tree.state / "tool-support.json").read_text(encoding="utf-8")
        again = tree.run("-p", request, "--api-base", server.base_url)
    assert again.stdout.strip() == "It returns 1."
    assert "ignores tools" in again.stderr
