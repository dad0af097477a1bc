"""Another backend or model for the settings of a running chat (spec 8.2, `/model`)."""

from __future__ import annotations

from dataclasses import replace

from spear.cli.settings import Loaded, with_backend
from spear.cli.settings_layers import LayerName, Origin


def with_model(loaded: Loaded, name: str) -> Loaded:
    """The settings with the backend of that name; without such a backend, with that model of the same endpoint."""
    if name in loaded.settings.backends:
        return with_backend(loaded, name)
    origins = {**loaded.origins, "model": Origin(LayerName.CHAT, "/model")}
    return replace(loaded, settings=loaded.settings.model_copy(update={"model": name}), origins=origins)
