"""Confirmations: what is shown, what may be answered, what "always" covers and never covers (spec 2.1)."""

from __future__ import annotations

import pytest

from spear.agent.host import Outcome
from spear.events.names import EventName, Mode
from spear.host.confirmation import Choice, Reply, Subject


class Operator:
    """Answers every question alike, and remembers them."""

    def __init__(self, choice=Choice.YES, **reply):
        self.reply = Reply(choice, **reply)
        self.asked = []

    def __call__(self, question):
        self.asked.append(question)
        return self.reply


def turn_of(ring, operator):
    return ring.turn(session=ring.session, mode=Mode.ASK, confirm=operator)


def test_an_edit_is_shown_as_its_difference_and_a_command_as_its_exact_text(ring):
    operator = Operator()
    turn = turn_of(ring, operator)
    turn.patch("src/ring.c", "index + 1 >= size", "index >= size")
    turn.run("echo 'a  b' > n.txt")
    turn.delete("n.txt")
    edit, command, deletion = operator.asked
    assert "-    return index + 1 >= size" in edit.text
    assert "+    return index >= size" in edit.text
    assert command.text == "echo 'a  b' > n.txt"
    assert command.writes == ("n.txt",)
    assert (edit.subject, command.subject, deletion.subject) == (Subject.EDIT, Subject.COMMAND, Subject.DELETE)
    assert len(turn.named(EventName.CONFIRMATION_ASKED)) == len(turn.named(EventName.CONFIRMATION_ANSWERED)) == 3


@pytest.mark.parametrize(
    "command", ["ls", "cat Makefile | head", "git status", "grep x <(cat Makefile) || true", "sort Makefile > /tmp/x"]
)
def test_looking_asks_nobody(ring, command):
    operator = Operator()
    turn_of(ring, operator).run(command)
    assert operator.asked == []


def test_a_refused_command_is_not_asked_about(ring):
    operator = Operator()
    turn = ring.turn("src/ring.c", mode=Mode.ASK, confirm=operator)
    turn.run("echo x > Makefile")
    turn.write("Makefile", "x")
    assert operator.asked == []


def test_a_no_with_a_reason_reaches_the_model(ring):
    result = turn_of(ring, Operator(Choice.NO, reason="use the other file")).run("make")
    assert result.refusal.code == "not_confirmed"
    assert "use the other file" in result.text


def test_an_edited_command_runs_in_place_of_the_models_is_asked_once_and_told(ring):
    operator = Operator(Choice.EDITED, command="echo edited > n.txt")
    result = turn_of(ring, operator).run("echo model > n.txt")
    assert ring.text("n.txt") == "edited\n"
    assert len(operator.asked) == 1
    assert "the operator changed the command" in result.text


def test_an_edited_command_is_judged_like_any_other(ring):
    turn = ring.turn("src/ring.c", mode=Mode.ASK, confirm=Operator(Choice.EDITED, command="echo x > Makefile"))
    assert turn.run("echo x > src/ring.c").refusal.code == "out_of_scope"


def test_always_this_command_covers_it_and_no_other(ring):
    operator = Operator(Choice.ALWAYS_COMMAND)
    turn = turn_of(ring, operator)
    for command in ("make test", "make test", "make clean", "make test "):
        turn.run(command)
    assert [question.text for question in operator.asked] == ["make test", "make clean"]


def test_always_this_prefix_covers_what_begins_so_and_each_part_of_a_list(ring):
    operator = Operator(Choice.ALWAYS_PREFIX)
    turn = turn_of(ring, operator)
    for command in (
        "make test",
        "make test -s",
        "cd src && cd .. && make test",
        "make test && touch x.txt",
        "make clean",
    ):
        turn.run(command)
    assert [question.text for question in operator.asked] == ["make test", "make test && touch x.txt", "make clean"]


def test_always_this_file_covers_it_in_later_turns_and_no_other(ring):
    operator = Operator(Choice.ALWAYS_FILE)
    turn_of(ring, operator).patch("src/ring.c", "index + 1 >= size", "index >= size")
    turn = turn_of(ring, operator)
    turn.patch("src/ring.c", "index >= size", "size <= index")
    assert "size <= index" in ring.text("src/ring.c")
    turn.write("other.txt", "x")
    assert [question.target for question in operator.asked] == ["src/ring.c", "other.txt"]


@pytest.mark.parametrize(
    "command",
    ["rm -r src", "rm -rf docs/x", "echo x > $(cat Makefile)", "eval $X", "cat Makefile | sh", "$X y", 'bash -c "$X"'],
)
def test_always_is_not_offered_for_deleting_directories_or_what_cannot_be_read(ring, command):
    operator = Operator()
    turn_of(ring, operator).run(command)
    assert not {Choice.ALWAYS_COMMAND, Choice.ALWAYS_PREFIX} & set(operator.asked[0].choices)


@pytest.mark.parametrize("command", ["python3 -c 'open(input())'", "bash -x", "npm -s", "make"])
def test_always_this_prefix_is_not_offered_for_a_program_that_may_do_anything(ring, command):
    operator = Operator()
    turn_of(ring, operator).run(command)
    offered = set(operator.asked[0].choices)
    assert Choice.ALWAYS_COMMAND in offered
    assert Choice.ALWAYS_PREFIX not in offered or command == "make"


def test_always_never_covers_a_deletion_of_a_directory(ring):
    operator = Operator(Choice.ALWAYS_COMMAND)
    turn = turn_of(ring, operator)
    for name in ("one", "two"):
        ring.put(f"{name}/x", "x")
    turn.run("rm -r one")
    ring.put("one/x", "x")
    turn.run("rm -r one")
    assert len(operator.asked) == 2


def test_a_confirmed_command_still_loses_what_is_out_of_scope(ring):
    before = ring.text("src/ring_arm.c")
    turn = ring.turn("src/ring.c", mode=Mode.ASK, confirm=Operator())
    assert turn.run("python3 -c \"open('src/ring' + '_arm.c', 'w')\"").outcome is Outcome.REFUSED
    assert ring.text("src/ring_arm.c") == before
