"""Candidate structures: the tables and field layouts a document prints, none of which is served as it is (spec 5.1)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spear.errors import UsageError
from spear.standards.corpus import Corpus
from spear.standards.index import UnitIndex, folded
from spear.standards.units import Unit
from spear.standards.values import bits, value

Cells = tuple[tuple[str, ...], ...]
_MOSTLY = 0.6
_NEAR = 2
"""How many units away the caption of a table may stand."""
_BIT_HEADER = re.compile(r"\bbits?\b|\bbit\s*(?:range|position|field)", re.IGNORECASE)


class Shape(StrEnum):
    """What the cells of a candidate are: a layout of bit fields, a list of values, or just a table."""

    FIELDS = "fields"
    VALUES = "values"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One table of the document, its header row first. `id` is that of its unit."""

    id: str
    shape: Shape
    title: str
    section: str
    page: int | None
    label: str
    cells: Cells

    @property
    def digest(self) -> str:
        """SHA-256 of the cells."""
        return cells_digest(self.cells)

    def record(self) -> dict[str, Any]:
        """As `candidates --json` prints it."""
        return {
            "id": self.id, "kind": self.shape.value, "title": self.title, "label": self.label,
            "section": self.section, "page": self.page, "cells": self.cells,
        }  # fmt: skip


def candidates(index: UnitIndex, corpus: Corpus) -> Iterator[Candidate]:
    """Every candidate, in the order of the document. Raises StateError."""
    rows = index.rows("SELECT position, at, length FROM units WHERE kind = 'table' ORDER BY position")
    return _candidates(index, corpus, rows)


def candidate(index: UnitIndex, corpus: Corpus, id_: str) -> Candidate:
    """The candidate of an id, or of a beginning that no other has. Raises UsageError, StateError."""
    rows = index.rows(
        "SELECT position, at, length FROM units WHERE kind = 'table' AND unit_id >= ? AND unit_id < ? || char(1114111)",
        id_, id_,
    )  # fmt: skip
    found = list(_candidates(index, corpus, rows if id_ else ()))
    exact = [each for each in found if each.id == id_] or found
    if len(exact) != 1:
        what = f"there is no candidate {id_}" if not exact else f"{id_} begins {len(exact)} candidates"
        raise UsageError(what, hint="spear-chat standard candidates lists them")
    return exact[0]


def _candidates(index: UnitIndex, corpus: Corpus, rows: Iterable[tuple[int, int, int]]) -> Iterator[Candidate]:
    for position, at, length in rows:
        unit = corpus.at(at, length)
        if len(unit.rows) > 1:
            yield _candidate(unit, _caption(index, corpus, unit, position))


def cells_digest(cells: Cells) -> str:
    """SHA-256 of cells, white space aside."""
    plain = [[" ".join(cell.split()) for cell in row] for row in cells]
    return hashlib.sha256(json.dumps(plain, ensure_ascii=True).encode()).hexdigest()


def _candidate(unit: Unit, caption: str) -> Candidate:
    heading = unit.heading_path[-1] if unit.heading_path else ""
    title = " ".join((caption or heading or unit.label).split())
    return Candidate(unit.unit_id, shape_of(unit.rows), title, unit.section, unit.page, unit.label, unit.rows)


def _caption(index: UnitIndex, corpus: Corpus, unit: Unit, position: int) -> str:
    """The caption printed for a table: the one of its label, else the nearest that is no other table's."""
    near = index.rows(
        "SELECT at, length FROM units WHERE kind = 'caption' AND position BETWEEN ? AND ?"
        " ORDER BY abs(position - ?), position",
        position - _NEAR, position + _NEAR, position,
    )  # fmt: skip
    for at, length in near:
        caption = corpus.at(at, length)
        if caption.section == unit.section and (
            caption.label == unit.label or (not unit.label and not _labels_a_table(index, caption.label))
        ):
            return caption.text
    return ""


def _labels_a_table(index: UnitIndex, label: str) -> bool:
    return bool(label and index.places("folded = ? AND folded != '' AND kind = 'table'", folded(label)))


def shape_of(cells: Cells) -> Shape:
    """What cells look like: bit fields where a column of that name is mostly ranges of bits, values where some column
    is mostly numbers."""
    header, *rows = cells
    if bit_column(cells) is not None:
        return Shape.FIELDS
    numeric = (_share([value(cell) is not None for cell in _column(rows, n)]) for n in range(len(header)))
    return Shape.VALUES if any(share >= _MOSTLY for share in numeric) else Shape.TABLE


def bit_column(cells: Cells) -> int | None:
    """Which column names the bits of a layout."""
    header, *rows = cells
    for number, name in enumerate(header):
        if _BIT_HEADER.search(name) and _share([bits(cell) is not None for cell in _column(rows, number)]) >= _MOSTLY:
            return number
    return None


def _column(rows: Sequence[Sequence[str]], number: int) -> list[str]:
    return [row[number] for row in rows if number < len(row) and row[number].strip()]


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0
