"""Units as lines of JSON: what the corpus holds and what `export` prints (spec 5.1, 5.2)."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from spear.standards.units import Force, Kind, Modality, Unit


class _Row(BaseModel):
    """A line of the corpus: a unit, field by field. Raises ValidationError for any other line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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


_FIELDS = tuple(_Row.model_fields)


def written(unit: Unit) -> bytes:
    """The line of a unit in the corpus, without its newline. A character that is no text becomes U+FFFD."""
    row = {name: getattr(unit, name) for name in _FIELDS}
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def read(line: bytes) -> Unit:
    """The unit of a line. Raises ValueError (pydantic's) where the line is none."""
    row = _Row.model_validate_json(line)
    return Unit(**{name: getattr(row, name) for name in _FIELDS})


EXPORTED = (
    "unit_id", "kind", "ordinal", "label", "section", "heading_path", "page", "lines", "text", "modality",
    "force_ceiling",
)  # fmt: skip
"""What `export` prints of a unit, in this order."""


def exported(unit: Unit) -> dict[str, Any]:
    """A unit as `export` prints it."""
    return {name: getattr(unit, name) for name in EXPORTED}
