"""The text a model is shown of what a command printed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.sandbox.output import KEPT_HEAD, KEPT_TAIL, Drain, cap, clean


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        (b"\x1bPq#0;2\x1b\\a\x1b(Bb\x1b7\x1b[?25l", "ab"),
        ("\x9b31mred\x9d0;t\x9cx".encode(), "redx"),
        (b"10%\r20%\r100%\n", "100%\n"),
        (b"10%\r20%\r", "20%"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"b\x08bo\x08ol\x08ld", "bold"),
        (b"ok \xff\xfe end", "ok \\xff\\xfe end"),
        ("naïve 日本 🎉\t".encode(), "naïve 日本 🎉\t"),
        (b"bell\x07 nul\x00 del\x7f", "bell nul del"),
        ("abc\u202edef".encode(), "abc\\u202edef"),
        (b"lone \x1b", "lone "),
    ],
)
def test_control_sequences_are_removed_and_progress_is_collapsed(raw, text):
    assert clean(raw) == text


@given(st.binary(max_size=400))
def test_no_control_character_ever_survives(raw):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", clean(raw))


@given(st.text(max_size=3000), st.integers(100, 2000))
def test_a_capped_text_fits_and_keeps_both_ends(text, limit):
    shown = cap(text, limit)
    assert len(shown.text) <= limit
    assert shown.truncated == (len(text) > limit)
    if shown.truncated:
        head, _, tail = re.split(r"\n\[\.\.\. (\d+) characters left out \.\.\.\]\n", shown.text)
        assert text.startswith(head)
        assert text.endswith(tail)
    else:
        assert shown.text == text


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_whatever_the_pieces_the_whole_is_counted_and_hashed(pieces):
    drain, once = Drain(None), Drain(None)
    for piece in pieces:
        drain.feed(piece)
    once.feed(b"".join(pieces))
    assert (drain.total, drain.sha256, drain.shown(500)) == (once.total, once.sha256, once.shown(500))


def test_a_long_output_states_the_size_of_its_middle_in_bytes():
    drain = Drain(None)
    for _ in range(40):
        drain.feed(b"x" * 99 + b"\n" + b"y" * (KEPT_HEAD // 4))
    shown = drain.shown(10_000)
    left_out = int(re.search(r"\[\.\.\. (\d+) bytes left out", shown.text)[1])
    assert len(shown.text) <= 10_000
    assert left_out + len(re.sub(r"\n\[\.\.\. .* left out \.\.\.\]\n", "", shown.text)) == drain.total
    assert len(drain.start) + len(drain.end) <= KEPT_HEAD + KEPT_TAIL


def test_a_capture_that_cannot_be_written_does_not_stop_the_command(tmp_path):
    drain = Drain(tmp_path / "absent/file")
    drain.feed(b"text")
    assert drain.shown(100).text == "text"
    assert "could not be kept" in drain.capture_failed
