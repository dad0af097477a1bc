from __future__ import annotations

import pytest

from spear.errors import StateError, UsageError
from spear.standards.candidates import Candidate, Shape, candidates
from spear.standards.corpus import Corpus, write_corpus
from spear.standards.index import UnitIndex, build_index
from spear.standards.structures import approve, build, decisions, promote, served
from spear.standards.units import Force, Kind, Modality, Unit
from spear.standards.values import Bits, Value, bits, value
from tests.standards.keeping.conftest import NAME


def found(stored) -> list[Candidate]:
    with stored.index() as index, stored.corpus() as corpus:
        return list(candidates(index, corpus))


@pytest.mark.parametrize(
    ("cell", "header", "expected"),
    [
        ("250 ms", "", Value(250, "ms")),
        ("20", "Limit (ms)", Value(20, "ms")),
        ("0x7E", "", Value(0x7E)),
        ("-9", "Value", Value(-9)),
        ("−9", "Value", Value(-9)),
        ("1 048 576 bytes", "", Value(1048576, "bytes")),
        ("1.5 µs", "", Value(1.5, "µs")),
        ("0b101", "Delay, ms", Value(5, "ms")),
        ("1e3 Hz", "", Value(1000.0, "Hz")),
        ("about 5", "", None),
        ("2 Truecolour", "", None),
        ("8, 16", "", None),
        ("1/2.2", "", None),
        ("", "", None),
    ],
)
def test_a_cell_is_a_number_with_its_unit_or_none(cell, header, expected):
    assert value(cell, header) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("31:24", Bits(31, 24)), ("[7..0]", Bits(7, 0)), ("0-3", Bits(3, 0)), ("5", Bits(5, 5)), ("bits 7–4", Bits(7, 4)),
     ("reserved", None), ("31:24:2", None)],
)  # fmt: skip
def test_a_range_of_bits_is_read_from_either_end(cell, expected):
    assert bits(cell) == expected


def test_tables_are_candidates_and_none_is_served(stored):
    fields, values = found(stored)
    assert (fields.shape, fields.section) == (Shape.FIELDS, "2.2")
    assert (values.shape, values.section) == (Shape.VALUES, "3")
    assert "Control word" in fields.title
    assert fields.cells[1] == ("15:8", "LEVEL", "brightness, 0 is dark")
    assert served(stored) == ()
    with pytest.raises(UsageError, match="no structure of LAMP-BUS 2 is approved"):
        build(stored)


def test_only_what_is_approved_is_built_with_values_and_cells(stored, store):
    fields, values = found(stored)
    with store.changing(NAME) as changing:
        approve(changing, fields.id, "  Ada  L. ")
    assert served(stored) == ()
    with store.changing(NAME) as changing:
        build(changing)
    (layout,) = served(stored)
    assert (layout.reviewer, layout.id, layout.digest) == ("Ada L.", fields.id, fields.digest)
    first = layout.entries[0]
    assert first.bits is not None
    assert (first.bits.high, first.bits.low, first.bits.width, first.bits.cell) == (15, 8, 8, "r2c1")
    assert [(cell.column, cell.cell, cell.text) for cell in first.cells[1:]] == [
        ("Name", "r2c2", "LEVEL"), ("Meaning", "r2c3", "brightness, 0 is dark"),
    ]  # fmt: skip
    with store.changing(NAME) as changing:
        approve(changing, values.id, "Ada")
        build(changing)
    poll, silence, settle = (entry.cells[1] for entry in served(stored)[1].entries)
    assert (poll.value, poll.unit, poll.cell) == (20, "ms", "r2c2")
    assert (silence.value, silence.unit) == (100, "ms")
    assert (settle.value, settle.unit, settle.text) == (None, "", "about 5")
    assert store.trusted(NAME)


def test_what_was_only_promoted_is_not_built(stored, store):
    fields, values = found(stored)
    with store.changing(NAME) as changing:
        approve(changing, fields.id, "Ada")
        promote(changing, values.id, None, "Timers")
        build(changing)
    assert [structure.id for structure in served(stored)] == [fields.id]


def test_an_approval_needs_a_person_and_a_candidate(stored):
    with pytest.raises(UsageError, match="needs its reviewer"):
        approve(stored, found(stored)[0].id, " ")
    for id_ in ("nothing", ""):
        with pytest.raises(UsageError, match=f"there is no candidate {id_}"):
            approve(stored, id_, "Ada")
    with pytest.raises(UsageError, match="u- begins 2 candidates"):
        approve(stored, "u-", "Ada")
    assert decisions(stored) == {}


def test_the_beginning_of_a_candidates_id_will_do(stored):
    fields, _ = found(stored)
    assert approve(stored, fields.id[:8], "Ada") == fields


def test_promoting_takes_an_approval_back(stored, store):
    fields, _ = found(stored)
    with store.changing(NAME) as changing:
        approve(changing, fields.id, "Ada")
        build(changing)
        promote(changing, fields.id, Shape.TABLE, "The control word")
    assert served(stored) == ()
    with store.changing(NAME) as changing:
        approve(changing, fields.id, "Ada")
        build(changing)
    (layout,) = served(stored)
    assert (layout.kind, layout.title) == (Shape.TABLE, "The control word")


def test_an_approval_is_for_the_cells_that_were_seen(stored, store):
    fields, _ = found(stored)
    approve(stored, fields.id, "Ada")
    path = stored.place / "structures/decisions.json"
    path.write_text(path.read_text().replace(fields.digest, "0" * 64))
    with pytest.raises(UsageError, match="are not those Ada approved"):
        build(stored)
    assert served(stored) == ()


def test_structures_edited_by_hand_are_not_used_and_do_not_outlive_a_rebuild(stored, store):
    fields, _ = found(stored)
    with store.changing(NAME) as changing:
        approve(changing, fields.id, "Ada")
        build(changing)
    path = stored.place / "structures/served.json"
    path.write_text(path.read_text().replace("LEVEL", "SCALE"))
    with pytest.raises(StateError):
        store.trusted(NAME)
    assert any("served.json" in problem for problem in stored.verify())
    assert stored.rebuild() is True
    assert served(store.trusted(NAME)) == ()
    assert decisions(stored) == {}


def test_a_table_is_titled_by_its_own_caption(tmp_path):
    def unit(n: int, kind: Kind, label: str, text: str, section: str = "1") -> Unit:
        rows = (("A", "B"), ("1", "2")) if kind is Kind.TABLE else ()
        return Unit(f"u{n}", kind, "", label, section, (f"{section} Heading",), None, (n, n), text, Modality.NONE,
                    Force.INFORMATIVE, rows=rows)  # fmt: skip

    units = (
        unit(1, Kind.TABLE, "Table 2", "t"), unit(2, Kind.CAPTION, "Table 2", "Table 2: Sent"),
        unit(3, Kind.TABLE, "Table 3", "t"), unit(4, Kind.CAPTION, "Table 3", "Table 3: Received"),
        unit(5, Kind.TABLE, "", "t"), unit(6, Kind.CAPTION, "Figure 9", "Figure 9: Layout"),
        unit(7, Kind.TABLE, "", "t", "2"),
    )  # fmt: skip
    sha256 = write_corpus(tmp_path, units)
    with Corpus(tmp_path) as corpus:
        build_index(tmp_path, corpus, sha256)
        with UnitIndex(tmp_path, sha256) as index:
            titles = [each.title for each in candidates(index, corpus)]
    assert titles == ["Table 2: Sent", "Table 3: Received", "Figure 9: Layout", "2 Heading"]
