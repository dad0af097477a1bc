"""An embedding endpoint of the operator's: any server that speaks `/embeddings` of the OpenAI protocol (spec 4.5)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spear.errors import EndpointError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TIMEOUT_S = 120.0
_RETRIES = 3
_NO_KEY = "none"


class EndpointEmbedder:
    """Model `model` behind `api_base` (`http://host:port/v1`). Texts are sent as they are: the operator chose the
    server. Use as a context manager. Needs NumPy."""

    def __init__(self, api_base: str, model: str, api_key: str | None = None) -> None:
        openai = importlib.import_module("openai")
        self._settings = (api_base, model, api_key)
        self._error: type[Exception] = openai.OpenAIError
        self._client: Any = openai.OpenAI(
            base_url=api_base, api_key=api_key or _NO_KEY, timeout=_TIMEOUT_S, max_retries=_RETRIES
        )

    def __reduce__(self) -> tuple[Callable[..., EndpointEmbedder], tuple[str, str, str | None]]:
        """A worker elsewhere opens its own connection."""
        return EndpointEmbedder, self._settings

    def __enter__(self) -> EndpointEmbedder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    @property
    def name(self) -> str:
        """Host and model."""
        return f"{urlsplit(self._settings[0]).netloc.rpartition('@')[2]}:{self._settings[1]}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 a text. Raises EndpointError when the server fails or answers with something else."""
        np = importlib.import_module("numpy")
        try:
            reply = self._client.embeddings.create(model=self._settings[1], input=list(texts), encoding_format="float")
            rows = sorted(reply.data, key=lambda row: int(row.index))
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except (self._error, AttributeError, TypeError, ValueError) as error:
            raise EndpointError(
                f"{self.name} cannot embed: {' '.join(str(error).split())[:200]}",
                hint="check its address and that it serves /embeddings",
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EndpointError(
                f"{self.name} cannot embed: {len(texts)} texts were sent, {len(vectors)} vectors came back",
                hint="check that it serves /embeddings of the OpenAI protocol",
            )
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors / lengths  # type: ignore[no-any-return]
