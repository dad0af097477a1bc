"""reStructuredText becomes units: Sphinx's files in their order, numbers by nesting, nothing outside the directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.errors import UsageError
from spear.standards.extraction import extract
from spear.standards.units import Extraction, Force, Kind

FILES = {
    "index.rst": "|spec| Specification\n====================\n\n.. toctree::\n   :numbered:\n\n   licence\n   first\n   Second <parts/second>\n"
    "   missing\n   index\n   first\n",
    "rst_prolog": ".. |spec| replace:: Tree\n",
    "conf.py": 'release = "2.1"\nimport os\nos.abort()\n',
    "licence.rst": "**Licence**\n\nNobody shall be liable.\n",
    "first.rst": """\
First
=====

A node shall have a name, see :numref:`names` in |release| and :ref:`deep`.

.. _names:

.. table:: Names

   ===== ==========
   Name  Meaning
   ===== ==========
   reg   shall be 1
   ===== ==========

reg
---

.. note:: It shall not count.

.. code-block:: c
   :caption: Sample

   int shall;

.. include:: parts/included.txt

.. include:: ../secret.txt

.. include:: /etc/hostname

.. raw:: html

   <b>raw words</b>

.. unheardof:: argument

   Inner text must survive, :weird:role:`with` :numref:`Chapter %s <deep>`.

#. One shall:

   * blink;

Term
   It may mean |nothing|.

.. c:function:: int foo(void)
""",
    "parts/second.rst": "Second\n======\n\n.. _deep:\n\nDeep\n----\n\nNo node must be lost. [CIT]_\n\n.. [CIT] It shall be cited.\n",
    "parts/included.txt": "Included text should be read.\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    place = tmp_path_factory.mktemp("rst")
    (place / "secret.txt").write_text("Secret words shall stay.\n", encoding="utf-8")
    for name, text in FILES.items():
        path = place / "doc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return extract(place / "doc" / "index.rst")


def test_clauses_are_numbered_by_the_order_of_files_and_their_nesting(tree: Extraction) -> None:
    assert [n for n in dict.fromkeys(unit.section for unit in tree.units) if n[:1].isdigit()] == [
        "1",
        "1.1",
        "2",
        "2.1",
    ]
    assert tree.title == "Tree Specification"


def test_a_heading_of_three_letters_is_one(tree: Extraction) -> None:
    assert any(unit.heading_path[-1:] == ("1.1 reg",) for unit in tree.units)


def test_text_before_the_first_clause_is_front_matter(tree: Extraction) -> None:
    assert next(unit for unit in tree.units if "liable" in unit.text).kind is Kind.FRONT_MATTER


def test_references_and_substitutions_are_resolved(tree: Extraction) -> None:
    unit = next(unit for unit in tree.units if "A node shall" in unit.text)
    assert (
        unit.text.endswith("A node shall have a name, see Table 1.1 in 2.1 and Deep.")
        and "Table 1.1" in unit.references
    )
    assert any("with Chapter 2.1." in unit.text for unit in tree.units)
    assert any("nothing" in unit.text for unit in tree.units)


def test_a_table_has_its_cells_and_its_number(tree: Extraction) -> None:
    table = next(unit for unit in tree.units if unit.kind is Kind.TABLE)
    assert (table.label, table.rows) == ("Table 1.1", (("Name", "Meaning"), ("reg", "shall be 1")))


@pytest.mark.parametrize("words", ["It shall not count", "int shall", "It shall be cited"])
def test_notes_code_and_citations_oblige_nobody(tree: Extraction, words: str) -> None:
    assert next(unit for unit in tree.units if words in unit.text).force_ceiling is Force.INFORMATIVE


def test_what_no_directive_or_role_is_known_for_keeps_its_text(tree: Extraction) -> None:
    unit = next(unit for unit in tree.units if "Inner text must survive" in unit.text)
    assert unit.force_ceiling is Force.REQUIREMENT


def test_lists_and_terms_are_items(tree: Extraction) -> None:
    lead = next(unit for unit in tree.units if unit.text.startswith("One shall:"))
    assert [unit.text for unit in tree.units if unit.within == lead.unit_id] == ["blink;"]
    assert next(unit for unit in tree.units if "may mean" in unit.text).text.startswith("Term\n")


def test_only_files_beneath_the_directory_are_read_and_no_code_is_run(tree: Extraction) -> None:
    whole = "\n".join(unit.text for unit in tree.units)
    assert "Included text should be read" in whole and "Secret words" not in whole and "raw words" not in whole
    assert [error.split(" names ")[1].split(",")[0] for error in tree.errors] == [
        "../secret.txt",
        "/etc/hostname",
        "missing",
    ]
    names = {path.name for path in tree.sources}
    assert names == {"index.rst", "rst_prolog", "conf.py", "licence.rst", "first.rst", "second.rst", "included.txt"}
    assert tree.sources[0].name == "index.rst"


def test_a_lone_title_over_all_the_rest_is_the_documents(tmp_path: Path) -> None:
    path = tmp_path / "one.rst"
    path.write_text("Title\n#####\n\nIntro.\n\nFirst\n=====\n\nIt shall.\n\nSub\n---\n\nIt may.\n", encoding="utf-8")
    assert [(unit.section, unit.kind) for unit in extract(path).units] == [
        ("Title", "front_matter"), ("1", "requirement"), ("1.1", "permission"),
    ]  # fmt: skip


def test_a_lone_heading_is_a_clause(tmp_path: Path) -> None:
    path = tmp_path / "one.rst"
    path.write_text("Title\n=====\n\nIt shall.\n", encoding="utf-8")
    assert [(unit.section, unit.kind) for unit in extract(path).units] == [("Title", "requirement")]


def test_a_file_that_includes_itself_is_read_once_and_told(tmp_path: Path) -> None:
    path = tmp_path / "loop.rst"
    again = ".. include:: other.rst\n\n" * 3
    path.write_text(f"A\n=\n\nIt shall.\n\n{again}.. toctree::\n\n   loop\n", encoding="utf-8")
    (tmp_path / "other.rst").write_text("Another one may.\n\n.. include:: loop.rst\n", encoding="utf-8")
    found = extract(path)
    assert sum(unit.force_ceiling is Force.REQUIREMENT for unit in found.units) == 1
    assert found.errors == ("other.rst includes loop.rst, which includes it",)


@pytest.mark.parametrize("text", ["word " * 5000, "".join("  " * n + "- a\n\n" for n in range(400))])
def test_lines_or_lists_beyond_bounds_are_refused_with_a_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wild.rst"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        extract(path)
    assert caught.value.hint
