from __future__ import annotations

import os

import pytest

from spear.cli.bound_standard import BoundStandards
from spear.errors import StateError, UsageError
from spear.standards.ingestion import Document, ingest
from spear.standards.standard_name import StandardName
from tests.standards.keeping.conftest import NAME, TEXT


def test_what_is_bound_is_seen_by_everybody(store, stored, bindings):
    seen = BoundStandards(store.root)
    assert seen.label == ""
    assert seen.examine() is None
    bindings.use(NAME)
    assert seen.label == "LAMP-BUS 2"
    bound = seen.examine()
    assert bound is not None
    assert (bound.name, bound.problem) == ("LAMP-BUS 2", "")
    bindings.unbind()
    assert seen.label == ""
    assert seen.examine() is None


def test_a_changed_standard_is_bound_and_not_relied_on(store, stored, bindings):
    bindings.use(NAME)
    os.utime(stored.place / "corpus/units.jsonl", ns=(1, 1))
    bound = BoundStandards(store.root).examine()
    assert bound is not None
    assert "standard verify LAMP-BUS 2" in bound.problem
    with pytest.raises(StateError):
        bindings.use(NAME)
    stored.verify()
    bound = BoundStandards(store.root).examine()
    assert bound is not None
    assert bound.problem == ""


def test_a_binding_is_pinned_to_the_extraction(store, stored, bindings, document):
    bindings.use(NAME)
    store.remove(NAME)
    bound = BoundStandards(store.root).examine()
    assert bound is not None
    assert "is gone" in bound.problem
    document.write_text(TEXT.replace("64", "65"))
    ingest(store, Document(document, NAME), lambda *_: None)
    bound = BoundStandards(store.root).examine()
    assert bound is not None
    assert "another extraction" in bound.problem
    assert "standard use LAMP-BUS 2" in bound.problem


def test_what_people_did_with_it_does_not_unbind_it(store, stored, bindings):
    bindings.use(NAME)
    stored.rebuild()
    bound = BoundStandards(store.root).examine()
    assert bound is not None
    assert bound.problem == ""


def test_a_torn_binding_is_not_none(store, stored, bindings):
    bindings.use(NAME)
    bindings.path.write_text('{"id": "LAMP')
    seen = BoundStandards(store.root)
    bound = seen.examine()
    assert bound is not None
    assert "does not say which standard is bound" in bound.problem
    assert seen.label != ""
    bindings.unbind()
    assert seen.examine() is None


def test_what_is_not_there_is_not_bound(bindings, stored):
    with pytest.raises(UsageError, match="there is no standard NONE 1"):
        bindings.use(StandardName("NONE", "1"))
    assert bindings.present() is None


def test_labels_and_sections_complete_from_what_is_bound(store, stored, bindings):
    seen = BoundStandards(store.root)
    assert seen.labels("Rule ") == ()
    bindings.use(NAME)
    assert seen.labels("Rule 2.") == ("Rule 2.1-1", "Rule 2.1-2")
    assert seen.labels("rule 4") == ("Rule 4-1",)
    assert seen.sections("2.") == ("2.1", "2.2")
    assert seen.stored() == (("LAMP-BUS", "2"),)
    seen.close()


def test_the_record_is_told_once_of_each_binding(store, stored, bindings):
    seen = BoundStandards(store.root)
    assert seen.announced() is None
    bindings.use(NAME)
    told = seen.announced()
    assert told is not None
    assert (told["id"], told["revision"]) == ("LAMP-BUS", "2")
    assert seen.announced() is None
    bindings.unbind()
    assert seen.announced() == {"id": "", "revision": "", "fingerprint": ""}


def test_what_is_said_of_it_rests_on_its_files(store, stored, bindings):
    seen = BoundStandards(store.root)
    assert stored.place.parent in seen.rests_on()
    assert stored.place / "corpus/units.jsonl" not in seen.rests_on()
    bindings.use(NAME)
    assert {stored.place / "corpus/units.jsonl", stored.place / "verified.json", bindings.path} <= set(seen.rests_on())
