"""The chat of `spear-chat` itself: the real application, sandbox and checkpoints, and a scripted model server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from spear.cli.main import main

FIX = ("patch", {"path": "app.py", "old_string": "return 1", "new_string": "return 2"})
CHECK = ("terminal", {"command": "python3 -m unittest -q"})


def test_a_changing_turn_is_verified_undone_and_its_evidence_shown(real, project, scripted):
    r = real([scripted.calls(FIX), scripted.calls(CHECK), scripted.text("f() returns 2. The tests pass.")], "--auto")
    r.line("Fix f() in app.py and run the tests.")
    r.wait(r"\bVERIFIED", 40)
    shown = r.settle()
    assert "UNVERIFIED" not in shown
    assert re.search(r"Update app\.py \+1 −1", shown)
    assert re.search(r"passed +python3 -m unittest -q", shown)
    r.line("/diff")
    r.wait(r"-    return 1\r?\n\+    return 2")
    r.line("/verdict")
    r.wait("record:")
    r.line("/undo")
    r.wait("put back +app.py")
    r.line("y")
    r.wait(r"(?s)files? restored: .*app\.py")
    assert "return 1" in (project / "app.py").read_text()
    r.line("/quit")
    assert r.end() == 0


def test_an_edit_is_confirmed_with_its_diff_and_no_leaves_the_file(real, project, scripted):
    r = real([scripted.calls(FIX), scripted.text("I left it.")], "--ask")
    r.line("Fix f() in app.py.")
    r.wait(r"\+    return 2")
    r.settle(0.5)
    r.keys("w\r")
    r.wait("Why not")
    r.keys("wrong file\r")
    r.wait("I left it")
    assert "return 1" in (project / "app.py").read_text()
    assert "wrong file" in json.dumps(r.server.requests[-1]["messages"])


def test_ctrl_c_ends_the_command_and_the_model_is_told(real, scripted):
    r = real([scripted.calls(("terminal", {"command": "sleep 61"})), scripted.text("It was stopped.")], "--auto")
    r.line("Wait in the shell")
    r.wait("Terminal sleep 61")
    r.settle(0.5)
    r.keys("\x03")
    r.wait("It was stopped", 30)
    assert subprocess.run(["pgrep", "-f", "^sleep 61$"], capture_output=True, check=False).returncode == 1


def test_tools_by_hand_go_through_the_host_and_are_audited_as_operator(real, project, state):
    r = real([], "--safe")
    r.line("!read app.py")
    r.wait(r"2\|    return 1")
    r.line("!run python3 -c \"open('made', 'w')\"")
    r.wait("this turn is read-only", 30)
    assert not (project / "made").exists()
    r.line("/quit")
    assert r.end() == 0
    (log,) = state.glob("audit/sessions/*/events.jsonl")
    called = [json.loads(line) for line in log.read_text().splitlines() if '"tool_called"' in line]
    assert [event["data"]["by"] for event in called] == ["operator", "operator"]


def test_a_session_is_resumed_with_its_last_turns_and_its_conversation(real, scripted):
    server = scripted.ModelServer([scripted.text("The answer is zebra-1."), scripted.text("second")])
    r = real(None, "--safe", server=server)
    r.line("What does app.py do?")
    r.wait("zebra-1")
    r.settle()
    r.line("/quit")
    assert r.end() == 0
    again = real(None, "--safe", "-c", server=server)
    again.wait("zebra-1")
    again.line("And now?")
    again.wait("second")
    assert "zebra-1" in json.dumps(server.requests[-1]["messages"])
    chosen = real(None, "--resume", server=server)
    chosen.wait("Go on with which session")
    chosen.line("1")
    chosen.wait("is open in process")
    again.settle()
    again.line("/quit")
    assert again.end() == 0
    chosen.mark()
    chosen.line("/resume")
    chosen.wait("Go on with which session")
    chosen.line("1")
    chosen.wait("zebra-1")
    chosen.line("/new")
    chosen.wait("is stored: /resume")
    chosen.line("/sessions")
    chosen.wait("What does app.py do")


def test_without_a_model_the_ways_out_are_said_and_the_rest_works(project, state, tmp_path, terminal):
    environment = {
        "PATH": terminal.PATH, "HOME": str(tmp_path), "TERM": "xterm", "SPEAR_STATE_DIR": str(state),
        "SPEAR_API_BASE": "http://127.0.0.1:9/v1",
    }  # fmt: skip
    r = terminal.Terminal(lambda: main([]), project, environment)
    told = r.wait(r"(?s)no model answers at http://127\.0\.0\.1:9/v1\. Point spear-chat at an.*need no\s+model")
    said = told[told.rindex("no model answers") :].replace("\r", "")  # the prompt drawn before it has been taken away
    assert max(map(len, said.split("\n"))) <= 120 - len("! ")
    r.line("!read app.py")
    r.wait(r"2\|    return 1")
    r.line("/quit")
    assert r.end() == 0


@pytest.mark.parametrize("form", [(), ("--plain",)])
@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "C.UTF-8"}]
)
def test_any_request_can_be_typed_in_any_locale_and_bytes_that_are_no_text_end_nothing(
    project, state, tmp_path, terminal, scripted, form, locale
):
    with scripted.ModelServer([scripted.text("réponse 日本"), scripted.text("second")]) as server:
        environment = {
            "PATH": terminal.PATH, "HOME": str(tmp_path), "TERM": "xterm", "SPEAR_STATE_DIR": str(state),
            "SPEAR_API_BASE": server.base_url, **locale,
        }  # fmt: skip
        program = [sys.executable, "-m", "spear.cli.main", *form]
        r = terminal.Terminal(lambda: os.execvp(program[0], program), project, environment)
        r.wait(r"session +20")
        r.line("é日本")
        r.wait("réponse 日本")
        os.write(r.fd, b"a\xff\xfeb\r")
        r.wait("second")
        r.line("/quit")
        assert r.end() == 0
    assert [request["messages"][-1]["content"] for request in server.requests] == ["é日本", "a\ufffd\ufffdb"]
    assert "internal error" not in r.plain()


def test_a_state_directory_without_room_for_a_sandbox_is_said_and_no_traceback(project, state, tmp_path, terminal):
    state.mkdir()
    script = 'mount -t tmpfs -o size=300k none "$SPEAR_STATE_DIR" && exec "$@"'
    program = [
        "unshare",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        sys.executable,
        "-m",
        "spear.cli.main",
    ]
    environment = {
        "PATH": terminal.PATH, "HOME": str(tmp_path), "TERM": "xterm", "SPEAR_STATE_DIR": str(state),
        "SPEAR_API_BASE": "http://127.0.0.1:9/v1",
    }  # fmt: skip
    r = terminal.Terminal(lambda: os.execvp(program[0], program), project, environment)
    r.wait("commands cannot run here")
    r.line("/quit")
    r.end()
    assert "Traceback" not in r.plain()


def test_a_configuration_error_ends_the_chat_with_its_sentence(project, tmp_path, terminal):
    (tmp_path / "config.toml").write_text("modle = 'x'\n")
    environment = {
        "PATH": terminal.PATH,
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "SPEAR_CONFIG": str(tmp_path / "config.toml"),
    }
    r = terminal.Terminal(lambda: main([]), project, environment)
    assert r.end() == 2
    assert "modle" in r.plain()


def test_a_chat_without_a_terminal_is_a_usage_error():
    done = subprocess.run(
        [sys.executable, "-m", "spear.cli.main"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "-p" in done.stderr


def test_the_prompt_needs_neither_providers_nor_rich_nor_the_application():
    script = "import spear.cli.repl.main, spear.cli.repl.live_chat, sys; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {
        "openai",
        "anthropic",
        "mcp",
        "rich",
        "pydantic",
        "spear.cli.application",
        "spear.control.controller",
    }


def test_the_diff_shows_source_and_names_what_tools_left(real, scripted, project):
    build = "python3 -m unittest -q; printf 'a\\0b' > app.bin"
    script = [scripted.calls(FIX), scripted.calls(("terminal", {"command": build})), scripted.text("Done.")]
    r = real(script, "--auto", "--validation", "off")
    (project / "app.bin").write_bytes(b"\0")
    r.line("Fix f() in app.py, write app.bin, then run the tests.")
    r.wait(r"last turn \w+")
    r.mark()
    r.line("/diff")
    shown = r.wait(r"besides, ignored by git or built: \d files? in __pycache__") + r.settle()
    assert re.search(r"-    return 1\r?\n\+    return 2", shown)
    assert "(binary: 1 bytes before, 3 now)" in shown
    assert "\\x0" not in shown


def test_two_sessions_in_one_tree_are_both_told_once(real, scripted):
    first = real([scripted.text("one"), scripted.text("two")], "--safe")
    second = real([], "--safe")
    second.wait("another session works on this tree: 20")
    first.line("What does app.py do?")
    first.wait(r"(?s)another session works on this tree: 20.*\bone\b")
    first.settle()
    first.mark()
    first.line("And now?")
    assert "another session" not in first.wait(r"\btwo\b")


def test_a_torn_record_is_set_aside_and_said(real, scripted, state):
    r = real([scripted.text("one")], "--safe")
    r.line("What does app.py do?")
    r.wait(r"\bone\b")
    r.settle()
    r.line("/quit")
    assert r.end() == 0
    (log,) = state.glob("audit/sessions/*/events.jsonl")
    with log.open("a") as stream:
        stream.write('{"torn')
    again = real([], "--safe", "-c")
    again.wait("an incomplete last line .* was set aside")
    assert list(log.parent.glob("*torn*"))


def test_a_chat_answers_from_a_recording_and_says_so(real, project, scripted, tmp_path):
    tape = tmp_path / "tape.jsonl"
    turn = {"schema": "spear.recording/1", "model": "m", "messages": 2, "newest_sha256": "", "text": "It was recorded."}
    turn |= {"tool_calls": [], "stop_reason": "stop", "reasoning": ""}
    turn["usage"] = {"input_tokens": 1, "output_tokens": 1, "cached_tokens": None}
    tape.write_text(json.dumps(turn) + "\n")
    r = real([], "--replay", str(tape))
    r.wait(r"tape\.jsonl \(played back\)")
    r.line("What is in app.py?")
    r.wait("It was recorded.", 40)
    assert r.server.requests == []
    r.line("/quit")
    assert r.end() == 0


def test_the_evidence_of_the_last_turn_is_shown_after_a_resume_and_in_a_fork(real, project, scripted):
    server = scripted.ModelServer([scripted.calls(FIX), scripted.calls(CHECK), scripted.text("f() returns 2.")])
    r = real(None, "--auto", server=server)
    r.line("/verdict")
    r.wait("no turn has ended in this session yet")
    r.line("Fix f() in app.py and run the tests.")
    r.wait(r"\bVERIFIED", 40)
    r.settle(0.5)
    r.line("/quit")
    assert r.end() == 0
    shown = (
        r"(?s)VERIFIED · turn 1 · final epoch 1.*modified +app\.py.*passed +epoch 1 +python3 -m unittest -q.*record:"
    )
    again = real(None, "--auto", "-c", server=server)
    again.mark()
    again.line("/verdict")
    again.wait(shown)
    again.line("/status")
    again.wait(r"last turn +turn 1, VERIFIED")
    again.line("/fork")
    again.settle(0.5)
    again.mark()
    again.line("/verdict")
    again.wait(shown)
    again.line("/clear")
    again.wait("is stored: /resume")
    again.mark()
    again.line("/verdict")
    again.wait("no turn has ended in this session yet")


def test_going_on_with_a_session_that_cannot_be_read_says_so_and_names_the_one_before(real, scripted, state):
    for answer in ("one", "two"):
        r = real([scripted.text(answer)], "--safe")
        r.line("What does app.py do?")
        r.wait(rf"\b{answer}\b")
        r.settle(0.5)
        r.line("/quit")
        assert r.end() == 0
    older, newer = sorted(state.glob("audit/sessions/*/session.json"))
    newer.write_text("{torn")
    refused = real([], "--safe", "-c")  # its sentence names the session too
    assert refused.end() == 2
    said = " ".join(refused.plain().split())
    assert f"the snapshot of session {newer.parent.name} is damaged" in said
    assert f"spear-chat --resume {older.parent.name}" in said
    again = real([scripted.text("three")], "--safe", "--resume", older.parent.name)
    again.wait(r"\bone\b")


def test_the_model_command_lists_the_backends_and_a_request_too_long_names_the_ways_out(real, scripted):
    config = (
        "[backends.far]\nurl = 'http://127.0.0.1:9/v1'\nmodel = 'big'\n[backends.file]\ngguf = '/models/small.gguf'\n"
    )
    too_long = {"error": {"message": "This model's maximum context length is 4096 tokens", "code": 400}}
    r = real([scripted.status(400, body=too_long)], "--safe", config=config)
    r.line("/model")
    r.wait(r"(?s)scripted at http.*one of\s+far +big at http://127\.0\.0\.1:9/v1\s+file +small\.gguf, served here")
    r.line("What does app.py do?")
    shown = r.wait(r"set --ctx to the window")
    assert "/clear" in " ".join(r.settle().split())
    assert "maximum context length" in shown
