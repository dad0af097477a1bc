"""Equal refusals stop the turn; a success forgives them."""

from __future__ import annotations

import pytest

from spear.agent.host import Refusal
from spear.policy.refusal_breaker import RefusalBreaker


def refusal(target: str = "src/a.c", code: str = "out_of_scope", tool: str = "write_file") -> Refusal:
    return Refusal(code, tool, target, "why", "what instead")


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_nth_equal_refusal_stops(limit):
    breaker = RefusalBreaker(limit)
    assert [breaker.refused(refusal()) for _ in range(limit)] == [False] * (limit - 1) + [True]


def test_spellings_of_one_target_are_equal_and_other_codes_tools_and_targets_are_not():
    breaker = RefusalBreaker(2)
    assert not breaker.refused(refusal("src/a.c"))
    assert not breaker.refused(refusal("src/b.c"))
    assert not breaker.refused(refusal(code="generated"))
    assert not breaker.refused(refusal(tool="patch"))
    assert breaker.refused(refusal("./src//a.c"))


def test_a_success_on_the_target_forgives_and_on_another_does_not():
    breaker = RefusalBreaker(2)
    breaker.refused(refusal())
    breaker.succeeded("src/b.c")
    breaker.succeeded("src/./a.c")
    assert not breaker.refused(refusal())
    breaker.succeeded("src/b.c")
    assert breaker.refused(refusal())


def test_a_write_left_out_of_a_command_is_counted_anew_once_the_turn_has_changed_something():
    breaker = RefusalBreaker(3)
    assert not any(breaker.refused(refusal(), epoch) for epoch in (1, 1, 2, 2, 3, 3))
    assert breaker.refused(refusal(), 3)
    assert breaker.refusals()[0].count == 7


def test_every_refusal_is_reported_with_its_count():
    breaker = RefusalBreaker()
    for target in ("a", "b", "a"):
        breaker.refused(refusal(target))
    breaker.succeeded("a")
    assert [(item.refusal.target, item.count) for item in breaker.refusals()] == [("a", 2), ("b", 1)]
