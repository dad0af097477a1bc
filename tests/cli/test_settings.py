"""Settings: precedence, origins, errors that name the place, trust, and backends that keep their keys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.cli.arguments import parse
from spear.cli.options import settings_options
from spear.cli.settings import load
from spear.cli.settings_backend import remember_backend
from spear.cli.settings_layers import LayerName
from spear.cli.settings_model import Settings
from spear.cli.web_access import search_lacks, web_access, web_lines
from spear.errors import ConfigurationError
from spear.events.names import Mode
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore


class World:
    """A home with a user file, a workspace with a project file, variables."""

    def __init__(self, tmp: Path) -> None:
        self.home = tmp / "home"
        self.workspace = tmp / "ws"
        self.user_file = self.home / ".config/spear/config.toml"
        self.project_file = self.workspace / ".spear/config.toml"
        self.user_file.parent.mkdir(parents=True)
        self.project_file.parent.mkdir(parents=True)
        self.environ = {"HOME": str(self.home), "LOGNAME": "ann"}

    def user(self, text):
        self.user_file.write_text(text)

    def project(self, text, trusted=False):
        self.project_file.write_text(text)
        if trusted:
            TrustStore(StateDirectory(self.home / ".local/state/spear").trusted).trust(self.project_file)

    def load(self, *words, **variables):
        return load(parse(list(words)), {**self.environ, **variables}, self.workspace)

    def fails(self, *words, **variables):
        with pytest.raises(ConfigurationError) as caught:
            self.load(*words, **variables)
        assert caught.value.exit_status == 2
        return str(caught.value)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_defaults_are_those_of_the_help_page(world):
    settings = world.load().settings
    defaults = {option.key: option.default for option in settings_options() if option.default}
    for key in ("provider", "api_base", "api_key_env", "ctx", "temp", "max_tokens", "max_tool_rounds", "max_commands"):
        assert str(getattr(settings, key)) == defaults[key]
    for key in ("response_max_tokens", "refusal_repeats", "validation", "validation_timeout", "index_max_files"):
        assert str(getattr(settings, key)) == defaults[key]
    assert settings.mode is Mode.SAFE
    assert settings.state_dir == world.home / ".local/state/spear"
    assert settings.projects_file == world.home / ".config/spear/projects.json"
    assert settings.capabilities_file == world.home / ".config/spear/capabilities.json"
    assert settings.knowledge_db == world.home / ".local/state/spear/knowledge.sqlite3"
    assert settings.operator == "ann"


def test_a_flag_beats_a_variable_beats_the_project_beats_the_user_beats_the_default(world):
    layers = [
        (LayerName.DEFAULT, 60),
        (LayerName.USER, 51),
        (LayerName.PROJECT, 42),
        (LayerName.ENVIRONMENT, 43),
        (LayerName.FLAG, 44),
    ]
    words, variables = [], {}
    for layer, value in layers:
        match layer:
            case LayerName.USER:
                world.user("# rounds\n\nmax_tool_rounds = 51\n")
            case LayerName.PROJECT:
                world.project("max_tool_rounds = 42\n")
            case LayerName.ENVIRONMENT:
                variables = {"SPEAR_MAX_TOOL_ROUNDS": "43"}
            case LayerName.FLAG:
                words = ["--max-tool-rounds", "44"]
        loaded = world.load(*words, **variables)
        assert loaded.settings.max_tool_rounds == value
        assert loaded.origins["max_tool_rounds"].layer is layer


def test_origins_name_flag_variable_and_line(world):
    world.user("ctx = 9000\n\n[network]\nallow = ['a.org']\n")
    origins = world.load("-y", SPEAR_TEMP="0.5").origins
    assert str(origins["mode"]) == "flag --auto"
    assert str(origins["temp"]) == "environment SPEAR_TEMP"
    assert str(origins["ctx"]) == f"user file {world.user_file} line 1"
    assert str(origins["network.allow"]) == f"user file {world.user_file} line 4"
    assert str(origins["limits.memory"]) == "default"


def test_every_variable_is_heard(world):
    samples = {"integer": "77", "number": "1.5", "boolean": "1", "list": "a, b", "file": "/f", "directory": "/d"}
    special = {"mode": "ask", "limits.memory": "4G", "training_capture": "0", "backend": "", "limits.open_files": "777",
               "web.search_url": "https://s.example/", "embedding.url": "https://e.example/v1"}  # fmt: skip
    for option in settings_options():
        value = special.get(option.key, option.choices[-1] if option.choices else samples.get(option.kind, "word"))
        if not option.variable or not value:
            continue
        loaded = world.load(**{option.variable: value})
        assert loaded.origins[option.key].layer is LayerName.ENVIRONMENT, option.variable
        assert not loaded.is_default(option.key)


def test_openai_base_url_is_honoured_below_ours(world):
    assert world.load(OPENAI_BASE_URL="http://o/v1").settings.api_base == "http://o/v1"
    both = world.load(OPENAI_BASE_URL="http://o/v1", SPEAR_API_BASE="http://s/v1")
    assert both.settings.api_base == "http://s/v1"


def test_tables_and_sizes_are_read(world):
    world.user("[limits]\nmemory = '512M'\ntasks = 99\nrequire = true\n[network]\nallow = ['a', 'b']\n")
    settings = world.load().settings
    assert settings.limits.memory == 512 << 20
    assert settings.limits.tasks == 99
    assert settings.limits.require
    assert settings.network.allow == ("a", "b")
    assert world.load(SPEAR_NETWORK_ALLOW="c,d").settings.network.allow == ("c", "d")


def test_a_search_endpoint_is_an_address_without_a_user_name(world):
    assert world.load(SPEAR_SEARCH_URL="http://127.0.0.1:8888").settings.web.search_url == "http://127.0.0.1:8888"
    for wrong in ("searx.example", "ftp://searx.example", "https://user:secret@searx.example/"):
        world.user(f"[web]\nsearch_url = '{wrong}'\n")
        assert "web.search_url" in (message := world.fails()) and "http or https" in message


def test_searching_takes_an_endpoint_and_where_it_needs_one_a_key(world):
    assert "no search endpoint" in search_lacks(world.load().settings, {})
    assert search_lacks(world.load(SPEAR_SEARCH_URL="http://127.0.0.1:8888").settings, {}) == ""
    world.user("[web]\nsearch_api = 'brave'\nsearch_key_env = 'MY_KEY'\n")
    settings = world.load().settings
    assert "MY_KEY is not set" in search_lacks(settings, {})
    assert search_lacks(settings, {"MY_KEY": "k"}) == ""
    access = web_access(settings, {"MY_KEY": "k"})
    assert access is not None and not isinstance(access.search, str) and access.search.endpoint.key == "k"
    assert web_access(world.load("--no-network").settings, {"MY_KEY": "k"}) is None


def test_the_web_tools_are_listed_or_why_they_are_not(world):
    settings = world.load(SPEAR_SEARCH_URL="http://127.0.0.1:8888").settings
    assert [line.partition(":")[0] for line in web_lines(settings, Mode.AUTO, {})] == [
        "spear-web search_internet", "spear-web fetch_url",
    ]  # fmt: skip
    assert "no search_internet: no search endpoint" in web_lines(world.load().settings, Mode.ASK, {})[-1]
    assert web_lines(settings, Mode.SAFE, {}) == ("no web tools: mode safe has no network",)
    assert web_lines(world.load("--no-network").settings, Mode.AUTO, {}) == ("no web tools: --no-network",)


def test_paths_start_where_they_are_written(world):
    world.user("state_dir = '~/elsewhere'\nprojects_file = 'p.json'\n")
    settings = world.load("--knowledge-db", "k.db").settings
    assert settings.state_dir == world.home / "elsewhere"
    assert settings.projects_file == world.user_file.parent / "p.json"
    assert settings.knowledge_db == world.workspace / "k.db"
    assert settings.trace_file == world.home / "elsewhere/audit/runtime-trace.jsonl"


def test_an_unknown_key_names_key_file_line_and_nearest(world):
    world.user("ctx = 1\nmaxx_tool_rounds = 3\n")
    message = world.fails()
    for part in ("maxx_tool_rounds", "config.toml", "line 2", "did you mean max_tool_rounds"):
        assert part in message
    world.user("[limits]\nmemry = 3\n")
    assert "limits.memry" in (message := world.fails())
    assert "limits.memory" in message
    world.user("[backends.local]\nurl = 'u'\nmodle = 'm'\n")
    assert "backends.local.modle" in (message := world.fails())
    assert "backends.local.model" in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle = 'x'\n", "did you mean model?"),
        ("memory = '4G'\n", "did you mean limits.memory?"),
        ("[limits]\nmemory_max = '4G'\n", "did you mean limits.memory?"),
        ("version = 9\n", "a newer spear-chat wrote"),
        ("[tomorrow]\nx = 1\n", "a newer spear-chat wrote"),
        ("[backends.a]\nurl = 'http://x/v1'\nfuture = 1\n", "a newer spear-chat wrote"),
        ("[limits]\nfuture = 1\n", "known: limits.cpu_quota, limits.memory"),
    ],
)
def test_a_key_is_compared_with_those_of_its_table_and_else_may_be_of_a_newer_version(world, text, said):
    world.user(text)
    assert said in world.fails()


def test_a_project_file_that_is_a_pipe_blocks_nobody(world):
    os.mkfifo(world.project_file)
    assert f"{world.project_file} is no regular file" in world.fails()


def test_an_unknown_key_of_a_project_file_is_an_error_too(world):
    world.project("max_round = 3\n")
    assert "max_round" in world.fails()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("max_tool_rounds = = 3\n", ["line 1", "column"]),
        ("ctx = 1\nctx = 2\n", ["line 2", "ctx is given twice"]),
        ("[limits]\n[limits]\n", ["line 2", "[limits] is given twice"]),
        ("backends = 3\n", ["line 1", "backends = 3", "should be a table"]),
        ("[backends]\nlocal = 'http://x'\n", ["backends.local", "should be a table"]),
        ('\npath = "F:\\d"\n', ["line 2", "single quotes"]),
        ("a = 'unclosed", ["line 1"]),
    ],
)
def test_broken_toml_names_file_and_line(world, text, parts):
    world.user(text)
    message = world.fails()
    for part in (str(world.user_file), *parts):
        assert part in message


def test_a_file_that_is_not_utf_8_is_an_error(world):
    world.user_file.write_bytes(b"model = '\xff'\n")
    assert "UTF-8" in world.fails()


def test_a_file_with_a_byte_order_mark_is_read(world):
    world.user_file.write_bytes(b"\xef\xbb\xbfctx = 77\n")
    assert world.load().settings.ctx == 77


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("max_tool_rounds = 'many'\n", ["max_tool_rounds", "'many'", "valid integer", "line 1"]),
        ("max_tool_rounds = '3'\n", ["max_tool_rounds", "valid integer"]),
        ("ctx = 0\n", ["ctx", "0", "greater than or equal to 1"]),
        ("mode = 'yolo'\n", ["mode", "'safe', 'ask' or 'auto'"]),
        ("validation = 'maybe'\n", ["'auto', 'declared' or 'off'"]),
        ("no_network = 1\n", ["no_network", "boolean"]),
        ("[limits]\nmemory = 'lots'\n", ["limits.memory", "512M", "line 2"]),
        ("network = 3\n", ["[network]"]),
        ("[backends.x]\nmodel = 'm'\n", ["backends.x.url is missing"]),
        ("[backends.x]\nurl = 'u'\nctx = 'big'\n", ["backends.x.ctx", "'big'", "integer"]),
        ("[backends.x]\nurl = 'u'\n[backends.x.price]\ninput = 1\n", ["backends.x.price.output is missing"]),
        ("[backends.x]\nurl = 'u'\n[backends.x.price]\ninptu = 1\n", ["backends.x.price.inptu", "price.input"]),
        ("[backends.x]\nurl = 'u'\nprice = {input = -1, output = 2}\n", ["backends.x.price.input", "-1"]),
        ("[backends.x]\nurl = 'u'\nprice = {input = nan, output = 2}\n", ["backends.x.price.input", "nan"]),
        ("[backends.x]\nurl = 'u'\nprice = {input = 1, output = 2, currency = '$'}\n", ["price.currency", "'$'"]),
        ("temp = 9\n", ["temp", "less than or equal to 2"]),
    ],
)
def test_wrong_values_name_key_value_place_and_what_is_accepted(world, text, parts):
    world.user(text)
    message = world.fails()
    assert "config.toml" in message
    for part in parts:
        assert part in message


def test_a_wrong_value_is_an_error_even_where_a_flag_goes_before_it(world):
    world.user("ctx = 'big'\n")
    assert "ctx" in world.fails("--ctx", "5")


def test_a_wrong_variable_is_named(world):
    message = world.fails(SPEAR_CTX="32k")
    assert "SPEAR_CTX" in message
    assert "32k" in message
    assert "integer" in message
    assert "SPEAR_NO_NETWORK" in world.fails(SPEAR_NO_NETWORK="maybe")
    assert world.load(SPEAR_CTX="").settings.ctx == 32768


def test_a_configuration_file_that_was_asked_for_must_exist(world):
    assert "nowhere.toml" in world.fails("--config", "nowhere.toml")
    assert "nowhere.toml" in world.fails(SPEAR_CONFIG="/nowhere.toml")
    (world.workspace / "mine.toml").write_text("ctx = 5\n")
    assert world.load("--config", "mine.toml").settings.ctx == 5


def test_xdg_directories_are_honoured(world, tmp_path):
    loaded = world.load(XDG_STATE_HOME=str(tmp_path / "xs"), XDG_CONFIG_HOME="relative/does/not/count")
    assert loaded.settings.state_dir == tmp_path / "xs/spear"
    assert loaded.settings.projects_file == world.home / ".config/spear/projects.json"


WIDENING = [
    "mode = 'auto'",
    "mode = 'ask'",
    "max_tool_rounds = 61",
    "no_network = false",
    "allow_absolute_paths = true",
    "api_base = 'http://evil/v1'",
    "api_key_env = 'AWS_SECRET_ACCESS_KEY'",
    "api_key_cmd = ['touch', 'PWNED']",
    "ssh = 'evil'",
    "provider = 'anthropic'",
    "model = 'x'",
    "backend = 'x'",
    "validation = 'off'",
    "state_dir = '/evil'",
    "projects_file = '/evil'",
    "capabilities_file = '/evil'",
    "operator = 'root'",
    "training_capture = true",
    "with_corpora = ['x']",
    "trace_file = '/evil'",
    "network.allow = ['evil']",
    "web.search_url = 'http://evil'",
    "web.search_api = 'brave'",
    "web.search_key_env = 'HOME'",
    "limits.memory = '900G'",
    "backends.local = {url = 'http://evil'}",
]


@pytest.mark.parametrize("line", WIDENING)
def test_an_untrusted_project_file_widens_nothing(world, line):
    world.project(line + "\n")
    loaded = world.load()
    plain = World.load
    world.project_file.write_text("")
    assert loaded.settings == plain(world).settings
    key = line.split(" =")[0].split(".local")[0]
    assert len(loaded.notices) == 1
    assert key in loaded.notices[0]
    assert "spear-chat trust" in loaded.notices[0]


@given(data=st.data())
def test_no_untrusted_line_survives_that_is_not_known_to_narrow(tmp_path_factory, data):
    """Whatever keys there are or will be: a change of anything else needs trust."""
    world = World(tmp_path_factory.mktemp("w"))
    key = data.draw(
        st.sampled_from([k for k in Settings.model_fields if isinstance(getattr(Settings(), k), str | tuple)])
    )
    if key in ("theme", "editing_mode"):
        return
    world.project(f"{key} = 'evil'\n" if isinstance(getattr(Settings(), key), str) else f"{key} = ['evil']\n")
    try:
        loaded = world.load()
    except ConfigurationError:
        return
    assert "evil" not in str(getattr(loaded.settings, key))


def test_an_untrusted_project_file_may_narrow(world):
    world.user("mode = 'auto'\nmax_commands = 50\n")
    world.project("mode = 'ask'\nno_network = true\nmax_commands = 10\nctx = 4096\n[limits]\nrequire = true\n")
    loaded = world.load()
    assert loaded.notices == ()
    assert loaded.settings.mode is Mode.ASK
    assert loaded.settings.no_network
    assert loaded.settings.max_commands == 10
    assert loaded.settings.limits.require


def test_a_trusted_project_file_counts_until_it_changes(world):
    world.project("mode = 'ask'\nmodel = 'm'\n", trusted=True)
    assert world.load().settings.mode is Mode.ASK
    world.project("mode = 'auto'\nmodel = 'm'\n")
    loaded = world.load()
    assert loaded.settings.mode is Mode.SAFE
    assert len(loaded.notices) == 2


def test_a_project_file_cannot_name_the_store_that_trusts_it(world, tmp_path):
    world.project(f"state_dir = '{tmp_path}/mine'\nmode = 'auto'\n")
    TrustStore(StateDirectory(tmp_path / "mine").trusted).trust(world.project_file)
    assert world.load().settings.mode is Mode.SAFE


BACKENDS = """
[backends.local]
url = 'http://local/v1'
model = 'small'
[backends.remote]
url = 'http://remote/v1'
model = 'big'
provider = 'anthropic'
api_key_env = 'REMOTE_KEY'
api_key_cmd = ['pass', 'show', 'remote']
ssh = 'ann@gate'
ctx = 200000
"""


def test_a_chosen_backend_brings_everything_of_its_own(world):
    world.user("api_base = 'http://file/v1'\nmodel = 'file'\n" + BACKENDS)
    settings = world.load("--remote").settings
    assert settings.backend == "remote"
    assert settings.api_base == "http://remote/v1"
    assert (settings.model, settings.provider, settings.api_key_env) == ("big", "anthropic", "REMOTE_KEY")
    assert (settings.api_key_cmd, settings.ssh, settings.ctx) == (("pass", "show", "remote"), "ann@gate", 200000)


def test_a_flag_beside_the_backend_goes_before_it(world):
    world.user(BACKENDS)
    loaded = world.load("--backend", "remote", "--model", "other")
    assert (loaded.settings.model, loaded.settings.api_base) == ("other", "http://remote/v1")
    assert str(loaded.origins["api_base"]) == "flag backend remote"


def test_the_key_of_a_backend_never_goes_to_another_endpoint(world):
    world.user("backend = 'remote'\n" + BACKENDS)
    settings = world.load("--api-base", "http://other/v1").settings
    assert settings.api_base == "http://other/v1"
    assert (settings.backend, settings.model, settings.api_key_env, settings.api_key_cmd) == (
        "",
        "",
        "OPENAI_API_KEY",
        (),
    )


def test_a_backend_flag_goes_before_an_endpoint_variable(world):
    world.user(BACKENDS)
    settings = world.load("--local", SPEAR_API_BASE="http://env/v1", SPEAR_MODEL_NAME="env").settings
    assert (settings.api_base, settings.model) == ("http://local/v1", "small")


def test_an_unknown_backend_names_the_known_ones(world):
    world.user(BACKENDS)
    assert "known: local, remote" in world.fails("--backend", "nowhere")
    world.user("")
    assert "none is configured" in world.fails("--local")


def test_the_backend_used_last_is_used_where_nothing_else_names_an_endpoint(world):
    world.user(BACKENDS)
    assert world.load().settings.api_base == "http://127.0.0.1:8080/v1"
    remember_backend(StateDirectory(world.home / ".local/state/spear"), "remote")
    loaded = world.load()
    assert loaded.settings.api_base == "http://remote/v1"
    assert loaded.origins["backend"].layer is LayerName.BACKEND
    assert world.load(SPEAR_API_BASE="http://env/v1").settings.model == ""
    world.user("")
    assert world.load().settings.backend == ""


def test_settings_cannot_be_changed(world):
    with pytest.raises(ValueError, match="frozen"):
        world.load().settings.mode = Mode.AUTO
