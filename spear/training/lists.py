"""The records of a store's two append-only lists: the manifest of episodes, and the operator's marks (spec 7)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from spear.training.vocabulary import Mark

_DIGEST = r"[0-9a-f]{64}"


class ManifestLine(BaseModel):
    """One finalized episode: where it is and the checksum of its file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session: str
    turn: int = Field(ge=0)
    sha256: str = Field(pattern=f"^{_DIGEST}$")
    bytes: int = Field(ge=0)

    @property
    def id(self) -> str:
        """The episode."""
        return self.sha256[:16]


class MarkLine(BaseModel):
    """One mark of the operator."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ts: str
    session: str
    turn: int
    episode: str
    mark: Mark
