"""The host of a turn is opened behind the first request, once, and its failure is not lost (spec 9.1)."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from spear.agent.messages import Message, ModelRequest, Role
from spear.cli.late_host import LateHost
from spear.models.backend import BackendSettings
from spear.models.openai_backend import OpenAIBackend
from tests.scripted_model import ModelServer, text


def late(opening):
    made = LateHost()
    made.opening = opening
    return made


def test_the_host_is_opened_once_on_a_thread_of_its_own():
    opened = []
    host = late(lambda: opened.append(threading.current_thread()) or SimpleNamespace(answer=42))
    host.start()
    host.start()
    assert (host.answer, host.answer) == (42, 42)
    assert len(opened) == 1
    assert opened[0] is not threading.current_thread()


def test_a_host_that_nobody_started_is_opened_by_its_first_use():
    assert late(lambda: SimpleNamespace(answer=42)).answer == 42


def test_what_opening_raises_is_raised_where_the_host_is_used():
    def broken():
        raise OSError("full")

    host = late(broken)
    host.start()
    with pytest.raises(OSError, match="full"):
        _ = host.answer


def test_a_backend_says_when_the_request_has_left_and_before_the_answer_is_there():
    sent = threading.Event()
    with ModelServer([lambda _: text("late" if sent.wait(10) else "never said")]) as server:
        client = OpenAIBackend(BackendSettings(server.base_url, model="m"))
        turn = client.complete(ModelRequest((Message(Role.USER, "x"),), on_sent=sent.set))
        client.close()
    assert turn.text == "late"


def test_closing_opens_nothing_and_raises_nothing_of_an_opening_that_failed():
    opened = []
    late(lambda: opened.append(1)).close()
    assert not opened

    def broken():
        raise OSError("full")

    host = late(broken)
    host.start()
    host.close()


def test_closing_waits_for_an_opening_under_way_and_closes_what_it_made():
    may_open, closed = threading.Event(), []

    def slow():
        may_open.wait(10)
        return SimpleNamespace(close=lambda: closed.append(1))

    host = late(slow)
    host.start()
    may_open.set()
    host.close()
    assert closed == [1]
