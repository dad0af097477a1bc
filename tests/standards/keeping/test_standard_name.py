from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.errors import UsageError
from spear.standards.standard_name import StandardName
from spear.standards.store import StandardStore


@pytest.mark.parametrize(
    "word", ["", ".", "..", "a/b", "../x", ".hidden", "a b", "-x", "a\0b", "x" * 129, "naïve", "a\n"]
)
def test_a_name_that_could_walk_away_is_none(word):
    with pytest.raises(UsageError, match="cannot be the id"):
        StandardName.of(word, "1")
    with pytest.raises(UsageError, match="cannot be the revision"):
        StandardName.of("X", word)


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_is_a_name_lies_right_below_the_store(tmp_path_factory, id_, revision):
    store = StandardStore(tmp_path_factory.getbasetemp() / "standards")
    try:
        name = StandardName.of(id_, revision)
    except UsageError:
        return
    place = store.place(name)
    assert place.resolve().parent.parent == store.root.resolve()
    assert not place.relative_to(store.root).parts[0].startswith(".")
