"""From settings to what makes vectors of passages: an endpoint of the operator's, else the bundled model (spec 4.5)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

from spear.cli.settings_model import Settings
from spear.retrieval.embedding.embedder import NoEmbedder

if TYPE_CHECKING:
    from spear.retrieval.embedding.embedder import Embedder


def embedder_of(settings: Settings, environ: Mapping[str, str], threads: int = 0) -> Embedder | NoEmbedder:
    """The embedder, or why there is none. `threads` 0 leaves those of the bundled model to its runtime."""
    chosen = settings.embedding
    if not chosen.url:
        from spear.retrieval.embedding.minilm import MiniLm

        return MiniLm.find(threads)
    if not chosen.model:
        return NoEmbedder("the embedding endpoint has no model", "set embedding.model (SPEAR_EMBEDDING_MODEL)")
    if chosen.key_env and not environ.get(chosen.key_env):
        return NoEmbedder(f"the variable {chosen.key_env} is not set", "export the key, or clear embedding.key_env")
    if importlib.util.find_spec("numpy") is None:
        return NoEmbedder("numpy is not installed", "pip install 'spear-chat[semantic]'")
    from spear.retrieval.embedding.endpoint import EndpointEmbedder

    return EndpointEmbedder(chosen.url, chosen.model, environ.get(chosen.key_env) if chosen.key_env else None)
