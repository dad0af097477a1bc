"""The operator changes the mode while a turn runs: it holds from the next call on, tighter and looser (spec 2.1, 8.2)."""

from __future__ import annotations

import json

from spear.agent.host import Outcome
from spear.events.names import Mode
from spear.host.confirmation import Choice, Reply
from spear.workspace.projects import Declaration, Project

UNSEEN = (
    "python3 -c \"import pathlib, base64; pathlib.Path(base64.b64decode('dW5zZWVuLnR4dA==').decode()).write_text('x')\""
)


def yes(_):
    return Reply(Choice.YES)


def test_tightening_holds_from_the_next_call_on(ring):
    turn = ring.turn(mode=Mode.AUTO)
    assert turn.write("a.txt", "a\n").outcome is Outcome.OK
    ring.session.mode = Mode.SAFE
    assert turn.write("b.txt", "b\n").refusal.code == "read_only"
    assert turn.patch("a.txt", "a", "b").refusal.code == "read_only"
    assert turn.delete("a.txt").refusal.code == "read_only"
    assert turn.run("echo b > b.txt").refusal.code == "read_only"
    assert turn.run(UNSEEN).outcome is Outcome.OK  # it ran, on a copy that is thrown away
    assert turn.run("make && ./build/test_ring").outcome is Outcome.OK
    assert ring.text("a.txt") == "a\n"
    for path in ("b.txt", "unseen.txt", "build"):
        assert not (ring.root / path).exists()


def test_loosening_holds_from_the_next_call_on_and_the_change_can_be_taken_back(ring):
    turn = ring.turn(mode=Mode.SAFE)
    assert turn.write("src/ring.c", "x\n").refusal.code == "read_only"
    before = ring.text("src/ring.c")
    ring.session.mode = Mode.AUTO
    assert turn.write("src/ring.c", "int x;\n").outcome is Outcome.OK
    assert turn.run(UNSEEN).outcome is Outcome.OK
    assert ring.text("unseen.txt") == "x"
    assert turn.epoch == 2
    ring.put("src/ring.h", "int y;\n")  # someone else, after the turn began to look
    turn.host.settle()
    assert turn.epoch == 3
    turn.close()
    ring.undo()
    assert ring.text("src/ring.c") == before
    assert not (ring.root / "unseen.txt").exists()


def test_back_and_forth_in_one_turn(ring):
    turn = ring.turn(mode=Mode.AUTO)
    outcomes = []
    for mode in (Mode.SAFE, Mode.AUTO, Mode.SAFE, Mode.AUTO):
        ring.session.mode = mode
        outcomes.append(turn.run(f"echo {mode} >> log.txt").outcome)
    assert outcomes == [Outcome.REFUSED, Outcome.OK, Outcome.REFUSED, Outcome.OK]
    assert ring.text("log.txt") == "auto\nauto\n"


def test_from_auto_to_ask_the_next_call_is_asked_about(ring):
    asked = []

    def no(question):
        asked.append(question.target)
        return Reply(Choice.NO)

    turn = ring.turn(mode=Mode.AUTO, confirm=no)
    assert turn.run("echo a > a.txt").outcome is Outcome.OK
    ring.session.mode = Mode.ASK
    assert turn.run("echo b > b.txt").refusal.code == "not_confirmed"
    assert turn.write("c.txt", "c").refusal.code == "not_confirmed"
    assert asked == ["echo b > b.txt", "c.txt"]
    ring.session.mode = Mode.AUTO
    assert turn.write("c.txt", "c").outcome is Outcome.OK


def test_a_call_keeps_the_mode_it_began_with(ring):
    def tightened(_):
        ring.session.mode = Mode.SAFE
        return Reply(Choice.YES)

    turn = ring.turn(mode=Mode.ASK, confirm=tightened)
    assert turn.run("echo a > a.txt").outcome is Outcome.OK
    assert ring.text("a.txt") == "a\n"
    assert turn.run("echo b > b.txt").refusal.code == "read_only"


def test_a_read_only_turn_stays_read_only_in_every_mode(ring):
    turn = ring.turn(mode=Mode.SAFE, read_only=True)
    ring.session.mode = Mode.AUTO
    assert turn.write("a.txt", "a\n").refusal.code == "read_only"
    assert turn.run("echo a > a.txt").refusal.code == "read_only"
    assert turn.run(UNSEEN).outcome is Outcome.OK
    assert not (ring.root / "unseen.txt").exists()


def test_the_record_of_an_attempt_names_the_mode_of_its_call(ring):
    turn = ring.turn(mode=Mode.AUTO, confirm=yes)
    for mode in (Mode.AUTO, Mode.SAFE, Mode.ASK):
        ring.session.mode = mode
        turn.write(f"{mode}.txt", "x\n")
    turn.close()
    ring.session.actions.close()
    rows = [json.loads(line) for line in ring.session.state.tool_actions.read_text().splitlines()]
    assert [(row["target"], row["mode"], row["outcome"]) for row in rows] == [
        ("auto.txt", "auto", "ok"), ("safe.txt", "safe", "refused"), ("ask.txt", "ask", "ok"),
    ]  # fmt: skip


def test_the_validation_of_a_turn_runs_in_the_mode_of_its_end(ring):
    ring.project = Project("demo", ring.root, Declaration(test_commands=("make test", "touch left-behind")))
    turn = ring.turn(mode=Mode.AUTO)
    turn.write("a.txt", "a\n")
    ring.session.mode = Mode.SAFE
    done = turn.host.validate("auto")
    assert "ok" in "".join(turn.host.validation_outputs().values()), done
    assert not (ring.root / "build").exists()
    assert not (ring.root / "left-behind").exists()
