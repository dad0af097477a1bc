from __future__ import annotations

import pytest
from pydantic import ValidationError

from spear.errors import StateError
from spear.standards.retrieval import Mode, Retrieval, load_retrieval


def test_what_is_recorded_for_a_document_is_read_back(stored):
    assert load_retrieval(stored.place) == Retrieval(mode=Mode.LEXICAL, completion=0)
    Retrieval(completion=4).save(stored.place)
    assert load_retrieval(stored.place).completion == 4
    assert stored.differing() == ()


def test_what_makes_no_sense_is_said(stored):
    with pytest.raises(ValidationError):
        Retrieval(completion=21)
    (stored.place / "retrieval.json").write_text('{"mode": "telepathic"}')
    with pytest.raises(StateError, match="says no mode of retrieval"):
        load_retrieval(stored.place)
