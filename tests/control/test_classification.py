"""Requests are classified from their own words, alike in English and French (spec 1.2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.control.classification import classify
from spear.events.names import Path as TurnPath
from spear.events.names import RequestClass

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data/requests.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[r["request"][:60] for r in ROWS])
def test_a_labelled_request_is_classified_as_labelled(row):
    got = classify(row["request"], row["standard_engaged"]).record()
    assert (got["class"], got["read_only"]) == (row["class"], row["read_only"]), got["reasons"]
    assert sorted(got["exclusions"]) == sorted(row["exclusions"])
    for key in ("targets", "provisions"):
        if key in row:
            assert sorted(got[key]) == sorted(row[key])


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_classified_the_same_way_twice(text, engaged):
    assert classify(text, engaged) == classify(text, engaged)


@given(st.sampled_from([r["request"] for r in ROWS if not r["read_only"]]))
def test_forbidding_every_change_makes_any_request_read_only(request_text):
    assert classify(f"{request_text.rstrip('.?!')}. Do not change anything.").read_only
    assert classify(f"{request_text.rstrip('.?!')}. Ne modifie rien.").read_only


def test_without_a_bound_standard_no_request_is_normative_or_mixed():
    for row in ROWS:
        assert classify(row["request"]).request_class in (RequestClass.GENERAL, RequestClass.IMPLEMENTATION)
        assert classify(row["request"]).path is TurnPath.CODING_CORE


def test_a_target_is_never_also_excluded():
    for row in ROWS:
        got = classify(row["request"], row["standard_engaged"])
        assert not set(got.targets) & set(got.exclusions)


def test_a_counterpart_named_as_a_noun_is_kept_as_an_excluded_kind():
    assert classify("Fix src/ring.c without touching the header").excluded_kinds == ("header",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/a.c now", ()),
        ("version 1.4.0 of it", ()),
        ("e.g. this", ()),
        ("and/or", ()),
        ("24/7", ()),
        ("in src/a.c, please", ("src/a.c",)),
        ("`lib/x.rs`", ("lib/x.rs",)),
        ("./configure", ("configure",)),
        ("*.py", ("*.py",)),
    ],
)
def test_paths_are_told_from_prose(text, expected):
    found = classify(f"Explain {text}")
    assert found.targets + found.sources == expected
