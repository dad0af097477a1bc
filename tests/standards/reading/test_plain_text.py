"""Plain text as RFCs are written becomes blocks and units: furniture, contents, wrapped headings and labels, drawings."""

from __future__ import annotations

import pytest

from spear.standards.extraction import extract
from spear.standards.readers.drawings import bit_rows
from spear.standards.units import Extraction, Force, Kind, Modality

OLD = """\


Network Working Group                                         A. Author
Request for Comments: 9999                                 Example Corp
Category: Informational                                        May 1996


              SQUEEZE Compressed Format Specification version 1.0

Status of This Memo

   This memo shall not specify an Internet standard of any kind.

Table of Contents

   1. Introduction ................................................... 2
      1.1. Purpose ................................................... 2
   2. Overview of blocks ............................................. 2
   Appendix A. Samples ............................................... 3

1. Introduction

   1.1. Purpose

      The purpose of this specification is to define a format that
      must be read using only an a



Author                       Informational                      [Page 1]
\fRFC 9999       SQUEEZE Compressed Format Specification          May 1996


      priori bounded amount of storage.

2. Overview of blocks

   A compressed data set consists of a series of blocks.  The steps:

   1. Read the block.
   2. Write the block.

   The bits are:

        +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
        |  Kind |F|      Length         |
        +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
                 Figure 1: Block header

   Reserved bits must be zero.

Appendix A. Samples

   This appendix is informative.  Decoders shall ignore it.
"""

NEW = """\
               Widget Control Protocol

Abstract

   Widgets.

Table of Contents

   1.  Purpose
   2.  Operation
     2.1.  Starting the Transmission of Widgets and All That Belongs to
           Them
   3.  Long

1.  Purpose

   The key words "MUST", "SHOULD" and "MAY" in this document are to be
   interpreted as described in BCP 14 when, and only when, they appear
   in all capitals, as shown here.

2.  Operation

   Widgets must not be confused with gadgets.  A sender MUST wait (MUST-
   1), and SHOULD sleep (SHLD-1).  It MAY (MAY-1) wake early, see
   MUST-1 in Section 2 and Section 4 of RFC 791.

2.1.  Starting the Transmission of Widgets and All That Belongs to
      Them

   The size MUST be less than or equal to:

      MAX - 20

   where MAX is the largest of all (MUST-2).

   |  A quoted sender MUST NOT stop
   |  [(MUST-3)].
   |
   |  A quoted receiver MAY rest [(MAY-2)].

   Kinds are described below:

   Hard Errors
     A receiver MUST report them (MUST-4).  They are rare.

     +======+========+
     | Kind | Length |
     +======+========+
     | 0    | -      |
     +------+--------+
     | 1    | of     |
     |      | four   |
     +------+--------+

                      Table 1: Kinds

3.  Long

   The following MUST be supported (MUST-5):

   *  reading;

   *  writing.

Acknowledgments

   We must thank all.
"""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    path = tmp_path_factory.mktemp("old") / "rfc9999.txt"
    path.write_text(OLD, encoding="utf-8")
    return extract(path)


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    path = tmp_path_factory.mktemp("new") / "wcp.txt"
    path.write_text(NEW, encoding="utf-8")
    return extract(path)


def test_page_furniture_neither_stands_in_the_text_nor_cuts_a_paragraph(old: Extraction) -> None:
    whole = next(unit for unit in old.units if "using only" in unit.text)
    assert whole.text.endswith("an a priori bounded amount of storage.") and whole.section == "1.1"
    assert not any("[Page" in unit.text or "May 1996" in unit.text for unit in old.units if unit.section)


def test_pages_are_counted_by_form_feeds(old: Extraction) -> None:
    assert {unit.page for unit in old.units if unit.section == "1.1"} == {1}
    assert {unit.page for unit in old.units if unit.section == "2"} == {2}


def test_contents_are_front_matter_and_indented_headings_are_headings(old: Extraction) -> None:
    assert [unit.kind for unit in old.units if "....." in unit.text] == [Kind.FRONT_MATTER]
    assert {unit.section for unit in old.units} >= {"1", "1.1", "2", "A"}
    assert old.title == "SQUEEZE Compressed Format Specification version 1.0"


def test_what_stands_before_the_first_clause_obliges_nobody(old: Extraction) -> None:
    memo = next(unit for unit in old.units if "Internet standard" in unit.text)
    assert (memo.kind, memo.force_ceiling) == (Kind.FRONT_MATTER, Force.INFORMATIVE)


def test_a_numbered_list_is_no_heading(old: Extraction) -> None:
    assert next(unit for unit in old.units if unit.text == "Read the block.").section == "2"


def test_a_bit_layout_is_a_table_of_its_fields(old: Extraction) -> None:
    layout = next(unit for unit in old.units if unit.kind is Kind.TABLE)
    assert layout.rows[1:] == (("0", "0:3", "Kind"), ("0", "4:4", "F"), ("0", "5:15", "Length"))


def test_the_names_in_a_bit_layout_run_over_its_lines() -> None:
    lines = [
        "+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+",
        "|  Data |       |A|F|           |",
        "| Offset| Rsrvd |C|I|  Window   |",
        "|       |       |K|N|           |",
        "+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+",
        "|           Checksum            |",
        "+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+",
    ]
    assert bit_rows(lines)[1:] == (
        ("0", "0:3", "Data Offset"), ("0", "4:7", "Rsrvd"), ("0", "8:8", "ACK"), ("0", "9:9", "FIN"),
        ("0", "10:15", "Window"), ("1", "0:15", "Checksum"),
    )  # fmt: skip


def test_an_appendix_that_says_so_is_informative(old: Extraction) -> None:
    unit = next(unit for unit in old.units if "Decoders shall" in unit.text)
    assert (unit.section, unit.modality, unit.force_ceiling) == ("A", Modality.SHALL, Force.INFORMATIVE)


def test_only_capitals_count_where_the_document_says_so(new: Extraction) -> None:
    unit = next(unit for unit in new.units if "gadgets" in unit.text)
    assert (unit.kind, unit.modality) == (Kind.INFORMATIVE, Modality.NONE)


def test_labels_that_wrap_are_whole_and_each_has_its_own_force(new: Extraction) -> None:
    found = {unit.label: unit for unit in new.units if unit.label}
    forces = {label: unit.force_ceiling for label, unit in found.items() if label[0] in "MS"}
    assert forces == {
        "MUST-1": Force.REQUIREMENT, "SHLD-1": Force.RECOMMENDATION, "MAY-1": Force.PERMISSION, "MUST-2": Force.REQUIREMENT,
        "MAY-2": Force.PERMISSION, "MUST-3": Force.REQUIREMENT, "MUST-4": Force.REQUIREMENT, "MUST-5": Force.REQUIREMENT,
    }  # fmt: skip
    assert found["MUST-1"].text == found["SHLD-1"].text == "A sender MUST wait (MUST-1), and SHOULD sleep (SHLD-1)."
    assert (found["MUST-1"].modality, found["SHLD-1"].modality) == (Modality.SHALL, Modality.SHOULD)
    assert found["MUST-3"].modality is Modality.SHALL_NOT


def test_a_quotation_behind_bars_is_read_paragraph_by_paragraph(new: Extraction) -> None:
    quoted = [unit.text for unit in new.units if "quoted" in unit.text]
    assert quoted == ["A quoted sender MUST NOT stop [(MUST-3)].", "A quoted receiver MAY rest [(MAY-2)]."]


def test_a_mention_of_a_label_is_a_reference_and_no_second_provision(new: Extraction) -> None:
    permission = next(unit for unit in new.units if unit.label == "MAY-1")
    assert permission.references == ("Section 2", "MUST-1")
    assert sum(unit.label == "MUST-1" for unit in new.units) == 1


def test_a_sentence_goes_on_after_what_it_displays(new: Extraction) -> None:
    unit = next(unit for unit in new.units if unit.label == "MUST-2")
    assert "less than or equal to:\nMAX - 20\nwhere MAX is" in unit.text


def test_the_first_text_of_a_clause_carries_its_wrapped_heading(new: Extraction) -> None:
    unit = next(unit for unit in new.units if unit.section == "2.1")
    assert unit.heading_path[-1] == "2.1 Starting the Transmission of Widgets and All That Belongs to Them"
    assert unit.text.startswith("2.1. Starting the Transmission of Widgets and All That Belongs to Them\nThe size MUST")


def test_a_term_with_its_explanation_is_one_unit_and_its_lead_says_it_too(new: Extraction) -> None:
    lead = next(unit for unit in new.units if unit.text.startswith("Kinds are described below:"))
    term = next(unit for unit in new.units if unit.label == "MUST-4")
    assert term.text.startswith("Hard Errors\nA receiver") and term.within == lead.unit_id and term.text in lead.text


def test_a_grid_table_has_its_cells_and_the_label_of_its_caption(new: Extraction) -> None:
    table = next(unit for unit in new.units if unit.kind is Kind.TABLE)
    assert (table.label, table.rows) == ("Table 1", (("Kind", "Length"), ("0", "-"), ("1", "of four")))


def test_items_have_the_force_of_the_sentence_that_leads_them_in(new: Extraction) -> None:
    lead = next(unit for unit in new.units if unit.label == "MUST-5")
    items = [unit for unit in new.units if unit.within == lead.unit_id]
    assert [unit.text for unit in items] == ["reading;", "writing."] and lead.text.endswith("* reading;\n* writing.")
    assert {unit.force_ceiling for unit in items} == {Force.REQUIREMENT}


def test_what_stands_after_the_clauses_is_informative(new: Extraction) -> None:
    unit = next(unit for unit in new.units if "thank" in unit.text)
    assert (unit.section, unit.force_ceiling) == ("Acknowledgments", Force.INFORMATIVE)
