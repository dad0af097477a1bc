"""What is recorded of a turn, what others changed meanwhile, what undo brings back (spec 3.1, 3.2, 3.6, 3.7)."""

from __future__ import annotations

import hashlib
import json
import os
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spear.agent.host import Outcome
from spear.events.names import EventName
from spear.host.recorder import digest
from spear.state.records import read_evidence
from tests.host_bench import contents


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


# --- records ------------------------------------------------------------------------------------------------------------


def test_every_call_leaves_exactly_one_record_refused_ones_included(ring):
    turn = ring.turn("src/ring.c")
    turn.read("src/ring.c")
    turn.write("src/ring_arm.c", "x")
    turn.run("true")
    turn.run("echo x > Makefile")
    turn.run("if then")
    turn.read("../outside")
    assert [record.outcome.value for record in turn.host.records()] == [
        "ok",
        "refused",
        "ok",
        "refused",
        "refused",
        "refused",
    ]
    assert [record.seq for record in turn.host.records()] == list(range(1, 7))


def test_the_records_are_written_as_they_are(ring):
    turn = ring.turn()
    turn.write("a.txt", "x\n")
    turn.run("echo y > a.txt")
    turn.close()
    session = ring.session
    written = list(read_evidence(session.state.evidence(session.identity)))
    assert [row["call_id"] for row in written] == [record.call_id for record in turn.host.records()]
    assert written[1]["changes"][0]["after_sha256"] == sha("y\n")


def test_a_command_is_recorded_by_what_it_did_on_disk(ring):
    before = ring.text("src/ring.c")
    turn = ring.turn()
    turn.run("cd src && sed -i s/index/place/g ring.c; exit 3")
    record = turn.record
    (change,) = record.changes
    assert (change.path, change.kind, change.delivered) == ("src/ring.c", "modified", True)
    assert (change.before_sha256, change.after_sha256) == (sha(before), sha(ring.text("src/ring.c")))
    assert record.command.exit_code == 3
    assert record.command.cwd_before == "/workspace"
    assert record.command.cwd_after == "/workspace/src"
    assert (record.epoch_before, record.epoch_after) == (0, 1)
    assert (record.effect, record.replay, record.committed, record.durable) == ("mutating", "unsafe", True, True)


def test_a_check_counts_for_the_epoch_it_ran_in_and_a_build_opens_none(ring):
    turn = ring.turn()
    turn.patch("src/ring.c", "index + 1 >= size", "size <= index + 1")
    turn.run("make test")
    (check,) = turn.record.check.results
    assert (check.status, check.epoch, turn.epoch) == ("passed", 1, 1)
    assert not any(change.delivered for change in turn.record.changes)


# --- others at work -----------------------------------------------------------------------------------------------------


def test_an_outside_change_opens_an_epoch_so_that_an_earlier_check_no_longer_counts(ring):
    turn = ring.turn()
    turn.run("make test")
    (check,) = turn.record.check.results
    ring.put("src/ring.h", ring.text("src/ring.h") + "/* by hand */\n")
    turn.host.settle()
    assert turn.record.tool == "outside"
    assert [change.path for change in turn.record.changes] == ["src/ring.h"]
    assert check.epoch < turn.epoch
    assert check.fingerprint != turn.host.ledger().fingerprint


def settled(ring, path):
    """Put a file that the index knows, and wait until it is old: a young one is looked into at once by any look."""
    ring.put(path, "as it was\n")
    for _ in range(2):
        changed = (ring.root / path).stat().st_ctime_ns
        while time.time_ns() < changed + 50_000_000:
            os.sched_yield()
        ring.git("add", "src/ring.h")
    ring.git("update-index", "--refresh")


@pytest.mark.parametrize("path", ["src/ring.h", "build/out.o"])
def test_a_touch_that_changes_nothing_opens_no_epoch(ring, path):
    settled(ring, path)
    turn = ring.turn()
    turn.run("true")
    for _ in range(2):
        os.utime(ring.root / path)
        turn.host.settle()
        assert turn.epoch == 0


def test_a_change_that_keeps_the_size_is_no_touch(ring):
    settled(ring, "src/ring.h")
    turn = ring.turn()
    turn.run("true")
    ring.put("src/ring.h", "as it IS.\n")
    turn.host.settle()
    assert turn.epoch == 1


def test_an_index_the_turn_wrote_does_not_vouch_for_anything(ring):
    settled(ring, "src/ring.h")
    turn = ring.turn()
    turn.run("git add -A && git rm -q --cached Makefile && git add Makefile")
    os.utime(ring.root / "src/ring.h")
    turn.host.settle()
    assert turn.epoch == 1


def test_a_build_somebody_else_runs_opens_no_epoch(ring):
    turn = ring.turn()
    turn.run("true")
    ring.put("build/test_ring", "x")
    ring.put("src/ring.o", "x")
    turn.host.settle()
    assert turn.epoch == 0


def test_what_the_turn_itself_changed_by_any_means_is_nobody_elses(ring):
    turn = ring.turn()
    turn.write("a.txt", "x\n")
    turn.run(
        "ln -s a.txt link; rm src/ring_arm.c; chmod +x Makefile; mkdir d; echo x > d/x; mv tests/test_ring.c tests/t.c"
    )
    turn.delete("a.txt")
    epoch = turn.epoch
    turn.host.settle()
    assert turn.epoch == epoch
    assert all(record.tool != "outside" for record in turn.host.records())


# --- undo ---------------------------------------------------------------------------------------------------------------


def test_undo_puts_everything_back_whatever_changed_it(ring):
    ring.put("notes/crlf.txt", b"a\r\nb\r\n")
    ring.put("tool.sh", "#!/bin/sh\n", 0o755)
    (ring.root / "link").symlink_to("tool.sh")
    ring.put("latin.txt", "é".encode("latin-1"))
    before = contents(ring.root, leave_out=(".git",))
    turn = ring.turn()
    turn.write("new/deep/file.txt", "x\n")
    turn.patch("src/ring.c", "index", "place")
    turn.run("sed -i s/int/long/ src/*.c; rm -r notes; chmod -x tool.sh; ln -sf Makefile link; printf x >> latin.txt")
    turn.run("python3 -c \"import os; os.rename('src/ring.h', 'src/moved.h')\"; git add -A")
    turn.delete("README.md")
    turn.close()
    assert contents(ring.root, leave_out=(".git",)) != before
    report = ring.undo()
    assert contents(ring.root, leave_out=(".git",)) == before, report


def test_undo_of_a_hard_reset_brings_uncommitted_work_back(ring):
    ring.put("src/ring.c", "uncommitted\n")
    ring.put("untracked.txt", "mine\n")
    turn = ring.turn()
    assert turn.run("git reset -q --hard && git clean -fdq").outcome is Outcome.OK
    assert not (ring.root / "untracked.txt").exists()
    turn.close()
    ring.undo()
    assert ring.text("src/ring.c") == "uncommitted\n"
    assert ring.text("untracked.txt") == "mine\n"


def test_turns_are_undone_one_by_one(ring):
    for text in ("one\n", "two\n"):
        turn = ring.turn()
        turn.run(f"printf {text!r} > n.txt")
        turn.close()
    ring.undo()
    assert ring.text("n.txt") == "one\n"
    ring.undo()
    assert not (ring.root / "n.txt").exists()


def test_a_checkpoint_is_announced_before_the_first_change_and_not_for_a_look(ring):
    turn = ring.turn()
    turn.run("ls; cat Makefile")
    assert turn.named(EventName.CHECKPOINT_CREATED) == []
    turn.run("echo x > x.txt")
    assert len(turn.named(EventName.CHECKPOINT_CREATED)) == 1


# --- the refusal breaker ------------------------------------------------------------------------------------------------


def test_the_fifth_equal_refusal_stops_the_turn(ring):
    turn = ring.turn("src/ring.c")
    for number in range(5):
        assert turn.after.stop is None
        turn.write("src/ring_arm.c", f"{number}")
    assert turn.after.stop[0] == "stalled_refusals"
    assert len(turn.named(EventName.REPEATED_REFUSAL_STOPPED)) == 1


def test_equal_refusals_are_counted_however_the_path_is_spelled_and_different_ones_apart(ring):
    session = ring.open(refusal_repeats=3)
    turn = ring.turn("src/ring.c", session=session)
    for path in ("src/ring_arm.c", "Makefile", "./src/ring_arm.c", "README.md"):
        turn.write(path, "x")
        assert turn.after.stop is None, path
    turn.write("src/../src/ring_arm.c", "x")
    assert turn.after.stop is not None


def test_writes_of_a_command_that_did_not_stay_count_as_refusals(ring):
    turn = ring.turn("src/ring.c", session=ring.open(refusal_repeats=2))
    for _ in range(2):
        turn.run("python3 -c \"open('src/ring' + '_arm.c', 'w')\"")
    assert turn.after.stop is not None


def test_what_somebody_writes_right_after_the_turn_is_theirs(ring, monkeypatch):
    turn = ring.turn("src/ring.c")
    real = ring.session.writer.write

    def write(*words, **options):
        written = real(*words, **options)
        ring.put("src/ring.c", "theirs\n")
        return written

    monkeypatch.setattr(ring.session.writer, "write", write)
    turn.read("src/ring.c")
    turn.write("src/ring.c", "ours\n")
    turn.close()
    report = ring.undo()
    assert [conflict.path for conflict in report.conflicts] == ["src/ring.c"]
    assert ring.root.joinpath("src/ring.c").read_text() == "theirs\n"


ARGUMENTS = st.dictionaries(
    st.text(max_size=3), st.one_of(st.text(max_size=4), st.integers(0, 9), st.booleans(), st.lists(st.text(max_size=2)))
)


@given(ARGUMENTS, ARGUMENTS)
@example({"a": "1"}, {"a": 1})
@example({"a": "x", "b": "y"}, {"a": "x\nb text 1\ny"})
@example({"a": "\ud800"}, {"a": "?"})
def test_the_digest_of_arguments_tells_any_two_apart(one, other):
    assert (digest(one) == digest(other)) is (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))
    assert digest(dict(reversed(one.items()))) == digest(one)
