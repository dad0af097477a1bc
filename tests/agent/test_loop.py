"""The loop, turn by turn: what runs, in which order, and every way a turn ends."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.agent.host import AfterTool, CommandResult, Outcome, Refusal, ToolRequest, ToolResult
from spear.agent.loop import CodingCore, run
from spear.agent.messages import (
    FailureKind,
    Message,
    ModelFailure,
    ModelRequest,
    ModelTurn,
    Role,
    StopReason,
    ToolCall,
    Usage,
)
from spear.agent.outcome import Budget
from spear.agent.tools import SCHEMAS
from spear.agent.window import estimate
from tests.agent.fake_host import FakeHost
from tests.agent.scripted import (
    SUMMARY,
    Script,
    Watcher,
    ask,
    assert_resendable,
    call,
    read,
    results,
    say,
    shell,
)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    (tmp_path / "a.txt").write_text("alpha\n")
    (tmp_path / "b.txt").write_text("beta\n")
    return FakeHost(tmp_path)


def test_a_turn_reads_edits_runs_and_answers(host: FakeHost) -> None:
    edit = call(("patch", {"path": "a.txt", "old_string": "alpha", "new_string": "omega"}))
    script = Script([read("a.txt"), edit, shell("cat a.txt"), say("Changed it.")])
    outcome = run(host, script, ask())
    assert (outcome.stop, outcome.answer) == ("answered", "Changed it.")
    assert (host.root / "a.txt").read_text() == "omega\n"
    assert "omega" in results(outcome.conversation)[-1]
    assert (outcome.rounds, outcome.tool_calls, outcome.commands, outcome.requests) == (4, 3, 1, 4)
    assert_resendable(outcome.conversation)


def test_requests_carry_six_tools_a_bound_and_no_sampling_parameters(host: FakeHost) -> None:
    script = Script([say("ok")])
    run(host, script, ask())
    request = script.requests[0]
    assert request.tools == SCHEMAS
    assert request.max_tokens == 16384
    assert request.temperature is None


def test_the_response_bound_leaves_half_of_a_small_window(host: FakeHost) -> None:
    script = Script([say("ok")])
    run(host, script, ask(), Budget(context_window=12001))
    assert script.requests[0].max_tokens == 6001


def test_the_prefix_is_only_ever_appended_to(host: FakeHost) -> None:
    script = Script([read("a.txt"), say(""), say("", StopReason.LENGTH), read("b.txt"), say("done")])
    outcome = run(host, script, ask())
    sent = [request.messages for request in script.requests] + [outcome.conversation]
    for earlier, later in itertools.pairwise(sent):
        assert later[: len(earlier)] == earlier


def test_calls_of_one_message_run_in_order_and_an_edit_lands_before_a_later_read(host: FakeHost) -> None:
    message = call(
        ("patch", {"path": "a.txt", "old_string": "alpha", "new_string": "omega"}),
        ("read_file", {"path": "a.txt"}),
        ("search_files", {"pattern": "omega"}),
        ("write_file", {"path": "c.txt", "content": "gamma\n"}),
        ("read_file", {"path": "c.txt"}),
    )
    outcome = run(host, Script([message, say("done")]), ask())
    shown = results(outcome.conversation)
    assert len(shown) == 5
    assert "omega" in shown[1]
    assert "gamma" in shown[4]
    assert [request.tool for request, _ in host.log] == [
        "patch", "read_file", "search_files", "write_file", "read_file"
    ]  # fmt: skip


class MeetingHost(FakeHost):
    """Reads wait for one another: they only end when as many as expected are under way at once."""

    def __init__(self, root: Path, together: int) -> None:
        super().__init__(root)
        self._barrier = threading.Barrier(together, timeout=10)

    def open_read(self, target: Any) -> Any:
        self._barrier.wait()
        return super().open_read(target)


def test_consecutive_reads_run_side_by_side_with_results_in_call_order(tmp_path: Path) -> None:
    names = [f"f{number}.txt" for number in range(8)]
    for name in names:
        (tmp_path / name).write_text(f"text of {name}\n")
    host = MeetingHost(tmp_path, together=8)
    message = call(*(("read_file", {"path": name}) for name in names))
    outcome = run(host, Script([message, say("done")]), ask())
    shown = results(outcome.conversation)
    assert len(shown) == 8
    for name, text in zip(names, shown, strict=True):
        assert f"text of {name}" in text
    assert [request.arguments["path"] for request, _ in host.log] == names


def test_authorization_is_asked_in_call_order_from_the_loops_thread(host: FakeHost) -> None:
    asked: list[tuple[str, int]] = []
    original = host.authorize

    def authorize(request: ToolRequest) -> Refusal | None:
        asked.append((request.arguments["path"], threading.get_ident()))
        return original(request)

    host.authorize = authorize  # type: ignore[method-assign]
    run(host, Script([call(("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})), say("done")]), ask())
    assert asked == [("a.txt", threading.get_ident()), ("b.txt", threading.get_ident())]


def test_every_call_gets_the_hosts_last_word_exactly_once(host: FakeHost) -> None:
    message = call(
        ("read_file", {"path": "a.txt"}),
        ("read_file", "{broken"),
        ("no_such_tool", {}),
        ("read_file", {}),
        ("read_file", "[]"),
    )
    watcher = Watcher()
    outcome = run(host, Script([message, say("recovered")]), ask(), observer=watcher)
    assert outcome.answer == "recovered"
    assert [request.call_id for request, _ in host.log] == [
        made.id for message in outcome.conversation for made in message.tool_calls
    ]
    assert [result.outcome for _, result in host.log] == [Outcome.OK] + [Outcome.ANSWERED] * 4
    assert [item for item in watcher.seen if item.startswith("start")] == ["start read_file"]
    assert len(watcher.results) == 5
    assert_resendable(outcome.conversation)


def test_text_of_the_host_follows_the_result(host: FakeHost) -> None:
    host.append = "note from the host"
    outcome = run(host, Script([read("a.txt"), say("done")]), ask())
    assert results(outcome.conversation)[0].endswith("\nnote from the host")


def test_ids_that_are_missing_or_used_before_are_made_unique_the_same_way_each_time(host: FakeHost) -> None:
    def turn(*ids: str) -> ModelTurn:
        calls = tuple(ToolCall(i, "read_file", '{"path": "a.txt"}') for i in ids)
        return ModelTurn("", calls, StopReason.TOOL_CALLS)

    before = [
        *ask(),
        Message(Role.ASSISTANT, "", (ToolCall("x", "read_file", "{}"),)),
        Message(Role.TOOL, "old", tool_call_id="x"),
        Message(Role.USER, "again"),
    ]
    ids = []
    for _ in range(2):
        outcome = run(host, Script([turn("x", "y", "y", ""), say("done")]), before)
        ids.append([made.id for message in outcome.conversation for made in message.tool_calls])
        assert_resendable(outcome.conversation)
    assert ids[0] == ids[1] == ["x", "x_2", "y", "y_2", "call_1_4"]


def test_names_are_repaired_only_when_one_tool_is_meant(host: FakeHost) -> None:
    message = call(
        *((name, {"path": "a.txt"}) for name in ("Read-File", "read_file_tool", "READ FILE", "readfile", ""))
    )
    outcome = run(host, Script([message, say("done")]), ask())
    shown = results(outcome.conversation)
    assert all("alpha" in text or "a.txt" in text for text in shown[:3])
    assert "there is no tool 'readfile'" in shown[3]
    assert "terminal" in shown[3]
    assert "names no tool" in shown[4]
    assert [request.tool for request, _ in host.log][:3] == ["read_file"] * 3


def test_unreadable_arguments_are_answered_and_never_completed(host: FakeHost) -> None:
    cut = '{"path": "new.txt", "content": "half of it'
    outcome = run(host, Script([call(("write_file", cut)), say("ok")]), ask())
    assert not (host.root / "new.txt").exists()
    answer = results(outcome.conversation)[0]
    assert "not valid JSON" in answer
    assert "smaller pieces" in answer


def test_three_messages_in_a_row_with_unreadable_arguments_end_the_turn(host: FakeHost) -> None:
    broken = call(("read_file", '{"path": a.txt}'))
    script = Script([broken, broken, read("a.txt"), broken, broken, broken, say("never")])
    outcome = run(host, script, ask())
    assert outcome.stop == "stalled_guardrail"
    assert "not valid JSON" in outcome.detail
    assert outcome.rounds == 6
    assert_resendable(outcome.conversation)


@pytest.mark.parametrize("arguments", ["", "  ", '{"path": "a\nb"}', '{"path": "\\ud83d\\ude00"}'])
def test_harmless_peculiarities_of_arguments_are_accepted(host: FakeHost, arguments: str) -> None:
    outcome = run(host, Script([call(("read_file", arguments)), say("ok")]), ask())
    assert host.log[0][1].reason != "bad_json"
    assert_resendable(outcome.conversation)


@pytest.mark.parametrize(
    "arguments", ['{"path": "\\ud83d"}', "[" * 100_000, '{"limit": ' + "9" * 5000 + "}", '{"limit": NaN}', "nul"]
)
def test_hostile_arguments_are_answered(host: FakeHost, arguments: str) -> None:
    outcome = run(host, Script([call(("read_file", arguments)), say("ok")]), ask())
    assert outcome.answer == "ok"
    assert host.log[0][1].outcome is Outcome.ANSWERED
    assert_resendable(outcome.conversation)


def test_calls_of_a_cut_off_message_never_run_and_the_third_one_ends_the_turn(host: FakeHost) -> None:
    whole = call(("write_file", {"path": "half.txt", "content": "abc"}), stop=StopReason.LENGTH)
    script = Script([whole, whole, whole, say("never")])
    outcome = run(host, script, ask())
    assert not (host.root / "half.txt").exists()
    assert outcome.stop == "response_truncated"
    assert outcome.rounds == 3
    assert all("smaller pieces" in text for text in results(outcome.conversation))
    assert outcome.answer == SUMMARY


def test_a_model_that_writes_smaller_after_being_told_goes_on(host: FakeHost) -> None:
    cut = call(("write_file", '{"path": "x", "content": "ab'), stop=StopReason.LENGTH)
    small = call(("write_file", {"path": "x.txt", "content": "ab"}))
    outcome = run(host, Script([cut, cut, small, cut, cut, say("ok")]), ask())
    assert outcome.stop == "answered"
    assert (host.root / "x.txt").read_text() == "ab"


def test_a_cut_off_answer_is_continued_and_joined(host: FakeHost) -> None:
    pieces = [say("one ", StopReason.LENGTH), say("two ", StopReason.LENGTH), say("three")]
    outcome = run(host, Script(pieces), ask())
    assert (outcome.stop, outcome.answer) == ("answered", "one two three")
    assert_resendable(outcome.conversation)


def test_an_answer_that_never_ends_is_truncated_after_three_continuations(host: FakeHost) -> None:
    script = Script([say("more ", StopReason.LENGTH)] * 9)
    outcome = run(host, script, ask())
    assert outcome.stop == "response_truncated"
    assert len(script.requests) == 4
    assert outcome.answer == SUMMARY


def test_a_filtered_response_ends_the_turn_and_runs_nothing(host: FakeHost) -> None:
    script = Script(
        [call(("write_file", {"path": "x", "content": "y"}), stop=StopReason.FILTERED), say("", StopReason.FILTERED)]
    )
    outcome = run(host, script, ask())
    assert outcome.stop == "response_truncated"
    assert "filter" in outcome.detail
    assert not (host.root / "x").exists()


def test_an_empty_answer_is_nudged_once_and_retried_twice(host: FakeHost) -> None:
    script = Script([say(""), say("<think>hm</think>"), say("  "), say("At last.")])
    outcome = run(host, script, ask())
    assert outcome.answer == "At last."
    first, nudged, again, last = (request.messages for request in script.requests)
    assert len(nudged) == len(first) + 2
    assert nudged == again == last


def test_empty_answers_do_not_go_on_for_ever(host: FakeHost) -> None:
    script = Script([say("")] * 20)
    outcome = run(host, script, ask())
    assert (outcome.stop, len(script.requests)) == ("stalled_guardrail", 4)
    assert "empty answers" in outcome.detail


def test_reasoning_is_kept_out_of_the_answer_and_of_the_conversation(host: FakeHost) -> None:
    thinking = ModelTurn("<think>secret</think>Reading.", read("a.txt").tool_calls, StopReason.TOOL_CALLS)
    outcome = run(host, Script([thinking, say("<think>secret</think>It is alpha.")]), ask())
    assert outcome.answer == "It is alpha."
    assert not any("secret" in message.content for message in outcome.conversation)


def test_the_round_budget_ends_the_turn_with_a_summary_asked_without_tools(host: FakeHost) -> None:
    script = Script([shell(f"echo {n}") for n in range(50)])
    outcome = run(host, script, ask(), Budget(rounds=6))
    assert (outcome.stop, outcome.rounds, outcome.requests, outcome.answer) == ("round_budget", 6, 7, SUMMARY)
    assert script.summaries[0].tools == ()
    assert script.summaries[0].messages[: len(script.requests[-1].messages)] == script.requests[-1].messages
    assert_resendable(outcome.conversation)


def test_the_command_budget_counts_terminal_calls_and_refuses_the_next(host: FakeHost) -> None:
    message = call(("terminal", {"command": "touch one"}), ("read_file", {"path": "a.txt"}),
                   ("terminal", {"command": "touch two"}), ("terminal", {"command": "touch three"}))  # fmt: skip
    outcome = run(host, Script([message]), ask(), Budget(commands=1))
    assert outcome.stop == "tool_budget"
    assert outcome.commands == 1
    assert (host.root / "one").exists()
    assert not (host.root / "two").exists()
    assert len(host.log) == 4
    assert_resendable(outcome.conversation)


def test_half_the_window_by_the_servers_count_ends_the_turn(host: FakeHost) -> None:
    def big(request: ModelRequest) -> ModelTurn:
        return ModelTurn("", read("a.txt").tool_calls, StopReason.TOOL_CALLS, Usage(16_500, 10))

    script = Script([big, say("never")])
    outcome = run(host, script, ask())
    assert (outcome.stop, outcome.answer) == ("context_half", SUMMARY)
    assert len(script.requests) == 1


def test_half_the_window_by_estimate_ends_the_turn_where_the_server_says_nothing_believable(host: FakeHost) -> None:
    for name in ("big.txt", "large.txt"):
        (host.root / name).write_text("".join(f"value_{n} = compute({n})\n" for n in range(2000)))
    for usage in (Usage(), Usage(10, 5)):
        reading = [
            ModelTurn("", read(name).tool_calls, StopReason.TOOL_CALLS, usage) for name in ("big.txt", "large.txt")
        ]
        outcome = run(host, Script([*reading, say("never")]), ask(), Budget(context_window=16_000))
        assert (outcome.stop, outcome.answer) == ("context_half", SUMMARY)
        assert_resendable(outcome.conversation)


def test_a_result_too_large_for_the_window_keeps_its_head_and_tail_so_that_the_summary_fits(host: FakeHost) -> None:
    script = Script([shell("echo FIRST; seq 1 9000; echo LAST")] * 4)
    run(host, script, ask(), Budget(context_window=12_000))
    for shown in results(script.summaries[0].messages):
        assert "FIRST" in shown
        assert "LAST" in shown
        assert "left out" in shown or "omitted here" in shown
    assert estimate("".join(m.content for m in script.summaries[0].messages)) < 12_000


@pytest.mark.parametrize("window", [16_000, 32_768, 131_072])
def test_no_one_call_and_no_one_message_ends_a_turn_by_its_size(host: FakeHost, window: int) -> None:
    (host.root / "digits.txt").write_text("".join(f"{n}\n" * 3 for n in range(60_000)))
    (host.root / "wide.txt").write_text("some words in a row of text, " * 60 + "\n")
    (host.root / "many.txt").write_text("needle and a few words more\n" * 20_000)
    big = [
        shell("seq 1 200000"),
        read("digits.txt"),
        call(("search_files", {"pattern": "needle", "limit": 100_000})),
        call(*[("read_file", {"path": "digits.txt", "offset": 1 + 2000 * n}) for n in range(min(4, window // 8_000))]),
    ]
    for turn in big:
        script = Script([turn, say("read")])
        outcome = run(host, script, ask(), Budget(context_window=window))
        assert (outcome.stop, outcome.answer) == ("answered", "read")


def test_a_large_result_takes_its_share_of_a_small_window_and_all_it_may_of_a_large_one(host: FakeHost) -> None:
    lengths = {}
    for window in (8_000, 32_768, 400_000):
        script = Script([shell("yes 'words of a line' | head -c 60000"), say("done")])
        run(host, script, ask(), Budget(context_window=window))
        lengths[window] = len(results(script.requests[-1].messages)[0])
    assert 2_000 < lengths[8_000] < 6_000
    assert 10_000 < lengths[32_768] < 24_000
    assert 49_000 < lengths[400_000] < 51_200


def test_a_page_of_a_file_ends_on_a_line_and_the_next_one_goes_on_there(host: FakeHost) -> None:
    (host.root / "long.txt").write_text(
        "".join(f"row {n} of the file and ordinary words after it\n" for n in range(1, 3001))
    )
    first = Script([read("long.txt"), say("done")])
    run(host, first, ask(), Budget(context_window=16_000))
    page = results(first.requests[-1].messages)[0]
    assert "omitted here" not in page
    offset = int(page.rpartition("continue with offset=")[2].rstrip("]"))
    assert f"{offset - 1}|row {offset - 1} of" in page
    second = Script([call(("read_file", {"path": "long.txt", "offset": offset})), say("done")])
    run(host, second, ask(), Budget(context_window=16_000))
    assert results(second.requests[-1].messages)[0].startswith(f"{offset}|row {offset} of")


def test_a_request_larger_than_half_the_window_says_so(host: FakeHost) -> None:
    outcome = run(host, Script([]), ask("long request " * 4000), Budget(context_window=8000))
    assert outcome.stop == "context_half"
    assert "the request alone" in outcome.detail
    assert outcome.rounds == 0
    assert_resendable(outcome.conversation)


def test_a_summary_that_cannot_be_had_is_composed_from_the_record(host: FakeHost) -> None:
    broken = ModelFailure(FailureKind.SERVER_ERROR, "gone")
    for summary in (broken, say(""), call(("read_file", {"path": "a.txt"}))):
        edit = call(("write_file", {"path": "n.txt", "content": "x"}))
        outcome = run(host, Script([edit, shell("false")] * 9, summary), ask(), Budget(rounds=2))
        assert outcome.stop == "round_budget"
        assert "n.txt" in outcome.answer
        assert "`false` (failed)" in outcome.answer
        assert_resendable(outcome.conversation)
        (host.root / "n.txt").unlink()


def test_an_endpoint_failure_ends_the_turn_without_asking_again(host: FakeHost) -> None:
    failure = ModelFailure(FailureKind.UNREACHABLE, "http://127.0.0.1:9 cannot be reached", "start it")
    script = Script([read("a.txt"), failure])
    outcome = run(host, script, ask())
    assert (outcome.stop, outcome.failure) == ("endpoint_error", failure)
    assert "127.0.0.1:9" in outcome.detail
    assert script.summaries == []
    assert "1 read_file" in outcome.answer
    assert_resendable(outcome.conversation)


def test_the_host_stops_the_turn_and_its_word_comes_first(host: FakeHost) -> None:
    host.stop = ("stalled_refusals", "patch of src was refused 5 times")
    message = call(("read_file", {"path": "a.txt"}), ("terminal", {"command": "touch never"}))
    outcome = run(host, Script([message]), ask())
    assert (outcome.stop, outcome.detail) == host.stop
    assert not (host.root / "never").exists()
    assert outcome.answer == SUMMARY
    assert_resendable(outcome.conversation)


def test_the_first_reason_to_stop_is_the_one_given(host: FakeHost) -> None:
    def after_tool(request: ToolRequest, result: ToolResult) -> AfterTool:
        host.log.append((request, result))
        return AfterTool(stop=("stalled_refusals", f"call {len(host.log)}")) if len(host.log) >= 5 else AfterTool()

    host.after_tool = after_tool  # type: ignore[method-assign]
    message = call(*[("search_files", {"pattern": "nowhere"})] * 7)
    outcome = run(host, Script([message]), ask())
    assert (outcome.stop, outcome.detail) == ("stalled_refusals", "call 5")


def test_a_result_that_cannot_be_encoded_is_repaired(host: FakeHost) -> None:
    host.append = "half a pair: \ud83d"
    outcome = run(host, Script([read("a.txt"), say("done")]), ask())
    assert_resendable(outcome.conversation)


def test_without_confinement_the_summary_is_composed_and_no_model_is_asked(host: FakeHost) -> None:
    host.stop = ("confinement_unavailable", "bwrap is missing")
    script = Script([shell("true")])
    outcome = run(host, script, ask())
    assert outcome.stop == "confinement_unavailable"
    assert script.summaries == []
    assert "bwrap is missing" in outcome.answer


@pytest.mark.parametrize("after", range(6))
def test_an_interrupt_at_any_point_leaves_every_call_with_a_result(host: FakeHost, after: int) -> None:
    """The flag is raised after so many calls of the host; polls before and after see it."""
    touches = call(*(("terminal", {"command": f"touch t{n}"}) for n in range(3)))
    script = Script([touches, touches, say("done")])
    outcome = run(host, script, ask(), cancelled=lambda: len(host.log) >= after)
    assert outcome.stop == "interrupted"
    assert script.summaries == []
    assert len(host.asked) == after
    assert_resendable(outcome.conversation)
    cancelled = [result for _, result in host.log if result.outcome is Outcome.CANCELLED]
    assert len(cancelled) == -after % 3
    assert all("interrupted" in result.text for result in cancelled)


def test_an_interrupt_during_the_model_call_runs_nothing_of_its_answer(host: FakeHost) -> None:
    flag = threading.Event()

    def answers_late(request: ModelRequest) -> ModelTurn:
        flag.set()
        return shell("touch never")

    outcome = run(host, Script([answers_late]), ask(), cancelled=flag.is_set)
    assert outcome.stop == "interrupted"
    assert not (host.root / "never").exists()
    assert_resendable(outcome.conversation)


def test_an_interrupt_reported_by_the_backend_is_an_interrupt(host: FakeHost) -> None:
    outcome = run(host, Script([ModelFailure(FailureKind.CANCELLED, "cancelled")]), ask())
    assert (outcome.stop, outcome.failure) == ("interrupted", None)


def test_a_defect_of_the_host_passes_through_and_the_conversation_survives(host: FakeHost) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a defect")

    host.run_command = broken  # type: ignore[method-assign]
    message = call(
        ("read_file", {"path": "a.txt"}), ("terminal", {"command": "true"}), ("read_file", {"path": "b.txt"})
    )
    core = CodingCore(host, Script([message]), ask())
    with pytest.raises(RuntimeError, match="a defect"):
        core.run()
    assert_resendable([*core.conversation, Message(Role.ASSISTANT, "")])
    assert len(results(core.conversation)) == 3


def test_a_conversation_that_is_not_valid_is_mended_before_it_is_sent(host: FakeHost) -> None:
    broken = [
        *ask("half a pair: \ud83d"),
        Message(Role.TOOL, "orphan", tool_call_id="z"),
        Message(Role.ASSISTANT, "", (ToolCall("p", "read_file", "{}"), ToolCall("q", "read_file", "{}"))),
        Message(Role.TOOL, "only q", tool_call_id="q"),
        Message(Role.TOOL, "q again", tool_call_id="q"),
        Message(Role.USER, "go on"),
    ]
    script = Script([say("fine \udc00")])
    outcome = run(host, script, broken)
    assert_resendable(outcome.conversation)
    assert outcome.answer == "fine \ufffd"
    assert not any(message.content in ("orphan", "q again") for message in outcome.conversation)


def test_the_observer_sees_the_turn_in_order(host: FakeHost) -> None:
    def streams(request: ModelRequest) -> ModelTurn:
        assert request.on_text is not None
        request.on_text("Hi")
        return say("Hi", input_tokens=7)

    watcher = Watcher()
    outcome = run(host, Script([read("a.txt"), streams]), ask(), observer=watcher)
    assert watcher.seen == [
        "request 1",
        "answer",
        "start read_file",
        "finish read_file",
        "request 2",
        "text Hi",
        "answer",
    ]
    assert outcome.usage.input_tokens == 7


_ARGUMENTS = st.sampled_from(
    ['{"path": "a.txt"}', '{"path": "w.txt", "content": "x"}', '{"command": "true"}', "{}", "", "[]", "{", "nul",
     '{"path": "\\ud800"}', '{"path": "\ud800"}', '{"pattern": "a", "limit": "3"}']
)  # fmt: skip
_NAMES = st.sampled_from(
    ["read_file", "write_file", "terminal", "search_files", "Read-File", "nope", "", "\ud800", "a b"]
)
_CALLS = st.builds(ToolCall, st.sampled_from(["", "a", "b", "call_1_1", "\ud800"]), _NAMES, _ARGUMENTS)
_TEXTS = st.sampled_from(["", "text", "<think>x", "a\ud800", "</think>", "  "])
_TURNS = st.builds(
    ModelTurn,
    text=_TEXTS,
    tool_calls=st.lists(_CALLS, max_size=4).map(tuple),
    stop_reason=st.sampled_from(StopReason),
    usage=st.builds(Usage, st.sampled_from([None, 0, 10, 5000, 40_000]), st.none()),
    reasoning=_TEXTS,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(_TURNS | st.just(ModelFailure(FailureKind.SERVER_ERROR, "gone")), max_size=8), st.integers(0, 30), _TURNS
)
def test_any_script_leaves_a_conversation_that_can_be_sent_again(
    host: FakeHost, turns: list[ModelTurn | ModelFailure], patience: int, summary: ModelTurn
) -> None:
    host.log.clear()
    host.command = CommandResult("", 0, ".", 0.0)
    watcher = Watcher()
    polls = iter(range(patience))
    outcome = run(
        host, Script(turns, summary), ask(), Budget(rounds=12, commands=4), watcher,
        cancelled=lambda: next(polls, None) is None and patience % 3 == 0,
    )  # fmt: skip
    assert_resendable(outcome.conversation)
    assert outcome.answer
    assert len(host.log) == len(results(outcome.conversation)) == outcome.tool_calls == len(watcher.results)
    runnable = sum(len(t.tool_calls) for t in turns if isinstance(t, ModelTurn) and t.stop_reason in
                   (StopReason.STOP, StopReason.TOOL_CALLS))  # fmt: skip
    assert len([item for item in watcher.seen if item.startswith("start")]) <= runnable


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(_CALLS, min_size=1, max_size=4).map(tuple), min_size=1, max_size=6), _TEXTS)
def test_no_call_of_a_cut_off_message_ever_runs(host: FakeHost, batches: list[tuple[ToolCall, ...]], text: str) -> None:
    watcher = Watcher()
    script = Script([ModelTurn(text, calls, StopReason.LENGTH) for calls in batches])
    run(host, script, ask(), observer=watcher)
    assert not any(item.startswith("start") for item in watcher.seen)
