from __future__ import annotations

import os

import pytest

from spear.errors import StateError
from tests.standards.keeping.conftest import NAME

FILES = ("manifest.json", "corpus/units.jsonl", "indexes/units.sqlite3")


def edit(path) -> None:
    """Other bytes of the same size, with the time the file had."""
    before, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-3] + bytes(byte ^ 1 for byte in data[-3:]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_fresh_standard_is_trusted_and_holds(store, stored):
    assert stored.differing() == ()
    assert stored.verify() == ()
    store.trusted(NAME)


@pytest.mark.parametrize("name", FILES)
def test_an_edited_file_is_not_used_and_does_not_verify(store, stored, name):
    edit(stored.place / name)
    with pytest.raises(StateError, match="changed since they were verified") as refused:
        stored.require_unchanged()
    assert "standard verify LAMP-BUS 2" in refused.value.hint
    assert any(name in problem for problem in stored.verify())
    assert name in stored.differing()


@pytest.mark.parametrize("name", FILES)
def test_a_touched_file_is_read_once_and_trusted_again(stored, name):
    os.utime(stored.place / name, ns=(1, 1))
    assert stored.differing() == (name,)
    assert stored.verify() == ()
    assert stored.differing() == ()


def test_a_lost_or_an_added_file_is_noticed(stored):
    (stored.place / "structures").mkdir()
    (stored.place / "structures/served.json").write_text("{}")
    assert stored.differing() == ("structures/served.json",)
    assert stored.verify() == ("structures/served.json was not there",)
    (stored.place / "structures/served.json").unlink()
    (stored.place / "indexes/units.sqlite3").unlink()
    assert stored.verify() == ("indexes/units.sqlite3 is gone",)


def test_without_its_stamps_nothing_is_trusted(stored):
    (stored.place / "verified.json").write_text("{")
    assert stored.differing() == ("verified.json",)
    assert any("verified.json" in problem for problem in stored.verify())
    assert stored.rebuild() is False
    assert stored.verify() == ()


def test_an_edited_index_is_made_anew_from_the_units(stored):
    path = stored.place / "indexes/units.sqlite3"
    path.write_bytes(b"not a database")
    with pytest.raises(StateError, match="cannot be used"):
        stored.index()
    stored.rebuild()
    assert stored.verify() == ()
    with stored.index() as index:
        assert index.labels("Rule 2", 9) == ("Rule 2.1-1", "Rule 2.1-2")


def test_an_index_of_another_corpus_is_not_used(stored):
    (stored.place / "indexes/units.sqlite3").unlink()
    other = stored.manifest.model_copy(update={"corpus_sha256": "0" * 64})
    with pytest.raises(StateError, match="there is no index"):
        stored.index()
    stored.rebuild()
    with pytest.raises(StateError, match="was not made from this corpus"):
        type(stored)(stored.place, other).index()


def test_edited_units_cannot_be_made_anew(stored):
    edit(stored.place / "corpus/units.jsonl")
    with pytest.raises(StateError, match="is not what was extracted"):
        stored.rebuild()


def test_a_line_that_is_no_unit_is_said(stored):
    path = stored.place / "corpus/units.jsonl"
    path.write_bytes(b'{"unit_id": 7}\n')
    with stored.corpus() as corpus, pytest.raises(StateError, match="a line that is no unit"):
        list(corpus)


def test_removing_takes_everything(store, stored):
    store.remove(NAME)
    assert store.names() == ()
    assert not stored.place.parent.exists()
    assert not (store.root / ".removed").exists()
