"""`/jobs` in the chat of `spear-chat` itself: real sandboxes, a real pseudo-terminal (spec 8.2)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.document import Document

from spear.cli.commands.registry import resolve
from spear.cli.repl.completion import LineCompleter, Sources
from spear.cli.repl.paths import PathIndex

FIX = ("patch", {"path": "app.py", "old_string": "return 1", "new_string": "return 2"})
WAIT_S = 20


def until(condition: Callable[[], object]) -> None:
    """Wait for it, not for ever."""
    end, pause = time.monotonic() + WAIT_S, threading.Event()
    while not condition():
        assert time.monotonic() < end
        pause.wait(0.02)


def running(words: str) -> list[int]:
    """The processes with exactly this command line."""
    found = subprocess.run(["pgrep", "-fx", re.escape(words)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def nap(serial: int) -> str:
    """A command nobody else runs."""
    return f"sleep {100000 + os.getpid()}{serial}"


def events(state: Path) -> list[dict[str, Any]]:
    logs = sorted(state.glob("audit/sessions/*/events.jsonl"))
    return [json.loads(line) for log in logs for line in log.read_text().splitlines()]


def of_jobs(state: Path) -> list[dict[str, Any]]:
    return [event for event in events(state) if event["event"].startswith("job_")]


@pytest.mark.parametrize("form", [(), ("--plain",)])
def test_a_job_is_started_listed_shown_and_stopped(real, project, state, form):
    r = real([], "--auto", *form)
    r.line("/jobs")
    r.wait("no job was started in this chat")
    r.line(f"/jobs start seq 100; cat app.py; {nap(1)}")
    r.wait(r"job 1 runs with the network; its\s+output:\s+\S+")
    until(lambda: running(nap(1)))
    r.mark()
    r.line("/jobs")
    shown = r.wait(r"  1  running +[\d.]+ s  seq 100; cat app\.py; sleep") + r.settle()
    assert "job-1" in shown
    r.mark()
    r.line("/jobs show 1")
    shown = r.wait(r"(?s)62 earlier lines: /jobs show 1\s+all.*100\r?\ndef f\(\):\r?\n    return 1")
    assert not re.search(r"^62\r?$", shown, re.M)
    assert re.search(r"^63\r?$", shown, re.M)
    r.mark()
    r.line("/jobs stop 1")
    r.wait(r"job 1 stopped after [\d.]+ s: seq 100")
    assert not running(nap(1))
    r.line("/jobs stop 1")
    r.wait("job 1 has ended already: stopped")
    assert "job 1 ended" not in r.settle()
    r.line("/quit")
    assert r.end() == 0
    assert "stopped job" not in r.plain()
    started, ended = of_jobs(state)
    assert (started["event"], started["data"]["by"], started["data"]["job"]) == ("job_started", "operator", 1)
    assert started["data"]["command"].startswith("seq 100; cat")
    assert (ended["event"], ended["data"]["by"], ended["data"]["status"]) == ("job_ended", "operator", "stopped")
    (output,) = state.glob("audit/tool-results/*/job-1")
    assert output.stat().st_mode & 0o777 == 0o600


def test_a_job_sees_what_a_turn_writes_and_the_turns_commands_end_without_it(real, project, scripted):
    r = real([scripted.calls(FIX, ("terminal", {"command": "ls"})), scripted.text("Done.")], "--auto")
    r.line("/jobs start while ! grep -q 'return 2' app.py; do sleep 0.05; done; echo saw-it; " + nap(2))
    r.wait("job 1 runs")
    r.line("Fix f() in app.py.")
    r.wait(r"last turn \w+", 60)
    r.wait(r"1 job · last turn")
    r.mark()
    r.line("/jobs show 1")
    r.wait(r"\nsaw-it")
    assert running(nap(2))


def test_the_end_of_a_job_is_said_once_and_the_status_row_counts(real, project):
    r = real([], "--safe")
    r.line("/jobs start while [ ! -e go ]; do sleep 0.05; done; exit 3")
    r.wait(r"job 1 runs without the network")
    r.wait(r"scripted · 1 job")
    r.mark()
    r.keys("half a tho")
    r.wait("half a tho")
    (project / "go").touch()
    until(lambda: any(e["event"] == "job_ended" for e in events(r.state)))
    assert "job 1 ended" not in r.settle()  # while something is being typed nothing is said
    r.keys("\x7f" * 10)
    shown = r.wait(r"job 1 ended with exit status 3 after [\d.]+ s: while")
    shown += r.settle()
    assert len(re.findall(r"job 1 ended with", r.plain())) == 1
    assert not re.search(r"1 job\b", shown.rsplit("job 1 ended", 1)[1])


def test_nothing_is_said_while_a_turn_streams(real, project, scripted):
    calls = scripted.calls(
        ("terminal", {"command": "until [ -s /tmp/never ] || grep -q stop app.py; do sleep 0.05; done"})
    )
    r = real([calls, scripted.text("The turn went on.")], "--auto")
    r.line("/jobs start while [ ! -e go ]; do sleep 0.05; done")
    r.wait("job 1 runs")
    r.line("Wait in the shell.")
    r.wait("Terminal until")
    (project / "go").touch()
    until(lambda: any(e["event"] == "job_ended" for e in events(r.state)))
    assert "job 1 ended" not in r.settle(0.5)
    r.line("/jobs")  # it only looks: it answers while the turn runs
    r.wait(r"1  exit status 0")
    r.line("/jobs start echo queued")  # this waits, for it may ask
    r.wait("1 waiting")
    r.keys("\x03")
    shown = r.wait(r"(?s)The turn went on.*job 1 ended with exit status 0.*job 2 runs", 30)
    assert shown.index("The turn went on") < shown.index("job 1 ended")


def test_in_plain_lines_the_end_is_said_before_the_next_prompt(real, project):
    r = real([], "--safe", "--plain")
    r.line("/jobs start exit 4")
    r.wait("job 1 runs")
    until(lambda: any(e["event"] == "job_ended" for e in events(r.state)))
    r.line("/mode")
    r.line("/mode")
    r.wait(r"job 1 ended with exit status 4")
    r.settle()
    assert r.plain().count("job 1 ended") == 1


@pytest.mark.parametrize("form", [(), ("--plain",)])
def test_the_end_of_the_chat_ends_its_jobs_and_says_which(real, state, form):
    r = real([], "--safe", *form)
    for serial in (3, 4):
        r.line(f"/jobs start {nap(serial)}")
        r.wait(f"job {serial - 2} runs")
    until(lambda: running(nap(3)) and running(nap(4)))
    r.line("/quit")
    assert r.end() == 0
    shown = r.plain()
    assert re.search(rf"stopped job 1: {nap(3)}\r?\nstopped job 2: {nap(4)}\r?\ngo on with this session", shown)
    assert not running(nap(3))
    assert not running(nap(4))
    assert [e["event"] for e in of_jobs(state)] == ["job_started", "job_started", "job_ended", "job_ended"]
    assert events(state)[-1]["event"] == "session_closed"
    assert not list((state / "run").glob("*"))


@pytest.mark.parametrize("end", ["kill", "terminate", "hang up"])
def test_whatever_ends_the_program_leaves_no_job_running(real, end):
    r = real([], "--auto")
    r.line(f"/jobs start (setsid sh -c 'trap \"\" TERM HUP; {nap(5)}; :' &) ; {nap(5)}")
    r.wait("job 1 runs")
    until(lambda: len(running(nap(5))) == 2)
    if end == "kill":
        r.kill()
    elif end == "terminate":
        r.signal(15)
        assert r.end() == 143
    else:
        r.hang_up()
    until(lambda: not running(nap(5)))


def test_ctrl_c_does_not_touch_a_job(real, scripted):
    wait = scripted.calls(("terminal", {"command": nap(7)}))
    r = real([wait, scripted.text("It was stopped.")], "--auto")
    r.line(f"/jobs start {nap(6)}")
    r.wait("job 1 runs")
    until(lambda: running(nap(6)))
    r.line("Wait in the shell.")
    r.wait("Terminal sleep")
    until(lambda: running(nap(7)))
    r.keys("\x03")
    r.wait("It was stopped", 30)
    r.settle()
    r.keys("\x03")
    r.settle()
    assert running(nap(6))
    assert not running(nap(7))


def test_a_job_stays_when_the_session_changes_and_its_end_stands_in_the_one_that_is_open(real, state):
    r = real([], "--safe")
    r.line(f"/jobs start {nap(8)}")
    r.wait("job 1 runs")
    until(lambda: running(nap(8)))
    r.line("/clear")
    r.wait("is stored: /resume")
    assert running(nap(8))
    r.mark()
    r.line("/jobs")
    r.wait(r"  1  running")
    r.line("/jobs stop 1")
    r.wait("job 1 stopped")
    first, second = sorted(state.glob("audit/sessions/*/events.jsonl"))
    assert "job_started" in first.read_text()
    assert "job_ended" not in first.read_text()
    (ended,) = [json.loads(line) for line in second.read_text().splitlines() if '"job_ended"' in line]
    assert ended["data"]["started_in"] == first.parent.name
    for log in (first, second):
        done = subprocess.run(
            [sys.executable, "-m", "spear.cli.main", "audit", "verify", log.parent.name],
            env={**os.environ, "SPEAR_STATE_DIR": str(state)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_test_that_a_job_ran_leaves_the_verdict_alone(real, project, scripted):
    (project / "Makefile").write_text("test:\n\tPYTHONDONTWRITEBYTECODE=1 python3 -m unittest -q\n")
    r = real([scripted.calls(FIX), scripted.text("f() returns 2.")], "--auto", "--validation", "off")
    r.line("Fix f() in app.py.")
    r.wait(r"last turn unverified", 60)
    r.line("/jobs start make test")
    r.wait(r"job 1 ended with exit status 0", 30)
    r.mark()
    r.line("/verdict")
    shown = r.wait("record:")
    assert "UNVERIFIED" in shown
    assert "make test" not in shown
    (records,) = r.state.glob("audit/sessions/*/evidence.jsonl")
    assert "make test" not in records.read_text()
    r.mark()
    r.line("/undo list")
    assert not re.search(r"^ *2 ", r.wait(r"1  turn 1 .*app\.py"), re.M)


def test_a_rule_and_the_mode_refuse_a_job(real, project, state):
    r = real([], "--safe")
    r.line("/remember never run make deploy")
    r.wait("Refuse the command by a rule")
    r.line("s")
    r.wait("rule 1")
    r.line("/jobs start true && make -s deploy")
    r.wait(r"refused: .*make.*deploy.*rule 1")
    r.line("/jobs start echo x > app.py")
    r.wait(r"refused: app\.py — a job sees the workspace read-only")
    r.line("/jobs start")
    r.wait("was not understood")
    r.line("/jobs start if")
    r.wait("syntax error")
    r.mark()
    r.line("/jobs")
    r.wait("no job was started")
    refused = [e["data"] for e in events(state) if e["event"] == "tool_refused"]
    assert [(data["tool"], data["by"]) for data in refused] == [("job", "operator")] * 3


def test_the_fifth_is_refused_with_the_way_out(real):
    r = real([], "--safe")
    for number in range(1, 5):
        r.line(f"/jobs start {nap(9)}")
        r.wait(f"job {number} runs")
    r.wait("4 jobs")
    r.line(f"/jobs start {nap(9)}")
    r.wait(r"4 jobs are running, and no more may; /jobs lists them,\s+/jobs stop N ends one")


def test_in_ask_the_network_is_asked_for_before_it_starts(real, state):
    r = real([], "--ask")
    r.line("/jobs start curl -s https://192.0.2.1/")
    r.wait("Run this command")
    assert not of_jobs(state)
    r.settle(0.5)
    r.keys("n\r")
    r.wait("operator said no")
    assert not of_jobs(state)


def test_a_command_of_a_turn_cannot_start_one(real, project, scripted):
    call = ("terminal", {"command": f"/jobs start {nap(10)}; (setsid {nap(10)} &)"})
    r = real([scripted.calls(call), scripted.text("/jobs start " + nap(10))], "--auto")
    r.line("Start a background job.")
    r.wait(r"last turn \w+", 60)
    until(lambda: not running(nap(10)))
    r.mark()
    r.line("/jobs")
    r.wait("no job was started")


def test_the_whole_output_opens_in_the_pager_and_is_filtered(real, project, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {tmp_path}/paged\n")
    pager.chmod(0o755)
    r = real([], "--safe", env={"PAGER": str(pager)})
    r.line(r"/jobs start seq 5000; printf '\033]0;PWNED\007\033[31mred\033[0m\n'")
    r.wait(r"job 1 ended with exit status 0")
    r.line("/jobs show 1 all")
    r.wait(r"the output of job 1 is kept in")
    text = (tmp_path / "paged").read_text()
    assert text.startswith("1\n2\n")
    assert text.endswith("5000\nred")


def test_help_and_completion_know_the_command(real, project, chat):
    r = real([], "--safe")
    r.line("/help jobs")
    r.wait(r"/jobs \[start COMMAND \| show N \[all\] \| stop N\]")
    assert resolve("job").name == "jobs"
    completer = LineCompleter(Sources(PathIndex(project), jobs=lambda: ["1", "12", "3"]))

    def offered(text: str) -> list[str]:
        return [found.text for found in completer.get_completions(Document(text), None)]

    assert offered("/jobs ") == ["start", "show", "stop"]
    assert offered("/jobs st") == ["start", "stop"]
    assert offered("/jobs show 1") == ["1", "12"]
    assert offered("/jobs stop ") == ["1", "12", "3"]
    assert offered("/jobs start cat ap")[0] == "app.py"
    r.line("/jobs start " + nap(11))
    r.wait("job 1 runs")
    r.mark()
    r.keys("/jobs stop \t")
    r.settle()
    r.keys("\t")
    r.settle()
    r.keys("\r")
    r.wait(r"job 1 stopped")


def test_nothing_of_it_is_loaded_where_none_was_started():
    script = "import spear.cli.repl.composing, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"spear.host.jobs", "spear.host.job", "spear.host.job_output"} & set(done.stdout.split())
