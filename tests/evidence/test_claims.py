"""Claims read from answers: a labelled set, a third of which was kept for testing only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spear.evidence.claims import ClaimKind, read_claims
from spear.evidence.qualities import NAMES
from spear.evidence.sentences import sentences
from spear.evidence.values import Role

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data/claims.jsonl").read_text("utf-8").splitlines()]


def asserted(text):
    return [claim for claim in read_claims(text) if not claim.hedged]


def right(row):
    claims = asserted(row["text"])
    number = next((claim.number for claim in claims if claim.number is not None), None)
    kinds = sorted({claim.kind.value for claim in claims if claim.kind is not ClaimKind.NAMED})
    named = sorted(claim.named for claim in claims if claim.kind is ClaimKind.NAMED)
    values = [value.text for claim in claims for value in claim.values]
    return (kinds, number, named, values) == (
        row["claims"],
        row["number"],
        row.get("named", []),
        row.get("values", []),
    )


def test_the_labelled_set_is_large_and_a_third_of_it_is_for_testing():
    assert len(ROWS) >= 550
    assert len([row for row in ROWS if row["split"] == "test"]) * 3 >= len(ROWS) - 3


def test_every_tuning_sentence_is_read_right():
    assert [row["text"] for row in ROWS if row["split"] == "tune" and not right(row)] == []


def test_most_sentences_never_tuned_for_are_read_right():
    kept = [row for row in ROWS if row["split"] == "test"]
    assert sum(map(right, kept)) / len(kept) >= 0.95


def test_every_quality_that_is_labelled_is_on_the_closed_list():
    assert {name for row in ROWS for name in row.get("named", [])} <= NAMES


def test_half_of_the_sentences_claim_nothing_that_needs_a_name_or_a_value():
    assert len([row for row in ROWS if "named" not in row and "values" not in row]) * 2 >= len(ROWS)


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        ("It prints `a  b` and 7.", ["a  b", "7"]),
        ("`total()` returns 3 and the tests pass.", ["3"]),
        ('Running it prints "it\'s `fine`".', ["it's fine"]),
        ("See [`x`](https://example.org/`y`): it prints `z`.", ["z"]),
        ('`f(1)` returns `None`; `g()` returns "no".', ["None", "no"]),
        ("It returned 5 before; it now returns 0.", ["0"]),
        ("It prints 42 lines.", []),
        ("It returns `true`.", []),
        ("It prints `one`, not `two`.", ["one"]),
    ],
)
def test_values_are_read_as_written(answer, values):
    assert [value.text for claim in asserted(answer) for value in claim.values] == values


def test_the_role_of_a_value_is_told_by_its_verb():
    claims = asserted("It prints 1. `f(x)` returns 2. It exits with status 3. The coverage is 97 %.")
    assert [value.role for claim in claims for value in claim.values] == [
        Role.PRINTED,
        Role.RETURNED,
        Role.EXIT_STATUS,
        Role.FIGURE,
    ]


def test_an_exit_status_of_0_is_shown_by_a_pass():
    assert [claim.values for claim in asserted("The script exits with status 0.")] == [()]


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
