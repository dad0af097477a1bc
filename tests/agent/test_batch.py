"""Steps keep the order of the message; reads side by side end together or are cancelled before they start."""

from __future__ import annotations

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.batch import MAX_THREADS, run_all, steps
from spear.agent.calls import Call, Fault
from spear.agent.host import Outcome, ToolRequest, ToolResult

READS = frozenset({"r"})


def made(tools: str) -> list[Call]:
    """One call a letter; `x` is a read that must not run."""
    return [
        Call(ToolRequest(str(n), "r" if tool == "x" else tool, {}), (Fault.BAD_JSON, "") if tool == "x" else None)
        for n, tool in enumerate(tools)
    ]


@given(st.text("rwx", max_size=20))
def test_steps_hold_every_call_once_in_order_and_only_reads_share_one(tools: str) -> None:
    calls = made(tools)
    found = list(steps(calls, READS))
    assert [call for step in found for call in step] == calls
    for step in found:
        assert len(step) == 1 or all(call.request.tool == "r" and call.problem is None for call in step)
    for one, two in itertools.pairwise(found):
        assert not all(step[0].request.tool == "r" and step[0].problem is None for step in (one, two))


def test_no_more_than_eight_run_at_once_and_results_keep_their_order() -> None:
    lock, running, most = threading.Lock(), 0, 0
    full = threading.Barrier(MAX_THREADS, timeout=10)

    def run(request: ToolRequest) -> ToolResult:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        full.wait()
        with lock:
            running -= 1
        return ToolResult(request.call_id, Outcome.OK)

    requests = [ToolRequest(str(n), "r", {}) for n in range(MAX_THREADS * 2)]
    found = run_all(requests, run, lambda: False)
    assert [result.text for result in found] == [request.call_id for request in requests]
    assert most == MAX_THREADS


def test_an_interrupt_cancels_those_that_have_not_started_and_waits_for_the_rest() -> None:
    stop, started, ended = threading.Event(), [], []

    def run(request: ToolRequest) -> ToolResult:
        started.append(request.call_id)
        stop.wait(10)
        ended.append(request.call_id)
        return ToolResult("read", Outcome.OK)

    polls = 0

    def cancelled() -> bool:
        nonlocal polls
        if len(started) < MAX_THREADS:
            return False
        polls += 1
        if polls > 1:  # those waiting were cancelled at the first poll; now the others may end
            stop.set()
        return True

    found = run_all([ToolRequest(str(n), "r", {}) for n in range(20)], run, cancelled)
    assert [result.outcome for result in found] == [Outcome.OK] * 8 + [Outcome.CANCELLED] * 12
    assert len(ended) == 8


def test_a_defect_in_one_read_is_raised() -> None:
    def run(request: ToolRequest) -> ToolResult:
        if request.call_id == "1":
            raise RuntimeError("a defect")
        return ToolResult("", Outcome.OK)

    with pytest.raises(RuntimeError, match="a defect"):
        run_all([ToolRequest(str(n), "r", {}) for n in range(3)], run, lambda: False)
