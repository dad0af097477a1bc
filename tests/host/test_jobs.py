"""Background jobs, in real sandboxes on a real tree: what they see, what they cannot do, and how they end."""

from __future__ import annotations

import json
import os
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spear.agent.host import Refusal
from spear.errors import StateError
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live
from spear.host.confirmation import Choice, Question, Reply
from spear.host.consent import Approvals
from spear.host.hook_run import HookPlace
from spear.host.hooks import SessionHooks
from spear.host.job import JobInfo, JobState
from spear.host.job_output import JobOutput
from spear.host.job_request import JobParts
from spear.host.jobs import MOST, Jobs
from spear.policy.hook import Hook
from spear.policy.permission import Permission, PermissionKind
from spear.sandbox.request import Network
from spear.state.redaction import Redactor
from tests.host_bench import Workbench

WAIT_S = 20


def until(condition: Callable[[], object], why: str = "") -> None:
    """Wait for it, not for ever."""
    end, pause = time.monotonic() + WAIT_S, threading.Event()
    while not condition():
        assert time.monotonic() < end, why
        pause.wait(0.02)


class Desk:
    """An operator with a workbench: what they start, what they are asked, what is recorded."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.events: list[Event] = []
        self.ended: list[JobInfo] = []
        self.asked: list[Question] = []
        self.notices: list[str] = []
        self.answer = Reply(Choice.YES)
        self.approvals = Approvals()
        self.full = False
        self.jobs = Jobs(self._record, self.ended.append)

    def start(self, command: str) -> JobInfo | Refusal:
        return self.jobs.start(command, self.bench.session, JobParts(self._confirm, self.approvals, self._emit))

    def started(self, command: str) -> int:
        found = self.start(command)
        assert isinstance(found, JobInfo), found
        return found.number

    def refused(self, command: str) -> Refusal:
        found = self.start(command)
        assert isinstance(found, Refusal), found
        return found

    def info(self, number: int) -> JobInfo:
        return next(info for info in self.jobs.listing() if info.number == number)

    def printed(self, number: int) -> str:
        job = self.jobs.job(number)
        assert job is not None
        return job.output.tail()

    def shows(self, number: int, text: str) -> None:
        until(lambda: text in self.printed(number) or self.ended)
        assert text in self.printed(number), self.info(number)

    def result(self, command: str) -> JobInfo:
        """A job to its end."""
        number = self.started(command)
        until(lambda: any(info.number == number for info in self.ended), self.printed(number))
        return self.info(number)

    def named(self, name: EventName) -> list[Event]:
        return [event for event in self.events if event.name is name]

    def _record(self, event: Event) -> None:
        if self.full:
            raise StateError("no space left on device")
        self.events.append(event)

    def _emit(self, item: Event | Live) -> None:
        if isinstance(item, Event):
            self._record(item)
        else:
            self.notices.append(item.text)

    def _confirm(self, question: Question) -> Reply:
        self.asked.append(question)
        return self.answer


@pytest.fixture
def desk(bench) -> Iterator[Desk]:
    made = Desk(bench)
    yield made
    made.full = False
    made.jobs.close()


@pytest.fixture
def tree(bench) -> Path:
    bench.put("a.txt", "one\n")
    return bench.root


def running(marker: str) -> bool:
    """Whether a process with these words in its command line is there, of any namespace."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue
            if marker.encode() in words and int(entry.name) != os.getpid():
                return True
    return False


# --- what it is -----------------------------------------------------------------------------------------------------


def test_a_job_runs_beside_the_turn_and_its_output_is_kept_in_a_private_file(desk, tree):
    info = desk.result("cat a.txt; echo told >&2; exit 3")
    assert (info.state, info.exit_code, info.status) == (JobState.EXITED, 3, "exit status 3")
    assert info.output.read_text() == "one\ntold\n"
    assert stat.S_IMODE(info.output.stat().st_mode) == 0o600
    assert info.output.is_relative_to(desk.bench.session.state.tool_results)


def test_a_job_sees_the_tree_as_it_is_at_every_moment(desk, tree):
    number = desk.started("cat a.txt; while ! grep -q two a.txt; do sleep 0.02; done; cat a.txt new.txt")
    desk.shows(number, "one")
    turn = desk.bench.turn()
    turn.write("new.txt", "made by a turn\n")
    turn.run("echo two > a.txt")  # promoted from an overlay, by renaming
    until(lambda: desk.ended)
    assert desk.printed(number) == "one\ntwo\nmade by a turn\n"


def test_a_job_changes_nothing_in_the_tree_however_it_tries(desk, tree):
    tries = (
        "python3 -c 'import os; os.mkdir(chr(120))'",
        "python3 -c 'import os; os.unlink(chr(97) + \".txt\")'",
        "python3 -c 'import os; os.chmod(chr(97) + \".txt\", 0)'",
        "python3 -c 'import os; os.open(chr(97) + \".txt\", os.O_RDWR)'",
    )
    before = (tree / "a.txt").stat()
    info = desk.result("; ".join(tries) + "; touch /tmp/mine ~/mine && ls /tmp ~")
    assert desk.printed(info.number).count("Read-only file system") == len(tries)
    assert "mine" in desk.printed(info.number)
    assert sorted(path.name for path in tree.iterdir()) == ["a.txt"]
    assert (tree / "a.txt").stat() == before


def test_a_job_sees_neither_the_operators_home_nor_their_variables_nor_credentials(desk, tree, monkeypatch):
    (tree / ".netrc").write_text("machine m password hunter2\n")
    monkeypatch.setenv("MY_TOKEN", "hunter2")
    with tempfile.NamedTemporaryFile(dir=Path.home()) as mine:
        info = desk.result(f"cat .netrc; env; ls {mine.name} {desk.bench.session.state.root}; ls /home")
    shown = desk.printed(info.number)
    assert "hunter2" not in shown
    assert shown.count("No such file or directory") == 2
    assert shown.rstrip().endswith("sandbox")


def test_a_job_has_process_numbers_of_its_own_and_no_sockets_of_the_host(desk, tree):
    (tree / "s").touch()
    (tree / "s").unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tree / "s"))
        listening.listen()
        connect = "import socket; socket.socket(socket.AF_UNIX).connect('s')"
        info = desk.result(f'echo number $$; ls /proc | grep -c "^[0-9]"; python3 -c "{connect}"')
    lines = desk.printed(info.number).splitlines()
    assert lines[0] == "number 2"
    assert int(lines[1]) < 8
    assert lines[-1].startswith(("PermissionError", "OSError"))


# --- how many, and how they end -------------------------------------------------------------------------------------


def test_four_run_at_once_and_the_fifth_is_told_the_way_out(desk, tree):
    numbers = [desk.started("sleep 60") for _ in range(MOST)]
    assert numbers == [1, 2, 3, 4]
    refusal = desk.refused("sleep 60")
    assert "/jobs stop N" in refusal.line()
    assert len(desk.named(EventName.JOB_STARTED)) == MOST
    desk.jobs.stop((2,))
    assert desk.info(2).status == "stopped"
    assert desk.started("true") == 5


def test_stopping_lets_a_program_tidy_up_first(desk, tree):
    program = "import signal, sys, time\\nsignal.signal(15, lambda *_: (print('tidy', flush=True), time.sleep(.2), print('done', flush=True), sys.exit(0)))\\nprint('up', flush=True)\\ntime.sleep(60)"
    number = desk.started(f'printf "{program}" | python3 -u /dev/stdin')
    desk.shows(number, "up")
    (info,) = desk.jobs.stop((number,))
    assert (info.state, info.status) == (JobState.STOPPED, "stopped")
    assert desk.printed(number).startswith("up\ntidy\ndone\n")


def test_what_will_not_end_is_killed_in_bounded_time(desk, tree):
    marker = f"61{os.getpid()}"
    number = desk.started(
        f"trap '' TERM; (trap '' TERM; exec sleep {marker}) & echo up; while :; do sleep {marker}; done"
    )
    desk.shows(number, "up")
    until(lambda: running(f"sleep {marker}"))
    begun = time.monotonic()
    (info,) = desk.jobs.stop((number,))
    assert time.monotonic() - begun < 6
    assert info.state is JobState.STOPPED
    assert not running(f"sleep {marker}")
    assert not any((desk.bench.session.state.root / "run").glob("*-job-*"))


def test_a_loop_that_goes_on_after_each_command_is_ended_too(desk, tree):
    number = desk.started("while :; do sleep 0.2; echo again; done")
    desk.shows(number, "again")
    desk.jobs.stop((number,))
    assert desk.info(number).state is JobState.STOPPED


def test_what_the_command_left_running_ends_with_it(desk, tree):
    marker = f"62{os.getpid()}"
    info = desk.result(f"setsid sleep {marker} & echo up")
    assert info.exit_code == 0
    until(lambda: not running(f"sleep {marker}"))


def test_closing_ends_all_and_lets_none_start(desk, tree):
    marker = f"63{os.getpid()}"
    for _ in range(2):
        desk.started(f"sleep {marker}")
    until(lambda: running(f"sleep {marker}"))
    assert [info.number for info in desk.jobs.close()] == [1, 2]
    assert not running(f"sleep {marker}")
    assert desk.refused("true").code == "closing"


def test_one_that_is_stopped_while_it_starts_does_not_run_on(desk, tree):
    marker = f"64{os.getpid()}"
    number = desk.started(f"sleep {marker}")
    desk.jobs.stop((number,))
    assert desk.info(number).state is JobState.STOPPED
    assert not running(f"sleep {marker}")


# --- what it may, and what is recorded ------------------------------------------------------------------------------


def test_the_policy_judges_a_job_as_a_command_that_may_write_nothing(desk, tree):
    for mode in Mode:
        desk.bench.session.mode = mode
        assert "read-only" in desk.refused("echo x > a.txt").line()
        assert desk.refused("rm -rf /").code == "dangerous"
        assert "syntax error" in desk.refused("if").line()
    assert not desk.events
    assert not desk.jobs.listing()


def test_a_rule_that_forbids_a_command_forbids_it_as_a_job(desk, tree):
    desk.approvals.grant(Permission(kind=PermissionKind.DENY, words=("make", "deploy")))
    desk.bench.session.mode = Mode.AUTO
    refusal = desk.refused("true && env A=b make -s deploy")
    assert "rule 1" in refusal.line()
    assert not desk.jobs.listing()


def test_a_gate_of_the_operators_hears_of_a_job_and_what_fails_refuses(desk, tree):
    program = desk.bench.base / "gate"
    program.write_text(
        f"""#!/bin/sh\ncat > {desk.bench.base}/told\necho '{{"decision": "deny", "reason": "not today"}}'\n"""
    )
    program.chmod(0o755)
    hook = Hook.model_validate({"event": "before_tool", "command": (str(program),), "tools": ("terminal",)})
    session = desk.bench.session
    session.hooks = SessionHooks([hook], HookPlace.of(tree.resolve(), (), os.environ), session.identity, Redactor())
    assert "not today" in desk.refused("make deploy").line()
    told = json.loads((desk.bench.base / "told").read_text())
    assert told["arguments"] == {"command": "make deploy"}
    assert [e.data["by"] for e in desk.named(EventName.HOOK_RAN)] == ["operator"]
    program.write_text("#!/bin/sh\nexit 1\n")
    assert "failed" in desk.refused("make deploy").line()
    assert desk.notices
    assert not desk.jobs.listing()


def test_in_ask_the_network_is_asked_for_and_nothing_else(desk, tree):
    desk.bench.session.mode = Mode.ASK
    assert desk.result("make --version; true").network is Network.NONE
    assert not desk.asked
    desk.answer = Reply(Choice.NO, "not now")
    assert "not now" in desk.refused("curl https://example.org/").line()
    (question,) = desk.asked
    assert question.network
    assert Choice.ALWAYS_COMMAND not in question.choices  # it would let the model write with it later
    assert [e.data["by"] for e in desk.named(EventName.CONFIRMATION_ASKED)] == ["operator"]
    desk.answer = Reply(Choice.EDITED, command="echo x > a.txt")
    assert "read-only" in desk.refused("curl https://example.org/").line()
    desk.answer = Reply(Choice.EDITED, command="echo edited")
    assert desk.result("curl https://example.org/").command == "echo edited"


@pytest.mark.parametrize("mode", [Mode.SAFE, Mode.AUTO])
def test_without_the_network_there_is_none_in_any_mode(tmp_path, probe, mode):
    bench = Workbench(tmp_path, probe)
    bench.open(mode, network=False)
    desk = Desk(bench)
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            info = desk.result(
                f"cat /proc/net/dev | wc -l; cat /proc/net/route | wc -l;"
                f" (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached"
            )
        assert info.network is Network.NONE
        assert "reached" not in desk.printed(info.number)
        assert desk.printed(info.number).splitlines()[:2] == ["3", "1"]  # a loopback, and no route
    finally:
        desk.jobs.close()
        bench.close()


def test_every_start_and_end_is_recorded_as_the_operators(desk, tree):
    desk.result("exit 4")
    number = desk.started("sleep 60")
    desk.jobs.stop((number,))
    starts, ends = desk.named(EventName.JOB_STARTED), desk.named(EventName.JOB_ENDED)
    assert [(e.data["job"], e.data["command"], e.data["by"]) for e in starts] == [
        (1, "exit 4", "operator"), (2, "sleep 60", "operator"),
    ]  # fmt: skip
    assert [(e.data["job"], e.data["status"]) for e in ends] == [(1, "exit status 4"), (2, "stopped")]
    assert ends[0].data["exit_code"] == 4
    assert all(e.data["by"] == "operator" for e in ends)


def test_what_cannot_be_recorded_is_not_started(desk, tree):
    desk.full = True
    with pytest.raises(StateError):
        desk.start("sleep 60")
    assert not desk.jobs.listing()
    desk.full = False
    number = desk.started("echo up; sleep 60")
    desk.shows(number, "up")
    desk.full = True
    desk.jobs.stop((number,))
    assert "could not be recorded" in desk.ended[-1].notes[-1]


def test_a_job_is_no_evidence_opens_no_epoch_and_needs_no_checkpoint(desk, ring):
    turn = ring.turn()
    turn.write("src/new.c", "int made;\n")
    records, epoch = len(turn.host.records()), turn.epoch
    info = desk.result("make -n test; cc -Wall -Isrc -o /tmp/t src/ring.c tests/test_ring.c && /tmp/t")
    assert desk.printed(info.number).endswith("ok\n")
    turn.host.settle()
    assert (len(turn.host.records()), turn.epoch) == (records, epoch)
    assert not any(record.check for record in turn.host.records())
    turn.close()
    assert len(ring.session.checkpoints.listing(ring.root)) == 1


def test_a_turns_commands_and_a_job_run_at_the_same_time_and_neither_ends_the_other(desk, tree):
    number = desk.started("touch /tmp/of-a-job; echo up; while [ ! -e /tmp/of-a-turn ]; do sleep 0.02; done")
    desk.shows(number, "up")
    done = desk.bench.turn().command("touch /tmp/of-a-turn; ls -d /tmp/of-*")
    assert done.output.split() == ["/tmp/of-a-turn"]
    assert desk.info(number).state is JobState.RUNNING
    groups = [runner._session.group for runner in (desk.bench.session.runner, desk.jobs.job(number)._runner)]
    assert not set(groups[0].directories) & set(groups[1].directories)  # the end of one would take the other's away
    desk.jobs.stop((number,))
    assert desk.bench.turn().command("echo still").output == "still\n"


# --- its output -----------------------------------------------------------------------------------------------------


def test_a_full_output_gives_up_its_beginning_and_says_so(tmp_path):
    output = JobOutput(tmp_path / "o", limit=1000, kept=400)
    for number in range(500):
        output.feed(b"line %d\n" % number)
        assert (tmp_path / "o").stat().st_size <= 1000
    text = (tmp_path / "o").read_text()
    assert text.startswith("[... the first ")
    assert text.endswith("line 499\n")
    kept = text.split("\n", 1)[1]
    assert output.given_up > 0
    lines = kept.splitlines()
    assert lines == [f"line {number}" for number in range(500 - len(lines), 500)]
    output.feed(b"x" * 5000)
    assert (tmp_path / "o").stat().st_size <= 1000
    output.close()
    assert output.tail().endswith("x")


def test_an_endless_output_is_bounded_on_the_disk_and_its_end_is_shown(desk, tree):
    info = desk.result("head -c 40000000 /dev/zero | tr '\\0' 'x' | fold; echo the end")
    assert info.output.stat().st_size <= 16 * 1024 * 1024
    assert info.output_bytes > 40_000_000
    assert desk.printed(info.number).endswith("the end\n")
    assert any("were given up" in note for note in info.notes)


def test_a_full_disk_stops_the_keeping_and_not_the_job(desk, tree, monkeypatch):
    number = desk.started("while ! grep -q two a.txt; do sleep 0.02; done; echo lost; exit 5")
    job = desk.jobs.job(number)
    with open("/dev/full", "wb", buffering=0) as full:
        os.dup2(full.fileno(), job.output._file)  # from here on the file is a full disk
    (tree / "a.txt").write_text("two\n")
    until(lambda: desk.ended)
    assert desk.info(number).exit_code == 5
    assert any("No space left" in note for note in desk.info(number).notes)


def test_control_sequences_do_not_reach_who_looks(desk, tree):
    info = desk.result(r"printf '\033]0;PWNED\007\033[31mred\033[0m\n10%%\r100%%\n'")
    assert desk.printed(info.number) == "red\n100%\n"
