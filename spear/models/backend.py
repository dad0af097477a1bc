"""What every model backend offers, and the settings one is opened with (spec 8.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

from spear.agent.messages import ModelRequest, ModelTurn
from spear.errors import ConfigurationError
from spear.models.retry import RetryPolicy


class ModelBackend(Protocol):
    """A model that can be asked. Used from one thread at a time."""

    @property
    def name(self) -> str:
        """The endpoint as shown to people: host and port, never a key."""
        ...

    @property
    def model(self) -> str:
        """The model id. Asks the endpoint for its first model when none was configured; may raise `ModelFailure`."""
        ...

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer. Raises `ModelFailure` after the bounded retries, or when cancelled."""
        ...

    def context_window(self) -> int | None:
        """The endpoint's own figure in tokens, cached; None when it reports none or cannot be asked."""
        ...

    def begin_turn(self) -> None:
        """A new turn begins: its retries are counted afresh."""
        ...

    def close(self) -> None:
        """Release connections and files. The backend may be used again afterwards."""
        ...


class Provider(StrEnum):
    """The protocols spoken."""

    OPENAI = "openai-compatible"
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `read_s` is the longest silence of the server: a local model may think that long over a long prompt."""

    connect_s: float = 5.0
    read_s: float = 600.0
    write_s: float = 60.0
    models_s: float = 5.0


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """How to reach a model. `api_key` None means that the endpoint wants none; `model` None its first model.

    `stream` false asks for whole replies. `max_reply_bytes` bounds one reply as received. `host` is the name the
    endpoint is asked by where that is not the address's own, as behind a tunnel; its certificate is checked against it.
    `images` says that the model takes images. Raises `ConfigurationError` for an address or a key that can never be
    used; the key is in no message.
    """

    api_base: str
    provider: Provider = Provider.OPENAI
    api_key: str | None = field(default=None, repr=False)
    model: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    stream: bool = True
    max_reply_bytes: int = 32 * 1024 * 1024
    host: str = ""
    images: bool = False

    def __post_init__(self) -> None:
        _check_address(self.api_base)
        if self.api_key is not None:
            key = self.api_key.strip()
            if not (key.isascii() and key.isprintable()):
                raise ConfigurationError("the API key holds characters that no header can carry")
            object.__setattr__(self, "api_key", key or None)

    @property
    def endpoint(self) -> str:
        """Host and port of what is asked, for messages; user names and keys in the URL are left out."""
        parts = urlsplit(f"//{self.host}" if self.host else self.api_base)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return f"{host}:{parts.port}" if parts.port else host


def _check_address(api_base: str) -> None:
    hint = "write it as http://host:port/v1 or https://host/v1"
    try:
        parts = urlsplit(api_base)
        usable = parts.scheme in ("http", "https") and parts.hostname is not None and parts.port != 0
    except ValueError as error:
        raise ConfigurationError(f"the endpoint address cannot be read: {error}", hint=hint) from error
    if not usable:
        raise ConfigurationError("the endpoint address is not an http or https URL", hint=hint)
