"""The chat in a real pseudo-terminal, over a stand-in application."""

from __future__ import annotations

import re
import signal

import pytest


def test_a_request_is_served_and_its_answer_printed(chat, requests):
    r = chat()
    r.line("say hello **there**")
    r.wait("hello there")
    r.until(lambda: requests() == ["say hello **there**"])


def test_quit_ends_the_chat_and_says_how_to_go_on(chat):
    r = chat()
    r.line("/quit")
    assert r.end() == 0
    assert "spear-chat --resume s-0001" in r.plain()


def test_a_changing_turn_ends_in_its_block_and_can_be_undone(chat, workspace):
    r = chat("--auto")
    r.line("edit")
    r.wait("UNVERIFIED")
    shown = r.settle()
    assert "Update a.txt +1 −1" in shown
    assert "All tests pass. (not verified)" in shown
    assert "All tests pass.\n" not in shown.replace("\r", "")
    assert (workspace / "a.txt").read_text() == "two\n"
    r.mark()
    r.line("/undo")
    r.wait(r"a\.txt")
    r.line("y")
    r.wait("restored")
    assert (workspace / "a.txt").read_text() == "one\n"


def test_the_block_that_ends_a_turn_is_the_last_thing_above_the_prompt(chat):
    r = chat("--auto")
    r.line("edit")
    r.wait("UNVERIFIED")
    lines = [line.strip() for line in r.settle().replace("\r", "\n").split("\n") if line.strip()]
    spent = next(i for i, line in enumerate(lines) if re.search(r"0\.5 s · 1 round", line))
    assert all(line.startswith((">", "auto")) for line in lines[spent + 1 :])


def test_esc_esc_enter_changes_nothing(chat, workspace):
    r = chat("--auto")
    r.line("edit")
    r.wait("UNVERIFIED")
    r.settle()
    r.mark()
    r.keys("\x1b\x1b")
    r.wait(r"\(current\)")
    r.keys("\r")
    r.settle()
    assert "nothing was changed" not in r.plain()
    r.keys("0\r")
    r.wait("nothing was changed")
    assert (workspace / "a.txt").read_text() == "two\n"


def test_redo_brings_back_what_undo_took(chat, workspace):
    r = chat("--auto")
    r.line("edit")
    r.wait("UNVERIFIED")
    r.line("/undo")
    r.wait("Put back 1 file")
    r.line("y")
    r.wait("1 file restored")
    r.mark()
    r.line("/redo")
    r.wait("1 file restored")
    assert (workspace / "a.txt").read_text() == "two\n"


def test_undo_leaves_alone_what_somebody_else_changed_unless_told(chat, workspace):
    r = chat("--auto")
    r.line("edit")
    r.wait("UNVERIFIED")
    r.settle()
    (workspace / "a.txt").write_text("mine\n")
    r.line("/undo")
    r.wait("left alone a.txt")
    r.line("n")
    r.wait("nothing was changed")
    assert (workspace / "a.txt").read_text() == "mine\n"


# --- questions ---


def test_keys_typed_before_a_question_was_painted_do_not_answer_it(chat, workspace, requests):
    r = chat("--ask")
    r.line("edit 0 0.6")
    r.wait("Ctrl.C stops")
    r.keys("yes do it\r")
    r.wait(r"\+two")
    r.settle(0.6)
    assert (workspace / "a.txt").read_text() == "one\n"
    r.keys("\r")
    r.settle(0.3)
    assert (workspace / "a.txt").read_text() == "one\n"
    r.keys("n\r")
    r.wait("refused")
    r.settle()
    r.until(lambda: requests() == ["edit 0 0.6", "yes do it"])
    assert (workspace / "a.txt").read_text() == "one\n"


def test_text_being_typed_when_a_question_appears_stays_in_the_editor(chat, workspace):
    r = chat("--ask")
    r.line("edit 0 0.3")
    r.wait("Ctrl.C stops")
    for _ in range(12):  # typing goes on while the question is painted, and past it
        r.keys("y")
        r.settle(0.08, 0.09)
    r.wait(r"\+two")
    r.settle(0.6)
    r.keys("n\r")
    r.wait("refused")
    assert (workspace / "a.txt").read_text() == "one\n"
    r.wait("> " + "y" * 12)


def test_a_choice_and_enter_answer_the_question(chat, workspace):
    r = chat("--ask")
    r.line("edit")
    r.wait("Make this change")
    r.settle(0.5)
    r.keys("y")
    r.wait("❯ .y. yes")
    assert (workspace / "a.txt").read_text() == "one\n"
    r.keys("\r")
    r.wait("UNVERIFIED")
    assert (workspace / "a.txt").read_text() == "two\n"


def test_a_no_can_say_why(chat):
    r = chat("--ask")
    r.line("run make deploy")
    r.wait("Run this command with the network")
    r.settle(0.5)
    r.keys("w\r")
    r.wait("Why not")
    r.keys("not on Fridays\r")
    r.wait("answer: no not on Fridays")


def test_a_command_can_be_edited_and_the_edited_one_is_shown(chat):
    r = chat("--ask")
    r.line("run make test")
    r.wait("writes: build/")
    r.settle(0.5)
    r.keys("e\r")
    r.wait("Run instead")
    r.keys(" -k\r")
    r.wait(r"answer: edited +'make test -k'")


def test_a_hidden_control_character_of_a_command_is_written_out(chat):
    r = chat("--ask")
    r.line("run echo a\\ab")
    r.wait(r"echo a\\x07b")
    r.settle(0.5)
    r.keys("\x1b")
    r.wait("answer: no")


def test_a_long_change_is_cut_and_its_whole_text_is_in_the_pager(chat):
    r = chat("--ask", env={"PAGER": "tail -n 1"})
    r.line("edit 300")
    r.wait("more lines: Ctrl.O")
    assert "added 299" not in r.plain()
    r.settle(0.5)
    r.keys("\x0f")
    r.wait(r"\+added 299")
    r.settle()
    r.keys("n\r")
    r.wait("refused")


def test_ctrl_c_in_a_question_is_a_no(chat, workspace):
    r = chat("--ask")
    r.line("edit")
    r.wait("Make this change")
    r.settle(0.5)
    r.keys("\x03")
    r.wait("refused")
    assert (workspace / "a.txt").read_text() == "one\n"


# --- while a turn runs ---


def test_ctrl_c_ends_the_command_then_the_turn(chat):
    r = chat("--auto")
    r.line("sleep 60")
    r.wait("Terminal sleep 60")
    r.keys("\x03")
    r.wait("went on")
    r.mark()
    r.line("slow 400")
    r.wait("line 1")
    r.keys("\x03")
    r.wait("stopped: interrupted")


def test_enter_queues_and_esc_gives_the_text_back(chat, requests):
    r = chat("--auto")
    r.line("sleep 60")
    r.wait("Terminal sleep 60")
    r.line("say queued")
    r.wait("1 waiting")
    r.keys("\x1b")
    r.wait("stopped: interrupted")
    r.mark()
    r.keys("!")
    r.wait("!")
    r.keys("\r")
    r.wait("queued!")
    r.until(lambda: requests() == ["sleep 60", "say queued!"])


def test_what_was_queued_is_served_in_order(chat, requests):
    r = chat("--auto")
    r.line("sleep 0.8")
    r.wait("Terminal sleep 0.8")
    r.line("say first")
    r.settle(0.1, 0.2)
    r.line("say second")
    r.wait("2 waiting")
    r.wait("went on")
    r.settle(0.5)
    r.until(lambda: requests() == ["sleep 0.8", "say first", "say second"])


def test_ctrl_s_hands_text_to_the_running_turn(chat):
    r = chat("--auto")
    r.line("steer 1")
    r.wait("Terminal sleep 1")
    r.keys("use make\x13")
    r.wait(r"told: \['use make'\]")


def test_commands_that_only_look_answer_while_a_turn_runs(chat):
    r = chat("--auto")
    r.line("sleep 60")
    r.wait("Terminal sleep 60")
    r.line("/status")
    r.wait("other roots")
    r.line("/quit")
    assert r.end() == 0


def test_a_mode_changed_mid_turn_does_not_end_it(chat):
    r = chat("--safe")
    r.line("sleep 1")
    r.wait("Terminal sleep 1")
    r.keys("\x1b[Z")
    r.wait("mode ask, from the next call on")
    r.wait("went on")


def test_shift_tab_goes_between_safe_and_ask_and_never_into_auto(chat):
    r = chat("--safe")
    for expected in ("ask", "safe", "ask"):
        r.mark()
        r.keys("\x1b[Z")
        r.wait(f"mode {expected}")
    assert "mode auto" not in r.plain()


def test_text_and_tool_lines_interleave_in_order_and_once(chat):
    r = chat("--auto")
    r.line("narrate")
    r.wait("That is all")
    shown = r.settle()
    parts = ("First I look.", "• Read src/ring.c ✓", "Then I look again.", "Terminal make test 0.4 s ✗", "That is all.")
    order = [shown.rindex(part) for part in parts]  # what is live above is drawn before it is printed
    assert order == sorted(order)


def test_a_long_stream_is_printed_once_each_and_nothing_is_drawn_while_idle(chat):
    r = chat("--auto", size=(24, 100))
    r.line("stream 300")
    r.wait("paragraph 299 of the stream")
    r.settle(0.6)
    finished = [line.strip() for line in r.log.replace("\r", "\n").split("\n")]
    for number in range(300):
        assert finished.count(f"paragraph {number} of the stream") == 1
    before = len(r.raw)
    r.settle(1.5)
    assert len(r.raw) == before


def test_ten_megabytes_of_output_are_bounded_on_the_screen(chat):
    r = chat("--auto")
    r.line(f"output {10 << 20}")
    r.wait("read")
    r.keys("\x0f")
    r.wait("earlier lines")
    assert len(r.settle()) < 200_000
    r.line("/quit")
    assert r.end() == 0


def test_control_sequences_and_markup_of_models_and_tools_do_not_reach_the_terminal(chat):
    r = chat("--safe", "--notice")
    r.line("say It says \\e]0;PWNED-TITLE\\a and \\e[2J then [bold]x[/bold]")
    r.wait(r"\[bold\]x\[/bold\]")
    r.line("/knowledge it")
    r.wait(r"\[red\]x\[/red\]")
    r.line("/diff")
    r.wait(r"\+new")
    assert "\x1b]0;PWNED" not in r.raw
    assert "\x1b[2J" not in r.raw


def test_a_defect_ends_one_entry_and_not_the_chat(chat):
    r = chat()
    r.line("defect")
    r.wait("internal error: KeyError")
    r.line("/knowledge defect")
    r.line("say still here")
    r.wait("still here\r?\n")


# --- the editor ---


def test_an_unbracketed_paste_is_one_message(chat, requests):
    r = chat()
    r.keys("say a = 1\rb = 2\rc = 3")
    r.settle(0.3)
    assert requests() == []
    r.keys("\r")
    r.wait("c = 3")
    r.settle()
    r.until(lambda: requests() == ["say a = 1\nb = 2\nc = 3"])


def test_a_long_unbracketed_paste_is_one_message_however_it_arrives(chat, requests):
    r = chat()
    text = "\r".join(f"line {n} of a longer text" for n in range(400))
    r.keys("say " + text)
    r.wait("Pasted text #1")
    r.settle(0.3)
    r.keys("\r")
    r.wait("line 399")
    r.settle()
    r.until(lambda: requests() == ["say " + text.replace("\r", "\n")])


def test_a_long_bracketed_paste_is_one_unit_of_editing(chat, requests):
    r = chat()
    body = "\n".join(f"row {n}" for n in range(30))
    r.keys(f"\x1b[200~{body}\x1b[201~")
    r.wait(r"\[Pasted text #1, 30 lines\]")
    r.keys("\x7f" + "say short\r")
    r.wait("short\r?\n")
    r.keys(f"\x1b[200~{body}\x1b[201~")
    r.wait(r"\[Pasted text #2, 30 lines\]")
    r.keys(" end\r")
    r.wait("row 29 end")
    r.settle()
    r.until(lambda: requests() == ["say short", f"{body} end"])


def test_every_newline_key_makes_a_newline(chat, requests):
    r = chat()
    for newline in ("\n", "\x1b\r", "\\\r"):
        r.keys("say one")
        r.settle(0.1, 0.2)
        r.keys(newline)
        r.settle(0.1, 0.4)
        r.keys("two\r")
        r.settle(0.5)
    r.until(lambda: requests() == ["say one\ntwo"] * 3)


def test_ctrl_c_clears_the_text_and_keeps_it_in_the_history(chat, requests):
    r = chat()
    r.keys("say half typed")
    r.settle(0.2)
    r.keys("\x03")
    r.settle(0.2)
    r.keys("\x1b[A")
    r.settle(0.3)
    r.keys("\r")
    r.wait("half typed\r?\n")
    r.settle()
    r.until(lambda: requests() == ["say half typed"])


def test_ctrl_c_clears_text_once_the_answer_is_there_though_the_turn_has_not_ended(chat, requests):
    r = chat()
    r.line("linger 1")
    r.wait("the answer is there")
    r.keys("half typed")
    r.wait("half typed")
    r.keys("\x03")
    r.settle(0.2)
    r.line("/status")
    r.wait("other roots")
    r.settle(0.8)
    assert "interrupted" not in r.plain()
    r.until(lambda: requests() == ["linger 1"])


def test_ctrl_c_twice_at_an_empty_prompt_ends_the_chat(chat):
    r = chat()
    r.keys("\x03")
    r.wait("again within a second")
    r.keys("\x03")
    assert r.end() == 0


def test_ctrl_d_at_an_empty_prompt_ends_the_chat(chat):
    r = chat()
    r.keys("\x04")
    assert r.end() == 0


def test_history_is_kept_per_workspace_privately_and_without_secrets(chat, state):
    r = chat(env={"MY_API_KEY": "swordfish-123456"})
    r.line("say the key is swordfish-123456 ok")
    r.wait(r"ok\r?\n")
    r.settle()
    r.line("/quit")
    r.end()
    (file,) = (state / "history").glob("input-*.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600
    assert "swordfish" not in file.read_text()
    assert "say the key is" in file.read_text()
    again = chat()
    again.settle()
    again.keys("\x12the key")
    again.wait("the key is")


def test_the_editor_opens_on_the_text_and_its_text_comes_back(chat, tmp_path, requests):
    script = tmp_path / "edit.sh"
    script.write_text('#!/bin/sh\nprintf "say edited %s" "$(cat "$1")" > "$1"\n')
    script.chmod(0o755)
    r = chat(env={"EDITOR": str(script), "VISUAL": ""})
    r.keys("draft")
    r.settle(0.2)
    r.keys("\x18\x05")
    r.wait("edited draft")
    r.keys("\r")
    r.settle(0.5)
    r.until(lambda: requests() == ["say edited draft"])


def test_vi_keys_work_where_the_setting_asks_for_them(chat, requests):
    r = chat("--vi")
    r.keys("say onee")
    r.settle(0.2)
    r.keys("\x1b")
    r.settle(0.2)
    r.keys("x\r")
    r.wait("one\r?\n")
    r.until(lambda: requests() == ["say one"])


def test_slash_commands_complete_and_unknown_ones_suggest_the_nearest(chat):
    r = chat()
    r.keys("/kno\t")
    r.wait("/knowledge")
    r.keys("\x15/undoo\r")
    r.wait(r"did you mean /undo\?")
    r.line("/kn list")
    r.wait("knowledge of list")
    r.line("/remember x")
    r.wait("this build has no engine for /remember")


def test_paths_complete_after_an_at_sign(chat, workspace):
    (workspace / "firmware").mkdir()
    (workspace / "firmware/uart_driver.c").write_text("")
    r = chat()
    r.keys("say look at @uart")
    r.wait("firmware/uart_driver.c")


def test_help_lists_commands_tools_and_keys(chat):
    r = chat(size=(80, 120))
    r.line("/help")
    for name in ("/undo", "/remember", "/knowledge", "/finetune", "/standard", "/verdict", "!run", "Ctrl.X Ctrl.E"):
        r.wait(name)


def test_help_stands_in_two_columns_however_narrow_the_terminal_is(chat):
    r = chat(size=(80, 90))
    r.mark()
    r.line("/help")
    shown = r.wait(r"(?s)Keys.*Up, Down.*history").replace("\r", "")
    page = shown[shown.index("Session\n") : shown.index("Up, Down")].split("\n")
    assert all(len(line) <= 90 for line in page)
    assert any(re.match(r" {34}\S", line) for line in page[page.index("Keys") :])


def test_a_long_request_is_folded_between_words_where_it_stays_on_the_screen(chat):
    r = chat(size=(40, 60))
    words = " ".join(f"word{n:02}" for n in range(20))
    r.line(f"say {words}")
    r.wait(r"> say word00[^\r\n]*\r?\n  word")
    assert not re.search(r"\r?\n  ?ord|wor\r?\n", r.plain().split("> say")[1].split("\n\n")[0])


def test_an_exclamation_mark_alone_is_no_request(chat, requests):
    r = chat()
    r.line("!")
    r.wait("a tool has a name: !read")
    r.line("hello")
    r.until(lambda: requests() == ["hello"])


@pytest.mark.parametrize(("editor", "said"), [("/no/such/editor", "cannot be started"), ("vi 'x", "is no command")])
def test_an_editor_that_cannot_be_started_is_named(chat, editor, said):
    r = chat("--plain", env={"VISUAL": "", "EDITOR": editor})
    r.line("!edit a.txt")
    r.wait(f"{said}.*set VISUAL or EDITOR")


@pytest.mark.parametrize("form", [(), ("--plain",)])
def test_a_request_is_written_in_the_editor_and_asked_when_it_is_left(chat, requests, form):
    r = chat(*form, env={"EDITOR": "sed -i 's/this/that/;$a second line'", "VISUAL": ""})
    r.line("/editor say this")
    r.wait("> say that")
    r.until(lambda: requests() == ["say that\nsecond line"])
    r.line("/quit")


def test_a_request_left_as_it_was_in_the_editor_is_not_asked(chat, requests):
    r = chat(env={"EDITOR": "false", "VISUAL": ""})
    r.line("/editor say this")
    r.wait("nothing was asked")
    assert requests() == []


def test_tools_run_by_hand(chat, tmp_path, workspace):
    r = chat(env={"EDITOR": "sed -i s/one/three/", "VISUAL": ""})
    r.line("!read a.txt")
    r.wait("one\r?\n")
    r.line("!run make test | head")
    r.wait(r'terminal \{"command": "make test \| head"\}')
    r.line("!edit a.txt")
    r.wait(r"write_file .*three")
    r.line("!nothing")
    r.wait("there is no !nothing")


def test_sessions_are_resumed_with_their_last_turns_on_the_screen(chat):
    r = chat("--earlier")
    r.wait("what was")
    r.line("/resume")
    r.wait(r"\[1\] s-0009")
    r.line("1")
    r.wait("an earlier answer")
    r.line("/resume nothing")
    r.wait("there is no session nothing")
    r.line("/fork")
    r.wait("this is session s-0003")


def test_the_sessions_to_choose_from_have_a_row_each_on_a_narrow_terminal(chat):
    r = chat(size=(40, 34))
    r.line("/resume")
    shown = r.wait(r"\[1\] s-0009[^\r\n]*…\s*\r?\n")
    assert len(re.search(r"  \[1\] s-0009[^\r\n…]*…", shown)[0]) <= 34
    r.line("1")
    r.wait("an earlier answer")


def test_that_something_is_being_stopped_is_said_until_it_has_stopped(chat):
    r = chat()
    r.line("sleep 30")
    r.wait("Terminal sleep 30")
    r.keys("\x03")
    r.wait("opping the running command")  # the first letter may stand there already
    r.wait("went on")
    r.settle()
    r.mark()
    r.resize(39, 119)
    r.wait("last turn no change")
    assert "stopping" not in r.settle()


# --- the terminal itself ---


def test_a_resize_storm_is_survived(chat):
    r = chat("--auto")
    r.line("slow 20")
    for step in range(60):
        r.resize(5 + step % 40, 10 + (step * 37) % 190)
    r.wait("line 19")
    r.resize(40, 120)
    r.line("say after the storm")
    r.wait("after the storm\r?\n")


def test_wide_characters_are_edited_and_shown(chat, requests):
    r = chat(size=(24, 40))
    r.line("say 漢字 и ⚠️ 👩‍👩‍👧 שלום " + "漢" * 60)
    r.wait("漢")
    r.settle()
    r.until(lambda: requests() == ["say 漢字 и ⚠️ 👩‍👩‍👧 שלום " + "漢" * 60])


def test_hangup_and_termination_have_their_statuses(chat):
    for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        r = chat("--auto")
        r.line("sleep 60")
        r.wait("Terminal sleep 60")
        r.signal(number)
        assert r.end() == status


def test_a_terminal_that_goes_away_ends_the_chat(chat):
    r = chat("--auto")
    r.line("sleep 60")
    r.wait("Terminal sleep 60")
    assert r.hang_up() == 129


def test_no_colour_is_sent_where_it_is_not_wanted(chat):
    r = chat("--auto", env={"NO_COLOR": "1"})
    r.line("edit")
    r.wait("UNVERIFIED")
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", r.raw) for code in found.split(";")}
    assert codes <= {"", "0", "1", "3", "7"}


def test_the_bell_rings_only_where_asked_for(chat):
    r = chat("--auto")
    r.line("say done")
    r.wait("done\r?\n")
    assert "\x07" not in r.raw


@pytest.mark.parametrize(("form", "module"), [((), "chat"), (("--plain",), "plain_chat")])
def test_the_bell_rings_after_a_long_turn_where_asked_for(chat, monkeypatch, form, module):
    monkeypatch.setattr(f"spear.cli.repl.{module}.LONG_TURN_SECONDS", 0.0)
    r = chat("--auto", "--notify", *form)
    r.line("say done")
    r.until(lambda: "\x07" in r.raw)


# --- lines only ---


def test_a_dumb_terminal_gets_lines_and_numbered_choices(chat, workspace):
    r = chat("--ask", env={"TERM": "dumb"})
    r.line("edit")
    r.wait("1. yes")
    r.settle(0.3)
    r.line("")
    r.wait("type a number from 1 to")
    r.line("2")
    r.wait("refused")
    assert (workspace / "a.txt").read_text() == "one\n"
    r.line("edit")
    r.wait(r"(?s)1\. yes.*1\. yes")
    r.settle(0.3)
    r.line("1")
    r.wait("UNVERIFIED")
    assert (workspace / "a.txt").read_text() == "two\n"
    r.line("/quit")
    assert r.end() == 0
    assert "\x1b" not in r.raw


def test_ctrl_c_twice_within_a_second_ends_plain_lines_too(chat):
    r = chat("--plain")
    r.settle(0.3)
    r.keys("\x03")
    r.wait("Ctrl.C again within a second ends the chat")
    r.keys("\x03")
    assert r.end() == 0
    assert "--resume s-0001" in r.plain()


def test_plain_lines_keep_pastes_whole_and_ctrl_c_stops_the_turn(chat, requests):
    r = chat("--plain", "--auto")
    r.keys("say a\rb\rc\r")
    r.wait(r"a\r?\nb\r?\nc\r?\n(?s:.*)a b c|a\r?\nb\r?\nc")
    r.settle()
    r.until(lambda: requests() == ["say a\nb\nc"])
    r.line("slow 400")
    r.wait("line 1")
    r.keys("\x03")
    r.wait("stopped: interrupted")
    r.keys("\x04")
    assert r.end() == 0
