"""Each row of the table of keys, in each state of the chat: `spear-chat` itself, its sandbox, a scripted model server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading

import pytest

ENTER, NEWLINE, ALT_ENTER = "\r", "\n", "\x1b\r"
ESC, SHIFT_TAB = "\x1b", "\x1b[Z"
FIX = ("patch", {"path": "app.py", "old_string": "return 1", "new_string": "return 2"})
ASLEEP = ("terminal", {"command": "sleep 61"})


class Gate:
    """A model that thinks until it is let go on: while it does, a turn runs and nothing else happens."""

    def __init__(self):
        self.reached, self._open = threading.Event(), threading.Event()

    def before(self, step):
        def thinking(_):
            self.reached.set()
            assert self._open.wait(30)
            return step

        return thinking

    def open(self):
        self._open.set()


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.open()


def thinking(r, gate):
    """Wait until the model has the request: the turn runs."""
    r.until(gate.reached.is_set)


def ended(r, turns):
    """Wait until this many turns have their verdict and are kept, and the screen is still."""
    (log,) = r.state.glob("audit/sessions/*/events.jsonl")
    kept = log.with_name("session.json")
    r.until(lambda: log.read_text().count('"verdict_computed"') >= turns, 30)
    r.until(lambda: kept.exists() and json.loads(kept.read_text())["turn"] >= turns)
    r.settle(0.5)


def asked_of(server):
    """The operator's messages as the model got them in its last request."""
    return [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "user"]


def ctrl(letter):
    return chr(ord(letter.upper()) - 64)


# --- Enter -----------------------------------------------------------------------------------------------------------


def test_enter_does_nothing_at_an_empty_prompt_and_submits_a_text(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe")
    r.keys(ENTER * 3 + "  " + ENTER)
    r.settle()
    assert r.server.requests == []
    r.keys(ctrl("u") + "What is in app.py?" + ENTER)
    r.wait("zebra-1")
    assert len(r.server.requests) == 1


def test_enter_queues_while_a_turn_runs(real, scripted, gate):
    r = real([gate.before(scripted.text("zebra-1")), scripted.text("zebra-2")], "--safe")
    r.line("What is in app.py?")
    thinking(r, gate)
    r.line("And in test_app.py?")
    r.wait("1 waiting")
    assert len(r.server.requests) == 1
    gate.open()
    r.wait(r"(?s)zebra-1.*> And in test_app\.py\?.*zebra-2")
    assert "And in test_app.py?" in asked_of(r.server)[-1]


def test_enter_in_a_question_does_nothing_until_a_choice_is_focused(real, scripted, project):
    r = real([scripted.calls(FIX), scripted.text("Done.")], "--ask", "--validation", "off")
    r.line("Fix f() in app.py.")
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys(ENTER * 3)
    r.settle(0.5)
    assert "return 1" in (project / "app.py").read_text()
    assert len(r.server.requests) == 1
    r.keys("y")
    r.wait("Enter confirms")
    r.keys(ENTER)
    r.wait("Done.")
    assert "return 2" in (project / "app.py").read_text()


# --- Ctrl+J, Alt+Enter, backslash Enter ------------------------------------------------------------------------------


def test_the_newline_keys_make_one_text_of_several_lines(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe")
    r.keys(f"What{NEWLINE}is")
    r.settle(0.4)
    r.keys(f"{ALT_ENTER}in\\")
    r.settle()
    r.keys(ENTER)
    r.settle()
    r.keys("app.py?")
    r.settle()
    assert r.server.requests == []
    r.keys(ENTER)
    r.wait("zebra-1")
    assert "What\nis\nin\napp.py?" in asked_of(r.server)[-1]


def test_the_newline_keys_work_at_an_empty_prompt_and_while_a_turn_runs(real, scripted, gate):
    r = real([gate.before(scripted.text("zebra-1")), scripted.text("zebra-2")], "--safe")
    r.keys(NEWLINE + "What is in app.py?" + ENTER)
    thinking(r, gate)
    r.keys(f"And{NEWLINE}in")
    r.settle(0.4)
    r.keys(f"{ALT_ENTER}test_app.py?{ENTER}")
    r.wait("1 waiting")
    gate.open()
    r.wait("zebra-2")
    assert "And\nin\ntest_app.py?" in asked_of(r.server)[-1]


def test_ctrl_j_makes_a_new_line_in_the_entry_of_a_question(real, scripted):
    r = real([scripted.calls(FIX), scripted.text("I left it.")], "--ask")
    r.line("Fix f() in app.py.")
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys("w" + ENTER)
    r.wait("Why not")
    r.keys(f"wrong{NEWLINE}file{ENTER}")
    r.wait("I left it")
    assert "the operator said no: wrong file" in json.dumps(r.server.requests[-1]["messages"])  # one line, as a refusal


# --- Ctrl+C ----------------------------------------------------------------------------------------------------------


def test_ctrl_c_twice_within_a_second_ends_the_chat_and_once_does_not(real):
    r = real([], "--safe")
    r.keys(ctrl("c"))
    r.wait("again within a second ends the chat")
    r.settle(1.3)
    r.keys(ctrl("c"))
    r.settle(0.1)
    r.keys(ctrl("c"))
    assert r.end() == 0


def test_ctrl_c_clears_a_text_and_keeps_it_in_the_history(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe")
    r.keys("What is in app.py?")
    r.settle()
    r.keys(ctrl("c"))
    r.settle()
    r.keys(ENTER)
    r.settle()
    assert r.server.requests == []
    r.keys("\x1b[A")  # up
    r.settle()
    r.keys(ENTER)
    r.wait("zebra-1")
    assert "What is in app.py?" in asked_of(r.server)[-1]


def test_ctrl_c_stops_the_command_and_the_turn_goes_on_then_it_stops_the_turn(real, scripted, gate):
    r = real([scripted.calls(ASLEEP), gate.before(scripted.text("too late"))], "--auto")
    r.line("Wait in the shell")
    r.wait("Terminal sleep 61")
    r.settle(0.5)
    r.keys(ctrl("c"))
    thinking(r, gate)
    assert subprocess.run(["pgrep", "-f", "^sleep 61$"], capture_output=True, check=False).returncode == 1
    r.keys(ctrl("c"))
    ended(r, 1)
    assert "too late" not in r.plain()


def test_ctrl_c_says_no_to_a_question(real, scripted, project):
    r = real([scripted.calls(FIX), scripted.text("I left it.")], "--ask")
    r.line("Fix f() in app.py.")
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys(ctrl("c"))
    r.wait("I left it")
    assert "return 1" in (project / "app.py").read_text()
    assert "the operator said no" in json.dumps(r.server.requests[-1]["messages"])


# --- Esc -------------------------------------------------------------------------------------------------------------


def test_esc_twice_chooses_a_turn_to_take_back_and_takes_nothing_back_by_itself(real, scripted, project):
    r = real([scripted.calls(FIX), scripted.text("Done.")], "--auto", "--validation", "off")
    r.line("Fix f() in app.py.")
    ended(r, 1)
    r.mark()
    r.keys(ESC)
    r.settle(0.6)
    assert "Go back to" not in r.plain()
    r.keys(ESC + ESC)
    r.wait(r"(?s)Go back to.*\(current\)")
    r.keys(ENTER)
    r.settle(0.5)
    assert "return 2" in (project / "app.py").read_text()
    r.keys("0" + ENTER)
    r.settle(0.5)
    assert "return 2" in (project / "app.py").read_text()
    r.keys(ESC + ESC)
    r.settle(0.5)
    r.keys("1" + ENTER)
    r.wait(r"put back +app\.py")
    r.keys("y" + ENTER)
    r.until(lambda: "return 1" in (project / "app.py").read_text())


def test_esc_leaves_a_text_alone(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe")
    r.keys("What is in")
    r.settle(0.3)
    r.keys(ESC)
    r.settle(0.6)
    r.keys(" app.py?" + ENTER)
    r.wait("zebra-1")
    assert "What is in app.py?" in asked_of(r.server)[-1]


def test_esc_stops_the_turn_and_gives_back_what_was_queued(real, scripted, gate):
    r = real([gate.before(scripted.text("too late")), scripted.text("zebra-2")], "--safe")
    r.line("What is in app.py?")
    thinking(r, gate)
    r.line("And in test_app.py?")
    r.wait("1 waiting")
    r.keys(ESC)
    ended(r, 1)
    gate.open()
    r.settle(0.5)
    assert len(r.server.requests) == 1
    r.keys(ENTER)
    r.wait("zebra-2")
    assert "too late" not in r.plain()
    assert "And in test_app.py?" in asked_of(r.server)[-1]


def test_esc_dismisses_a_question(real, scripted, project):
    r = real([scripted.calls(FIX), scripted.text("I left it.")], "--ask")
    r.line("Fix f() in app.py.")
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys("y")
    r.settle(0.3)
    r.keys(ESC)
    r.wait("I left it")
    assert "return 1" in (project / "app.py").read_text()


# --- Ctrl+D ----------------------------------------------------------------------------------------------------------


def test_ctrl_d_deletes_a_character_of_a_text_and_ends_an_empty_chat(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe")
    r.keys("XWhat is in app.py?" + ctrl("a") + ctrl("d") + ENTER)
    r.wait("zebra-1")
    assert "XWhat" not in asked_of(r.server)[-1]
    ended(r, 1)
    r.keys(ctrl("d"))
    assert r.end() == 0


def test_ctrl_d_does_not_leave_a_running_turn_nor_answer_a_question(real, scripted, gate, project):
    r = real([gate.before(scripted.calls(FIX)), scripted.text("Done.")], "--ask", "--validation", "off")
    r.line("Fix f() in app.py.")
    thinking(r, gate)
    r.keys(ctrl("d"))
    r.wait("a turn is running")
    gate.open()
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys(ctrl("d"))
    r.settle(0.5)
    assert len(r.server.requests) == 1
    r.keys("y" + ENTER)
    r.wait("Done.")
    assert "return 2" in (project / "app.py").read_text()


# --- Ctrl+R ----------------------------------------------------------------------------------------------------------


def test_ctrl_r_searches_the_history_at_any_time(real, scripted, gate):
    answers = [scripted.text("zebra-1"), scripted.text("zebra-2"), gate.before(scripted.text("zebra-3"))]
    r = real([*answers, scripted.text("zebra-4")], "--safe")
    for number, request in enumerate(("What is in app.py?", "What is in a.txt?"), 1):
        r.line(request)
        r.wait(f"zebra-{number}")
        ended(r, number)
    r.keys(ctrl("r") + "app")
    r.settle()
    r.keys(ENTER)  # takes the hit into the editor
    r.settle()
    r.keys(ENTER)
    thinking(r, gate)
    assert "What is in app.py?" in asked_of(r.server)[-1]
    r.keys("some text" + ctrl("r") + "a.txt")
    r.settle()
    r.keys(ENTER)
    r.settle()
    r.keys(ENTER)
    r.wait("1 waiting")
    gate.open()
    r.wait("zebra-4")
    assert "What is in a.txt?" in asked_of(r.server)[-1]


# --- Shift+Tab -------------------------------------------------------------------------------------------------------


def test_shift_tab_goes_between_safe_and_ask_with_and_without_a_text(real):
    r = real([], "--safe")
    for text, mode in (("", "ask"), ("half a", "safe"), (" request", "ask")):
        r.mark()
        r.keys(text + SHIFT_TAB)
        r.wait(f"mode {mode}")
    assert "auto" not in r.plain()


def test_shift_tab_in_a_turn_tightens_from_the_next_call_on(real, scripted, gate, project, state):
    r = real([gate.before(scripted.calls(FIX)), scripted.text("It was refused.")], "--auto")
    r.line("Fix f() in app.py.")
    thinking(r, gate)
    r.keys(SHIFT_TAB)
    r.wait("mode safe, from the next call on")
    gate.open()
    r.wait("It was refused.", 30)
    assert "return 1" in (project / "app.py").read_text()
    ended(r, 1)
    r.line("/quit")
    assert r.end() == 0
    rows = [json.loads(line) for line in next(state.glob("audit/tool-actions.jsonl")).read_text().splitlines()]
    assert [(row["tool"], row["mode"], row["outcome"]) for row in rows] == [("patch", "safe", "refused")]


def test_shift_tab_in_a_turn_loosens_from_the_next_call_on_and_then_asks(real, scripted, gate, project):
    r = real([gate.before(scripted.calls(FIX)), scripted.text("Done.")], "--safe", "--validation", "off")
    r.line("Fix f() in app.py.")
    thinking(r, gate)
    r.keys(SHIFT_TAB)
    r.wait("mode ask, from the next call on")
    gate.open()
    r.wait(r"\+    return 2")
    r.settle(0.5)
    r.keys("y" + ENTER)
    r.wait("Done.")
    assert "return 2" in (project / "app.py").read_text()


def test_the_mode_command_in_a_turn_holds_from_the_next_call_on(real, scripted, gate, project):
    r = real([gate.before(scripted.calls(FIX)), scripted.text("Done.")], "--safe", "--validation", "off")
    r.line("Fix f() in app.py.")
    thinking(r, gate)
    r.line("/mode auto")
    r.wait("now run without asking")
    gate.open()
    r.wait("Done.", 30)
    assert "return 2" in (project / "app.py").read_text()


def test_shift_tab_in_a_question_is_the_previous_choice(real, scripted, project):
    r = real([scripted.calls(FIX), scripted.text("Done.")], "--ask", "--validation", "off")
    r.line("Fix f() in app.py.")
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys("n")
    r.wait("❯ .n.")
    r.mark()
    r.keys(SHIFT_TAB)
    r.wait("❯ .y.")
    r.keys(ENTER)
    r.wait("Done.")
    assert "return 2" in (project / "app.py").read_text()


# --- Ctrl+O ----------------------------------------------------------------------------------------------------------


def test_ctrl_o_shows_the_last_output_idle_with_a_text_and_while_a_turn_runs(real, scripted, gate):
    printing = ("terminal", {"command": "echo zebra-$((40+2))"})
    r = real([scripted.calls(printing), gate.before(scripted.text("Seen.")), scripted.text("Again.")], "--safe")
    r.keys(ctrl("o"))
    r.wait("no tool has printed anything yet")
    r.line("Print something")
    thinking(r, gate)
    for before in ("", None, "some text"):
        if before is None:
            gate.open()
            r.wait("Seen\\.")
            ended(r, 1)
        elif before:
            r.keys(before)
            r.settle()
        r.mark()
        r.keys(ctrl("o"))
        r.wait("zebra-42")
    r.keys(ENTER)
    r.wait("Again.")
    assert "some text" in asked_of(r.server)[-1]


def test_ctrl_o_in_a_question_shows_the_whole_of_it_in_the_pager(real, scripted, project):
    long = "".join(f"row {number}\n" for number in range(200))
    write = ("write_file", {"path": "long.txt", "content": long})
    r = real([scripted.calls(write), scripted.text("Done.")], "--ask", env={"PAGER": "cat", "SPEAR_PAGER": "cat"})
    r.line("Write long.txt.")
    r.wait("Ctrl\\+O shows all of it")
    r.settle(0.5)
    assert "row 150" not in r.plain()
    r.keys(ctrl("o"))
    r.wait("row 199")
    assert not (project / "long.txt").exists()


# --- Ctrl+S ----------------------------------------------------------------------------------------------------------


def test_ctrl_s_hands_a_text_to_the_running_turn_and_does_nothing_otherwise(real, scripted, gate):
    r = real([gate.before(scripted.calls(("terminal", {"command": "true"}))), scripted.text("Heard.")], "--safe")
    r.keys("Look around" + ctrl("s"))
    r.settle(0.4)
    assert r.server.requests == []
    r.keys(ENTER)
    thinking(r, gate)
    r.keys("use make" + ctrl("s"))
    r.wait("handed to the turn")
    gate.open()
    r.wait("Heard.")
    assert "use make" in json.dumps(r.server.requests[-1]["messages"])


def test_ctrl_s_in_a_question_does_nothing(real, scripted, project):
    r = real([scripted.calls(FIX), scripted.text("Done.")], "--ask", "--validation", "off")
    r.line("Fix f() in app.py.")
    r.wait("choose with a key, then Enter")
    r.settle(0.5)
    r.keys(ctrl("s"))
    r.settle(0.5)
    assert len(r.server.requests) == 1
    assert "return 1" in (project / "app.py").read_text()


# --- the editor, and what is never bound -----------------------------------------------------------------------------


def test_ctrl_x_ctrl_e_opens_the_editor_on_the_text(real, scripted, tmp_path):
    script = tmp_path / "ed.sh"
    script.write_text("#!/bin/sh\nsed -i 's/HERE/app.py/' \"$1\"\n")
    script.chmod(0o755)
    r = real([scripted.text("zebra-1")], "--safe", env={"VISUAL": str(script), "EDITOR": str(script)})
    r.keys("What is in HERE?" + ctrl("x") + ctrl("e"))
    r.wait(r"app\.py\?")
    r.keys(ENTER)
    r.wait("zebra-1")
    assert "What is in app.py?" in asked_of(r.server)[-1]


def test_ctrl_y_yanks(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe")
    r.keys("What is in app.py?" + ctrl("u"))
    r.settle()
    r.keys(ctrl("y") + ENTER)
    r.wait("zebra-1")
    assert "What is in app.py?" in asked_of(r.server)[-1]


def under_a_shell(main):
    """Run `main` as a job, as a shell does: when it stops, say so and let it go on in the foreground."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os._exit(main())
    os.setpgid(job, job)
    os.tcsetpgrp(0, job)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        os.tcsetpgrp(0, os.getpgrp())
        print("[1]+ Stopped", flush=True)
        os.tcsetpgrp(0, job)
        os.kill(job, signal.SIGCONT)


def test_ctrl_z_is_job_control_with_and_without_a_text(real, scripted):
    r = real([scripted.text("zebra-1")], "--safe", around=under_a_shell)
    r.keys(ctrl("z"))
    r.wait("Stopped")
    r.settle(0.5)
    r.mark()
    r.keys("What is in app.py?" + ctrl("z"))
    r.wait("Stopped")
    r.settle(0.5)
    r.keys(ENTER)
    r.wait("zebra-1")
    assert "What is in app.py?" in asked_of(r.server)[-1]
    ended(r, 1)
    r.line("/quit")
    assert r.end() == 0


# --- other keys for the same actions ---------------------------------------------------------------------------------

REBOUND = """
[keys]
steer = "ctrl-g"
newline = ["f2", "alt-n"]
mode = "f3"
expand = []
exit = "ctrl-q"
"""


def test_rebound_keys_do_what_they_were_given_and_help_names_them(real, scripted, gate):
    step = scripted.calls(("terminal", {"command": "true"}))
    r = real([gate.before(step), scripted.text("Heard.")], "--safe", config=REBOUND)
    assert re.search(r"F2: new line", r.plain())
    r.keys("Look\x1bOQaround\x1bnhere" + ENTER)  # F2, Alt+N
    thinking(r, gate)
    assert "Look\naround\nhere" in asked_of(r.server)[-1]
    r.keys("\x1bOR")  # F3
    r.wait("mode ask, from the next call on")
    r.keys("use make" + ctrl("s"))  # the editor's own search now, which Ctrl+G leaves
    r.settle(0.3)
    r.keys(ctrl("g"))
    r.settle(0.3)
    assert "handed" not in r.plain()
    r.keys(ctrl("g"))
    r.wait("handed to the turn")
    gate.open()
    r.wait("Heard.")
    assert "use make" in json.dumps(r.server.requests[-1]["messages"])
    ended(r, 1)
    r.line("/help")
    r.wait(r"Ctrl\+G +while a turn runs: hand the text")
    r.wait(r"Up, Down +at an empty prompt: history")
    for row in (
        r"F2, Alt\+N, \\ Enter +new line",
        r"F3 +safe ⇄ ask",
        r"– +all of the last output\r",
        r"Ctrl\+Q +at an empty prompt: exit",
    ):
        assert re.search(row, r.plain()), row
    r.keys(ctrl("q"))
    assert r.end() == 0


def test_a_wrong_key_ends_the_start_with_its_sentence(real, scripted, project, tmp_path, terminal):
    with pytest.raises(AssertionError, match=r"ctrl-o is given to keys\.steer .* and keys\.expand"):
        real([], config="[keys]\nsteer = 'ctrl-o'\n")
