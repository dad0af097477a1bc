"""Structures: what a person approved of the candidates, and what is built and served of that (spec 5.1).

An approval names its reviewer and is pinned to the digest of the cells it was given for: other cells need another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from spear.errors import StateError, UsageError
from spear.standards.candidates import Candidate, Shape, bit_column, candidate
from spear.standards.store import STRUCTURES, StoredStandard
from spear.standards.values import bits, value
from spear.state.audit import timestamp
from spear.state.files import make_private_directory, replace_durably, state_error

_DECISIONS, _SERVED = "decisions.json", "served.json"
_Model = TypeVar("_Model", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Approval(_Part):
    """Who approved, when, and the digest of the cells they saw."""

    reviewer: str
    at: str
    digest: str


class Decision(_Part):
    """What people said of one candidate: what it is (None: as found), what it is called, that it may be served."""

    shape: Shape | None = None
    title: str = ""
    approval: Approval | None = None


class Cell(_Part):
    """One cell that was read: where it stands (`r2c1`, the header row is 1), what it says, and the number in it."""

    column: str
    cell: str
    text: str
    value: int | float | None = None
    unit: str = ""


class BitRange(_Part):
    """The bits of a field, and the cell that names them."""

    high: int
    low: int
    width: int
    cell: str


class Entry(_Part):
    """One row: its cells, and its bits in a layout."""

    cells: tuple[Cell, ...]
    bits: BitRange | None = None


class Structure(_Part):
    """A structure as it is served: the approved cells with their values, and where they were printed. `id` is that of
    the table's unit."""

    id: str
    kind: Shape
    title: str
    section: str
    page: int | None
    label: str
    columns: tuple[str, ...]
    entries: tuple[Entry, ...]
    reviewer: str
    approved_at: str
    digest: str


class _Decisions(_Part):
    decisions: Mapping[str, Decision] = {}


class _Served(_Part):
    structures: tuple[Structure, ...] = ()


def promote(standard: StoredStandard, id_: str, shape: Shape | None, title: str) -> Candidate:
    """Say what a candidate is and what it is called; an approval it had is withdrawn, for it was not given for that.
    Raises UsageError, StateError."""
    with standard.index() as index, standard.corpus() as corpus:
        found = candidate(index, corpus, id_)
    before = decisions(standard).get(found.id, Decision())
    _decide(standard, found.id, Decision(shape=shape or before.shape, title=title or before.title))
    return found


def approve(standard: StoredStandard, id_: str, reviewer: str) -> Candidate:
    """Approve a candidate as it is now. Raises UsageError, StateError."""
    if not reviewer.strip():
        raise UsageError("an approval needs its reviewer", hint="--reviewer NAME")
    with standard.index() as index, standard.corpus() as corpus:
        found = candidate(index, corpus, id_)
    approval = Approval(reviewer=" ".join(reviewer.split()), at=timestamp(), digest=found.digest)
    before = decisions(standard).get(found.id, Decision())
    _decide(standard, found.id, before.model_copy(update={"approval": approval}))
    return found


def build(standard: StoredStandard) -> tuple[Structure, ...]:
    """Build every approved candidate and serve just those. Raises UsageError where none is approved, or one is not what
    was approved; StateError."""
    built = []
    with standard.index() as index, standard.corpus() as corpus:
        for id_, decision in decisions(standard).items():
            if decision.approval is None:
                continue
            found = candidate(index, corpus, id_)
            if found.digest != decision.approval.digest:
                raise UsageError(
                    f"the cells of {id_} are not those {decision.approval.reviewer} approved",
                    hint=f"look at it, then: spear-chat standard approve-structure {standard.name} {id_}",
                )
            built.append(_structure(found, decision, decision.approval))
    if not built:
        raise UsageError(
            f"no structure of {standard.name} is approved",
            hint=f"spear-chat standard approve-structure {standard.name} CANDIDATE --reviewer NAME",
        )
    _write(standard, _SERVED, _Served(structures=tuple(built)))
    return tuple(built)


def decisions(standard: StoredStandard) -> Mapping[str, Decision]:
    """What people said of the candidates, by their ids. Raises StateError."""
    return _read(standard.place / STRUCTURES / _DECISIONS, _Decisions).decisions


def served(standard: StoredStandard) -> tuple[Structure, ...]:
    """The structures that may be served: built of approved candidates. Raises StateError."""
    return _read(standard.place / STRUCTURES / _SERVED, _Served).structures


def _decide(standard: StoredStandard, id_: str, decision: Decision) -> None:
    """Record a decision; what is served of a candidate that is no longer approved so is served no more."""
    known = {**decisions(standard), id_: decision}
    kept = tuple(each for each in served(standard) if each.id != id_)
    _write(standard, _DECISIONS, _Decisions(decisions=known))
    if len(kept) != len(served(standard)):
        _write(standard, _SERVED, _Served(structures=kept))


def _structure(found: Candidate, decision: Decision, approval: Approval) -> Structure:
    header, *rows = found.cells
    at = bit_column(found.cells)
    return Structure(
        id=found.id, kind=decision.shape or found.shape, title=decision.title or found.title, section=found.section,
        page=found.page, label=found.label, columns=header,
        entries=tuple(_entry(header, row, number, at) for number, row in enumerate(rows, 2)),
        reviewer=approval.reviewer, approved_at=approval.at, digest=approval.digest,
    )  # fmt: skip


def _entry(header: tuple[str, ...], row: tuple[str, ...], number: int, bits_at: int | None) -> Entry:
    cells = []
    for column, text in enumerate(row, 1):
        name = header[column - 1] if column <= len(header) else ""
        read = value(text, name) if column - 1 != bits_at else None
        place = f"r{number}c{column}"
        worth, unit = (read.number, read.unit) if read else (None, "")
        cells.append(Cell(column=name, cell=place, text=text, value=worth, unit=unit))
    named = bits(row[bits_at]) if bits_at is not None and bits_at < len(row) else None
    if named is None or bits_at is None:
        return Entry(cells=tuple(cells))
    return Entry(
        cells=tuple(cells),
        bits=BitRange(high=named.high, low=named.low, width=named.width, cell=f"r{number}c{bits_at + 1}"),
    )


def _read(path: Path, model: type[_Model]) -> _Model:
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return model()
    except OSError as error:
        raise state_error("read", path, error) from error
    except ValidationError as error:
        raise StateError(
            f"{path} does not hold what was approved", hint="remove that file, then approve the structures again"
        ) from error


def _write(standard: StoredStandard, name: str, content: BaseModel) -> None:
    make_private_directory(standard.place / STRUCTURES)
    replace_durably(standard.place / STRUCTURES / name, (content.model_dump_json(indent=2) + "\n").encode())
