"""PDFs become units with their pages: contents, outlines, wrapped headings, furniture, tables over pages, soft hyphens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spear.errors import UsageError
from spear.standards.extraction import extract
from spear.standards.readers.pdf_headings import Headings
from spear.standards.readers.pdf_layout import Layout
from spear.standards.readers.pdf_lines import PdfLine, furniture_of, unhyphenated
from spear.standards.units import Extraction, Force, Kind
from spear.standards.usability import problems
from tests.standards.reading.outcomes import outcome
from tests.standards.reading.pdf_documents import PdfPage, link_specification, pdf

OUTLINE = [
    ("1 Scope", 2), ("2 Definitions", 2), ("3 Frames", 3), ("3.1 Header of frames that carry acknowledgements", 3), ("3.2 Timing", 4),
    ("4 Registers", 5), ("Annex A (informative) Background", 5), ("A.1 History", 5),
]  # fmt: skip


@pytest.fixture(scope="module", params=["contents", "outline"])
def link(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    path = tmp_path_factory.mktemp("pdf") / "link.pdf"
    path.write_bytes(pdf(link_specification(), OUTLINE if request.param == "outline" else (), title="TAIL"))
    return extract(path)


def test_clauses_and_their_pages_are_found(link: Extraction) -> None:
    pages: dict[str, int | None] = {}
    for unit in link.units:
        if unit.section:
            pages.setdefault(unit.section, unit.page)
    assert pages == {"1": 2, "2": 2, "3": 3, "3.1": 3, "3.2": 4, "4": 5, "A": 5, "A.1": 5}
    assert link.pages == 5 and link.title == "TAIL" and all(unit.page for unit in link.units)


def test_a_heading_that_wraps_is_whole(link: Extraction) -> None:
    path = next(unit.heading_path for unit in link.units if unit.section == "3.1")
    assert path == ("3 Frames", "3.1 Header of frames that carry acknowledgements")


def test_a_numbered_list_is_items_of_its_lead(link: Extraction) -> None:
    lead = next(unit for unit in link.units if "set as follows:" in unit.text)
    items = [unit.text for unit in link.units if unit.within == lead.unit_id]
    assert items == [
        "Set the version to 2.",
        "Set the length to the number of octets that follow.",
        "Clear the reserved bits.",
    ]


def test_what_repeats_on_pages_is_furniture_and_stands_once(link: Extraction) -> None:
    furniture = [unit.text for unit in link.units if unit.kind is Kind.FURNITURE]
    assert furniture == ["TAIL Link Layer, Revision 2", "Page 1 of 5"]
    assert not any("Revision 2" in unit.text for unit in link.units if unit.kind is not Kind.FURNITURE)


def test_contents_are_front_matter(link: Extraction) -> None:
    assert {unit.kind for unit in link.units if ". . . ." in unit.text} == {Kind.FRONT_MATTER}


def test_a_table_over_two_pages_is_one_with_one_header(link: Extraction) -> None:
    (table,) = [unit for unit in link.units if unit.kind is Kind.TABLE]
    assert [row[0] for row in table.rows] == ["Name", "OK", "BAD", "LATE", "LOST"]
    assert (table.label, table.page, table.section) == ("Table 1", 3, "3.1")
    assert not any("never arrived" in unit.text for unit in link.units if unit.kind is not Kind.TABLE)


def test_a_row_whose_text_runs_over_the_edges_of_its_cells_is_one_cell(tmp_path: Path) -> None:
    page = PdfPage()
    page.heading("1 Registers")
    page.paragraph("They shall be kept.")
    page.table([("Name", "Value", ""), ("a0", "1", "kept"), ("All the other registers are kept", "", "as they are")])
    path = tmp_path / "wide.pdf"
    path.write_bytes(pdf([page]))
    (table,) = [unit for unit in extract(path).units if unit.kind is Kind.TABLE]
    assert table.rows[1:] == (("a0", "1", "kept"), ("All the other registers are kept", "", "as they are"))


def test_a_paragraph_over_two_pages_is_one(link: Extraction) -> None:
    unit = next(unit for unit in link.units if unit.section == "3.2")
    assert unit.text.startswith("3.2 Timing\nAn acknowledgement shall") and "in 3.1 that none is wanted." in unit.text


def test_code_notes_and_informative_annexes_oblige_nobody(link: Extraction) -> None:
    for words in ("typedef struct", "NOTE: older", "Earlier links"):
        assert next(unit for unit in link.units if words in unit.text).force_ceiling is Force.INFORMATIVE


def test_progress_is_told_in_pages(tmp_path: Path) -> None:
    path = tmp_path / "link.pdf"
    path.write_bytes(pdf(link_specification()))
    told: list[tuple[int, int]] = []
    extract(path, progress=lambda done, total: told.append((done, total)))
    assert told == [(number, 5) for number in range(1, 6)]


def test_a_scan_is_read_and_said_to_be_unusable(tmp_path: Path) -> None:
    pages = [PdfPage() for _ in range(10)]
    pages[0].heading("1 Scope")
    pages[0].paragraph("It shall be seen.")
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf(pages))
    extraction = extract(path)
    assert "no text on 9 of 10 pages" in extraction.errors[0]
    assert any("10 pages" in reason for reason in problems(extraction))


@pytest.mark.parametrize("length", [200, 900])
def test_a_truncated_pdf_is_refused_with_a_remedy_or_read_as_far_as_it_goes(tmp_path: Path, length: int) -> None:
    path = tmp_path / "cut.pdf"
    path.write_bytes(pdf(link_specification())[:length])
    came = outcome(path)
    if isinstance(came, UsageError):
        assert "damaged" in came.message and came.hint
    else:
        assert isinstance(came, Extraction) and problems(came)


def test_a_locked_pdf_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    lock = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00> <00>]" % (
        b"41" * 32,
        b"42" * 32,
    )
    path.write_bytes(pdf(link_specification()).replace(b"/Root 1 0 R", b"/Root 1 0 R " + lock))
    with pytest.raises(UsageError, match="password") as caught:
        extract(path)
    assert caught.value.hint


def test_a_typewritten_pdf_is_read_like_plain_text(tmp_path: Path) -> None:
    first, second = PdfPage(), PdfPage()
    for page, parts in (
        (first, ["1.  Scope", "   This is about typing", "   on paper."]),
        (second, ["   It shall go on", "   here. It may end."]),
    ):
        for text in parts:
            page.text(text.lstrip(), font="mono", x=72 + 6 * (len(text) - len(text.lstrip())))
            page.y += 12 if text[0].isdigit() else 0
    second.y += 12
    second.text("2.  Next", font="mono")
    second.y += 12
    second.text("It should rest.", font="mono", x=90)
    path = tmp_path / "typed.pdf"
    path.write_bytes(pdf([first, second]))
    found = [(unit.section, unit.page, unit.kind.value) for unit in extract(path).units]
    assert found == [
        ("1", 1, "informative"),
        ("1", 2, "requirement"),
        ("1", 2, "permission"),
        ("2", 2, "recommendation"),
    ]


def line(text: str, page: int, *, y: float = 400, soft: bool = False) -> PdfLine:
    return PdfLine(text, page, 72, 500, y, y + 12, 10, bold=False, mono=False, height=792, soft=soft)


def test_a_soft_hyphen_goes_where_the_document_has_the_word_in_one() -> None:
    lines = [
        line("An interrupt and an inter", 1, soft=True),
        line("rupt in M", 1, y=380, soft=True),
        line("mode.", 1, y=360),
    ]
    assert [each.text for each in unhyphenated(lines)] == ["An interrupt and an interrupt in M-mode."]


def test_a_word_cut_at_the_end_of_a_line_ends_no_paragraph() -> None:
    cut = [
        line("It shall be in M", 1, y=400, soft=True),
        line("mode, or", 1, y=386),
        line("it shall not be.", 1, y=372),
    ]
    before = line("There is a mode.", 1, y=414)
    lines = [replace(each, number=n) for n, each in enumerate(unhyphenated([before, *cut]), 1)]
    (block,) = Layout(lines, {}, Headings((), 10, frozenset()), ()).blocks()
    assert block.text == "There is a mode. It shall be in M-mode, or it shall not be."


def test_only_what_repeats_at_the_edge_is_furniture() -> None:
    lines = [
        line(text, page, y=y)
        for page in range(1, 9)
        for text, y in (("Head 1", 760), ("Body repeats.", 400), (str(page), 20))
    ]
    lines.append(line("Once, low on the page", 3, y=60))
    furniture = furniture_of(lines, 8)
    assert {each.text for each in lines if furniture.has(each)} == {"Head 1", *map(str, range(1, 9))}
