"""Another backend or model for the settings of a running chat (spec 8.2, `/model`)."""

from __future__ import annotations

from typing import Any

from spear.cli.settings_model import Settings


def with_model(settings: Settings, name: str) -> Settings:
    """The settings with the backend of that name; without such a backend, with that model of the same endpoint."""
    backend = settings.backends.get(name)
    if backend is None:
        return settings.model_copy(update={"model": name})
    update: dict[str, Any] = {
        "backend": name,
        "api_base": backend.url,
        "provider": backend.provider,
        "model": backend.model,
        "api_key_cmd": backend.api_key_cmd,
        "ssh": backend.ssh,
    }
    if backend.api_key_env:
        update["api_key_env"] = backend.api_key_env
    if backend.ctx:
        update["ctx"] = backend.ctx
    return settings.model_copy(update=update)
