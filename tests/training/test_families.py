"""Splits belong to task families, for good."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spear.training.families import family_of, split_of
from spear.training.vocabulary import Split

FAMILY = st.integers(0, 10**6).map(
    lambda n: family_of(f"task {'x' * (n % 97)} {chr(97 + n % 26)}{chr(97 + n // 26 % 26)}")
)


@given(st.text())
def test_any_request_has_a_family_and_keeps_it_with_an_attachment(request):
    family = family_of(request)
    assert len(family) == 16
    assert (
        family_of(f"{request.strip()}\n\nAttached:\n{request}") == family_of(request.strip())
        if request.strip()
        else True
    )


def test_case_spacing_punctuation_and_numbers_do_not_make_another_task():
    assert family_of("Fix  issue 12 in Ring_next()!") == family_of("fix issue 7 in ring_next") != family_of("fix ring")
    assert family_of("Corrige l’erreur nº 3") != family_of("Corrige la faute nº 3")


@given(st.lists(FAMILY, min_size=1), FAMILY)
def test_seeing_one_more_task_never_makes_a_split_freer(families, more):
    order = [Split.TRAIN, Split.VALIDATION, Split.HOLDOUT]
    assert order.index(split_of([*families, more])) >= order.index(split_of(families))


def test_about_a_tenth_is_held_out_and_a_tenth_validates():
    counts = Counter(split_of([f"{n:016x}"]) for n in range(5_000))
    assert 400 < counts[Split.HOLDOUT] < 600
    assert 400 < counts[Split.VALIDATION] < 600


def test_the_split_of_a_family_is_pinned():
    assert "".join(split_of([f"{n:016x}"]).value[0] for n in range(24)) == "tvttthtthhtvttttttvttttt"
