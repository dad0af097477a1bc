"""What can be set, as one frozen object: field names are the keys of the configuration file (spec 1.3)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from spear.cli.keystrokes import DEFAULTS, canonical
from spear.events.names import Mode
from spear.policy.hook import Hook
from spear.policy.permission import Permission, unsound

DEFAULT_API_BASE = "http://127.0.0.1:8080/v1"
ANTHROPIC_API_BASE = "https://api.anthropic.com"

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _size(value: object) -> object:
    """Bytes from `2G`, `512 MiB`, `1000000`."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)(?:i?b)?", value.strip().lower())
    if not match:
        raise ValueError("Input should be a size such as 512M or 4G")
    return int(match[1]) * _UNITS[match[2]]


def _words(value: object) -> object:
    """A list from `a,b` as variables write it."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


def _command(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _destination(value: str) -> str:
    """What ssh takes as one word, and never as an option."""
    if value and not re.fullmatch(r"[^\s-]\S*", value):
        raise ValueError("Input should be a destination of ssh such as user@host")
    return value


def _web_address(value: str) -> str:
    if value and not re.fullmatch(r"https?://[^\s/@]+(/\S*)?", value):
        raise ValueError("Input should be an http or https address without a user name")
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_words), Field(strict=False)]
Location = Annotated[Path, Field(strict=False)]
Positive = Annotated[int, Field(ge=1)]
Ceiling = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(_Table):
    """`[backends.NAME.price]`: what a million tokens cost. `cached` are input tokens read from a cache, `written` those
    written to one; where the server counts some and their price is not given, the cost is not known."""

    input: NotNegative
    output: NotNegative
    cached: NotNegative | None = None
    written: NotNegative | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"


class Backend(_Table):
    """`[backends.NAME]`: an endpoint with a name. Empty strings fall back to the settings of the same name.

    `url` may be left out for Anthropic's own address, and goes without saying for a file served here (`gguf`).
    """

    url: str
    provider: Literal["openai-compatible", "anthropic"] = "openai-compatible"
    model: str = ""
    api_key_env: str = ""
    api_key_cmd: Annotated[tuple[str, ...], BeforeValidator(_command), Field(strict=False)] = ()
    """A command, as a list of words, that prints the key."""
    ssh: Annotated[str, AfterValidator(_destination)] = ""
    """`user@host` of a tunnel to open first; `url` then names what the far end calls the endpoint."""
    gguf: Location | None = None
    """A model file to serve here, in place of a `url`."""
    ctx: Positive | None = None
    images: bool | None = None
    """Whether its model takes images; Anthropic's do without saying so."""
    price: Price | None = None
    """What its `model` costs; it is shown while a turn runs and at its end."""

    @model_validator(mode="before")
    @classmethod
    def _address(cls, given: object) -> object:
        if isinstance(given, dict) and "url" not in given:
            if "gguf" in given:
                return {**given, "url": DEFAULT_API_BASE}
            if given.get("provider") == "anthropic":
                return {**given, "url": ANTHROPIC_API_BASE}
        return given

    @model_validator(mode="after")
    def _one_way(self) -> Backend:
        if self.gguf and (self.ssh or self.url != DEFAULT_API_BASE or self.provider == "anthropic"):
            raise ValueError("should name either a gguf file or an endpoint, not both")
        return self


class Network(_Table):
    """`[network]`: hosts commands may reach when they have the network; empty means any."""

    allow: Names = ()


class Limits(_Table):
    """`[limits]`: bounds of a command's tree of processes; None is the machine's default (spec 2.7)."""

    require: bool = False
    memory: Annotated[Positive | None, BeforeValidator(_size)] = None
    tasks: Positive | None = None
    cpu_quota: Annotated[float | None, Field(gt=0)] = None
    open_files: Annotated[int, Field(ge=256)] = 4096
    """Bubblewrap and the shell need some of their own."""


class Web(_Table):
    """`[web]`: the search endpoint of `search_internet`; without one the tool is not offered (spec 8.5)."""

    search_url: Annotated[str, AfterValidator(_web_address)] = ""
    search_api: Literal["searxng", "brave"] = "searxng"
    search_key_env: str = "BRAVE_API_KEY"
    """The variable that holds the endpoint's key; SearXNG needs none."""


class Embedding(_Table):
    """`[embedding]`: a server of the `/embeddings` protocol that stands in for the bundled model (spec 4.5)."""

    url: Annotated[str, AfterValidator(_web_address)] = ""
    """Its base, as `http://host:port/v1`: the text of the corpora is sent there."""
    model: str = ""
    key_env: str = ""
    """The variable that holds its key; empty where it needs none."""


def _keys(value: object) -> object:
    """One key, or a list of them; each in its one spelling."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError("Input should be a key such as ctrl-s, or a list of keys")
    return tuple(dict.fromkeys(map(canonical, texts)))


KeyNames = Annotated[tuple[str, ...], BeforeValidator(_keys), Field(strict=False)]


class Keys(_Table):
    """`[keys]`: what the keys of the chat do; an action without a key is `[]` (spec 8.2)."""

    newline: KeyNames = DEFAULTS["newline"]
    stop: KeyNames = DEFAULTS["stop"]
    rewind: KeyNames = DEFAULTS["rewind"]
    exit: KeyNames = DEFAULTS["exit"]
    steer: KeyNames = DEFAULTS["steer"]
    mode: KeyNames = DEFAULTS["mode"]
    expand: KeyNames = DEFAULTS["expand"]
    editor: KeyNames = DEFAULTS["editor"]

    def bound(self) -> dict[str, tuple[str, ...]]:
        """The keys of each action."""
        return {action: getattr(self, action) for action in DEFAULTS}


def _sound(permission: Permission) -> Permission:
    if wrong := unsound(permission):
        raise ValueError(f"Input {wrong}")
    return permission


class Settings(_Table):
    """Everything that can be set, resolved. Paths are absolute. Empty strings mean "not set" where a default is found
    at run time (`model`, `corpus`).

    `ctx` is what was configured: whether the endpoint's own figure goes before it is told by its origin. `backend` is
    the name of the chosen backend, "" when none is in effect; its values are already in `api_base`, `model`,
    `provider`, `api_key_env`, `api_key_cmd`, `ssh`, `gguf` and `ctx`. A `gguf` is served here: `api_base` is not asked.
    """

    mode: Annotated[Mode, Field(strict=False)] = Mode.SAFE
    no_network: bool = False
    single_root: bool = False
    allow_absolute_paths: bool = False
    provider: Literal["openai-compatible", "anthropic"] = "openai-compatible"
    api_base: str = DEFAULT_API_BASE
    api_key_env: str = "OPENAI_API_KEY"
    api_key_cmd: Annotated[tuple[str, ...], BeforeValidator(_command), Field(strict=False)] = ()
    ssh: Annotated[str, AfterValidator(_destination)] = ""
    gguf: Location | None = None
    model: str = ""
    backend: str = ""
    ctx: Positive = 32768
    images: bool = False
    temp: Annotated[float, Field(ge=0, le=2)] = 0.25
    max_tokens: Positive = 4096
    max_tool_rounds: Positive = 60
    max_commands: Positive = 120
    max_turn_tokens: Positive | None = None
    max_price: Ceiling | None = None
    max_time: Ceiling | None = None
    response_max_tokens: Positive = 16384
    refusal_repeats: Positive = 5
    validation: Literal["auto", "declared", "off"] = "auto"
    validation_timeout: Positive = 900
    corpus: str = ""
    here: bool = False
    with_corpora: Names = ()
    without_corpora: Names = ()
    state_dir: Location = Path()
    projects_file: Location = Path()
    capabilities_file: Location = Path()
    knowledge_db: Location = Path()
    corpus_root: Location | None = None
    operator: str = ""
    plain: bool = False
    notify: bool = False
    editing_mode: Literal["emacs", "vi"] = "emacs"
    theme: Literal["auto", "dark", "light", "mono"] = "auto"
    trace: bool = False
    trace_file: Location = Path()
    index_max_files: Positive = 60_000
    training_capture: bool = True
    network: Network = Network()
    limits: Limits = Limits()
    keys: Keys = Keys()
    permissions: Annotated[tuple[Annotated[Permission, AfterValidator(_sound)], ...], Field(strict=False)] = ()
    """`[[permissions]]` of a project: what its operator approved for good (spec 2.1)."""
    hooks: Annotated[tuple[Hook, ...], Field(strict=False)] = ()
    """`[[hooks]]` of the user's own file: programs that run at fixed events, their paths absolute (docs/hooks.md)."""
    web: Web = Web()
    embedding: Embedding = Embedding()
    backends: dict[str, Backend] = Field(default_factory=dict)
