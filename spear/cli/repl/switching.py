"""The named backends of a running chat, and another backend or model for its settings (spec 8.2, `/model`)."""

from __future__ import annotations

from dataclasses import replace

from spear.cli.settings import Loaded, with_backend
from spear.cli.settings_layers import LayerName, Origin
from spear.cli.settings_model import Backend


def described(backend: Backend) -> str:
    """A named backend in a few words: its model, where it is, through what."""
    if backend.gguf is not None:
        return f"{backend.gguf.name}, served here"
    where = f"{backend.url} through {backend.ssh}" if backend.ssh else backend.url
    return f"{backend.model or 'its first model'} at {where}"


def with_model(loaded: Loaded, name: str) -> Loaded:
    """The settings with the backend of that name; without such a backend, with that model of the same endpoint."""
    if name in loaded.settings.backends:
        return with_backend(loaded, name)
    origins = {**loaded.origins, "model": Origin(LayerName.CHAT, "/model")}
    return replace(loaded, settings=loaded.settings.model_copy(update={"model": name}), origins=origins)
