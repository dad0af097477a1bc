"""What turns texts into vectors, whichever model it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """Why there are no vectors here, and what brings them: search is by words alone, which is worth saying once."""

    reason: str
    remedy: str

    def line(self) -> str:
        """One line for the operator."""
        return f"search is by words alone: {self.reason} — {self.remedy}"


class Embedder(Protocol):
    """A model of texts. Vectors of two models cannot be compared: `name` tells which one made them."""

    @property
    def name(self) -> str:
        """The model, with what pins it."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 a text. May raise SpearError when the model cannot be reached."""
        ...
