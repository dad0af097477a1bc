"""HTML becomes units: ReSpec's sources numbered as they are shown, published documents by their printed numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from spear.standards.extraction import extract
from spear.standards.units import Extraction, Force, Kind
from tests.standards.reading.outcomes import outcome

SOURCE = """\
<!DOCTYPE html><html><head><title>Picture Format</title>
<script src="https://example.org/respec-w3c" class="remove"></script><style>p { must: hold }</style></head><body>
<section id="abstract"><p>A format that shall be small.</p></section>
<h2 id="intro">Introduction</h2>
<p>It should be easy.</p>
<section><h2>Concepts</h2>
  <section class="introductory"><h3>Overview</h3><p>Pictures are read.</p></section>
  <section id="layers"><h3>Layers</h3><p>See <a href="#colours"></a>, <a href="#types"></a> and [[!OTHER]].</p></section>
</section>
<section id="colours"><h2><dfn>Colours</dfn></h2>
<p>A colour shall be one of the following:</p>
<ul><li>red;</li><li>2<sup>8</sup> shades of grey.</li></ul>
<div class="note"><p>Green shall not be used.</p></div>
<aside class="example"><p>Blue must.</p></aside>
<dl><dt>depth<dt>width<dd>It may be 8.</dd></dl>
<table id="types" class="simple"><caption>Types</caption>
<tr><th rowspan="2">Type</th><th colspan="2">Depths</th></tr><tr><td>1</td><td>shall be 2</td></tr></table>
<p>An encoder MUST NOT<!-- shall --> stop.</p>
<script>document.write("shall")</script>
</section>
<section data-include="more.html"></section>
<section data-include="../outside.html"></section>
<section class="appendix informative" id="old"><h2>Old formats</h2><section><h3>First</h3><p>They shall rest.</p></section></section>
<section class="appendix"><h2>Media type</h2><p>The type shall be image/x.</p></section>
</body></html>
"""

PUBLISHED = """\
<html><head><title>Published</title></head><body><h1>Published</h1>
<nav id="toc"><ol><li><a href="#a">1 Scope</a></ol></nav>
<h2 id="a"><span class="secno">1. </span>Scope<a class="self-link" href="#a">¶</a></h2><p>This <b>shall</b> hold.
<h2><span class="secno">2. </span>Body</h2><h3>2.1. Deep</h3>
<p>A client <em class="rfc2119">MUST</em> reply. It may retry.
<h3>Unnumbered</h3><p>It should rest.
<h2>Annex A (informative)</h2><p>It shall not.
</body></html>
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Extraction:
    place = tmp_path_factory.mktemp("html")
    (place / "outside.html").write_text("<h2>Outside</h2><p>It shall not be read.</p>", encoding="utf-8")
    inner = place / "spec"
    inner.mkdir()
    (inner / "index.html").write_text(SOURCE, encoding="utf-8")
    (inner / "more.html").write_text("<h2>More</h2><p>Included text shall count.</p>", encoding="utf-8")
    return extract(inner / "index.html")


def test_sections_are_numbered_by_nesting_as_they_are_shown(source: Extraction) -> None:
    numbers = {unit.heading_path[-1] for unit in source.units if unit.heading_path}
    assert numbers == {
        "1 Introduction", "2 Concepts", "Overview", "2.1 Layers", "3 Colours", "4 More", "A Old formats", "A.1 First", "B Media type",
    }  # fmt: skip


def test_an_introductory_section_has_no_number_and_stands_in_the_one_around_it(source: Extraction) -> None:
    assert next(unit for unit in source.units if "Pictures are read" in unit.text).section == "2"


def test_links_that_are_filled_when_shown_are_filled(source: Extraction) -> None:
    unit = next(unit for unit in source.units if unit.section == "2.1")
    assert unit.text.endswith("See section 3, Table 1 and [OTHER].") and unit.references == ("section 3", "Table 1")


def test_what_markup_calls_a_note_or_an_example_obliges_nobody(source: Extraction) -> None:
    for words in ("Green shall", "Blue must", "They shall rest"):
        assert next(unit for unit in source.units if words in unit.text).force_ceiling is Force.INFORMATIVE
    assert next(unit for unit in source.units if "image/x" in unit.text).force_ceiling is Force.REQUIREMENT


def test_a_list_belongs_to_its_lead(source: Extraction) -> None:
    lead = next(unit for unit in source.units if "one of the following" in unit.text)
    assert [unit.text for unit in source.units if unit.within == lead.unit_id] == ["red;", "2^8 shades of grey."]


def test_terms_that_share_an_explanation_stand_before_it(source: Extraction) -> None:
    assert next(unit for unit in source.units if "may be 8" in unit.text).text == "depth, width\nIt may be 8."


def test_cells_that_span_stand_in_each_place(source: Extraction) -> None:
    table = next(unit for unit in source.units if unit.kind is Kind.TABLE)
    assert table.rows == (("Type", "Depths", "Depths"), ("Type", "1", "shall be 2")) and table.label == "Table 1"


def test_scripts_styles_and_comments_are_no_text(source: Extraction) -> None:
    assert not any("document.write" in unit.text or "hold" in unit.text for unit in source.units)
    assert any(unit.text == "An encoder MUST NOT stop." for unit in source.units)


def test_only_files_beneath_the_directory_are_included(source: Extraction) -> None:
    assert any("Included text" in unit.text for unit in source.units)
    assert not any("not be read" in unit.text for unit in source.units)
    assert [path.name for path in source.sources] == ["index.html", "more.html"] and "outside.html" in source.errors[0]


def test_printed_numbers_are_used_where_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PUBLISHED, encoding="utf-8")
    units = extract(path).units
    assert [unit.section for unit in units if unit.force_ceiling is not Force.INFORMATIVE] == ["1", "2.1", "2.1", "2"]
    assert next(unit for unit in units if "hold" in unit.text).text == "1. Scope\nThis shall hold."
    assert next(unit for unit in units if "shall not" in unit.text).section == "A"


def test_entities_are_not_expanded_and_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden words", encoding="utf-8")
    path = tmp_path / "x.html"
    path.write_text(
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]><html><body><h2>1 A</h2><p>It shall &x; be.</p></body></html>',
        encoding="utf-8",
    )
    assert not any("hidden words" in unit.text for unit in extract(path).units)


def test_a_tree_that_is_too_deep_is_cut_or_refused_but_never_breaks(tmp_path: Path) -> None:
    path = tmp_path / "deep.html"
    path.write_text("<html><body>" + "<div><ul><li>" * 3000 + "It shall end." + "</body></html>", encoding="utf-8")
    came = outcome(path)
    assert isinstance(came, Extraction) or "deep" in str(came)


def test_a_text_wrapped_into_html_is_read_as_the_text_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rfc.html"
    body = "".join(
        f"{n}.  Clause {n}\n\n   The field &amp; its value shall be\n   {n} octets long.\n\n" for n in range(1, 31)
    )
    path.write_text(f"<html><head><title>RFC</title></head><body>\n<pre>\n{body}</pre></body></html>", encoding="utf-8")
    units = extract(path).units
    assert [unit.section for unit in units] == [str(n) for n in range(1, 31)]
    assert units[4].text == "5. Clause 5\nThe field & its value shall be 5 octets long."
    first = path.read_text(encoding="utf-8").splitlines()[units[4].lines[0] - 1]
    assert first.startswith("   The field")
