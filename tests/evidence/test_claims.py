"""Claims read from answers: a labelled set, a third of which was kept for testing only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spear.evidence.claims import ClaimKind, read_claims
from spear.evidence.sentences import sentences

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data/claims.jsonl").read_text("utf-8").splitlines()]


def asserted(text):
    return [claim for claim in read_claims(text) if not claim.hedged]


def right(row):
    claims = asserted(row["text"])
    number = next((claim.number for claim in claims if claim.number is not None), None)
    return sorted({claim.kind.value for claim in claims}) == row["claims"] and number == row["number"]


def test_the_labelled_set_is_large_and_a_third_of_it_is_for_testing():
    assert len(ROWS) >= 300
    assert len([row for row in ROWS if row["split"] == "test"]) * 3 >= len(ROWS) - 3


def test_every_tuning_sentence_is_read_right():
    assert [row["text"] for row in ROWS if row["split"] == "tune" and not right(row)] == []


def test_most_sentences_never_tuned_for_are_read_right():
    kept = [row for row in ROWS if row["split"] == "test"]
    assert sum(map(right, kept)) / len(kept) >= 0.95


def test_a_claim_stands_where_it_is():
    answer = "I changed `x`.\n\n- All 12 tests pass.\n- Nothing else."
    (claim,) = asserted(answer)
    assert answer[claim.start : claim.end] == "All 12 tests pass." == claim.sentence
    assert (claim.kind, claim.number) == (ClaimKind.TESTS_PASS, 12)


@pytest.mark.parametrize(
    "answer",
    [
        "```c\n/* the tests pass */\n```",
        "~~~\nAll tests pass.\n~~~",
        "````\n```\nIt builds.\n```\n````",
        "> The tests pass.",
        "    The tests pass.\n",
        'The log says "all tests pass".',
        "« Les tests passent » est dans le README.",
        "```\nunterminated: the tests pass",
        "1. step\n\n   ```\n   The tests pass.\n   ```\n",
    ],
)
def test_code_and_quotations_claim_nothing(answer):
    assert asserted(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "**All tests pass.**",
        "## The tests pass",
        "| Check | Result |\n|---|---|\n| `make test` | the tests pass |",
        "* [x] The tests pass",
        "The tests\npass.",
        "THE TESTS PASS!",
        "Tests pass ✅",
        "See v1.2.3, i.e. the fix: the tests pass.",
    ],
)
def test_markup_does_not_hide_a_claim(answer):
    assert {claim.kind for claim in asserted(answer)} == {ClaimKind.TESTS_PASS}


def test_an_abbreviation_or_a_number_ends_no_sentence():
    assert [s.text for s in sentences("Use e.g. make 4.3 here. Then stop!")] == [
        "Use e.g. make 4.3 here.",
        "Then stop!",
    ]


def test_a_hedge_covers_what_follows_it_and_not_what_stands_before():
    assert {claim.kind for claim in asserted("It builds, and the tests should pass.")} == {ClaimKind.BUILDS}
    assert asserted("I have not run it, so the tests may fail.") == []
    assert {claim.kind for claim in asserted("I have not run the demo; the tests pass.")} == {ClaimKind.TESTS_PASS}


@pytest.mark.parametrize(
    "answer",
    [
        "`ring_next(3, 4)` returns 0 and the tests pass.",
        "It now returns 0, so the tests pass.",
        "Since version 3 the tests pass.",
        "La fonction renvoie maintenant 0 et les tests passent.",
        "On Python 3.11 tests pass.",
    ],
)
def test_a_number_of_something_else_is_no_count_of_tests(answer):
    assert {claim.number for claim in asserted(answer) if claim.kind is ClaimKind.TESTS_PASS} == {None}
