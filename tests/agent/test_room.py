"""The share of the window that results may take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spear.agent.conversation import Transcript
from spear.agent.messages import Message, Role, ToolCall
from spear.agent.room import Room, room_in
from spear.agent.window import estimate


@given(st.integers(1, 4_000_000))
def test_the_share_grows_with_the_window_within_its_bounds(window: int) -> None:
    room, larger = room_in(window), room_in(window + 1000)
    assert room.found <= 50_000
    assert room.found <= room.page <= 100_000
    assert room.output <= room.message <= min(50_000, window / 2)
    for used in (window // 10, window // 3, window):
        assert room_in(window, used).message <= max(room.message, window // 16)
    for name in ("page", "found", "output", "message"):
        assert getattr(room, name) <= getattr(larger, name)


def test_the_measure() -> None:
    assert room_in(32_768) == Room(page=28_086, found=16_128, output=7_168, message=14_336)
    assert room_in(1_000_000) == Room()


@given(st.lists(st.text(max_size=3000).map(lambda text: text * 9), min_size=1, max_size=6))
def test_the_results_of_one_message_stay_within_its_share_and_the_next_message_has_its_own(texts: list[str]) -> None:
    window = 64_000
    transcript = Transcript([Message(Role.USER, "hi")], (), window=window)
    for step in range(2):
        transcript.propose("", [ToolCall(f"{step}-{n}", "read_file", "{}") for n in range(len(texts))], "")
        before = transcript.tokens
        share = room_in(window, before).message
        for number, text in enumerate(texts):
            transcript.answer(f"{step}-{number}", text)
        spent = transcript.tokens - before
        assert spent <= share + len(texts) * (window // 96 + 200)
        small = sum(estimate(text) + 8 for text in texts) <= share
        assert all(transcript.holds(f"{step}-{n}") for n in range(len(texts))) or not small
