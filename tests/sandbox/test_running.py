"""What a command is told to be and what it is reported to have been."""

import os
import resource
import signal
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from spear.sandbox.request import Ending, RootMount, RunOutcome, RunRequest
from spear.sandbox.runner import CommandRunner
from tests.sandbox.processes import WAIT_S, children, shells, until, words


@pytest.fixture
def runner(tmp_path):
    made = CommandRunner(tmp_path / "session", path="/usr/bin:/bin", home=tmp_path / "nobody")
    yield made
    made.close()


def request_for(tmp_path, script, **options):
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    return RunRequest(script, (RootMount(tree, tmp_path / "writes"),), tree, options.pop("timeout_s", 20.0), **options)


@pytest.mark.parametrize(
    ("script", "code", "stages"),
    [
        ("true | false | true", 0, [0, 1, 0]),
        ("set -o pipefail; false | true", 1, [1, 0]),
        ("set -e; true; true | false; echo unreached", 1, [0, 1]),
        ("(exit 4) | true; exit 7", 7, [4, 0]),
        ("f() { return 3; }; f", 3, [3]),
        ("set -u; echo $NOPE", 1, [1]),
        ("if", 2, []),
        ("", 0, [0]),
        ("# only a comment", 0, [0]),
        ("exit 143", 143, [0]),
        ("set -C -x -f; shopt -s nullglob failglob; IFS=/; false", 1, [1]),
        ("trap 'echo err' ERR; trap 'true' DEBUG; set -T; false | true", 0, [1, 0]),
    ],
)
def test_the_status_of_every_stage_is_reported_however_the_script_ends(host, script, code, stages):
    done = host.run(script)
    assert (done.ending, done.exit_code) == ("exited", code), done
    assert done.pipe_status == stages or not stages


def test_a_trap_of_the_script_runs_with_its_status_and_the_report_stays(host):
    done = host.run("set -e; trap 'echo bye $?; cd /' EXIT; cd /tmp; export A=1; true | false")
    assert done.output == "bye 1\n"
    assert (done.exit_code, done.pipe_status, done.cwd) == (1, [0, 1], "/tmp")
    assert done.environment["A"] == "1"
    assert host.run("trap 'echo x' EXIT; trap - EXIT; trap 'echo y' INT").output == ""
    assert host.run("(trap 'echo sub' EXIT); echo main").output == "sub\nmain\n"


def test_the_wrapper_is_not_seen_by_the_script(host):
    done = host.run("echo $0 $LINENO $# $-\nnosuch\necho $LINENO $?; declare -x | grep -c SPEAR_; cat <<E\nabc")
    assert done.output.startswith("bash 1 0 hB\nbash: line 2: nosuch: command not found\n")
    assert done.output.endswith("3 127\n0\nabc\n")
    assert host.run("pkill -f needle-of-the-script; echo alive").output == "alive\n"


def test_a_shell_that_is_killed_or_replaced_is_told_from_one_that_exits(host):
    killed = host.run("kill -9 $$")
    assert (killed.ending, killed.signal, killed.environment) == ("signalled", 9, None)
    terminated = host.run("kill $$; echo unreached")
    assert (terminated.ending, terminated.signal) == ("signalled", 15)
    replaced = host.run("cd /tmp; exec sh -c 'exit 5'")
    assert (replaced.ending, replaced.exit_code, replaced.cwd) == ("exited", 5, None)


def test_directory_and_environment_are_reported_also_after_a_failure(host):
    tree = host.tree(d__x="")
    nasty = "a'b\"c\\d$e`f`\nzwei\t\x01é!"
    done = host.run(
        'cd d; export NASTY="$GIVEN"; F() { :; }; export -f F; alias l=ls; false', tree, environment={"GIVEN": nasty}
    )
    assert done.cwd == str(tree / "d")
    assert done.environment["NASTY"] == nasty
    assert not any(name.startswith("BASH_FUNC") or name in ("PWD", "SHLVL", "_") for name in done.environment)
    after = host.run("F; echo $NASTY | wc -l; cd -", tree, environment=done.environment)
    assert "F: command not found" in after.output


def test_private_directories_last_from_command_to_command_and_go_at_the_end(tmp_path):
    runner = CommandRunner(tmp_path / "session", path="/usr/bin:/bin", home=tmp_path)
    runner.run(request_for(tmp_path, "echo kept > /tmp/a; mkdir -m 0 /tmp/locked; echo home > ~/b"))
    assert runner.run(request_for(tmp_path, "cat /tmp/a ~/b")).output == "kept\nhome\n"
    assert (runner.temporary / "a").read_text() == "kept\n"
    assert CommandRunner.sweep(tmp_path) == ()
    runner.close()
    assert not (tmp_path / "session").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree", "writes"]


def test_the_names_of_the_roots_work(host):
    tree = host.tree(d__x="x")
    done = host.run("cat /workspace/d/x /workspaces/demo/d/x; cd /workspace/d; pwd; touch y", tree, alias="demo")
    assert done.output == "xx/workspace/d\n"
    assert done.cwd == str(tree / "d")
    assert "d/y" in done.upper


def test_input_is_empty_and_a_question_is_diagnosed(host):
    done = host.run("read -p 'Name: ' x || echo nothing; cat; /usr/bin/python3 -c 'input(\"Continue? [y/n] \")'")
    assert "nothing" in done.output
    assert any("asked for input" in note for note in done.notes)
    waited = host.run("printf 'Proceed? [y/N] '; sleep 30", timeout=0.3)
    assert any("waited for an answer" in note for note in waited.notes)


def test_a_command_is_cancelled(tmp_path, runner):
    begun = time.monotonic()
    done = runner.run(request_for(tmp_path, "echo on; sleep 30", cancelled=lambda: time.monotonic() - begun > 0.3))
    assert done.ending is Ending.CANCELLED
    assert done.output == "on\n"
    assert done.exit_code is None


def test_a_flood_is_drained_with_bounded_memory_and_its_whole_is_counted(tmp_path, runner):
    done = runner.run(request_for(tmp_path, "echo FIRST; head -c 200M /dev/zero | tr '\\0' x; echo; echo LAST",
                                  capture=tmp_path / "whole", timeout_s=100))  # fmt: skip
    assert done.output_bytes == 200 * 1024 * 1024 + len("FIRST\n\nLAST\n")
    assert len(done.output) <= 50_000
    assert done.truncated
    assert done.output.startswith("FIRST\n")
    assert done.output.endswith("LAST\n")
    assert (tmp_path / "whole").stat().st_size == 64 * 1024 * 1024
    assert (tmp_path / "whole").stat().st_mode & 0o777 == 0o600


def test_standard_output_and_error_keep_their_order(host):
    assert host.run("for i in 1 2 3; do echo o$i; echo e$i >&2; done").output == "o1\ne1\no2\ne2\no3\ne3\n"


def run_bounded(runner, request) -> RunOutcome:
    """Run a command; when that hangs the supervisor is killed, and the outcome says so."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(runner.run, request)
        if not wait([running], WAIT_S).done:
            os.kill(runner._session.launcher.pid, signal.SIGKILL)
        return running.result(WAIT_S)


def test_a_script_that_cannot_be_written_leaves_the_next_command_alone(tmp_path, runner):
    assert runner.run(request_for(tmp_path, "true")).ending is Ending.EXITED
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for _ in range(5):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
        try:
            outcome = runner.run(request_for(tmp_path, "#" * (1 << 17)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert outcome.ending is Ending.NOT_STARTED
        assert "File too large" in outcome.problem
        assert run_bounded(runner, request_for(tmp_path, "echo fine")).output == "fine\n"


def test_an_interrupt_ends_the_command_and_leaves_the_next_one_alone(tmp_path, runner):
    def interrupted() -> bool:
        raise KeyboardInterrupt

    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            runner.run(request_for(tmp_path, "sleep 60; echo over", cancelled=interrupted))
        until(lambda: not shells(os.getpid()))
        assert run_bounded(runner, request_for(tmp_path, "echo fine")).output == "fine\n"


def test_a_sandbox_the_host_has_lost_sight_of_does_not_hold_up_the_next_command(tmp_path, runner):
    asked = request_for(tmp_path, "echo fine")
    for _ in range(5):
        runner.run(asked)
        runner.prepare(asked)
        lost, runner._standby._waiting = runner._standby._waiting, None
        assert run_bounded(runner, asked).output == "fine\n"
        lost.close()


def test_a_sandbox_that_was_killed_just_before_its_command_came_costs_the_command_nothing(tmp_path, runner):
    asked = request_for(tmp_path, "echo fine; kill -9 $$")
    runner.run(asked)
    runner.prepare(asked)
    until(lambda: shells(os.getpid()))
    supervisor = runner._session.launcher
    os.kill(supervisor.pid, signal.SIGSTOP)  # so that nobody has told the host
    for pid in shells(os.getpid()):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not shells(os.getpid()))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(runner.run, asked)
        try:
            until(lambda: os.fstat(supervisor.ready().script).st_size)
        finally:
            os.kill(supervisor.pid, signal.SIGCONT)
        done = running.result(WAIT_S)
    assert (done.output, done.signal) == ("fine\n", signal.SIGKILL)


def test_a_command_that_is_killed_before_it_says_anything_runs_once(tmp_path, runner):
    asked = request_for(tmp_path, "echo x >>log; : >/run/spear/report; kill -9 $$")
    runner.run(asked)
    runner.prepare(asked)
    assert runner.run(asked).ending is Ending.SIGNALLED
    assert (tmp_path / "writes/log").read_text() == "x\nx\n"


def test_what_the_host_ignores_and_blocks_a_command_does_not(host, foreign_host):
    for each in (host, foreign_host):
        done = each.run("yes | head -1; grep -E 'Sig(Blk|Ign)' /proc/self/status")
        shown, *masks = done.output.splitlines()
        assert shown == "y"
        ordinary = (1 << 31) - 1
        assert [int(line.split()[1], 16) & ordinary for line in masks] == [0, 0]
        assert each.run("yes | head -1").pipe_status == [141, 0]


def test_a_layer_that_cannot_be_mounted_costs_no_descriptor(host):
    def held() -> int:
        pid = next(
            pid for pid in children(host.process.pid) if any(b"spear.sandbox.supervisor" in word for word in words(pid))
        )
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))

    tree = host.tree(a="")
    host.run("true", tree, upper="right")
    (host.base / "uppers/wrong").write_text("")
    before = held()
    for _ in range(5):
        assert host.run("true", tree, upper="wrong").ending == "not_started"
    assert held() == before


def test_what_cannot_start_is_said_and_not_raised(tmp_path, runner):
    request = request_for(tmp_path, "true")
    gone = runner.run(RunRequest("true", request.roots, tmp_path / "tree/absent", 5.0))
    assert gone.ending is Ending.NOT_STARTED
    assert "absent" in gone.problem
    assert runner.run(request).exit_code == 0
    missing = CommandRunner(tmp_path / "other", path="/usr/bin", home=tmp_path, bwrap="/nonexistent/bwrap")
    assert missing.run(request).ending is Ending.NOT_STARTED
    missing.close()


def test_a_lost_supervisor_is_reported_and_replaced(tmp_path, runner):
    assert runner.run(request_for(tmp_path, "true")).exit_code == 0
    runner._session.launcher._process.kill()
    lost = runner.run(request_for(tmp_path, "true"))
    assert lost.ending is Ending.NOT_STARTED
    assert "supervisor" in lost.problem
    assert runner.run(request_for(tmp_path, "true")).exit_code == 0


def test_ordinary_limits_are_set(host):
    assert host.run("ulimit -n; ulimit -c").output == "4096\n0\n"


def test_the_operators_caches_can_be_written_and_keep_nothing(tmp_path):
    home = tmp_path / "home"
    (home / "go/pkg/mod").mkdir(parents=True)
    (home / "go/pkg/mod/m").write_text("module\n")
    runner = CommandRunner(tmp_path / "session", path="/usr/bin:/bin", home=home)
    done = runner.run(request_for(tmp_path, "cat ~/go/pkg/mod/m; echo lock > ~/go/pkg/mod/lock && ls ~/go/pkg/mod"))
    assert done.output == "module\nlock\nm\n"
    runner.close()
    assert [path.name for path in (home / "go/pkg/mod").iterdir()] == ["m"]


def test_a_build_works_on_the_overlay(host):
    tree = host.tree(Makefile="all: p\n\t./p\np: p.c\n\tcc -o p p.c\n", **{"p.c": "int main(void) { return 0; }\n"})
    done = host.run(
        "make && sed -i s/0/1/ p.c && git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x",
        tree,
    )
    assert done.exit_code == 0, done.output
    assert {path.name for path in tree.iterdir()} == {"Makefile", "p.c"}


def test_a_root_named_in_the_middle_of_a_path_with_odd_characters_works(host):
    tree = host.tree()
    odd = tree / "a:b,c d\\e"
    odd.mkdir()
    (odd / "f").write_text("found\n")
    host.give(tree)
    assert host.run("cat f; touch g; pwd", odd).output == f"found\n{odd}\n"


def test_the_report_cannot_be_forged_into_a_crash(host):
    done = host.run("head -c 100000 /dev/urandom > /run/spear/report; kill -9 $$")
    assert done.ending == "signalled"
    forged = host.run(
        "printf 'began\\0status x\\0pipe 1 x\\0cwd rel\\0env declare -x A=\"\\0' > /run/spear/report; kill -9 $$"
    )
    assert forged.cwd is None
    assert Path(host.base).exists()
