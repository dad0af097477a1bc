"""AsciiDoc becomes units: attributes, includes, admonitions, lists, tables, and text that its source marks as normative."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.errors import UsageError
from spear.standards.extraction import extract
from spear.standards.units import Extraction, Force, Kind, Modality

TEXT = """\
= Cache Specification
:sectnums:
:unit: line
:loop: {loop}{loop}

An invented document.

== Operations

// It shall be a comment.
////
It shall be one too.
////
ifdef::unset[]
It shall be left out.
endif::[]

A cache {unit} *shall* be `clean`, see <<second,the second>> and insn:add[]. (((index, entry)))
[#norm:size]#insn:add[] is implementation-defined.# [#norm:may]#It may be
64.# The rest is not marked.

[[norm:whole]]
The whole paragraph is normative.

NOTE: It shall not count.

[NOTE]
====
Nor shall this:

* at all.
====

.Fields
[cols="1,2*",options="header"]
|===
|Field |Bits |Meaning

|A
|7:0
|shall be 0
2+|both |end
|===

----
int shall;
----

Depth:: It should be 8.

The software must:

* power up;
** slowly;
* report.
+
More of the report.

[[second]]
=== Second

include::more.adoc[]
include::../secret.adoc[]
include::drawing.edn[]

[appendix]
== Old caches (informative)

They shall rest.
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    place = tmp_path_factory.mktemp("adoc")
    (place / "secret.adoc").write_text("Secret words shall stay.\n", encoding="utf-8")
    inner = place / "doc"
    inner.mkdir()
    (inner / "cache.adoc").write_text(TEXT, encoding="utf-8")
    (inner / "more.adoc").write_text(
        "==== Third\n\nIncluded text shall count.\n\ninclude::more.adoc[]\n", encoding="utf-8"
    )
    return extract(inner / "cache.adoc")


def test_clauses_are_numbered_where_the_document_asks_for_it(cache: Extraction) -> None:
    numbers = list(dict.fromkeys(unit.section for unit in cache.units))
    assert numbers[:4] == ["Cache Specification", "1", "1.1", "1.1.1"] and "A" in numbers
    assert cache.title == "Cache Specification"


def test_text_is_without_markup_and_attributes_are_filled_in(cache: Extraction) -> None:
    unit = next(unit for unit in cache.units if unit.section == "1" and unit.modality is Modality.SHALL)
    assert unit.text == "Operations\nA cache line shall be clean, see the second and add."


def test_what_the_source_marks_as_normative_is_a_provision_of_that_name(cache: Extraction) -> None:
    found = {unit.label: unit for unit in cache.units if unit.label.startswith("norm:")}
    assert found["norm:size"].text == "add is implementation-defined."
    assert {name: unit.force_ceiling for name, unit in found.items()} == {
        "norm:size": Force.REQUIREMENT, "norm:may": Force.PERMISSION, "norm:whole": Force.REQUIREMENT,
    }  # fmt: skip
    assert next(unit for unit in cache.units if "rest is not marked" in unit.text).label == ""


@pytest.mark.parametrize("words", ["It shall not count", "Nor shall this", "at all", "int shall", "They shall rest"])
def test_admonitions_code_and_informative_appendices_oblige_nobody(cache: Extraction, words: str) -> None:
    found = [unit for unit in cache.units if words in unit.text]
    assert found and all(unit.force_ceiling is Force.INFORMATIVE for unit in found)


def test_a_table_has_as_many_cells_a_row_as_columns(cache: Extraction) -> None:
    table = next(unit for unit in cache.units if unit.kind is Kind.TABLE)
    assert table.rows == (("Field", "Bits", "Meaning"), ("A", "7:0", "shall be 0"), ("both", "both", "end"))


def test_lists_nest_and_belong_to_their_lead(cache: Extraction) -> None:
    lead = next(unit for unit in cache.units if unit.text.startswith("The software must:"))
    assert [unit.text for unit in cache.units if unit.within == lead.unit_id][:3] == ["power up;", "slowly;", "report."]
    assert next(unit for unit in cache.units if "should be 8" in unit.text).text == "Depth\nIt should be 8."


def test_comments_and_text_under_conditions_are_left_out(cache: Extraction) -> None:
    assert not any("comment" in unit.text or "one too" in unit.text or "left out" in unit.text for unit in cache.units)


def test_only_documents_beneath_the_directory_are_included_and_a_loop_ends(cache: Extraction) -> None:
    whole = "\n".join(unit.text for unit in cache.units)
    assert "Included text shall count" in whole and "Secret words" not in whole
    assert any("secret.adoc" in error for error in cache.errors) and not any(".edn" in error for error in cache.errors)
    assert [path.name for path in cache.sources] == ["cache.adoc", "more.adoc"]
    assert "more.adoc includes more.adoc, which includes it" in cache.errors
    assert whole.count("Included text shall count") == 1


def test_what_is_included_counts_to_the_size_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "book.adoc"
    path.write_text("include::part.adoc[]\n" * 3, encoding="utf-8")
    with (tmp_path / "part.adoc").open("wb") as part:
        part.write(b"////\n")  # a comment that never closes: nothing comes of it
        part.truncate(40 * 1024 * 1024)
    with pytest.raises(UsageError, match="with what it includes"):
        extract(path)


def test_without_numbering_the_titles_stand_for_the_clauses(tmp_path: Path) -> None:
    path = tmp_path / "chapter.adoc"
    path.write_text("=== Chapter\n\nIt shall start.\n\n==== Part\n\nIt shall end.\n", encoding="utf-8")
    assert [unit.section for unit in extract(path).units] == ["Chapter", "Part"]
