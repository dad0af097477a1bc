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

from spear.cli.settings_layers import Layer, LayerName, Origin, nest, of_environment, of_file, of_flags
from spear.cli.settings_model import Backend, Settings
from spear.errors import ConfigurationError
from spear.events.names import Mode
from spear.state.directory import StateDirectory
from spear.state.files import replace_durably
from spear.state.trust import TrustStore

PROJECT_FILE = Path(".spear/config.toml")

_MODES = (Mode.SAFE, Mode.ASK, Mode.AUTO)
_LOWER_IS_NARROWER = frozenset(
    {"max_tool_rounds", "max_commands", "response_max_tokens", "refusal_repeats", "validation_timeout", "max_tokens"}
)
_TRUE_IS_NARROWER = frozenset({"no_network", "single_root", "limits.require"})
_HARMLESS = frozenset({"ctx", "temp", "editing_mode", "theme", "plain"})
_OF_BACKEND = ("api_base", "provider", "model", "api_key_env", "api_key_cmd", "ssh", "ctx")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Resolved settings, the origin of every key (dotted), sentences for the operator, and the files that were read."""

    settings: Settings
    origins: Mapping[str, Origin]
    notices: tuple[str, ...]
    files: tuple[Path, ...]

    def is_default(self, key: str) -> bool:
        """Whether nobody set `key`."""
        return self.origins[key].layer is LayerName.DEFAULT if key in self.origins else True


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
    typed = [(layer, layer.validated()) for layer in layers]
    notices: list[str] = []
    if layers[2].values and not _trusts(project_file, (typed[0][1], typed[1][1], typed[3][1]), environ):
        typed[2] = (layers[2], _narrowing_only(layers[2], typed[2][1], typed[3][1], notices))

    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for layer, layer_values in reversed(typed):
        values.update(layer_values)
        origins.update({key: layer.origins[key] for key in layer_values})
    _place_files(values, environ, user_file.parent)
    values.setdefault("operator", login_name(environ))
    _apply_backend(values, origins, typed)
    settings = Settings.model_validate(nest(values))
    for key in _all_keys(settings):
        origins.setdefault(key, Origin(LayerName.DEFAULT))
    read = tuple(path for path in (project_file, user_file) if path.is_file())
    return Loaded(settings, origins, tuple(notices), read)


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


def _place_files(values: dict[str, Any], environ: Mapping[str, str], config: Path) -> None:
    """Defaults of paths, which depend on one another."""
    state = values.setdefault("state_dir", _default_state(environ))
    values.setdefault("projects_file", config / "projects.json")
    values.setdefault("capabilities_file", config / "capabilities.json")
    values.setdefault("knowledge_db", state / "knowledge.sqlite3")
    values.setdefault("trace_file", state / "audit" / "runtime-trace.jsonl")


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
            or (key in _LOWER_IS_NARROWER and value <= without)
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


def _apply_backend(
    values: dict[str, Any],
    origins: dict[str, Origin],
    typed: Sequence[tuple[Layer, Mapping[str, Any]]],
) -> None:
    """Put the values of the chosen backend in place of what weaker layers say.

    A stronger layer that names an endpoint of its own switches the backend off whole, so that the key and the model
    of one endpoint never go to another.
    """
    if "backend" not in values:
        remembered = _last_used(values["state_dir"])
        if not remembered or "api_base" in values or remembered not in values.get("backends", {}):
            return
        values["backend"] = remembered
        origins["backend"] = Origin(LayerName.BACKEND)
    name = values["backend"]
    backends: Mapping[str, Backend] = values.get("backends", {})
    if name not in backends:
        known = ", ".join(sorted(backends)) or "none is configured"
        raise ConfigurationError(
            f"there is no backend {name} (asked for by {origins['backend']})", hint=f"known: {known}"
        )
    strength = [layer.name for layer, _ in typed]
    chosen = strength.index(origins["backend"].layer) if origins["backend"].layer in strength else len(strength)
    stronger = {key for _, layer_values in typed[:chosen] for key in layer_values}
    if "api_base" in stronger:
        values["backend"] = ""
        return
    same = set(typed[chosen][1]) if chosen < len(typed) else set()
    for key, value in _of_backend(backends[name]).items():
        if key in stronger or (key in same and key != "api_base"):
            continue
        values[key] = value
        origins[key] = Origin(origins["backend"].layer, f"backend {name}")


def _of_backend(backend: Backend) -> dict[str, Any]:
    """The values a backend gives; what it leaves empty is not given, except the model, which is its own to choose."""
    given = {
        "api_base": backend.url,
        "provider": backend.provider,
        "model": backend.model,
        "api_key_env": backend.api_key_env,
        "api_key_cmd": backend.api_key_cmd,
        "ssh": backend.ssh,
        "ctx": backend.ctx,
    }
    return {key: value for key, value in given.items() if value not in ("", (), None)}


def remember_backend(state: StateDirectory, name: str) -> None:
    """Note the backend a session chose, for runs that name neither backend nor endpoint. Raises StateError."""
    replace_durably(state.last_backend, f"{name}\n".encode())


def _last_used(state: Path) -> str:
    try:
        return StateDirectory(state).last_backend.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _all_keys(settings: Settings) -> list[str]:
    keys = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            keys += [f"{name}.{inner}" for inner in type(value).model_fields]
        else:
            keys.append(name)
    return keys
