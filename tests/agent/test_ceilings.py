"""Ceilings of a turn: tokens, price, wall time; where they stop it, and what they never let begin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.ceilings import Ceilings
from spear.agent.loop import run
from spear.agent.messages import Usage
from tests.agent.fake_host import FakeHost
from tests.agent.scripted import Script, ask, assert_resendable, call, say, shell


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    (tmp_path / "a.txt").write_text("alpha\n")
    return FakeHost(tmp_path)


def counted(turn, given: int | None = 100, made: int | None = 10):
    return replace(turn, usage=Usage(given, made))


def test_tokens_stop_the_turn_before_the_next_request_and_no_summary_is_asked(host: FakeHost) -> None:
    script = Script([counted(shell(f"touch made{n}")) for n in range(9)])
    outcome = run(host, script, ask(), ceilings=Ceilings(tokens=220))
    assert (outcome.stop, outcome.rounds, outcome.requests) == ("round_budget", 2, 2)
    assert outcome.detail == "the ceiling of 220 tokens is reached: 220 are spent"
    assert (host.root / "made1").exists(), "the calls of an answer that was paid for run"
    assert not script.summaries and "220 tokens" in outcome.answer
    assert_resendable(outcome.conversation)


def test_an_answer_that_reaches_a_ceiling_is_an_answer(host: FakeHost) -> None:
    outcome = run(host, Script([counted(say("It is alpha."))]), ask(), ceilings=Ceilings(tokens=1, seconds=1000))
    assert (outcome.stop, outcome.answer) == ("answered", "It is alpha.")


def test_tokens_a_server_does_not_count_are_estimated(host: FakeHost) -> None:
    script = Script([counted(shell(f"echo {n}"), None, None) for n in range(9)])
    outcome = run(host, script, ask(), ceilings=Ceilings(tokens=3000))
    assert outcome.stop == "round_budget" and 1 <= outcome.rounds < 9
    whole = Script([counted(shell("echo"), None, None), say("never")])
    answer = counted(call(("write_file", {"path": "b.txt", "content": "word " * 9000})), 1, None)
    outcome = run(host, Script([answer, say("never")]), ask(), ceilings=Ceilings(tokens=9000))
    assert outcome.stop == "round_budget" and outcome.rounds == 1
    assert run(host, whole, ask(), ceilings=Ceilings(tokens=1)).rounds == 1


def test_a_price_stops_the_turn_and_one_that_is_not_known_too(host: FakeHost) -> None:
    steps = [counted(shell(f"echo {n}")) for n in range(9)]
    costly = Ceilings(price=0.5, cost=lambda used: (used.input_tokens or 0) / 500, currency="EUR")
    outcome = run(host, Script(steps), ask(), ceilings=costly)
    assert (outcome.stop, outcome.rounds) == ("round_budget", 3)
    assert outcome.detail == "the ceiling of 0.5 EUR is reached: 0.6 are spent"
    outcome = run(host, Script(steps), ask(), ceilings=Ceilings(price=0.5, cost=lambda _: None, currency="EUR"))
    assert (outcome.stop, outcome.rounds) == ("round_budget", 1)
    assert "0.5 EUR cannot be held" in outcome.detail


def test_time_stops_the_turn_before_the_next_request(host: FakeHost) -> None:
    clock = Clock()

    def late(_request):
        clock.now += 40
        return shell("echo")

    script = Script([late] * 9)
    outcome = run(host, script, ask(), ceilings=Ceilings(seconds=30, clock=clock))
    assert (outcome.stop, outcome.rounds, script.summaries) == ("tool_budget", 1, [])
    assert outcome.commands == 0 and outcome.detail == "the ceiling of 30 s is reached"
    outcome = run(host, Script([late] * 9), ask(), ceilings=Ceilings(seconds=50, clock=clock))
    assert (outcome.stop, outcome.rounds, outcome.commands) == ("tool_budget", 2, 1)


def test_time_stops_the_turn_between_the_commands_of_one_message(host: FakeHost) -> None:
    clock = Clock()
    ceilings = Ceilings(seconds=30, clock=clock)

    class Slow(FakeHost):
        def run_command(self, request, *rest, **more):
            clock.now += 20
            return super().run_command(request, *rest, **more)

    message = call(*(("terminal", {"command": f"touch {name}"}) for name in ("one", "two", "three")))
    outcome = run(Slow(host.root), Script([message]), ask(), ceilings=ceilings)
    assert (outcome.stop, outcome.commands) == ("tool_budget", 2)
    assert (host.root / "two").exists() and not (host.root / "three").exists()
    assert_resendable(outcome.conversation)


def test_a_second_pass_goes_on_with_what_the_first_left(host: FakeHost) -> None:
    ceilings = Ceilings(tokens=150)
    first = run(host, Script([counted(say("one"))]), ask(), ceilings=ceilings)
    second = run(host, Script([counted(shell("echo")), say("never")]), ask(), ceilings=ceilings)
    assert (first.stop, second.stop, second.rounds) == ("answered", "round_budget", 1)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), max_size=30), st.integers(1, 60_000))
def test_no_request_is_ever_made_once_the_ceiling_is_reached(spent, ceiling):
    ceilings, total = Ceilings(tokens=ceiling), 0
    for given_, made in spent:
        assert bool(ceilings.before_request()) == (total >= ceiling)
        ceilings.spend(Usage(given_, made), 1, 1)
        total += given_ + made
    assert not ceilings.before_command()
