"""Units: what a standard is cut into, and what each of them may oblige anybody to (spec 5.1)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_SPACE = re.compile(r"\s+")


class Kind(StrEnum):
    """What a unit is in its document."""

    REQUIREMENT = "requirement"
    RECOMMENDATION = "recommendation"
    PERMISSION = "permission"
    OBSERVATION = "observation"
    DEFINITION = "definition"
    INFORMATIVE = "informative"
    TABLE = "table"
    CAPTION = "caption"
    FRONT_MATTER = "front_matter"
    FURNITURE = "furniture"


class Force(StrEnum):
    """The most a claim may assert on the strength of a unit, weakest first."""

    INFORMATIVE = "informative"
    PERMISSION = "permission"
    RECOMMENDATION = "recommendation"
    REQUIREMENT = "requirement"

    @property
    def rank(self) -> int:
        """0 for what obliges nobody, 3 for a requirement."""
        return tuple(Force).index(self)


class Modality(StrEnum):
    """The modal verb of a unit's text with its polarity; NONE where it has none."""

    SHALL = "shall"
    SHALL_NOT = "shall not"
    SHOULD = "should"
    SHOULD_NOT = "should not"
    MAY = "may"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of one revision of a standard, in the order of the document.

    `unit_id` is unique within the revision and the same for the same bytes extracted by the same version; `ordinal`
    is the printed one ("4.2.1-2" of "Rule 4.2.1-2") or "" where none is printed; `label` is what a citation prints
    ("Rule 4.2.1-2", "MUST-5") or "". `section` is the clause number ("7.1.5", "A2.2.5") or, in a document without
    numbers, the last heading; `heading_path` runs from the outermost heading inwards. `page` counts from 1, None in a
    format without pages; `lines` are the first and last line of the source (of the extracted text for a PDF), from 1.
    `within` is the unit_id of the table or the heading of the list it belongs to, or "". `references` are the clauses,
    labels and tables its text points at, as printed.
    """

    unit_id: str
    kind: Kind
    ordinal: str
    label: str
    section: str
    heading_path: tuple[str, ...]
    page: int | None
    lines: tuple[int, int]
    text: str
    modality: Modality
    force_ceiling: Force
    within: str = ""
    references: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of a table, header row first; empty for everything else."""

    @property
    def provision_key(self) -> str:
        """The printed identity within a revision: kind and ordinal; "" for what prints none. Two units may share it."""
        return f"{self.kind}:{self.ordinal}" if self.ordinal else ""

    @property
    def instance_id(self) -> str:
        """The printed identity with a digest of the text: no two units of different text share it."""
        digest = hashlib.sha256(_SPACE.sub(" ", self.text).strip().encode()).hexdigest()[:16]
        return f"{self.provision_key or self.unit_id}@{digest}"


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a document came out as. `errors` are sentences about what could not be read (a page, a table): they do not
    stop the ingestion and stand in the manifest. `pages` is None for a format without pages."""

    title: str
    format: str
    units: tuple[Unit, ...]
    pages: int | None
    errors: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    """Every file that was read, the document itself first."""
