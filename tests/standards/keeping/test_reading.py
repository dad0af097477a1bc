"""Searching, opening and citing: the clause that answers, the provision a citation names."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.errors import UsageError
from spear.standards.citation import citation, cited
from spear.standards.lookup import look_up
from spear.standards.search import search
from spear.standards.units import Force, Kind, Modality, Unit


@pytest.fixture
def opened(stored):
    with stored.index() as index, stored.corpus() as corpus:
        yield index, corpus


@pytest.mark.parametrize(
    ("question", "section", "says"),
    [
        ("How long may a frame be before a lamp discards it?", "2.1", "64 octets"),
        ("Which octet begins a frame?", "2.1", "0x5A"),
        ("How fast must a poll be answered?", "3", "within 20 ms"),
        ("What does LATCH do?", "2.2", "LATCH"),
        ("reporting broken filaments", "4", "broken filament"),
        ("What does Rule 3.1-1 say?", "3.1", "shall not blink"),
        ("What is in §2.2?", "2.2", ""),
        ("Permission 3-2", "3", "stay silent"),
        ("Does §3.1 say that a frame longer than 64 octets is discarded?", "3.1", ""),
        ("Is Rule 3.1-1 about the octet that begins a frame?", "3.1", "shall not blink"),
    ],
)
def test_a_question_finds_its_clause_and_the_sentence(opened, question, section, says):
    hit = search(*opened, question, 3)[0]
    assert hit.unit.section == section
    assert says in hit.unit.text


def test_there_is_one_hit_a_clause_and_no_more_than_asked_for(opened):
    hits = search(*opened, "lamp frame shall", 10)
    assert len({hit.unit.section for hit in hits}) == len(hits) > 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(search(*opened, "lamp frame shall", 2)) == 2


def test_a_hit_brings_what_belongs_to_it(opened):
    hit = search(*opened, "poll answered within", 1, completion=2)[0]
    assert len(hit.completion) == 2
    assert any("stay silent" in unit.text for unit in hit.completion)
    assert hit.unit not in hit.completion


@settings(max_examples=60)
@given(st.text(max_size=80))
def test_no_question_is_an_error(tmp_path_factory, text):
    index, corpus = _shared(tmp_path_factory)
    assert len(search(index, corpus, text, 5)) <= 5
    with contextlib.suppress(UsageError):
        look_up(index, corpus, text)


def test_a_question_of_any_length_is_searched(opened):
    words = " ".join(f"word{n} frame lamp{n % 7} §{n}.{n} Rule {n}-{n}" for n in range(3000))
    assert search(*opened, words, 5)
    with pytest.raises(UsageError):
        look_up(*opened, words)


_OPEN: list[tuple[object, object]] = []


def _shared(factory):
    """One store for all examples of a property."""
    from spear.standards.ingestion import Document, ingest
    from spear.standards.store import StandardStore
    from tests.standards.keeping.conftest import NAME, TEXT

    if not _OPEN:
        place = factory.mktemp("shared")
        (place / "lamp.md").write_text(TEXT)
        store = StandardStore(place / "standards")
        ingest(store, Document(place / "lamp.md", NAME), lambda *_: None)
        _OPEN.append((store.stored(NAME).index(), store.stored(NAME).corpus()))
    return _OPEN[0]


@pytest.mark.parametrize(
    "reference", ["Rule 2.1-2", "rule  2.1-2", "2.1-2", "(Rule 2.1-2, §2.1)", "(Rule 2.1-2, §2.1, p. 4)"]
)
def test_a_provision_opens_by_its_label_its_ordinal_or_its_citation(opened, reference):
    found = look_up(*opened, reference)
    assert found.by_label
    assert [unit.label for unit in found.units] == ["Rule 2.1-2"]


@pytest.mark.parametrize("reference", ["2.1", "§2.1", "§ 2.1", "section 2.1", "Clause 2.1"])
def test_a_clause_opens_by_its_number(opened, reference):
    found = look_up(*opened, reference)
    assert not found.by_label
    assert {unit.section for unit in found.units} == {"2.1"}


def test_a_clause_names_those_below_it(opened):
    assert [clause.section for clause in look_up(*opened, "3").below] == ["3.1"]


def test_a_label_that_is_printed_twice_is_two_provisions(opened):
    found = look_up(*opened, "Rule 4-1")
    assert len(found.units) == 2
    assert len({unit.instance_id for unit in found.units}) == 2
    assert len({unit.provision_key for unit in found.units}) == 1


def test_what_is_not_there_names_what_is_near(opened):
    with pytest.raises(UsageError) as refused:
        look_up(*opened, "Rule 2.1-9")
    assert "Rule 2.1-1" in refused.value.hint


def unit(**given):
    values = {
        "unit_id": "u", "kind": Kind.REQUIREMENT, "ordinal": "", "label": "", "section": "", "heading_path": (),
        "page": None, "lines": (1, 1), "text": "x", "modality": Modality.NONE, "force_ceiling": Force.REQUIREMENT,
    }  # fmt: skip
    return Unit(**{**values, **given})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"label": "Rule 7.1-3", "section": "7.1", "page": 44}, "(Rule 7.1-3, §7.1, p. 44)"),
        ({"label": "MUST-5", "section": "A2.2.5"}, "(MUST-5, §A2.2.5)"),
        ({"section": "B.3", "page": 2}, "(§B.3, p. 2)"),
        ({"section": "Header format"}, "(Header format)"),
        ({}, "()"),
    ],
)
def test_a_citation_says_label_clause_and_page(given, expected):
    assert citation(unit(**given)) == expected


@given(st.sampled_from(["Rule 7.1-3", "MUST-5", ""]), st.sampled_from(["7.1", "A2.2"]), st.sampled_from([None, 9]))
def test_a_citation_names_what_it_was_made_of(label, section, page):
    name, is_section = cited(citation(unit(label=label, section=section, page=page)))
    assert (name, is_section) == ((label, False) if label else (section, True))
