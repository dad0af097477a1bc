from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.cli.display.palette import PLAIN
from spear.cli.repl.confirming import dialog_of, reply_of
from spear.cli.repl.dialog import DISMISSED, Dialog
from spear.cli.repl.ports import Answer, Option
from spear.host.confirmation import Choice, Question, Reply, Subject

YES, NO, WHY = Option("y", "yes", "yes"), Option("n", "no", "no"), Option("w", "why", "why", entry="Why")


def dialog() -> Dialog:
    return Dialog("Do it?", (YES, NO, WHY))


def test_nothing_is_focused_at_first_and_a_bare_enter_does_nothing():
    asked = dialog()
    assert asked.press("enter") is None
    assert asked.focused is None


def test_a_choice_takes_two_keys():
    asked = dialog()
    assert asked.press("y") is None
    assert asked.press("enter") == Answer("yes")


def test_escape_dismisses_whatever_is_focused():
    asked = dialog()
    asked.press("y")
    assert asked.press("escape") is DISMISSED


def test_a_choice_with_an_entry_waits_for_its_text():
    asked = dialog()
    asked.press("w")
    assert asked.press("enter") is None
    assert asked.entering
    assert asked.entered("because") == Answer("why", "because")


@given(st.lists(st.sampled_from(["enter", "n", "x", "1", " ", "q"]), max_size=20))
def test_no_sequence_of_keys_without_y_or_arrows_ever_says_yes(keys):
    asked = dialog()
    assert all(asked.press(key) != Answer("yes") for key in keys)


def test_a_word_written_without_looking_answers_nothing():
    asked = dialog()
    for number, letter in enumerate("deploy"):
        asked.press(letter, 10 + number * 0.2)
    assert asked.press("enter") is None


def test_a_mind_can_be_changed_at_leisure():
    asked = dialog()
    asked.press("y", 10)
    asked.press("n", 11)
    assert asked.press("enter") == Answer("no")


def test_the_focused_choice_is_marked_without_colour():
    asked = dialog()
    asked.press("n")
    assert "❯ [n] no" in asked.rows(PLAIN, 80)


def command(text: str, *choices: Choice) -> Question:
    return Question(Subject.COMMAND, "terminal", text, text, True, ("build/",), choices or (Choice.YES, Choice.NO))


def test_only_the_answers_the_host_accepts_are_offered():
    assert [option.key for option in dialog_of(command("make"), PLAIN).options] == ["y", "n", "w"]
    every = dialog_of(command("make test", *Choice), PLAIN)
    assert [option.key for option in every.options] == ["y", "n", "w", "f", "a", "p", "e"]
    assert any("`make test`" in option.label for option in every.options)


def test_a_command_is_shown_byte_for_byte_with_its_controls_written_out():
    shown = dialog_of(command("echo a\x1b]0;t\x07\u202eb\nsecond"), PLAIN)
    assert "$ echo a\\x1b]0;t\\x07<U+202E>b\n  second" in shown.body
    assert "needs the network" in shown.body
    assert "writes: build/" in shown.body


def test_a_long_command_is_cut_and_kept_whole_for_the_pager():
    shown = dialog_of(command("\n".join(f"line {n}" for n in range(300))), PLAIN)
    assert "line 299" not in shown.body
    assert "more lines: Ctrl+O" in shown.body
    assert "line 299" in shown.whole


def test_the_text_to_edit_is_the_exact_command():
    edit = next(o for o in dialog_of(command("a\x07b", *Choice), PLAIN).options if o.key == "e")
    assert edit.prefill == "a\x07b"


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (DISMISSED, Reply(Choice.NO)),
        (Answer("no_with_reason", " why "), Reply(Choice.NO, "why")),
        (Answer("yes"), Reply(Choice.YES)),
        (Answer("edited", "make -n"), Reply(Choice.EDITED, command="make -n")),
        (Answer("edited", "  "), Reply(Choice.NO)),
        (Answer("always_prefix"), Reply(Choice.ALWAYS_PREFIX)),
    ],
)
def test_answers_become_replies(answer, reply):
    assert reply_of(answer) == reply
