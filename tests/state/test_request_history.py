"""What was asked can be found again, and forgotten, without touching the record of the sessions (spec 4.5)."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.errors import StateError, UsageError
from spear.state.request_history import Entry, RequestHistory


def entry(text, turn=1, workspace="/w"):
    return Entry("s1", turn, workspace, "2026-01-01T00:00:00+00:00", text)


@pytest.fixture
def history(tmp_path):
    return RequestHistory(tmp_path / "history/requests.sqlite3")


def test_a_request_is_found_by_its_words_and_by_its_answer(history):
    history.add(entry("Fix the ring buffer"), "It wraps now.")
    history.add(entry("Rename foo", turn=2), "Done.")
    assert [found.turn for found in history.search("rings buffers")] == [1]
    assert [found.turn for found in history.search("wraps")] == [1]


def test_another_workspace_is_not_searched(history):
    history.add(entry("Fix the ring", workspace="/other"), "")
    assert history.search("ring", "/w") == []
    assert len(history.search("ring")) == 1


def test_forgetting_takes_matches_out_and_says_how_many(history):
    for number in range(5):
        history.add(entry(f"ask about project-{number % 2}", turn=number), "")
    assert history.forget("project-0") == 3
    assert history.search("project 0") == []
    assert len(history.search("project")) == 2
    assert history.forget("nothing like it") == 0


def test_a_pattern_that_is_none_is_named(history):
    with pytest.raises(UsageError, match=r"\(unclosed"):
        history.forget("(unclosed")


def test_searching_before_anything_was_asked_creates_nothing(history, tmp_path):
    assert history.search("x") == []
    assert not (tmp_path / "history").exists()


def test_the_file_is_private(history, tmp_path):
    history.add(entry("x"), "")
    assert (tmp_path / "history/requests.sqlite3").stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_named_with_the_way_out(history, tmp_path):
    history.add(entry("x"), "")
    path = tmp_path / "history/requests.sqlite3"
    path.write_bytes(b"not a database" * 500)
    with pytest.raises(StateError, match="move it away"):
        history.add(entry("y"), "")


def test_eight_writers_lose_nothing(history):
    def write(writer):
        for number in range(10):
            history.add(entry(f"writer{writer} note{number}"), "")

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(len(history.search(f"writer{writer}")) == 10 for writer in range(8))


@settings(max_examples=25)
@given(st.text(max_size=60))
def test_any_text_is_a_query(text):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as place:
        history = RequestHistory(Path(place) / "h.sqlite3")
        history.add(entry("some words"), "")
        assert isinstance(history.search(text), list)
