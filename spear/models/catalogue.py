"""What an endpoint's model list says: its first model, and the context window of the chosen one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WINDOW_KEYS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "n_ctx",
)
_INNER = ("meta", "top_provider", "limits", "capabilities")


class Catalogue:
    """The model list of one endpoint, once fetched. `model` is the configured id, or the first one listed."""

    def __init__(self, model: str | None) -> None:
        self.model = model
        self.window: int | None = None
        self.fetched = False

    def learn(self, listing: Mapping[str, Any]) -> None:
        """Take what `GET /models` answered, in any of the usual shapes."""
        self.fetched = True
        entries = listing.get("data") or listing.get("models")
        models = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
        if not self.model:
            self.model = next((_name(entry) for entry in models if _name(entry)), None)
        chosen = [entry for entry in models if _name(entry) == self.model]
        if not chosen and len(models) == 1:  # a server of one model answers to any name
            chosen = models
        self.window = next((window for entry in chosen if (window := _window(entry))), None)


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("id") or entry.get("name") or entry.get("model")
    return name if isinstance(name, str) else ""


def _window(entry: Mapping[str, Any]) -> int | None:
    """The smallest figure wins: a server may serve less than the model was trained for."""
    places = [entry, *(entry[key] for key in _INNER if isinstance(entry.get(key), Mapping))]
    figures = [place.get(key) for place in places for key in _WINDOW_KEYS]
    return min((f for f in figures if isinstance(f, int) and not isinstance(f, bool) and f > 0), default=None)
