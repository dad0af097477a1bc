"""Only a judge makes a turn pass or fail."""

from __future__ import annotations

import pytest

from spear.training.rating import rate
from spear.training.vocabulary import Rating
from tests.training.conftest import FAILED, PASSED, result, validation

CHECK_FAILED = {"verdict": "UNVERIFIED", "reasons": [{"code": "check_failed", "text": ""}]}
WEAKENED = {
    "verdict": "UNVERIFIED",
    "validation": [validation("PASSED")],
    "reasons": [{"code": "check_weakened", "text": ""}],
}


@pytest.mark.parametrize(
    ("changes", "bench", "rating"),
    [
        ({}, None, Rating.UNRATED),
        ({"verdict": "UNVERIFIED"}, None, Rating.UNRATED),
        ({"verdict": "UNVERIFIED", "validation": [validation("NOT_RUN")]}, None, Rating.UNRATED),
        ({"verdict": "UNVERIFIED", "validation": [validation("ERROR")]}, None, Rating.UNRATED),
        ({"verdict": "VERIFIED"}, None, Rating.PASS),
        (PASSED, None, Rating.PASS),
        (FAILED, None, Rating.FAIL),
        (
            {"verdict": "UNVERIFIED", "validation": [validation("PASSED", "build"), validation("FAILED")]},
            None,
            Rating.FAIL,
        ),
        (CHECK_FAILED, None, Rating.FAIL),
        (WEAKENED, None, Rating.UNRATED),
        ({**PASSED, "mixed": {"verdict": "NOT COMPLIANT"}}, None, Rating.FAIL),
        ({**PASSED, "mixed": {"verdict": "VERIFIED + COMPLIANT"}}, None, Rating.PASS),
        (PASSED, False, Rating.FAIL),
        (FAILED, True, Rating.PASS),
        ({}, True, Rating.PASS),
    ],
)
def test_a_turn_is_rated_by_what_judged_it(changes, bench, rating):
    assert rate(result(**changes), bench)[0] is rating


def test_a_weakened_check_never_passes_a_turn():
    assert rate(result(**WEAKENED)) == (Rating.UNRATED, "")
