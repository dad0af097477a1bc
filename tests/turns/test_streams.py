"""Standard streams that are closed, or that nobody reads any more: no crash, no lie in the exit status (spec 9.2)."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.scripted_model import ModelServer, calls, text
from tests.turns.conftest import FIX, PROGRAM

LOOK = ("read_file", {"path": "src/counter.c"})


def shell(tree, script, command):
    """`command` for the shell, in which $SPEAR is the program with the server's address."""
    with ModelServer(script) as server:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tree.root, capture_output=True, text=True, timeout=100, check=False,
            stdin=subprocess.DEVNULL, env={**tree.env, "SPEAR": PROGRAM, "SPEAR_API_BASE": server.base_url},
        )  # fmt: skip
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr, done.stderr
    return done, server.requests


def test_a_closed_stderr_puts_nothing_into_stdout(counter):
    done, _ = shell(counter, [text("hi")], '"$SPEAR" -p hello --output json 2>&-')
    assert done.returncode == 0 and done.stdout.startswith("{") and done.stdout.count("\n") == 1


def test_the_end_of_a_turn_says_how_many_lines_each_file_gained_and_lost(counter):
    more = ("patch", {"path": "src/counter.c", "old_string": "{\n", "new_string": "{\n    /* here */\n"})
    with ModelServer([calls(FIX), calls(more), text("Fixed.")]) as server:
        done = counter.run("-p", "Fix counter_step() in src/counter.c.", "--auto", "--api-base", server.base_url)
    assert re.search(r"modified +src/counter\.c  \+2 −1\n", done.stderr), done.stderr
    whole = ("write_file", {"path": "./notes.txt", "content": "one\ntwo\nthree\n"})
    again = ("write_file", {"path": "notes.txt", "content": "one\n2\nthree\nfour\n"})
    with ModelServer([calls(whole), calls(again), text("Written.")]) as server:
        done = counter.run("-p", "Write notes.txt.", "--auto", "--validation", "off", "--api-base", server.base_url)
    assert re.search(r"created +notes\.txt  \+5 −1\n", done.stderr), done.stderr


@pytest.mark.parametrize("closed", [">&-", "<&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_from_the_start_ends_nothing(counter, closed):
    done, requests = shell(counter, [calls(LOOK), text("hi")], f'"$SPEAR" -p "what does src/counter.c do?" {closed}')
    assert done.returncode == 0 and len(requests) == 2


def test_files_have_their_names_in_any_locale(tree):
    tree.write("é.txt", "héllo\n")
    ascii_only = 'LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 "$SPEAR" -p "Write 日本.txt as é.txt is." --auto'
    script = [
        calls(("read_file", {"path": "é.txt"})),
        calls(("write_file", {"path": "日本.txt", "content": "ü"})),
        text("é"),
    ]
    done, requests = shell(tree, script, ascii_only)
    assert "héllo" in requests[1]["messages"][-1]["content"] and done.stdout.endswith("é\n")
    assert tree.read("日本.txt") == "ü"


@pytest.mark.parametrize("output", ["text", "json"])
def test_an_unverified_turn_stays_unverified_when_nobody_reads_its_answer(counter, output):
    command = (
        f'"$SPEAR" -p "Change src/counter.c." --auto --validation off --output {output} | true; echo ${{PIPESTATUS[0]}}'
    )
    done, _ = shell(counter, [calls(FIX), text("Done.")], command)
    assert done.stdout == "3\n"


def test_a_stream_nobody_reads_any_more_stops_the_turn_in_order(counter):
    script = [calls(LOOK, content=f"round {n}") for n in range(30)]
    command = '"$SPEAR" -p "what does src/counter.c do?" --output stream-json | head -1; echo ${PIPESTATUS[0]}'
    done, requests = shell(counter, script, command)
    assert done.stdout.startswith('{"event": "request_classified"') and done.stdout.endswith("}\n130\n")
    assert len(requests) < 30 and "nobody reads stdout any more: the turn was stopped" in done.stderr
    assert "intact" in counter.run("audit", "verify").stdout
