"""The small pure parts: events, shown text, pauses, error bodies, surrogates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import FailureKind, ModelFailure
from spear.events.stream import RESTARTED
from spear.models.failures import AttemptFailed, classify_status, parse_retry_after
from spear.models.retry import RetryPolicy, wait
from spear.models.shown import ShownText
from spear.models.sse import SseReader
from spear.models.surrogates import mend


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1)), st.data())
def test_events_are_the_same_however_the_bytes_are_cut(datas: list[str], data: st.DataObject) -> None:
    stream = b": comment\r\n\r\n" + b"".join(f"event: x\r\ndata: {d}\n\n".encode() for d in datas)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=5)))
    reader = SseReader()
    found = [e for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True) for e in reader.feed(stream[a:b])]
    assert found == datas


def test_an_event_without_its_blank_line_is_none() -> None:
    assert SseReader().feed(b"data: {}\n") == []


def test_a_line_without_end_is_refused() -> None:
    reader = SseReader()
    reader.feed(b"x" * 8_000_000)
    with pytest.raises(AttemptFailed):
        reader.feed(b"x" * 1_000_000)


@given(st.text(max_size=30), st.lists(st.integers(0, 30), max_size=4))
def test_an_answer_that_is_sent_again_is_shown_once(answer: str, breaks: list[int]) -> None:
    out: list[str] = []
    shown = ShownText(out.append)
    for stop in [*breaks, len(answer)]:
        shown.begin()
        for character in answer[:stop]:
            shown.feed(character)
    assert "".join(out) == answer


def test_an_answer_that_starts_differently_again_says_so_and_is_shown_whole() -> None:
    out: list[str] = []
    shown = ShownText(out.append)
    for attempt in ("The answer is 4", "The answer is five", "The answer is five."):
        shown.begin()
        for word in attempt.split(" "):
            shown.feed(word)
    assert "".join(out) == f"Theansweris4{RESTARTED}Theanswerisfive."


def test_a_server_names_its_pause_in_seconds_or_as_a_date() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    assert parse_retry_after({"retry-after": "7"}) == 7
    assert parse_retry_after({"retry-after": "Thu, 01 Jan 2026 12:00:09 GMT"}, now) == 9
    assert parse_retry_after({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, now) == 0
    assert parse_retry_after({"retry-after-ms": "250"}) == 0.25
    for odd in ("soon", "-3", "nan", "inf", ""):
        assert parse_retry_after({"retry-after": odd}) is None
    assert parse_retry_after({}) is None


@given(st.integers(0, 9), st.sampled_from(list(FailureKind)), st.none() | st.floats(0, 1000))
def test_every_pause_is_bounded(nth: int, kind: FailureKind, asked: float | None) -> None:
    policy = RetryPolicy()
    pause = policy.pause(AttemptFailed(kind, "x", retry_after=asked), nth)
    assert pause is None or 0 <= pause <= policy.longest_wait_s
    if kind in (FailureKind.AUTHENTICATION, FailureKind.CONTEXT_OVERFLOW, FailureKind.BAD_REQUEST):
        assert pause is None


def test_a_refused_connection_is_given_up_on_within_ten_seconds() -> None:
    policy, total = RetryPolicy(), 0.0
    for nth in range(10):
        pause = policy.pause(AttemptFailed(FailureKind.UNREACHABLE, "x"), nth)
        if pause is None:
            break
        total += pause
    assert nth >= 2
    assert total < 10


def test_waiting_looks_for_a_cancellation() -> None:
    polls = iter([False, False])
    with pytest.raises(ModelFailure):
        wait(1000, lambda: next(polls, True))


@given(st.text() | st.binary() | st.none() | st.dictionaries(st.text(), st.text()), st.integers(300, 599))
def test_no_error_body_is_a_crash_or_more_than_a_line(body: object, code: int) -> None:
    failed = classify_status(code, body)
    assert "\n" not in failed.message
    assert len(failed.message) < 400


def test_a_validation_error_names_its_field() -> None:
    body = {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}
    assert "body.stream_options: Extra inputs" in classify_status(422, body).message


@given(st.text(alphabet=st.characters(codec=None)))
def test_mended_text_can_always_be_encoded_and_clean_text_is_unchanged(text: str) -> None:
    mended = mend(text)
    mended.encode()
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert mended == text
