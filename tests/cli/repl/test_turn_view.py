"""What a turn prints, from its events alone."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from spear.cli.display.markdown import MarkdownRenderer
from spear.cli.display.palette import PLAIN, Palette, palette_of, unpainted
from spear.cli.repl.interruption import Interruption
from spear.cli.repl.progress import Progress
from spear.cli.repl.status_line import running_line
from spear.cli.repl.turn_view import LIVE_ROWS, Canvas, TurnView
from spear.cli.settings_model import Price
from spear.cli.spending import Spending
from spear.control.controller import FinishedTurn
from spear.events.names import EventName, Mode
from spear.events.stream import RESTARTED, Event, Live, LiveKind
from spear.events.turn import TurnResult


class Shown:
    """A view and what it printed."""

    def __init__(self, palette: Palette = PLAIN, width: int = 80) -> None:
        self.texts: list[str] = []
        self.view = TurnView(Canvas(palette, MarkdownRenderer(palette), lambda: width, self.texts.append))

    def say(self, text: str) -> None:
        self.view(Live(LiveKind.TEXT, text))

    def event(self, name: EventName, **data: object) -> None:
        self.view(Event(name, data, 1))

    def call(self, tool: str = "patch", path: str = "a.c", **done: object) -> None:
        self.event(EventName.TOOL_CALLED, call_id="c", tool=tool, arguments={"path": path})
        self.event(EventName.TOOL_FINISHED, call_id="c", tool=tool, **{"outcome": "ok", "path": path, **done})

    def finish(self, answer: str, verdict: str = "NO_CHANGE", **changes: object) -> None:
        plain = {
            "schema": "spear.turn/1", "session": "s", "turn": 1, "request": "r", "class": "GENERAL",
            "path": "coding_core", "mode": "auto", "read_only": False, "answer": answer, "verdict": verdict,
            "reasons": [], "stop": {"reason": "answered"}, "epoch": 0, "changed_files": [], "commands": [],
            "checks": [], "validation": [], "repair": None, "refusals": [], "usage": {}, "rounds": 1, "tool_calls": 1,
            "duration_s": 1.0, "audit": {"session_dir": "d"},
        }  # fmt: skip
        self.view.finish(FinishedTurn(TurnResult.model_validate({**plain, **changes}), ()))

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@pytest.fixture
def shown() -> Shown:
    return Shown()


def test_a_line_of_a_call_is_folded_between_words_on_a_narrow_terminal():
    narrow = Shown(palette_of("dark", {"TERM": "xterm"}, plain=False), 40)
    narrow.call(outcome="refused", reason="it is outside of what was asked for in this turn")
    narrow.event(EventName.GUARDRAIL_STOPPED, detail="the same refusal came five times, so the turn was stopped")
    lines = unpainted(narrow.text).split("\n")
    assert len(lines) > 3 and all(len(line) <= 40 for line in lines)
    assert " ".join(" ".join(lines).split()).count("it is outside of what was asked for in this turn") == 1


def test_a_block_is_printed_as_soon_as_it_is_finished_and_only_once(shown):
    shown.say("first\n\nsec")
    shown.say("ond\n\nthird")
    assert shown.text.split() == ["first"]
    shown.say("\n")
    assert shown.text.split() == ["first", "second"]
    shown.finish("first\n\nsecond\n\nthird")
    assert shown.text.split() == ["first", "second", "third"]


def test_what_is_said_after_a_change_is_held_until_the_verdict_has_marked_it(shown):
    shown.call(changed=True)
    before = len(shown.texts)
    shown.say("I changed it. All tests pass.\n\nAnything else?\n\n")
    assert shown.texts[before:] == []
    shown.finish("**UNVERIFIED** — why\n\nAll tests pass. *(not verified)*", "UNVERIFIED")
    printed = "\n".join(shown.texts[before:])
    assert "All tests pass. *(not verified)*" in printed
    assert printed.count("All tests pass.") == 1


def test_what_turns_out_to_be_narration_is_printed_before_the_call_that_shows_it(shown):
    shown.call(changed=True)
    shown.say("Now the tests.")
    shown.call("terminal")
    assert shown.text.index("Now the tests.") < shown.text.index("Terminal")


def test_an_answer_before_the_one_repair_is_dropped(shown):
    shown.call(changed=True)
    shown.say("It all works.\n\n")
    shown.event(EventName.VALIDATION_REPAIR_STARTED, epoch=1)
    shown.event(EventName.MODEL_REQUESTED, round=2)
    shown.say("Now it does.")
    shown.finish("Now it does.", "VERIFIED")
    assert "It all works." not in shown.text
    assert shown.text.count("Now it does.") == 1


def test_a_composed_answer_nobody_streamed_is_printed(shown):
    shown.finish("Stopped after 60 rounds.", stop={"reason": "round_budget"})
    assert "Stopped after 60 rounds." in shown.text
    assert shown.texts[-1].lstrip().startswith("NO_CHANGE · stopped: round budget")


def test_lines_of_a_file_changed_twice_are_added_up_in_the_block(shown):
    shown.call(changed=True, added=3, removed=1)
    shown.call(changed=True, added=2, removed=0)
    shown.finish("x", "UNVERIFIED", changed_files=[{"path": "a.c", "change": "modified"}])
    assert "modified  a.c  +5 −1" in shown.texts[-1]


def test_the_live_rows_stay_few_however_much_streams_and_runs(shown):
    shown.say("\n".join(f"- item {n}" for n in range(200)))
    assert len(shown.view.live_rows().split("\n")) <= LIVE_ROWS
    for number in range(20):
        shown.event(EventName.TOOL_CALLED, call_id=str(number), tool="read_file", arguments={"path": "a"})
    assert len(shown.view.live_rows().split("\n")) <= LIVE_ROWS


def test_each_step_of_the_validation_is_one_line(shown):
    shown.event(EventName.VALIDATION_STARTED, commands=["make", "make test"])
    assert "Validate make, make test" in shown.view.live_rows()
    shown.event(
        EventName.VALIDATION_FINISHED,
        steps=[{"command": "make", "status": "NOT_RUN"}, {"command": "make test", "status": "PASSED"}],
    )
    assert [line.strip() for line in shown.text.split("\n") if line.strip()] == [
        "• Validate make not run",
        "• Validate make test passed",
    ]


def test_what_the_checks_show_so_far_follows_the_epochs(shown):
    progress = shown.view.progress
    assert progress.so_far == "no change so far"
    shown.event(EventName.EPOCH_OPENED, epoch=1)
    assert progress.so_far == "changed, not checked yet"
    shown.event(EventName.CHECK_RECORDED, status="passed", epoch=1)
    assert progress.so_far == "changed, last check passed"
    shown.event(EventName.EPOCH_OPENED, epoch=2)
    assert progress.so_far == "changed, not checked yet"


def test_stopping_ends_the_running_command_first_and_then_the_turn():
    stopping = Interruption()
    stopping.command_started()
    assert stopping.press() == "the running command"
    assert (stopping.command_cancelled(), stopping.cancelled()) == (True, False)
    stopping.command_ended()
    assert not stopping.command_cancelled()
    assert stopping.press() == "the turn"
    assert (stopping.command_cancelled(), stopping.cancelled()) == (True, True)


def test_a_command_that_does_not_end_is_no_obstacle_to_ending_the_turn():
    stopping = Interruption()
    stopping.command_started()
    stopping.press()
    assert stopping.press() == "the turn"
    assert stopping.cancelled()


def test_the_time_an_operator_took_to_answer_is_not_the_tools(shown):
    shown.event(EventName.TOOL_CALLED, call_id="c", tool="terminal", arguments={"command": "make"})
    shown.event(EventName.CONFIRMATION_ASKED, tool="terminal")
    time.sleep(0.3)
    shown.event(EventName.CONFIRMATION_ANSWERED, tool="terminal")
    shown.event(EventName.TOOL_FINISHED, call_id="c", tool="terminal", outcome="ok", duration_s=0.31)
    assert shown.texts[-1].strip() == "• Terminal make ✓"


@pytest.mark.parametrize("width", [48, 60, 72, 80, 100, 160])
def test_the_status_row_gives_up_words_before_it_is_cut(width):
    app = SimpleNamespace(mode=Mode.AUTO, context_window=32768, jobs=SimpleNamespace(running=0))
    progress = Progress(rounds=3, tokens=45, context_tokens=2000, changed=True)
    assert "changed, not checked yet" in running_line(app, progress, 0, width)
    hint = "mode safe, from the next call on"
    for row in (running_line(app, progress, 2, width), running_line(app, progress, 2, width, hint)):
        assert len(row) <= width and "…" not in row
    assert hint in row


def test_the_cost_stands_in_the_row_while_the_turn_runs_and_in_the_block_at_its_end(shown):
    shown.view.progress.spending = Spending(Price(input=3.0, output=15.0))
    app = SimpleNamespace(mode=Mode.AUTO, context_window=32768, jobs=SimpleNamespace(running=0))
    assert "USD" not in running_line(app, shown.view.progress, 0, 160)
    shown.event(EventName.MODEL_ANSWERED, input_tokens=1000, output_tokens=100, tool_calls=["patch"])
    assert " · 0.0045 USD · " in running_line(app, shown.view.progress, 0, 160)
    shown.finish("Done.", "UNVERIFIED")
    assert shown.texts[-1].endswith("tokens · 0.0045 USD")


def test_an_unknown_cost_is_not_there(shown):
    shown.event(EventName.MODEL_ANSWERED, input_tokens=1000, output_tokens=100, tool_calls=["patch"])
    shown.finish("Done.", "UNVERIFIED")
    assert shown.texts[-1].endswith(" tokens")


def test_the_status_row_names_the_mode_the_next_call_is_granted_by():
    app = SimpleNamespace(mode=Mode.AUTO, context_window=32768, jobs=SimpleNamespace(running=0))
    assert running_line(app, Progress(), 0, 100).startswith("auto · ")
    app.mode = Mode.SAFE
    assert running_line(app, Progress(), 0, 100).startswith("safe · ")


def test_an_answer_that_starts_again_is_printed_once_more_and_not_twice(shown):
    shown.say("First paragraph.\n\n```c\nint ma")
    shown.say(RESTARTED)
    for piece in ("First paragraph.\n\n", "```c\nint main(void);\n```\n\n", "The end."):
        shown.say(piece)
    shown.finish("First paragraph.\n\n```c\nint main(void);\n```\n\nThe end.")
    assert shown.text.count("First paragraph.") == 2 and shown.text.count("The end.") == 1
    assert shown.text.count("the answer starts again") == 1
    assert (
        shown.text.index("int ma") < shown.text.index("the answer starts again") < shown.text.rindex("First paragraph.")
    )


def test_what_was_streamed_of_an_answer_that_was_stopped_stays_on_the_screen(shown):
    shown.say("First.\n\n- item one\n- item tw")
    shown.finish("Stopped early: interrupted.", stop={"reason": "interrupted"})
    assert "item tw" in shown.text and "broken off" not in shown.text
    changed = Shown()
    changed.event(EventName.EPOCH_OPENED, epoch=1, paths=["a.c"], count=1)
    changed.say("All tests pass.\n\nAnd mo")
    changed.finish("Stopped early: interrupted.", "UNVERIFIED", stop={"reason": "interrupted"})
    assert changed.text.index("nothing of this was verified") < changed.text.index("All tests pass.")
    assert "And mo" in changed.text


def test_a_command_the_operator_changed_stands_as_what_ran(shown):
    shown.event(EventName.TOOL_CALLED, call_id="c", tool="terminal", arguments={"command": "make test"})
    shown.event(EventName.CONFIRMATION_ASKED, target="make test")
    shown.event(EventName.CONFIRMATION_ANSWERED, target="make test", answer="edited", command="make -n test")
    shown.event(EventName.TOOL_FINISHED, call_id="c", tool="terminal", outcome="ok")
    assert "make -n test" in shown.text
