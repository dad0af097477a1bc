"""Modes and what each grants, tool by tool (spec 2.1)."""

from __future__ import annotations

import pytest

from spear.agent.host import Outcome
from spear.events.names import Mode
from spear.host.confirmation import Choice, Reply
from tests.host_bench import contents


def yes(_question):
    return Reply(Choice.YES)


WRITES = [
    ("write_file", {"path": "src/new.c", "content": "x\n"}),
    ("patch", {"path": "src/ring.c", "old_string": "return", "new_string": "RETURN"}),
    ("delete_file", {"path": "src/ring.c", "reason": "t"}),
    ("terminal", {"command": "echo x > src/new.c"}),
]


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
@pytest.mark.parametrize(("mode", "read_only"), [(Mode.SAFE, False), (Mode.AUTO, True), (Mode.ASK, True)])
def test_a_turn_that_may_not_write_refuses_every_write_and_leaves_the_tree(ring, tool, arguments, mode, read_only):
    before = contents(ring.root)
    result = ring.turn(mode=mode, read_only=read_only, confirm=yes).call(tool, **arguments)
    assert result.outcome is Outcome.REFUSED
    assert result.refusal.code == "read_only"
    assert result.refusal.remedy
    assert contents(ring.root) == before


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
def test_auto_writes_without_asking(ring, tool, arguments):
    before = contents(ring.root)
    turn = ring.turn(mode=Mode.AUTO, confirm=lambda _: pytest.fail("asked"))
    assert turn.call(tool, **arguments).outcome is Outcome.OK
    assert contents(ring.root) != before


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
def test_ask_writes_once_somebody_agrees_and_not_before(ring, tool, arguments):
    before = contents(ring.root)
    refused = ring.turn(mode=Mode.ASK, confirm=lambda _: Reply(Choice.NO, "not now")).call(tool, **arguments)
    assert refused.outcome is Outcome.REFUSED
    assert "not now" in refused.text
    assert contents(ring.root) == before
    assert ring.turn(mode=Mode.ASK, confirm=yes).call(tool, **arguments).outcome is Outcome.OK
    assert contents(ring.root) != before


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
def test_where_nobody_can_be_asked_the_answer_is_no_and_says_so(ring, tool, arguments):
    before = contents(ring.root)
    result = ring.turn(mode=Mode.ASK).call(tool, **arguments)
    assert result.refusal.code == "nobody_to_ask"
    assert contents(ring.root) == before


@pytest.mark.parametrize("mode", list(Mode))
def test_reading_and_looking_are_granted_in_every_mode(ring, mode):
    turn = ring.turn(mode=mode, confirm=lambda _: pytest.fail("asked"))
    assert turn.read("src/ring.c").outcome is Outcome.OK
    assert turn.call("search_files", pattern="ring_next").outcome is Outcome.OK
    assert turn.run("grep -c ring src/ring.c | tail -1").outcome is Outcome.OK


def test_safe_builds_and_tests_and_leaves_nothing_behind(ring):
    before = contents(ring.root)
    turn = ring.turn(mode=Mode.SAFE)
    assert "ok" in turn.run("make test").text
    assert "test_ring" in turn.run("ls build").text, "a later command of the turn finds what an earlier one built"
    assert contents(ring.root) == before


def test_the_outputs_of_a_read_only_turn_are_gone_in_the_next_one(ring):
    ring.turn(read_only=True).run("make")
    assert "test_ring" not in ring.turn(read_only=True).run("ls build").text


def test_what_a_program_writes_in_a_read_only_turn_is_no_change_of_the_tree(ring):
    before = contents(ring.root)
    turn = ring.turn(read_only=True)
    turn.run("sh -c \"$(printf 'echo x >> src/ri%s.c' ng)\"; git gc -q; python3 -m compileall -q .")
    assert contents(ring.root) == before
    assert turn.record.changes == ()
    assert turn.epoch == 0


@pytest.mark.parametrize("mode", list(Mode))
def test_no_network_reaches_a_command_when_the_session_has_none(ring, mode):
    session = ring.open(mode, network=False)
    result = ring.turn(session=session, confirm=yes).run("cat /proc/net/dev | grep -c ':'; getent hosts example.org")
    assert result.text.startswith("1\n")
