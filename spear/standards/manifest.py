"""`manifest.json`: what was ingested, what came out of it, and whether a person has looked at it (spec 5.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spear.errors import StateError
from spear.standards.standard_name import StandardName
from spear.state.files import replace_durably, state_error

FORM: Literal["spear.standard/1"] = "spear.standard/1"


class Origin(StrEnum):
    """Whose text it is. That of a licensed standard is never exported with training data (spec 7)."""

    LICENSED = "LICENSED_STANDARD"
    PUBLIC = "PUBLIC"


class Review(StrEnum):
    """Whether a person has compared the extraction with the document."""

    NOT_REVIEWED = "NOT_REVIEWED"
    REVIEWED = "REVIEWED"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceFile(_Part):
    """One file that was read: its path as seen from the document's directory, its SHA-256, its bytes."""

    path: str
    sha256: str
    size: int = Field(ge=0)


class HumanValidation(_Part):
    """Who said that the extraction is the document's, and when."""

    status: Review = Review.NOT_REVIEWED
    reviewer: str = ""
    at: str = ""


class Manifest(_Part):
    """One ingested revision. `sections` counts the clauses, `counts` the units of each kind; `corpus_sha256` is the
    digest of the corpus file, `profile_sha256` of the profile it was read with ("" without one). `source` is the
    document first, then what it takes in."""

    form: Literal["spear.standard/1"] = FORM
    id: str
    revision: str
    origin: Origin
    title: str
    format: str
    source: tuple[SourceFile, ...] = Field(min_length=1)
    retained: bool
    profile_sha256: str
    counts: Mapping[str, int]
    units: int
    sections: int
    pages: int | None
    errors: tuple[str, ...]
    extractor_version: str
    corpus_sha256: str
    human_validation: HumanValidation = HumanValidation()
    ingested_at: str

    @property
    def name(self) -> StandardName:
        """Its id and revision."""
        return StandardName(self.id, self.revision)

    @property
    def fingerprint(self) -> str:
        """What a binding is pinned to: the document, what read it, and what came out. Not what people did with it."""
        parts = (self.id, self.revision, self.extractor_version, self.profile_sha256, self.corpus_sha256)
        whole = "\0".join((*parts, *(file.sha256 for file in self.source)))
        return hashlib.sha256(whole.encode()).hexdigest()

    def save(self, path: Path) -> None:
        """Write it, whole or not at all. Raises StateError."""
        replace_durably(path, (self.model_dump_json(indent=2) + "\n").encode("utf-8", "replace"))


def load_manifest(path: Path) -> Manifest:
    """The manifest at `path`. Raises StateError: not there, not readable, or not a manifest of this version."""
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise state_error("read", path, error) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise StateError(
            f"{path} is not a manifest this version reads ({where}: {first['msg']})",
            hint="remove the standard (spear-chat standard remove ID REV) and ingest its document again",
        ) from error
