"""The registry of external capability providers, `capabilities.json`, and where each of them applies (spec 4.4).

Nothing is discovered: a provider exists because the operator wrote it down, and one without a scope applies nowhere. A
wrong entry is reported by entry, key and accepted values, and leaves the others usable.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from spear.errors import ConfigurationError

_IDENTITY = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_SCOPE = re.compile(r"\s*(?:(?P<all>global)|corpus\s+(?P<corpora>\S.*?)|path\s+(?P<path>\S.*?))\s*")


class Task(StrEnum):
    """The task classes a provider may serve. A normative pass never gets external capabilities (spec 4.2)."""

    GENERAL = "general"
    IMPLEMENTATION = "implementation"
    MIXED = "mixed"


class WritePolicy(StrEnum):
    """What the operator lets a provider's writing tools do: any tool that is not listed in `read`."""

    REFUSE = "refuse"
    CONFIRM = "confirm"
    ALLOW = "allow"


class ProviderEntry(BaseModel):
    """One provider as written. `timeout` is in seconds and bounds each call; a start gets five seconds at most."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str = Field(pattern=f"^{_IDENTITY}$", description="letters, digits, `-`, `_` and `.`, at most 64")
    command: tuple[str, ...] | None = Field(
        None, min_length=1, description="a list of words: a program on PATH or its absolute path, then its arguments"
    )
    url: str | None = Field(None, description="the http or https address of a streamable HTTP server")
    headers: dict[str, str] = Field({}, description="an object of texts, where ${NAME} stands for a variable of `env`")
    env: tuple[str, ...] = Field((), description="a list of variable names")
    scope: str | None = Field(None, description="`global`, `corpus NAME[, NAME…]` or `path DIR`")
    tasks: tuple[Literal["general", "implementation", "mixed"], ...] = Field(
        ("implementation", "mixed"), description="a list of `general`, `implementation`, `mixed`"
    )
    read: tuple[str, ...] = Field((), description="a list of the names of tools that only read")
    write: Literal["refuse", "confirm", "allow"] = Field("refuse", description="`refuse`, `confirm` or `allow`")
    timeout: float = Field(30.0, gt=0, le=600, description="seconds, above 0 and at most 600")
    enabled: bool = Field(True, description="true or false")

    @model_validator(mode="after")
    def _consistent(self) -> ProviderEntry:
        for key, wrong in (
            ("command", (self.command is None) == (self.url is None)),
            ("command", self.command is not None and not _runnable(self.command)),
            ("url", self.url is not None and not _http(self.url)),
            ("headers", bool(self.headers) and self.url is None),
            ("headers", not set(re.findall(r"\$\{(.*?)\}", "".join(self.headers.values()))) <= set(self.env)),
            ("env", not all(re.fullmatch(_VARIABLE, name) for name in self.env)),
            ("scope", self.scope is not None and not _SCOPE.fullmatch(self.scope)),
        ):
            if wrong:
                raise ValueError(key)
        return self

    @property
    def write_policy(self) -> WritePolicy:
        """The policy for tools that are not listed in `read`."""
        return WritePolicy(self.write)

    @property
    def remote(self) -> bool:
        """Whether reaching it takes the network: a url that is not this machine's."""
        return self.url is not None and not _loopback(urlsplit(self.url).hostname or "")

    @property
    def transport(self) -> str:
        """How it is spoken to, for people."""
        return "stdio" if self.command else "http"


@dataclass(frozen=True, slots=True)
class RegistryProblem:
    """Why an entry cannot be used. `key` is empty when the entry itself is wrong."""

    entry: str
    key: str
    text: str

    def line(self) -> str:
        """One line for the operator."""
        where = f"capability provider {self.entry}, key {self.key}" if self.key else f"capability provider {self.entry}"
        return f"{where}: {self.text}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn happens, and for what: the canonical workspace root, the registered name it has, the task class."""

    workspace: Path
    corpus: str | None
    task: Task


@dataclass(frozen=True, slots=True)
class Withheld:
    """A provider that does not take part in a turn, and why."""

    provider: str
    reason: str


@dataclass(frozen=True, slots=True)
class Registry:
    """The usable providers in the order they are written, and what is wrong with the other entries."""

    providers: tuple[ProviderEntry, ...] = ()
    problems: tuple[RegistryProblem, ...] = ()

    def applicable(self, place: Place) -> tuple[tuple[ProviderEntry, ...], tuple[Withheld, ...]]:
        """Who serves a turn at `place`, and who does not, with the reason."""
        admitted: list[ProviderEntry] = []
        withheld: list[Withheld] = []
        for entry in self.providers:
            reason = _absence(entry, place)
            if reason:
                withheld.append(Withheld(entry.id, reason))
            else:
                admitted.append(entry)
        return tuple(admitted), tuple(withheld)


def load(file: Path) -> Registry:
    """Read `capabilities.json`; a missing file is an empty registry. Raises ConfigurationError when it is no JSON
    object with a list `providers`.
    """
    providers: dict[str, ProviderEntry] = {}
    problems: list[RegistryProblem] = []
    for position, raw in enumerate(_entries(file), 1):
        name = str(raw.get("id") or f"number {position}") if isinstance(raw, dict) else f"number {position}"
        found = _entry(name, raw)
        if not isinstance(found, ProviderEntry):
            problems += found
        elif found.id in providers:
            problems.append(RegistryProblem(name, "id", "is there twice; the first entry holds"))
        else:
            providers[found.id] = found
    return Registry(tuple(providers.values()), tuple(problems))


def _entries(file: Path) -> list[Any]:
    hint = "see capabilities.json.example"
    try:
        found = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_unique)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}", hint="check its permissions") from error
    except (ValueError, RecursionError) as error:  # a UnicodeDecodeError is a ValueError
        raise ConfigurationError(f"{file} is not valid JSON: {error}", hint=hint) from error
    if not isinstance(found, dict) or not isinstance(found.get("providers"), list):
        raise ConfigurationError(f"{file} must hold an object with a list `providers`", hint=hint)
    for key in found:
        if key != "providers":
            raise ConfigurationError(f"{file}: {key} is not a known key; did you mean `providers`?", hint=hint)
    return list(found["providers"])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def _entry(name: str, raw: Any) -> ProviderEntry | list[RegistryProblem]:
    if not isinstance(raw, dict):
        return [RegistryProblem(name, "", 'must be an object like {"id": "…", "command": ["…"], "scope": "global"}')]
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
    try:
        return ProviderEntry.model_validate(frozen)
    except ValidationError as error:
        return list(dict.fromkeys(_explained(name, error)))


def _explained(entry: str, error: ValidationError) -> list[RegistryProblem]:
    """One problem a key, in words."""
    problems = []
    fields = ProviderEntry.model_fields
    for detail in error.errors():
        # A check over several keys has no place of its own; its message is the key it is about.
        key = str(detail["loc"][0]) if detail["loc"] else str(detail["ctx"]["error"])
        if key not in fields:
            near = difflib.get_close_matches(key, fields, 1)
            text = "is not a known key; " + (
                f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(fields)}"
            )
        elif detail["type"] == "missing":
            text = f"is missing; it must be {fields[key].description}"
        elif key == "command" and not detail["loc"]:
            text = f"exactly one of `command` and `url` must be there; `command` is {fields[key].description}"
        else:
            text = f"must be {fields[key].description}"
        problems.append(RegistryProblem(entry, key, text))
    return problems


def _runnable(command: tuple[str, ...]) -> bool:
    """Whether what runs cannot depend on where the session was started: the tree must not choose the program."""
    program = command[0]
    return bool(program) and ("/" not in program or program.startswith(("/", "~/"))) and "\0" not in "".join(command)


def _http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _absence(entry: ProviderEntry, place: Place) -> str:
    """Why `entry` stays out of a turn at `place`; empty when it serves it."""
    if not entry.enabled:
        return "it is disabled"
    if entry.scope is None:
        return "it has no scope, so it applies nowhere; add `scope`"
    if place.task not in entry.tasks:
        return f"it serves {', '.join(entry.tasks) or 'no'} tasks, this one is {place.task}"
    scope = _SCOPE.fullmatch(entry.scope)
    if scope is None or not _covers(scope, place):
        return f"its scope is `{entry.scope}`"
    return ""


def _covers(scope: re.Match[str], place: Place) -> bool:
    if scope["all"]:
        return True
    if scope["corpora"]:
        return place.corpus in {name.strip() for name in scope["corpora"].split(",")}
    try:
        return place.workspace.resolve().is_relative_to(Path(scope["path"]).expanduser().resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, an unknown user after `~`, a NUL
        return False
