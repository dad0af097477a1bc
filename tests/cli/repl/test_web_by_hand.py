"""`!web` in the chat of `spear-chat` itself: through the host, in the session's mode, audited as operator (spec 8.2, 8.5)."""

from __future__ import annotations

import json

import pytest

from tests.web.conftest import PageServer
from tests.web.documents import Page


@pytest.fixture
def engine():
    made = PageServer()
    found = {"results": [{"title": "A \x1b[31mring", "url": "https://ring.example/", "content": "It wraps."}]}
    made.pages["/search"] = Page(json.dumps(found).encode(), "application/json")
    yield made
    made.close()


@pytest.fixture
def configured(engine) -> str:
    return f"[web]\nsearch_url = '{engine.base}'\n"


def test_words_are_searched_for_and_an_address_of_this_machine_is_refused(real, configured, engine, state):
    r = real([], "--auto", config=configured)
    r.line("!web ring buffer")
    r.wait(r"1\. A ring\r?\n +https://ring\.example/")
    r.line(f"!web {engine.base}/")
    r.wait("only public addresses")
    r.line("!web ring --page 3")
    r.wait(r"--page is no option")
    r.line("/tools")
    r.wait("spear-web fetch_url: Fetch a public")
    r.line("/quit")
    assert r.end() == 0
    assert engine.paths == ["/search?q=ring+buffer&format=json"]
    (log,) = state.glob("audit/sessions/*/events.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    by_hand = [event for event in events if event["data"].get("by") == "operator"]
    assert [event["event"] for event in by_hand] == [
        "tool_called", "capability_called", "tool_finished", "tool_called", "capability_called", "tool_refused",
    ]  # fmt: skip
    assert by_hand[0]["data"]["arguments"]["query"] == "ring buffer"
    (records,) = state.glob("audit/sessions/*/evidence.jsonl")
    assert [json.loads(line)["tool"] for line in records.read_text().splitlines()] == ["search_internet", "fetch_url"]


def test_in_ask_each_host_is_asked_about(real, configured, engine):
    r = real([], "--ask", config=configured)
    r.line("!web ring buffer")
    r.wait(r"search the internet for: ring buffer\r?\n.*Let this reach the internet\?")
    r.settle(0.5)
    r.keys("n\r")
    r.wait("operator said no")
    assert engine.asked == []


def test_without_the_network_there_is_nothing_to_reach_it_with(real, configured, engine):
    r = real([], "--auto", "--no-network", config=configured)
    r.line("!web ring buffer")
    r.wait("no network in this session")
    assert engine.asked == []
