"""Modality is read from the verb, keeps its polarity, and counts only what the document says counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.standards.modality import FORCE_OF, Reading, reading_of
from spear.standards.sentences import sentences
from spear.standards.units import Modality

CASES = [
    ("It shall be so.", Modality.SHALL),
    ("It must be so.", Modality.SHALL),
    ("It is required to be so.", Modality.SHALL),
    ("Support is mandatory.", Modality.SHALL),
    ("It shall not be so.", Modality.SHALL_NOT),
    ("It must also never be so.", Modality.SHALL_NOT),
    ("Use is not permitted.", Modality.SHALL_NOT),
    ("Use is prohibited.", Modality.SHALL_NOT),
    ("It should be so.", Modality.SHOULD),
    ("It is recommended to be so.", Modality.SHOULD),
    ("It should not be so.", Modality.SHOULD_NOT),
    ("It is not recommended.", Modality.SHOULD_NOT),
    ("It may be so.", Modality.MAY),
    ("The field is optional.", Modality.MAY),
    ("It can be so.", Modality.MAY),
    ("It is permitted to be so.", Modality.MAY),
    ("It is not required to be so.", Modality.MAY),
    ("It need not be so.", Modality.MAY),
    ("It does not have to be so.", Modality.MAY),
    ("It cannot be so.", Modality.NONE),
    ("It can not be so.", Modality.NONE),
    ("It was issued in May 2020.", Modality.NONE),
    ("Should the link fail, the device stops.", Modality.NONE),
    ('The word "shall" stands here.', Modality.NONE),
    ("The word shall is used for requirements.", Modality.NONE),
    ("The terms shall, should and may are used as in the directives.", Modality.NONE),
    ("A word must be aligned.", Modality.SHALL),
    ("If it fails, no frame shall be sent.", Modality.SHALL_NOT),
    ("At no time shall it be sent, and neither side should wait.", Modality.SHALL_NOT),
    ("It shall no longer be sent.", Modality.SHALL_NOT),
    ("None of them should be sent.", Modality.SHOULD_NOT),
    ("No later than 5 ms after that it shall be sent.", Modality.SHALL),
    ("A and No-Operation must be sent.", Modality.SHALL),
    ("Where there is no frame, it shall wait.", Modality.SHALL),
    ("Keywords should not be repeated, the term may be.", Modality.SHOULD_NOT),
    ("It says whether the part is mandatory.", Modality.NONE),
    ("It says whether the part is required, and shall be sent.", Modality.SHALL),
    ("The marshall and the mustard.", Modality.NONE),
    ("A must-have.", Modality.NONE),
    ("It should be so, but shall not be late and may be early.", Modality.SHALL_NOT),
    ("It shall be so and may not.", Modality.SHALL),
]


@pytest.mark.parametrize(("sentence", "modality"), CASES)
def test_the_strongest_verb_of_a_sentence_is_its_modality(sentence: str, modality: Modality) -> None:
    assert Reading().of(sentence) is modality


CAPITALS = [
    ("It MUST be so.", Modality.SHALL),
    ("It MUST NOT be so.", Modality.SHALL_NOT),
    ("It is REQUIRED.", Modality.SHALL),
    ("It is NOT RECOMMENDED.", Modality.SHOULD_NOT),
    ("It is RECOMMENDED.", Modality.SHOULD),
    ("It is OPTIONAL.", Modality.MAY),
    ("It must, shall, should and may be so.", Modality.NONE),
    ('The words "MUST" and "MAY".', Modality.NONE),
]


@pytest.mark.parametrize(("sentence", "modality"), CAPITALS)
def test_only_capitals_count_under_the_rfcs(sentence: str, modality: Modality) -> None:
    assert Reading(capitals=True).of(sentence) is modality


SAYINGS = [
    (
        'The key words "MUST" are to be interpreted as described in BCP 14 when, and only when, they appear in all capitals.',
        True,
    ),
    ("RFC 2119 words count only when written in capitals.", True),
    (
        'The key words "MUST" and "MAY" are to be interpreted as described in RFC 2119. It MUST. It SHOULD. It must.',
        True,
    ),
    ('The key words "MUST" and "MAY" are to be interpreted as described in RFC 2119. It must. It should.', False),
    ("The word shall is used as in the directives. It MUST.", False),
    ("", False),
]


@pytest.mark.parametrize(("text", "capitals"), SAYINGS)
def test_a_document_says_whether_only_capitals_count(text: str, capitals: bool) -> None:
    assert reading_of([text]).capitals is capitals


@given(st.text(max_size=200), st.booleans())
def test_no_text_breaks_the_reading_and_lower_case_never_counts_under_capitals(text: str, capitals: bool) -> None:
    assert Reading(capitals=capitals).of(text) in FORCE_OF
    assert Reading(capitals=True).of(text.lower()) is Modality.NONE


@given(
    st.lists(
        st.sampled_from(["It shall end.", "See Fig. 3 of it.", "Use e.g. a bus (REQ-1).", "Really?", "3. Third.", "A"])
    )
)
def test_sentences_lose_nothing(parts: list[str]) -> None:
    text = " ".join(parts)
    assert " ".join(sentences(text)) == text


def test_a_sentence_may_begin_with_a_name_in_lower_case() -> None:
    assert sentences("It shall be set. set_timer() may fail. i.e. never") == [
        "It shall be set.",
        "set_timer() may fail. i.e. never",
    ]


def test_a_variable_may_end_a_sentence() -> None:
    assert sentences("A. It shall set X. The bit. It may be A. E.g. Fig. 3") == [
        "A. It shall set X.",
        "The bit.",
        "It may be A.",
        "E.g. Fig. 3",
    ]


def test_a_label_after_the_full_stop_stays_with_its_sentence() -> None:
    assert sentences("It shall end. (REQ-1) It may start. It is 3.5 V, i.e. Low. Done.") == [
        "It shall end. (REQ-1)", "It may start.", "It is 3.5 V, i.e. Low.", "Done.",
    ]  # fmt: skip
