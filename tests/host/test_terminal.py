"""The terminal of a turn: where commands run, what lasts between them, what the result says (spec 2.5)."""

from __future__ import annotations

import shutil
import threading
import time

import pytest

from spear.agent.host import Outcome, Refusal
from spear.events.names import EventName
from spear.host.host_commands import HostAnswer

# --- working directory --------------------------------------------------------------------------------------------------


def test_a_command_starts_where_the_last_one_ended_even_when_it_failed(ring):
    turn = ring.turn()
    turn.run("cd src && false")
    assert turn.command("pwd").output.strip() == str(ring.root / "src")
    turn.run("pushd ../tests >/dev/null; exit 3")
    assert turn.command("pwd").output.strip() == str(ring.root / "tests")
    assert turn.command("true").cwd == "/workspace/tests"


def test_an_explicit_workdir_is_relative_to_where_the_last_command_ended(ring):
    turn = ring.turn()
    turn.run("cd src")
    for workdir, ends in (("../tests", "tests"), ("/workspace/src", "src"), ("/workspace", "")):
        assert turn.command("pwd", workdir=workdir).output.strip() == str(ring.root / ends).rstrip("/")


@pytest.mark.parametrize("workdir", ["..", "/etc", "../../", "/workspace/../x", "link", "nowhere", "Makefile"])
def test_a_workdir_outside_or_missing_is_refused_before_anything_runs(ring, workdir):
    (ring.root / "link").symlink_to("/etc")
    turn = ring.turn()
    done = turn.command("touch ran", workdir=workdir)
    assert isinstance(done, Refusal)
    assert not (ring.root / "ran").exists()


def test_a_directory_that_vanished_falls_back_to_the_root_and_says_so(ring):
    turn = ring.turn()
    turn.run("mkdir gone && cd gone")
    (ring.root / "gone").rmdir()
    done = turn.command("pwd")
    assert done.output.strip() == str(ring.root)
    assert any("is gone" in note for note in done.notes)


@pytest.mark.parametrize("place", ["/tmp/w", "/home/sandbox/w"])
def test_a_directory_of_the_sandbox_lasts_until_it_is_gone(ring, place):
    turn = ring.turn()
    turn.run(f"mkdir -p {place} && cd {place} && echo mine > f")
    assert turn.command("cat f").output == "mine\n"
    shutil.rmtree(turn_tmp(turn).parent / ("tmp/w" if place.startswith("/tmp") else "home/w"))
    done = turn.command("pwd")
    assert done.output.strip() == str(ring.root)
    assert any("is gone" in note for note in done.notes)


def test_the_directory_lasts_from_turn_to_turn(ring):
    ring.turn().run("cd src")
    assert ring.turn().command("pwd").output.strip() == str(ring.root / "src")


# --- environment --------------------------------------------------------------------------------------------------------


def test_exports_last_between_calls_and_other_variables_do_not(ring):
    turn = ring.turn()
    turn.run("export KEPT='a b'; LOST=1")
    assert turn.command('echo "$KEPT-$LOST"').output.strip() == "a b-"


def test_an_activated_virtual_environment_stays_active(ring):
    turn = ring.turn()
    assert turn.run("python3 -m venv --without-pip .venv && . .venv/bin/activate").outcome is Outcome.OK
    assert turn.command("command -v python").output.strip() == str(ring.root / ".venv/bin/python")


def test_no_variable_of_the_host_reaches_a_command(ring, monkeypatch):
    monkeypatch.setenv("MY_API_TOKEN", "hunter2-of-the-host")
    turn = ring.turn(session=ring.open())
    shown = turn.run("env; export -p; tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/1/environ").text
    assert "hunter2" not in shown
    assert "SECRET_OF_TESTS" not in shown


# --- results ------------------------------------------------------------------------------------------------------------


def test_the_result_lists_what_the_command_changed_and_nothing_else(ring):
    turn = ring.turn()
    done = turn.command(
        "echo x >> src/ring.c; rm src/ring_arm.c; echo n > n.txt; chmod +x Makefile; ln -s n.txt l; make"
    )
    assert {(change.kind, change.path) for change in done.changes} == {
        ("modified", "src/ring.c"), ("deleted", "src/ring_arm.c"), ("created", "n.txt"), ("mode", "Makefile"),
        ("symlink", "l"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "command", ["git status", "touch src/ring.c", "cp src/ring.c /tmp/x && cp /tmp/x src/ring.c", "make"]
)
def test_a_command_that_changed_no_source_lists_no_change_and_opens_no_epoch(ring, command):
    turn = ring.turn()
    assert turn.command(command).changes == ()
    assert turn.epoch == 0


def test_a_long_output_is_cut_for_the_model_and_kept_whole(ring):
    done = ring.turn().command("seq 200000")
    assert done.truncated
    assert len(done.output) <= 51_000
    with open(done.output_ref, encoding="utf-8") as kept:
        assert sum(1 for _ in kept) == 200_000


def test_a_timeout_kills_everything_and_says_so(ring):
    turn = ring.turn()
    done = turn.command("sleep 300 & sleep 300", timeout=1)
    assert done.timed_out
    assert done.exit_code is None


def test_what_was_left_running_is_stopped_and_named(ring):
    done = ring.turn().command("sleep 300 & echo started")
    assert done.exit_code == 0
    assert any("sleep" in note and "stopped" in note for note in done.notes)


def test_a_command_ends_when_the_operator_stops_it(ring):
    begun = threading.Event()
    stop = threading.Event()
    turn = ring.turn(cancelled=stop.is_set)

    def operator():
        begun.wait(20)
        stop.set()

    watcher = threading.Thread(target=operator)
    watcher.start()
    begun.set()
    done = turn.command("sleep 300")
    watcher.join()
    assert done.cancelled


def test_a_syntax_error_runs_nothing(ring):
    turn = ring.turn()
    result = turn.run("touch before; if then")
    assert result.refusal.code == "syntax_error"
    assert not (ring.root / "before").exists()


@pytest.mark.parametrize(
    "command", ["rm -rf /", "rm -rf .", "sudo make", "docker ps", ":(){ :|:& };:", "find . -delete"]
)
def test_what_would_destroy_is_refused_in_every_mode(ring, command):
    result = ring.turn().run(command)
    assert result.refusal.code in ("dangerous", "read_only")
    assert (ring.root / "src/ring.c").exists()


def test_pipes_sockets_and_devices_do_not_stay_and_the_model_is_told(ring):
    done = ring.turn().command("mkfifo pipe; echo kept > kept.txt")
    assert not (ring.root / "pipe").exists()
    assert (ring.root / "kept.txt").exists()
    assert any(note.startswith("pipe: not kept") for note in done.notes)


def test_set_id_bits_do_not_reach_the_tree(ring):
    ring.turn().run("printf '#!/bin/sh\\n' > tool.sh; chmod 6755 tool.sh")
    assert (ring.root / "tool.sh").stat().st_mode & 0o7777 == 0o755


def test_a_link_that_leads_outside_is_kept_as_a_link_and_followed_by_nobody(ring, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    turn = ring.turn()
    turn.run(f"ln -s {outside} out.txt; ln -s {tmp_path} out")
    assert turn.read("out.txt").outcome is Outcome.REFUSED
    assert turn.write("out/new.txt", "x").outcome is Outcome.REFUSED
    assert turn.run("echo x > out.txt").outcome is Outcome.REFUSED
    turn.run("python3 -c \"open('out/' + 'new.txt', 'w')\"")
    assert outside.read_text() == "secret\n"
    assert not (tmp_path / "new.txt").exists()


# --- host commands ------------------------------------------------------------------------------------------------------


def test_a_host_command_is_answered_and_never_run(ring):
    asked = []

    def answer(words, _request):
        asked.append(tuple(words))
        return HostAnswer("three")

    turn = ring.turn(handlers={"spear-knowledge": answer})
    assert "three" in turn.run("spear-knowledge find 'a $HOME'").text
    assert asked == [("find", "a $HOME")]
    for command in (
        "spear-knowledge x | cat",
        "true; spear-knowledge x",
        "echo $(spear-knowledge x)",
        "spear-knowledge x\ntrue",
    ):
        assert turn.run(command).refusal.code == "host_command"
    assert turn.run("grep -r spear-knowledge . ; echo spear-knowledge").outcome is Outcome.OK
    assert len(asked) == 1


# --- an operator at work meanwhile --------------------------------------------------------------------------------------


def while_running(turn, command, act):
    """Run a command that waits for /tmp/go, and do `act` on the host meanwhile."""
    tmp = turn_tmp(turn)

    def operator():
        deadline = time.monotonic() + 20
        while not (tmp / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        act()
        (tmp / "go").touch()

    thread = threading.Thread(target=operator)
    thread.start()
    done = turn.command(f"touch /tmp/begun; until [ -e /tmp/go ]; do sleep 0.01; done; {command}")
    thread.join()
    return done


def turn_tmp(turn):
    runner = turn.host._session.runner
    runner.start()
    return runner.temporary


def test_a_file_the_operator_edits_meanwhile_is_theirs_and_the_model_is_told(ring):
    done = while_running(ring.turn(), "echo agent > src/ring.c; echo agent > src/ring.h",
                         lambda: (ring.root / "src/ring.c").write_text("operator\n"))  # fmt: skip
    assert ring.text("src/ring.c") == "operator\n"
    assert ring.text("src/ring.h") == "agent\n"
    assert any("src/ring.c was left as it is" in note for note in done.notes)
    assert [change.path for change in done.changes] == ["src/ring.h"]


def test_a_file_the_operator_creates_meanwhile_is_not_overwritten(ring):
    while_running(ring.turn(), "echo agent > new.txt", lambda: (ring.root / "new.txt").write_text("operator\n"))
    assert ring.text("new.txt") == "operator\n"


# --- git ----------------------------------------------------------------------------------------------------------------

COMMIT = "git add -A && git -c user.name=a -c user.email=a@example.org commit -qm work"


def test_git_commits_branches_and_merges(ring):
    turn = ring.turn()
    for command in ("echo x > x.txt", COMMIT, "git checkout -qb topic && echo y > y.txt", COMMIT,
                    "git checkout -q - && git -c user.name=a -c user.email=a@example.org merge -q topic"):  # fmt: skip
        assert turn.run(command).outcome is Outcome.OK, command
    assert ring.git("log", "--format=%s").split() == ["work", "work", "start"]
    assert ring.git("status", "--short") == ""
    assert ring.git("fsck") == ""


def test_a_linked_work_tree_commits_and_its_hooks_and_config_are_closed(ring, tmp_path, probe):
    linked = tmp_path / "linked"
    ring.git("worktree", "add", "-q", str(linked))
    main, ring.root = ring.root, linked
    config = (main / ".git/config").read_bytes()
    turn = ring.turn()
    assert turn.run(f"echo x > x.txt && {COMMIT}").outcome is Outcome.OK
    assert [change.path for change in turn.record.changes if change.delivered] == ["x.txt"]
    turn.run("d=$(git rev-parse --git-common-dir); echo id > $d/hooks/post-commit; echo '[core]' >> $d/config")
    turn.run("python3 -c \"import subprocess as s; d = s.check_output(['git', 'rev-parse', '--git-common-dir'], text=True)"
             ".strip(); open(d + '/hooks/pre-push', 'w').write('id')\"")  # fmt: skip
    assert ring.git("log", "-1", "--format=%s", cwd=linked).strip() == "work"
    assert not (main / ".git/hooks/post-commit").exists()
    assert not (main / ".git/hooks/pre-push").exists()
    assert (main / ".git/config").read_bytes() == config


def test_a_repository_made_inside_works_in_later_commands(ring):
    turn = ring.turn()
    assert turn.run("git init -q sub && cd sub && echo x > a && git add a").outcome is Outcome.OK
    assert turn.run("git -c user.name=a -c user.email=a@example.org commit -qm one").outcome is Outcome.OK
    assert turn.command("git log --format=%s").output.strip() == "one"


def test_a_clone_inside_works_in_later_commands_and_says_what_was_not_kept(ring):
    turn = ring.turn()
    done = turn.command("git clone -q . copy")
    assert any("copy/.git/config" in note for note in done.notes)
    assert turn.command("git -C copy log --format=%s").output.strip() == "start"
    assert turn.command("git -C copy status --short").output == ""


# --- two sessions -------------------------------------------------------------------------------------------------------


def test_each_of_two_sessions_sees_the_other_as_an_outside_change(ring):
    one, other = ring.turn(session=ring.open()), ring.turn(session=ring.open())
    one.write("src/ring.c", "int one;\n")
    other.write("src/ring.h", "int other;\n")
    one.host.settle()
    outside = [record for record in one.host.records() if record.tool == "outside"]
    assert [change.path for record in outside for change in record.changes] == ["src/ring.h"]
    assert one.epoch == 2
    assert one.named(EventName.EPOCH_OPENED)[-1].data["paths"] == ["src/ring.h"]


def test_a_stale_edit_of_another_sessions_file_is_refused(ring):
    one, other = ring.turn(session=ring.open()), ring.turn(session=ring.open())
    assert one.read("src/ring.c").outcome is Outcome.OK
    other.write("src/ring.c", "int other;\n")
    assert one.write("src/ring.c", "int one;\n").outcome is not Outcome.OK
    assert ring.text("src/ring.c") == "int other;\n"


def test_nothing_is_left_in_the_state_directory_when_a_turn_ends(ring):
    turn = ring.turn()
    turn.run("make; echo x > x.txt")
    turn.close()
    assert not list(ring.session.scratch.rglob("*"))
