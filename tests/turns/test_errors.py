"""Bad input: one sentence that names the thing and the way out, the right status, nothing changed (spec 1.3, 9.2)."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from tests.scripted_model import ModelServer, calls, drop, status, text
from tests.turns.conftest import ASK, COUNTER_C, FIX, PROGRAM, sh


def test_a_dead_endpoint_is_75_and_named(counter):
    done = counter.run("-p", ASK, "--auto", "--api-base", "http://127.0.0.1:9/v1")
    assert done.returncode == 75 and "127.0.0.1:9" in done.stderr and "--api-base" in done.stderr


def test_without_any_endpoint_the_ways_out_are_named(counter):
    done = counter.run("-p", ASK, env={"SPEAR_API_BASE": ""})
    assert done.returncode == 75
    assert all(way in done.stderr for way in ("--api-base", "--demo", "--replay", "spear-chat[local]", "--gguf"))


def test_a_wrong_key_is_asked_about_once_and_never_printed(counter):
    with ModelServer([status(401), text("never")]) as server:
        done = counter.run(
            "-p", ASK, "--auto", "--api-base", server.base_url, env={"OPENAI_API_KEY": "sk-secret-0123456789abcdef"}
        )
    assert done.returncode == 75 and len(server.requests) == 1
    assert "--api-key-env" in done.stderr and "sk-secret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--autoo",), "--auto"),
        (("-p", ""), "empty"),
        (("-p", "x", "--output", "yaml"), "stream-json"),
        ((), "needs a terminal"),
        (("audti",), "audit"),
        (("--resume", "nope", "-p", "x"), "nope"),
        (("policy", "check", "--jsonl", "no-such-file"), "no-such-file"),
    ],
)
def test_a_bad_command_line_is_2_and_says_what_was_meant(counter, words, said):
    done = counter.run(*words)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text_", "said"),
    [
        ("maxx_tool_rounds = 3\n", "max_tool_rounds"),
        ("ctx = = 1\n", "line 1"),
        ('ctx = "many"\n', "ctx"),
        ("ctx = 1\nctx = 2\n", "line 2"),
    ],
)
def test_a_broken_configuration_is_2_and_names_file_and_place(counter, text_, said):
    place = counter.home / ".config/spear/config.toml"
    place.parent.mkdir(parents=True)
    place.write_text(text_)
    done = counter.run("-p", "hello")
    assert done.returncode == 2 and said in done.stderr and "config.toml" in done.stderr


def test_without_bubblewrap_nothing_runs_and_nothing_is_written(counter):
    before = counter.files()
    with ModelServer([calls(FIX), calls(sh("make test")), text("Fixed.")]) as server:
        done = _without_bwrap(counter, "-p", ASK, "--auto", "--api-base", server.base_url)
    assert done.returncode == 6 and "apt install bubblewrap" in done.stdout + done.stderr
    assert counter.files() == before and not (counter.root / "build").exists()


def test_reading_still_works_without_bubblewrap(counter):
    with ModelServer([calls(("read_file", {"path": "Makefile"})), text("A Makefile.")]) as server:
        done = _without_bwrap(counter, "-p", "What is in Makefile?", "--api-base", server.base_url)
    assert done.returncode == 0 and "A Makefile." in done.stdout


def _without_bwrap(counter, *words):
    script = 'mount --bind /dev/null "$(command -v bwrap)" && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", PROGRAM, *words]
    return subprocess.run(
        command, cwd=counter.root, env=counter.env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )


def test_a_full_state_directory_is_named_and_changes_nothing(counter):
    script = 'mount -t tmpfs -o size=100k none "$SPEAR_STATE_DIR" && exec "$@"'
    counter.state.mkdir()
    before = counter.files()
    with ModelServer([calls(FIX), text("Fixed.")]) as server:
        done = subprocess.run(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", PROGRAM, "-p", ASK, "--auto", "--api-base", server.base_url],
            cwd=counter.root, env=counter.env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2 and "full" in done.stderr and "--state-dir" in done.stderr
    assert counter.files() == before


def test_a_state_directory_that_fills_up_takes_no_verdict_away_and_an_undo_says_so(counter):
    counter.state.mkdir()
    script = """mount -t tmpfs -o size=2m none "$SPEAR_STATE_DIR"; "$@"; echo "turn $?" >&2
    "$0" undo --yes; echo "undo $?" >&2"""
    fill = calls(sh("true"))

    def filled(_):
        (space,) = [p for p in (f"/proc/{n}/root{counter.state}" for n in inside()) if os.path.isdir(p)][:1]
        with open(f"{space}/filler", "wb", buffering=0) as stream, contextlib.suppress(OSError):
            while True:
                stream.write(b"x" * 4096)
        return text("Fixed.")

    def inside():
        return [
            n
            for n in os.listdir("/proc")
            if n.isdigit() and _argv(n)[1:2] == [PROGRAM] and str(counter.root) == _cwd(n)
        ]

    with ModelServer([calls(FIX), fill, filled]) as server:
        done = subprocess.run(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", script, PROGRAM, PROGRAM, "-p", ASK, "--auto", "--validation", "off",
             "--api-base", server.base_url],
            cwd=counter.root, env=counter.env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr
    assert "full" in done.stderr
    assert "turn 3\n" in done.stderr and "UNVERIFIED\n" in done.stderr and "could not be saved" in done.stderr, (
        done.stderr
    )
    assert ("undo 0\n" in done.stderr) == (counter.read("src/counter.c") == COUNTER_C), done.stderr


def _argv(number):
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def _cwd(number):
    try:
        return os.readlink(f"/proc/{number}/cwd")
    except OSError:
        return ""


def test_a_dropped_stream_runs_nothing_twice(counter):
    once = calls(sh("echo x >> counter.txt"))
    turn = counter.turn("Append to counter.txt with the shell", drop(once, after=2), once, "Appended.")
    assert counter.read("counter.txt") == "x\n" and turn.result["stop"]["reason"] == "answered"


def test_an_open_pipe_on_stdin_hangs_nothing(counter):
    with ModelServer([text("hi")]) as server:
        done = _piped(counter, server)
    assert done == "hi\n"


def _piped(counter, server):
    process = subprocess.Popen(
        [PROGRAM, "-p", "hello", "--api-base", server.base_url],
        cwd=counter.root, env=counter.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.wait(timeout=30) == 0  # its stdin was never closed
        return process.stdout.read()
    finally:
        process.kill()
        process.communicate()


def test_attached_input_reaches_the_model_as_data(counter):
    with ModelServer([text("seen")]) as server:
        done = counter.run("-p", "What is this?", "--stdin", "--api-base", server.base_url, stdin="LINE-FROM-PIPE\n")
    assert done.returncode == 0 and "LINE-FROM-PIPE" in server.requests[0]["messages"][-1]["content"]


def test_no_colour_and_no_control_sequences_in_a_pipe(counter):
    with ModelServer([text("\x1b]0;title\x07\x1b[31mred\x1b[0m")]) as server:
        done = counter.run("-p", "Explain Makefile", "--api-base", server.base_url)
    assert done.stdout == "red\n" and "\x1b" not in done.stderr


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("words", ["completion bash", "--help", "classify --jsonl rows"])
def test_a_full_device_behind_stdout_is_said_and_no_defect(counter, words, buffered):
    counter.write("rows", '{"request": "x"}\n')
    environment = {name: value for name, value in counter.env.items() if name != "PYTHONUNBUFFERED"}
    environment |= {} if buffered else {"PYTHONUNBUFFERED": "1"}
    command = f"{PROGRAM} {words} > /dev/full"
    done = subprocess.run(
        ["sh", "-c", command], cwd=counter.root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no space left on device" in done.stderr and "defect" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_registry_of_capabilities_that_cannot_be_read_is_named(counter):
    place = counter.home / "capabilities.json"
    place.write_text("{")
    with ModelServer([text("hi")]) as server:
        done = counter.run("-p", "hello", "--capabilities-file", str(place), "--api-base", server.base_url)
    assert done.returncode == 2 and f"{place} is not valid JSON" in done.stderr and not server.requests
