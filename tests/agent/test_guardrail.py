"""Loops that lead nowhere are noticed and stopped; work that gets somewhere is left alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.guardrail import Finding, Guardrail
from spear.agent.host import Outcome, Refusal, ToolRequest, ToolResult
from spear.agent.loop import run
from spear.agent.messages import ModelTurn
from tests.agent.fake_host import FakeHost
from tests.agent.scripted import Script, Watcher, ask, call, read, results, shell

Observed = tuple[str, str, ToolResult]


def ok(text: str, *, changed: bool = False) -> ToolResult:
    return ToolResult(text, Outcome.OK, changed=changed)


def bad(text: str) -> ToolResult:
    return ToolResult(text, Outcome.FAILED)


def no(target: str, code: str = "scope") -> ToolResult:
    refusal = Refusal(code, "patch", target, "out of scope", "ask")
    return ToolResult(refusal.line(), Outcome.REFUSED, refusal)


def observe(calls: Iterable[Observed]) -> list[Finding | None]:
    guardrail = Guardrail()
    return [
        guardrail.observe(ToolRequest(str(n), tool, {"x": given}), result)
        for n, (tool, given, result) in enumerate(calls)
    ]


def marks(calls: Iterable[Observed]) -> str:
    """One letter a call: `.` nothing, `n` a note, `S` a stop."""
    return "".join("." if found is None else "S" if found.stop else "n" for found in observe(calls))


def test_the_same_call_with_the_same_result_is_noted_at_three_and_stopped_at_five() -> None:
    assert marks([("search_files", "a", ok("same"))] * 5) == "..nnS"


def test_it_need_not_be_in_a_row_so_cycles_count() -> None:
    cycle = [("search_files", "a", ok("A")), ("search_files", "b", ok("B"))] * 5
    assert marks(cycle) == "....nnnnSS"


def test_polling_whose_result_changes_is_not_a_loop() -> None:
    assert marks(("terminal", "status", ok(f"{n} %")) for n in range(40)) == "." * 40


def test_arguments_are_compared_by_value_not_by_spelling() -> None:
    guardrail = Guardrail()
    for number, arguments in enumerate([{"a": 1, "b": 2}, {"b": 2, "a": 1}]):
        assert guardrail.observe(ToolRequest(str(number), "search_files", arguments), ok("same")) is None
    assert guardrail.observe(ToolRequest("3", "search_files", {"a": 1, "b": 2}), ok("same")) is not None


def test_a_change_of_source_starts_the_counts_anew() -> None:
    failing = [("terminal", "make test", bad("one failed"))] * 4
    edits = [[("patch", f"edit {n}", ok(f"diff {n}", changed=True))] for n in range(6)]
    work = itertools.chain.from_iterable([*failing, *edit] for edit in edits)
    assert "S" not in marks(work)


def test_a_command_that_changes_a_file_each_time_does_not_excuse_itself() -> None:
    assert marks([("terminal", "date > log", ok("", changed=True))] * 5) == "..nnS"


def test_two_edits_that_undo_each_other_are_a_cycle() -> None:
    back_and_forth = [("patch", "a to b", ok("+b", changed=True)), ("patch", "b to a", ok("+a", changed=True))] * 5
    assert marks(back_and_forth) == "....nnnnSS"


def test_a_tool_that_keeps_failing_is_noted_at_four_and_stopped_at_eight() -> None:
    assert marks(("patch", f"{n}", bad(f"no match {n}")) for n in range(8)) == "...nnnnS"


def test_a_success_of_that_tool_ends_the_streak_and_one_of_another_does_not() -> None:
    def failures(start: int) -> list[Observed]:
        return [("terminal", f"{n}", bad(f"{n}")) for n in range(start, start + 3)]

    assert marks([*failures(0), ("terminal", "true", ok("")), *failures(3)]) == "......."
    assert marks([*failures(0), ("read_file", "a", ok("text")), *failures(3)]) == "....nnn"


def test_equal_refusals_are_left_to_the_host_beyond_a_note() -> None:
    assert marks([("patch", "a", no("src/a.c"))] * 12) == "..nnnnnnnnnn"


def test_different_refusals_of_one_tool_are_failures_of_it() -> None:
    assert marks(("patch", f"{n}", no(f"src/{n}.c")) for n in range(8)) == "...nnnnS"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("12")), max_size=60))
def test_nothing_is_stopped_before_five_equal_results_and_nothing_goes_on_after(
    rows: list[tuple[str, str, str]],
) -> None:
    calls = [(tool, given_, ok(text)) for tool, given_, text in rows]
    stopped = "S" in marks(calls)
    assert stopped == any(rows.count(row) >= 5 for row in rows)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    (tmp_path / "a.txt").write_text("alpha\n")
    return FakeHost(tmp_path)


def test_identical_reads_count_although_the_second_shows_a_stub(host: FakeHost) -> None:
    watcher = Watcher()
    outcome = run(host, Script([read("a.txt")] * 40), ask(), observer=watcher)
    shown = results(outcome.conversation)
    assert outcome.stop == "stalled_guardrail"
    assert len(shown) == 5
    assert ["alpha" in text for text in shown] == [True, False, False, False, False]
    assert ["[loop:" in text for text in shown] == [False, False, True, True, True]
    assert watcher.guardrails == [("repeated_call", 3), ("repeated_call", 4), ("repeated_call", 5)]
    assert "read_file" in outcome.detail


def test_identical_calls_of_one_message_count_and_the_rest_of_the_message_does_not_run(host: FakeHost) -> None:
    six = [("search_files", {"pattern": "nowhere"})] * 6
    outcome = run(host, Script([call(*six, ("terminal", {"command": "touch never"}))]), ask())
    assert outcome.stop == "stalled_guardrail"
    assert not (host.root / "never").exists()


def test_failing_commands_end_the_turn_whatever_they_are(host: FakeHost) -> None:
    outcome = run(host, Script([shell(f"exit {n}") for n in range(1, 40)]), ask())
    assert outcome.stop == "stalled_guardrail"
    assert outcome.tool_calls == 8


def test_a_host_that_counts_refusals_stops_before_the_guardrail(host: FakeHost) -> None:
    refusal = Refusal("read_only", "terminal", "make", "this turn is read-only", "read instead")
    host.denied["terminal"] = refusal
    original = host.after_tool

    def after_tool(request: ToolRequest, result: ToolResult):
        answer = original(request, result)
        refused = sum(r.refusal == refusal for _, r in host.log)
        return type(answer)(stop=("stalled_refusals", "five times")) if refused == 5 else answer

    host.after_tool = after_tool  # type: ignore[method-assign]
    outcome = run(host, Script([shell("make")] * 20), ask())
    assert (outcome.stop, outcome.tool_calls) == ("stalled_refusals", 5)


def test_unknown_tools_and_bad_arguments_cannot_go_on_for_ever(host: FakeHost) -> None:
    def turns(made: ModelTurn) -> Script:
        return Script([made] * 40)

    for made in (call(("nope", {})), call(("read_file", {"wrong": 1})), call(("read_file", "[]"))):
        outcome = run(host, turns(made), ask())
        assert (outcome.stop, outcome.rounds) == ("stalled_guardrail", 5)
