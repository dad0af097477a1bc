"""A second search begun early: its result is that of one made afterwards, and it never outlives the first."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spear.agent.tools.search_ahead import Ahead
from spear.agent.tools.search_engine import Deadline, Query, SearchFailed, Spot
from spear.agent.tools.search_ripgrep import Ripgrep

LONG = 600.0


def bounded(action: Callable[[], object]) -> None:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


class Reading:
    """A search that reads a pipe for as long as nobody closes its other end."""

    def __init__(self, directory: Path) -> None:
        os.mkfifo(directory / "pipe")
        spot = Spot(directory, "pipe")
        engine = Ripgrep("rg")

        def search(deadline: Deadline, beside: bool) -> list[tuple[str, int]]:
            return list(engine.counts(spot, Query("x"), deadline, ordered=False, beside=beside))

        self.ahead = Ahead(search, LONG, silence=0.0)
        self.ahead.__enter__()
        opened: list[int] = []
        bounded(lambda: opened.append(os.open(directory / "pipe", os.O_WRONLY)))
        (self._end,) = opened

    @property
    def goes_on(self) -> bool:
        try:
            return os.write(self._end, b"y\n") > 0
        except BrokenPipeError:
            return False

    def close(self) -> None:
        os.close(self._end)


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Reading]:
    made = Reading(tmp_path)
    yield made
    made.close()


def test_what_runs_ends_with_the_first_search(reading):
    assert reading.goes_on
    bounded(lambda: reading.ahead.__exit__(None, None, None))
    assert not reading.goes_on


def test_what_runs_ends_with_the_first_thing_found(reading):
    assert reading.goes_on
    assert next(reading.ahead.watching("found")) == "f"
    bounded(reading.ahead._timer.join)
    assert not reading.goes_on


def test_nothing_begins_where_something_was_found_at_once():
    asked = []
    with Ahead(lambda deadline, beside: asked.append(beside) or [], LONG, silence=LONG) as ahead:
        assert list(ahead.watching([1, 2])) == [1, 2]
    assert asked == []


@pytest.mark.parametrize("silence", [0.0, LONG])
def test_a_result_is_made_once_and_a_failure_is_raised_where_it_is_asked_for(silence):
    asked = []

    def search(deadline: Deadline, beside: bool) -> list[int]:
        asked.append(beside)
        if len(asked) == 2:
            raise SearchFailed("no")
        return [7]

    with Ahead(search, LONG, silence=silence) as ahead:
        if not silence:
            bounded(ahead._timer.join)
        assert ahead.result() == [7]
        assert asked == [silence == 0.0]
    with Ahead(search, LONG, silence=silence) as ahead:
        if not silence:
            bounded(ahead._timer.join)
        with pytest.raises(SearchFailed):
            ahead.result()
    assert len(asked) == 2
