"""Which endpoint the settings mean: a named backend, a file served here, or an address; one, whole, with its own key.

The key and the model of one endpoint never go to another: who names an endpoint in a stronger place switches off what
weaker places say of theirs (spec 1.3, 8.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spear.cli.settings_layers import Layer, LayerName, Origin
from spear.cli.settings_model import ANTHROPIC_API_BASE, Backend
from spear.errors import ConfigurationError
from spear.state.directory import StateDirectory
from spear.state.files import replace_durably

Typed = tuple[Layer, dict[str, Any]]
"""A layer and its values, typed."""

OF_ENDPOINT = ("api_base", "provider", "model", "api_key_env", "api_key_cmd", "ssh", "gguf", "ctx", "images")
"""The settings that describe an endpoint."""
_NAMES_ENDPOINT = frozenset({"api_base", "gguf"})
_OPENAI_ADDRESS, _ANTHROPIC_ADDRESS = "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"
_ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
_URL = "url"
"""What a backend calls its `api_base`."""


def heed_provider_variables(environment: Layer, layers: Sequence[Typed], environ: Mapping[str, str]) -> None:
    """Let each protocol's own address variable speak for that protocol alone."""
    provider = next((values["provider"] for _, values in layers if "provider" in values), "")
    values = next(values for layer, values in layers if layer is environment)
    if provider != "anthropic":
        return
    if "api_base" in values and environment.origins["api_base"].where == _OPENAI_ADDRESS:
        del values["api_base"]
    if "api_base" not in values and environ.get(_ANTHROPIC_ADDRESS, "").strip():
        values["api_base"] = environ[_ANTHROPIC_ADDRESS].strip()


def settle_endpoint(values: dict[str, Any], origins: dict[str, Origin], layers: Sequence[Typed]) -> None:
    """Leave in `values` one endpoint. Raises ConfigurationError where one place names two."""
    _one_of(values, layers)
    _apply_backend(values, origins, layers)
    if values.get("provider") == "anthropic":
        origin = origins["provider"]
        own: tuple[tuple[str, object], ...] = (
            ("api_base", ANTHROPIC_API_BASE), ("api_key_env", _ANTHROPIC_KEY), ("images", True),
        )  # fmt: skip
        for key, value in own:
            if key not in values:
                values[key], origins[key] = value, origin
    if values.get("gguf"):
        origins["api_base"] = origins["gguf"]


def remember_backend(state: StateDirectory, name: str) -> None:
    """Note the backend a session uses, for runs that name neither backend nor endpoint. Raises StateError."""
    if last_used(state.root) != name:
        replace_durably(state.last_backend, f"{name}\n".encode())


def last_used(state: Path) -> str:
    """The backend noted last in a state directory; "" when none is."""
    try:
        return StateDirectory(state).last_backend.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _one_of(values: dict[str, Any], layers: Sequence[Typed]) -> None:
    """Drop what belongs to an endpoint that a stronger layer's endpoint replaces."""
    for index, (layer, own) in enumerate(layers):
        named = _NAMES_ENDPOINT & set(own)
        if len(named) == 2:
            where = layer.origins["gguf"].where or layer.name
            raise ConfigurationError(f"api_base and gguf both name the endpoint ({where})", hint="give one of them")
        if named:
            stronger = {key for _, earlier in layers[: index + 1] for key in earlier}
            for key in ("gguf", "ssh"):
                if key not in stronger:
                    values.pop(key, None)
            return


def _apply_backend(values: dict[str, Any], origins: dict[str, Origin], layers: Sequence[Typed]) -> None:
    """Put the values of the chosen backend in place of what weaker layers say."""
    backends: Mapping[str, Backend] = values.get("backends", {})
    if "backend" not in values:
        remembered = last_used(values["state_dir"])
        if remembered not in backends or _NAMES_ENDPOINT & set(values):
            return
        values["backend"], origins["backend"] = remembered, Origin(LayerName.BACKEND)
    name = values["backend"]
    if name not in backends:
        known = ", ".join(sorted(backends)) or "none is configured"
        raise ConfigurationError(
            f"there is no backend {name} (asked for by {origins['backend']})", hint=f"known: {known}"
        )
    strength = [layer.name for layer, _ in layers]
    chosen = strength.index(origins["backend"].layer) if origins["backend"].layer in strength else len(strength)
    stronger = {key: value for _, own in reversed(layers[:chosen]) for key, value in own.items()}
    if _NAMES_ENDPOINT & set(stronger) or stronger.get("provider", backends[name].provider) != backends[name].provider:
        values["backend"] = ""
        return
    same = set(layers[chosen][1]) - _NAMES_ENDPOINT if chosen < len(layers) else set()
    written = next((layer.origins for layer, own in layers if "backends" in own), {})
    for key, value in _of_backend(backends[name]).items():
        if key not in stronger and key not in same:
            values[key] = value
            place = written.get(f"backends.{name}.{_URL if key == 'api_base' else key}", origins["backends"])
            origins[key] = Origin(origins["backend"].layer, f"backend {name}", place.file, place.line)


def _of_backend(backend: Backend) -> dict[str, Any]:
    """The values a backend gives. What it leaves empty is not given, except what would bring another endpoint in."""
    given = {
        "provider": backend.provider,
        "model": backend.model,
        "api_key_env": backend.api_key_env or (_ANTHROPIC_KEY if backend.provider == "anthropic" else ""),
        "api_key_cmd": backend.api_key_cmd,
        "ctx": backend.ctx,
        "images": backend.images,
    }
    way = {"api_base": backend.url, "ssh": backend.ssh, "gguf": backend.gguf}
    return way | {key: value for key, value in given.items() if value not in ("", (), None)}
