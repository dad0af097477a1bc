"""The settings of a run: layers merged by precedence, each value with its origin (spec 1.3).

flag > environment > the directory's `.spear/config.toml` > the user's file > default. An untrusted project file may
narrow what a run may do, never widen it: the rest of it is left out with a notice.
"""

from __future__ import annotations

import argparse
import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from spear.cli.keystrokes import clashes
from spear.cli.settings_backend import OF_ENDPOINT, Typed, heed_provider_variables, settle_endpoint
from spear.cli.settings_hooks import KEY as HOOKS
from spear.cli.settings_hooks import with_programs, without_hooks
from spear.cli.settings_layers import Layer, LayerName, Origin, nest, of_environment, of_file, of_flags
from spear.cli.settings_model import Settings
from spear.errors import ConfigurationError
from spear.events.names import Mode
from spear.state.directory import StateDirectory
from spear.state.trust import TrustStore

PROJECT_FILE = Path(".spear/config.toml")
_PLACES = ("state_dir", "projects_file", "capabilities_file", "knowledge_db", "trace_file")

_MODES = (Mode.SAFE, Mode.ASK, Mode.AUTO)
_LOWER_IS_NARROWER = frozenset(
    {
        "max_tool_rounds", "max_commands", "max_turn_tokens", "max_time", "response_max_tokens", "refusal_repeats",
        "validation_timeout", "max_tokens",
    }
)  # fmt: skip
_TRUE_IS_NARROWER = frozenset({"no_network", "single_root", "limits.require"})
_HARMLESS = frozenset({"ctx", "temp", "editing_mode", "theme", "plain", "notify"})


@dataclass(frozen=True, slots=True)
class Loaded:
    """Resolved settings, the origin of every key (dotted), sentences for the operator, and the files that were read.

    `layers` is what they were resolved from, strongest first.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    notices: tuple[str, ...]
    files: tuple[Path, ...]
    layers: tuple[Typed, ...] = ()

    def is_default(self, key: str) -> bool:
        """Whether nobody set `key`."""
        return self.origins[key].layer is LayerName.DEFAULT if key in self.origins else True

    def given(self) -> dict[str, Origin]:
        """The keys somebody set, in order, each with its origin."""
        return {key: origin for key, origin in sorted(self.origins.items()) if origin.layer is not LayerName.DEFAULT}


def load(arguments: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> Loaded:
    """Resolve every setting for a run in `cwd`.

    Raises ConfigurationError (status 2) that names key, place, value and what is accepted.
    """
    home = home_of(environ)
    user_file = user_config(arguments, environ, cwd)
    if (getattr(arguments, "config", None) or environ.get("SPEAR_CONFIG")) and not user_file.exists():
        raise ConfigurationError(f"there is no configuration file {user_file}", hint="correct --config or SPEAR_CONFIG")
    project_file = cwd / PROJECT_FILE
    layers = [
        of_flags(arguments, cwd, home),
        of_environment(environ, cwd, home),
        of_file(project_file, LayerName.PROJECT, home),
        of_file(user_file, LayerName.USER, home),
    ]
    if "permissions" in layers[3].values:
        place = layers[3].origins["permissions"].where
        raise ConfigurationError(
            f"permissions ({place}): approvals hold in one project", hint=f"move them to its {PROJECT_FILE}"
        )
    layers[2], said = without_hooks(layers[2], user_file)
    typed = [(layer, layer.validated()) for layer in layers]
    if HOOKS in typed[3][1]:
        typed[3][1][HOOKS] = with_programs(layers[3], typed[3][1][HOOKS], user_file, cwd, home, environ)
    notices = list(said)
    if layers[2].values and not _trusts(project_file, (typed[0][1], typed[1][1], typed[3][1]), environ):
        typed[2] = (layers[2], _narrowing_only(layers[2], typed[2][1], typed[3][1], notices))
    heed_provider_variables(layers[1], typed, environ)
    defaults: dict[str, Any] = {"operator": login_name(environ)}
    read = tuple(path for path in (project_file, user_file) if path.is_file())
    return _resolve(tuple(typed), _with_places(defaults, typed, environ, user_file.parent), tuple(notices), read)


def with_backend(loaded: Loaded, name: str) -> Loaded:
    """The settings of a running chat with another backend. Raises ConfigurationError when there is none of that name.

    What the command line said of the endpoint the chat began with holds for that endpoint alone.
    """
    chat = Layer(LayerName.CHAT, {"backend": name}, {"backend": Origin(LayerName.CHAT, "/model")})
    layers = [
        (layer, {k: v for k, v in values.items() if layer.name is not LayerName.FLAG or k not in OF_ENDPOINT})
        for layer, values in loaded.layers
        if layer.name is not LayerName.CHAT
    ]
    settings = loaded.settings
    places = {key: getattr(settings, key) for key in (*_PLACES, "operator")}
    return _resolve(((chat, {"backend": name}), *layers), places, loaded.notices, loaded.files)


def _resolve(
    layers: tuple[Typed, ...], defaults: Mapping[str, Any], notices: tuple[str, ...], files: tuple[Path, ...]
) -> Loaded:
    """Merge the layers, strongest first, over the defaults found at run time."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for layer, layer_values in reversed(layers):
        values.update(layer_values)
        origins.update({key: layer.origins.get(key, Origin(layer.name)) for key in layer_values})
    values = {**defaults, **values}
    settle_endpoint(values, origins, layers)
    settings = Settings.model_validate(nest(values))
    for key in _all_keys(settings):
        origins.setdefault(key, Origin(LayerName.DEFAULT))
    _require_keys_apart(settings, origins)
    return Loaded(settings, origins, notices, files, layers)


def _require_keys_apart(settings: Settings, origins: Mapping[str, Origin]) -> None:
    """No key may do two things, wherever each was given to it. Raises ConfigurationError naming both."""
    clash = clashes(settings.keys.bound())
    if clash is not None:
        key, *actions = clash
        named = " and ".join(f"keys.{action} ({origins[f'keys.{action}']})" for action in actions)
        raise ConfigurationError(f"{key} is given to {named}", hint="give one of them another key, or [] for none")


def home_of(environ: Mapping[str, str]) -> Path:
    """The operator's home: HOME, else what the system says."""
    return Path(environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)


def user_config(arguments: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> Path:
    """The user's configuration file: --config, SPEAR_CONFIG, else `spear/config.toml` of the configuration home."""
    given = getattr(arguments, "config", None) or environ.get("SPEAR_CONFIG", "")
    home = home_of(environ)
    if given:
        return home / given[2:] if given.startswith("~/") else cwd / given
    return _base(environ, "XDG_CONFIG_HOME", home / ".config") / "spear" / "config.toml"


def login_name(environ: Mapping[str, str]) -> str:
    """The operator's login name; the number of the user where the system knows no name."""
    for variable in ("LOGNAME", "USER"):
        if environ.get(variable):
            return environ[variable]
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _base(environ: Mapping[str, str], variable: str, default: Path) -> Path:
    """A directory of the XDG base directory specification: relative values do not count."""
    given = Path(environ.get(variable, ""))
    return given if given.is_absolute() else default


def _default_state(environ: Mapping[str, str]) -> Path:
    return _base(environ, "XDG_STATE_HOME", home_of(environ) / ".local/state") / "spear"


def _trusts(file: Path, layers: Sequence[Mapping[str, Any]], environ: Mapping[str, str]) -> bool:
    """Whether the operator trusts `file`, by the state directory that would hold without it."""
    state = next((values["state_dir"] for values in layers if "state_dir" in values), _default_state(environ))
    return TrustStore(StateDirectory(state).trusted).trusts(file)


def _with_places(
    defaults: dict[str, Any], layers: Sequence[Typed], environ: Mapping[str, str], config: Path
) -> dict[str, Any]:
    """The defaults with those of paths, which depend on one another."""
    state = next((values["state_dir"] for _, values in layers if "state_dir" in values), _default_state(environ))
    return defaults | {
        "state_dir": state,
        "projects_file": config / "projects.json",
        "capabilities_file": config / "capabilities.json",
        "knowledge_db": state / "knowledge.sqlite3",
        "trace_file": state / "audit" / "runtime-trace.jsonl",
    }


def _narrowing_only(
    layer: Layer, values: Mapping[str, Any], user: Mapping[str, Any], notices: list[str]
) -> dict[str, Any]:
    """What an untrusted project file may say, judged against what would hold without it."""
    kept = {}
    for key, value in values.items():
        without = user.get(key, _default(key))
        if (
            key in _HARMLESS
            or (key in _TRUE_IS_NARROWER and value is True)
            or (key in _LOWER_IS_NARROWER and (without is None or value <= without))
            or (key == "mode" and _MODES.index(value) <= _MODES.index(without))
        ):
            kept[key] = value
        else:
            where = layer.origins[key].where
            notices.append(f"{key} in {where} is left out: it needs your trust (spear-chat trust)")
    return kept


def _default(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _all_keys(settings: Settings) -> list[str]:
    keys = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            keys += [f"{name}.{inner}" for inner in type(value).model_fields]
        else:
            keys.append(name)
    return keys
