"""Headers are read as they were meant, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.context import front_matter


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("paths: **/*.py", ("**/*.py",)),
        ("paths: [src/**, 'doc/**']", ("src/**", "doc/**")),
        ("paths:\n  - src/**\n  - doc/**", ("src/**", "doc/**")),
        ("paths: *.{c,h}, Makefile", ("*.{c,h}", "Makefile")),
        ("paths: a  # the sources", ("a",)),
        ("Paths: a", ("a",)),
        ("# a comment\n\npaths: a", ("a",)),
    ],
)
def test_one_value_has_many_spellings(header, values):
    assert front_matter.lines(header)["paths"] == values


@pytest.mark.parametrize("header", ["no colon", "paths: a\npaths: b", "- item without a key", ": value"])
def test_a_line_that_is_no_key_is_returned(header):
    assert isinstance(front_matter.lines(header), str)


def test_a_text_without_a_closed_header_has_none():
    assert front_matter.split("---\nscope: global\nbody") == (None, "---\nscope: global\nbody")
    assert front_matter.split("body\n---\nx\n---\n") == (None, "body\n---\nx\n---\n")
    assert front_matter.split("---\n---\nbody") == ("", "body")
    assert front_matter.split("---\na: b\n---") == ("a: b\n", "")


@pytest.mark.parametrize("text", ["a: [", "- a", "a: &x [*x]\nb: !!python/object:os.system x", "\x00", "3"])
def test_yaml_that_is_no_mapping_is_none(text):
    assert front_matter.yaml_mapping(text) is None


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.text(max_size=60))
def test_any_text_is_split_without_loss(text, body):
    header, rest = front_matter.split(text)
    assert rest == text if header is None else text.endswith(rest)
    front_matter.lines(text)
    front_matter.yaml_mapping(text)
