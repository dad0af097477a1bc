"""The operator's hooks in whole turns of the installed program."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.processes import is_gone
from tests.turns.conftest import ASK, FIX, sh, write

DENY = """echo '{"decision": "deny", "reason": "not on a Friday"}'"""


def hook(tree, event, script, *, name="check", **fields) -> str:
    """A hook that keeps what it was told, and its entry of the configuration."""
    program = tree.home / f"bin/{name}"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\ncat >> {tree.home}/{name}.told\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    fields = {"event": event, "command": [str(program)], **fields}
    return "[[hooks]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())


def configure(tree, *entries: str) -> None:
    file = tree.home / ".config/spear/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(entries), encoding="utf-8")


def told(tree, name="check"):
    file = tree.home / f"{name}.told"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def ran(tree):
    return [event["data"] for event in tree.events() if event["event"] == "hook_ran"]


def test_a_denied_call_is_refused_told_to_the_model_and_recorded(counter):
    configure(counter, hook(counter, "before_tool", DENY, tools=["patch", "write_file"]))
    turn = counter.turn(ASK, FIX, sh("make test"), "I could not change it.")
    assert "value > limit" in counter.read("src/counter.c") and turn.verdict == "NO_CHANGE"
    (refused,) = turn.results(1)
    assert refused.startswith("refused: src/counter.c — the operator's hook") and "not on a Friday" in refused
    assert [(each["code"], each["count"]) for each in turn.result["refusals"]] == [("hook_denied", 1)]
    (data,) = ran(counter)
    assert data["decision"] == "deny" and data["tool"] == "patch" and data["event"] == "before_tool"
    assert [(each["tool"], each["arguments"]["path"]) for each in told(counter)] == [("patch", "src/counter.c")]
    assert counter.run("audit", "verify").returncode == 0


def test_a_broken_gate_refuses_and_the_operator_hears_of_it_once(counter):
    configure(counter, hook(counter, "before_tool", "echo broken >&2; exit 7"))
    turn = counter.turn(ASK, FIX, sh("make test"), "Nothing works.")
    assert turn.verdict == "NO_CHANGE" and {each["code"] for each in turn.result["refusals"]} == {"hook_failed"}
    assert turn.done.stderr.count("failed: it ended with status 7: broken") == 1


def test_hooks_that_agree_and_notices_that_fail_change_nothing_of_a_turn(counter):
    configure(
        counter,
        hook(counter, "before_tool", """echo '{"decision": "allow"}'"""),
        hook(counter, "after_tool", "echo hello", name="after"),
        hook(counter, "turn_ended", "exit 3", name="ended"),
    )
    turn = counter.turn(ASK, FIX, sh("make test"), "Fixed, and the tests pass.")
    assert turn.verdict == "VERIFIED" and turn.done.returncode == 0
    assert turn.done.stderr.count("goes on without it") == 2
    assert [each["outcome"] for each in told(counter, "after")] == ["ok", "ok"]
    (ended,) = told(counter, "ended")
    assert (ended["verdict"], ended["exit_code"], ended["turn"], ended["stop"]) == ("VERIFIED", 0, 1, "answered")
    assert ended["changed_files"] == [{"path": "src/counter.c", "change": "modified"}]


def test_a_session_begins_and_ends_with_its_hooks_told(tree):
    configure(
        tree,
        hook(tree, "session_started", "", name="started"),
        hook(tree, "session_ended", "exit 1", name="ended"),
        hook(tree, "before_tool", ""),
    )
    turn = tree.turn("say hello", "Hello.")
    (started,), (ended,) = told(tree, "started"), told(tree, "ended")
    assert started["session"] == ended["session"] == turn.result["session"]
    assert (started["resumed"], ended["turns"], started["workspace"]) == (False, 1, str(tree.root))
    assert "bin/ended of session_ended failed" in turn.done.stderr and told(tree) == []
    names = [event["event"] for event in tree.events()]
    assert names[0] == "session_started" and names[1] == "hook_ran" and names[-2:] == ["hook_ran", "session_closed"]


def test_a_question_is_announced(tree):
    configure(tree, hook(tree, "approval_needed", ""))
    turn = tree.turn("write a.txt", write("a.txt", "x"), "Done.", mode="--ask")
    assert [(each["subject"], each["target"], each["mode"]) for each in told(tree)] == [("edit", "a.txt", "ask")]
    assert turn.result["refusals"][0]["code"] == "nobody_to_ask"


@pytest.mark.parametrize("trusted", [False, True])
def test_a_hook_of_the_tree_never_runs_and_it_is_said(tree, trusted):
    evil = tree.write("evil.sh", "#!/bin/sh\ntouch ran\n", 0o755)
    events = ("before_tool", "session_started", "turn_ended", "session_ended")
    text = "".join(f'[[hooks]]\nevent = "{event}"\ncommand = ["{evil}"]\n' for event in events)
    tree.write(".spear/config.toml", text)
    if trusted:
        assert tree.run("trust", "--yes").returncode == 0
    turn = tree.turn("look around", sh("ls"), "Nothing here.")
    assert not (tree.root / "ran").exists() and ran(tree) == []
    assert "hooks in" in turn.done.stderr and "outside the sandbox" in turn.done.stderr


def test_a_file_of_the_tree_named_as_the_configuration_ends_with_status_2(tree):
    tree.write("mine.toml", hook(tree, "turn_ended", ""))
    done = tree.run("-p", "x", "--config", "mine.toml")
    assert done.returncode == 2 and "a model can write it" in done.stderr and told(tree) == []


def test_hooks_are_explained(tree):
    configure(tree, hook(tree, "before_tool", "", tools=["terminal"]))
    done = tree.run("config", "explain", "hooks")
    assert done.returncode == 0 and "before_tool" in done.stdout and "config.toml line 1" in done.stdout
    tree.write(".spear/config.toml", hook(tree, "turn_ended", ""))
    assert "is left out" in tree.run("config", "explain", "hooks").stdout


def test_doctor_misses_a_program_that_was_there_when_it_last_looked(tree):
    configure(tree, hook(tree, "turn_ended", ""))
    for _ in range(2):
        assert "hooks (" in tree.run("doctor").stdout
    (tree.home / "bin/check").unlink()
    done = tree.run("doctor")
    assert done.returncode == 2 and "there is no such program" in done.stderr


def test_without_hooks_no_event_of_them_is_written(counter):
    turn = counter.turn(ASK, FIX, sh("make test"), "Fixed, and the tests pass.")
    assert turn.verdict == "VERIFIED" and ran(counter) == []


def test_a_turn_that_was_stopped_still_tells_its_hooks_and_nothing_of_them_is_left(tree):
    configure(
        tree,
        hook(tree, "before_tool", f"echo $PPID > {tree.home}/parent; sleep 1000 & echo $! > {tree.home}/pid; wait",
             timeout_s=60),
        hook(tree, "turn_ended", "", name="ended"),
        hook(tree, "session_ended", "", name="closed"),
    )  # fmt: skip
    waiting = threading.Thread(target=_interrupt, args=(tree.home / "parent", tree.home / "pid"))
    waiting.start()
    turn = tree.turn("look around", sh("ls"), "Never said.")
    waiting.join()
    assert turn.done.returncode == 130 and turn.result["stop"]["reason"] == "interrupted"
    assert [(each["stop"], each["exit_code"]) for each in told(tree, "ended")] == [("interrupted", 130)]
    assert len(told(tree, "closed")) == 1
    assert [each["decision"] for each in ran(tree)] == ["failed", "go_on", "go_on"]
    assert is_gone(int((tree.home / "pid").read_text(encoding="utf-8")))


def _interrupt(parent: Path, child: Path) -> None:
    """Ctrl+C to the program once its hook runs: it is the hook's parent."""
    until = time.monotonic() + 30
    while time.monotonic() < until and not (child.exists() and child.read_text(encoding="utf-8").strip()):
        threading.Event().wait(0.02)
    os.kill(int(parent.read_text(encoding="utf-8")), signal.SIGINT)


def test_hooks_declared_in_another_root_end_with_status_2(tree, tmp_path):
    other = tmp_path / "dotfiles"
    other.mkdir()
    (tree.home / ".config/spear").mkdir(parents=True)
    (tree.home / ".config/spear/config.toml").symlink_to(other / "config.toml")
    (other / "config.toml").write_text(hook(tree, "turn_ended", ""), encoding="utf-8")
    (tree.home / ".config/spear/projects.json").write_text(
        json.dumps({"dotfiles": {"path": str(other)}}), encoding="utf-8"
    )
    done = tree.run("-p", "x", "--api-base", "http://127.0.0.1:9/v1")
    assert done.returncode == 2 and "lies in the workspace" in done.stderr, done.stderr
    alone = tree.run("-p", "x", "--api-base", "http://127.0.0.1:9/v1", "--single-root")
    assert alone.returncode == 75, alone.stderr
