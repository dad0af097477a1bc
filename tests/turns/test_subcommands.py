"""The subcommands that need no model: audit, policy, classify, sessions, trust, doctor, completion, the demonstration."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.turns.conftest import ASK, FIX, PROGRAM, Tree, sh


def test_the_chain_holds_and_every_kind_of_tampering_is_found(counter):
    counter.turn(ASK, FIX, sh("make test"), "The tests pass.")
    assert counter.run("audit", "verify").returncode == 0
    log = next(counter.state.glob("audit/sessions/*/events.jsonl"))
    lines = log.read_bytes().split(b"\n")
    for changed in (
        lines[:2] + lines[3:],
        [lines[1], lines[0], *lines[2:]],
        [line.replace(b"make test", b"make best") for line in lines],
    ):
        log.write_bytes(b"\n".join(changed))
        assert counter.run("audit", "verify").returncode == 3
    log.write_bytes(b"\n".join(lines))
    assert counter.run("audit", "verify").returncode == 0


def test_a_deleted_log_does_not_pass_for_an_intact_one(counter):
    counter.turn(ASK, FIX, "Fixed.", flags=("--validation", "off"))
    next(counter.state.glob("audit/sessions/*/events.jsonl")).unlink()
    assert counter.run("audit", "verify").returncode == 3


def test_the_record_can_be_shown_and_exported(counter):
    counter.turn(ASK, FIX, sh("make test"), "The tests pass.")
    shown = counter.run("audit", "show")
    assert "verdict_computed" in shown.stdout and "make test" in shown.stdout
    tail = counter.run("audit", "tail", "-n", "2", "--json")
    assert [json.loads(line)["event"] for line in tail.stdout.splitlines()][-1] == "session_closed"
    statement = json.loads(counter.run("audit", "export", "--format", "intoto").stdout)
    assert (
        statement["_type"] == "https://in-toto.io/Statement/v1" and statement["subject"][0]["name"] == "src/counter.c"
    )
    assert "counter_step" in counter.run("audit", "export", "--format", "md").stdout


def test_secrets_and_contents_stay_out_of_the_metadata(counter):
    secret = "sk-live-abcdef0123456789abcdef"
    command = f"API_TOKEN={secret} true; curl -H 'Authorization: Bearer {secret}' https://u:pw12345@localhost:1 || true"
    note = ("write_file", {"path": "note.txt", "content": "UNIQUE-CONTENT\n"})
    counter.turn("Try a token with the shell and write note.txt", sh(command), note, "Tried.")
    logs = [p for p in (counter.state / "audit").rglob("*.jsonl") if "tool-results" not in p.parts]
    blob = "".join(path.read_text() for path in logs)
    assert secret not in blob and "pw12345" not in blob
    assert "UNIQUE-CONTENT" not in (counter.state / "audit/tool-actions.jsonl").read_text()
    assert all(path.stat().st_mode & 0o077 == 0 for path in counter.state.rglob("*"))


def test_policy_answers_for_scripts_and_for_people(counter):
    rows = [
        {"command": "ls | head"},
        {"command": "echo x > a.c", "scope": ["b.c"]},
        {"command": "echo x > a.c", "read_only": True},
        {"command": "echo $((1"},
    ]
    done = counter.run("policy", "check", "--jsonl", stdin="".join(json.dumps(row) + "\n" for row in rows))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["decision"] for answer in answers] == ["run", "refuse", "refuse", "refuse"]
    assert answers[1]["destinations"][0]["path"] == "a.c" and not (counter.root / "a.c").exists()
    explained = counter.run("policy", "explain", "--", "sudo rm -rf /")
    assert explained.returncode == 0 and explained.stdout.startswith("refuse")


def test_rows_that_are_no_rows_are_named_by_line(counter):
    done = counter.run("classify", "--jsonl", stdin='{"request": "hello"}\nnot json\n')
    assert done.returncode == 2 and "row 2" in done.stderr
    assert json.loads(done.stdout.splitlines()[0])["class"] == "GENERAL"


def test_explain_calls_no_model_and_shows_the_scope(counter):
    done = counter.run("-p", ASK, "--explain", "--api-base", "http://127.0.0.1:9/v1")
    record = json.loads(done.stdout)
    assert (
        done.returncode == 0 and record["class"] == "IMPLEMENTATION" and record["scope"]["targets"] == ["src/counter.c"]
    )


def test_a_symbol_confines_the_turn_to_the_file_that_defines_it(counter):
    counter.write("src/other.c", "int other;\n")
    turn = counter.turn("Fix counter_step()", ("write_file", {"path": "src/other.c", "content": "x"}), FIX, "Fixed.")
    refused, fixed = turn.results()
    assert "refused" in refused and "src/counter.c" in refused and "refused" not in fixed


def test_sessions_are_listed_continued_and_freed(counter):
    counter.turn("Explain Makefile", "It builds zebra-1.")
    turn = counter.turn("And now?", "Nothing more.", flags=("-c",))
    assert "zebra-1" in json.dumps(turn.requests[0]["messages"])
    listed = counter.run("sessions", "list", "--json")
    assert len(listed.stdout.splitlines()) == 1 and "Explain Makefile" in listed.stdout
    assert "nothing to free" in counter.run("sessions", "prune").stdout
    counter.turn(ASK, FIX, "Fixed.")
    shown = counter.run("sessions", "prune").stdout
    assert " file" in shown and "in all; nothing was removed; --yes removes it" in shown
    assert all(json.loads(line)["files"] for line in counter.run("sessions", "prune", "--json").stdout.splitlines())
    assert "freed" in counter.run("sessions", "prune", "--yes").stdout
    assert "nothing to free" in counter.run("sessions", "prune").stdout


def test_a_launch_directory_that_is_gone_is_said_by_every_command(counter):
    for words in ("doctor", "sessions", "undo", "policy explain -- ls", '-p "hello"'):
        script = f'mkdir gone && cd gone && rmdir ../gone && exec "{PROGRAM}" {words}'
        done = subprocess.run(
            ["sh", "-c", script], cwd=counter.root, env=counter.env, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2 and "the launch directory is gone" in done.stderr, words


def test_tree_declared_commands_run_only_once_trusted_and_only_as_trusted(counter):
    counter.write(".spear/project.toml", 'test_commands = ["touch SHOWN-BY-TRUST && make test"]\n')
    turn = counter.turn(ASK, FIX, "Fixed.")
    assert not (counter.root / "SHOWN-BY-TRUST").exists() and "spear-chat trust" in turn.done.stderr
    assert "touch SHOWN-BY-TRUST" in counter.run("trust", "--yes").stdout
    again = ("patch", {"path": "src/counter.c", "old_string": "value + 1", "new_string": "1 + value"})
    counter.turn("Swap the operands in src/counter.c", again, "Swapped.")
    assert (counter.root / "SHOWN-BY-TRUST").exists()
    (counter.root / "SHOWN-BY-TRUST").unlink()
    counter.write(".spear/project.toml", 'test_commands = ["touch SHOWN-BY-TRUST; true"]\n')
    back = ("patch", {"path": "src/counter.c", "old_string": "1 + value", "new_string": "value + 1"})
    counter.turn("Swap the operands in src/counter.c", back, "Swapped.")
    assert not (counter.root / "SHOWN-BY-TRUST").exists()


def test_doctor_needs_no_terminal_and_names_each_part(counter):
    done = counter.run("doctor", "--json")
    names = {finding["name"] for finding in json.loads(done.stdout)["findings"]}
    assert {
        "bwrap",
        "ripgrep",
        "git",
        "endpoint",
        "network helper",
        "limits",
        "state",
    } <= names and done.returncode == 0


def test_doctor_names_where_each_value_comes_from(counter):
    assert "configuration: no file; " in (bare := counter.run("doctor").stdout) and "the rest is default" in bare
    place = counter.home / "config.toml"
    place.write_text('operator = "ada"\nctx = 4096\n')
    shown = counter.run("doctor", "--config", str(place), env={"SPEAR_CTX": "8192"}).stdout
    row = next(line for line in shown.splitlines() if "configuration" in line)
    for named in (str(place), "ctx (SPEAR_CTX)", f"operator ({place} line 1)", "state_dir (SPEAR_STATE_DIR)"):
        assert named in row


def test_the_demonstration_is_labelled_as_a_recording_and_ends_verified(counter):
    done = counter.run("--demo")
    assert done.returncode == 0 and "VERIFIED" in done.stdout and "recording" in done.stdout
    assert not list(counter.root.glob("ring"))


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("completion", "bash"), ("doctor",)])
def test_what_needs_no_model_imports_no_heavy_package(counter, words):
    code = (
        "import sys, runpy; sys.argv = ['spear-chat', *sys.argv[1:]]\n"
        "from spear.cli.main import main\nmain()\n"
        "heavy = {'openai', 'anthropic', 'mcp', 'prompt_toolkit', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=counter.root,
        env=counter.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_a_closed_stdout_is_no_crash(counter):
    done = subprocess.run(
        f"{PROGRAM} --help | head -1",
        shell=True,
        cwd=counter.root,
        env=counter.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout and "Traceback" not in done.stderr and "internal error" not in done.stderr


def test_an_ascii_locale_takes_any_request(counter):
    env = {**counter.env, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([PROGRAM, "classify", "--jsonl"], input='{"request": "Où est défini décoder ?"}\n'.encode(), cwd=counter.root,
                          env=env, capture_output=True, timeout=60)  # fmt: skip
    assert done.returncode == 0, os.fsdecode(done.stderr)


def test_a_refusal_of_the_policy_is_explained_in_words(counter):
    shown = counter.run("policy", "explain", "rm -rf /").stdout
    assert "refused: / " in shown and "{" not in shown
    json.loads(counter.run("policy", "explain", "--json", "rm -rf /").stdout)


def test_the_knowledge_commands_say_what_they_take(counter):
    done = counter.run("knowledge", "--help")
    assert done.returncode == 0 and "knowledge amend ID" in done.stdout


def test_the_command_the_demonstration_ends_with_can_be_typed_as_it_is(counter):
    by_path = counter.run("--demo", env={"PATH": "/usr/bin:/bin"}).stdout.splitlines()[-1].split()
    assert by_path == [str(Path(PROGRAM).absolute()), "--api-base", "http://127.0.0.1:8080/v1"]
    by_name = counter.run("--demo", env={"PATH": f"{Path(PROGRAM).parent}:/usr/bin:/bin"}).stdout.splitlines()[-1]
    assert by_name.split()[0] == "spear-chat"


def test_calls_of_the_demonstration_have_a_line_each(tmp_path):
    done = subprocess.run([PROGRAM, "--demo"], capture_output=True, text=True, check=True)
    assert all(line.count("[recorded]") <= 1 for line in done.stdout.splitlines())
    assert "Search ring_next in . ✓" in done.stdout


def test_what_is_followed_comes_at_once_into_a_pipe_too(counter: Tree):
    counter.turn("Look at this tree.", sh("true"), "I looked.")
    assert PROGRAM
    with subprocess.Popen(
        [PROGRAM, "audit", "tail", "-f", "-n", "1", "--json"], cwd=counter.root, env=counter.env, stdout=subprocess.PIPE
    ) as following:
        assert following.stdout is not None
        try:
            assert select.select([following.stdout], [], [], 60)[0], "nothing came"
            assert json.loads(following.stdout.readline())["event"] == "session_closed"
        finally:
            following.kill()
