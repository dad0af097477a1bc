"""Every command of the registry, entered in the real chat: each answers, and none ends in a defect (spec 8.2)."""

from __future__ import annotations

import re
import subprocess

import pytest

from spear.cli.commands.registry import COMMANDS, OPERATOR_TOOLS
from spear.cli.main import main

FIX = ("patch", {"path": "app.py", "old_string": "return 1", "new_string": "return 2"})
MADE = ("terminal", {"command": "python3 -m unittest -q"})
TEST = "import unittest, app\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(app.f(), 2)\n"

ENTRIES: tuple[tuple[str, str, str], ...] = (
    ("help", "/help undo", r"put back what the last turns changed"),
    ("status", "/status", r"last turn +turn 1, VERIFIED"),
    ("verdict", "/verdict", r"record:"),
    ("diff", "/diff", r"-    return 1\r?\n\+    return 2"),
    ("diff", "/diff session", r"\+    return 2"),
    ("permissions", "/permissions", r"nothing is approved for good"),
    ("permissions", "/permissions revoke 3", r"there is no approval 3"),
    ("policy", "/policy why make deploy", r"run_opaque \("),
    ("policy", "/policy make", r"/policy why make deploy"),
    ("mode", "/mode", r"mode auto;"),
    ("mode", "/mode safe", r"mode safe"),
    ("history", "/history", r"1  Fix f\(\) in app\.py"),
    ("history", "/history nothing-like-it", r"holds that text"),
    ("context", "/context", r"tokens of context"),
    ("rules", "/rules", r"no rules"),
    ("skills", "/skills", r"no skills"),
    ("tools", "/tools", r"read_file: "),
    ("remember", "/remember the board has two UARTs", r"recorded: k"),
    ("knowledge", "/knowledge list", r"the board has two UARTs"),
    ("knowledge", "/knowledge help", r"knowledge amend ID"),
    ("recall", "/recall", r"no rules are learned yet"),
    ("recall", "/recall never use tabs", r"recorded as a rule"),
    ("reindex", "/reindex", r"passages"),
    ("search", "/search return", r"app\.py"),
    ("search", "/search --history Fix", r"turn 1  Fix f\(\)"),
    ("forget", "/forget Fix", r"1 request taken out"),
    ("corpus", "/corpus list", r"no corpus is registered"),
    ("standard", "/standard list", r"\n"),
    ("editor", "/editor and nothing more", "nothing was asked"),
    ("finetune", "/finetune status", r"Readiness\r?\n(?s:.*)what +how many\r?\n"),
    ("good", "/good", r"\n"),
    ("bad", "/bad", r"\n"),
    ("export", "/export md", r"written to\s+\S*md"),
    ("export", "/export jsonl", r"written to\s+\S*jsonl"),
    ("export", "/export html", r"written to\s+\S*html"),
    ("jobs", "/jobs", r"no job was started in this chat"),
    ("jobs", "/jobs start echo made-by-a-job", r"job 1 runs without the network"),
    ("jobs", "/jobs show 7", r"there is no job 7"),
    ("doctor", "/doctor", r"standards"),
    ("sessions", "/sessions", r"\* 20\d{6}-.*running"),
    ("model", "/model other", r"other at http"),
    ("fork", "/fork", r"this is session 20"),
    ("knowledge", "/knowledge revoke nothing", r"nothing"),
    ("undo", "/undo list", r"1  turn 1 .*app\.py"),
    ("clear", "/clear", r"is stored: /resume"),
    ("resume", "/resume", r"Go on with which session"),
)


@pytest.fixture
def project(workspace):
    (workspace / "app.py").write_text("def f():\n    return 1\n")
    (workspace / "test_app.py").write_text(TEST)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@e.org", "commit", "-qm", "s"],
    ):
        subprocess.run(["git", *command], cwd=workspace, check=True)
    return workspace


@pytest.fixture
def chat_after_a_turn(project, state, tmp_path, scripted, terminal):
    """The real chat behind a turn that changed something and was verified."""
    script = [scripted.calls(FIX), scripted.calls(MADE), scripted.text("f() returns 2.")]
    with scripted.ModelServer(script) as server:
        environment = {
            "PATH": terminal.PATH, "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "SPEAR_STATE_DIR": str(state), "OPENAI_API_KEY": "test-key", "SPEAR_MODEL_NAME": "scripted", "EDITOR": "true",
        }  # fmt: skip
        r = terminal.Terminal(lambda: main(["--api-base", server.base_url, "--auto"]), project, environment)
        r.wait(r"session +20")
        r.line("Fix f() in app.py and run the tests.")
        r.wait(r"last turn verified", 60)
        r.settle()
        yield r
        r.kill()


def test_every_command_and_tool_answers_in_one_session(chat_after_a_turn):
    r = chat_after_a_turn
    assert {name for name, _, _ in ENTRIES} | {"redo", "quit"} == {command.name for command in COMMANDS}
    for _, entry, answer in ENTRIES:
        r.mark()
        r.line(entry)
        shown = r.wait(rf"(?s)> {re.escape(entry)}.*?\n.*{answer}", 40)
        assert "internal error" not in shown, entry
    r.line("1")
    r.wait(r"> Fix f\(\) in app\.py")  # a fork is resumed with the turns of its origin
    r.line("/undo")
    r.wait(r"Put back")
    r.line("y")
    r.wait(r"(?s)restored: .*app\.py")
    r.mark()
    r.line("/redo")
    r.wait(r"(?s)restored: .*app\.py")
    r.mark()
    r.line("/history")
    shown = r.wait(r"1  Fix f\(\)") + r.settle()
    assert "The operator" not in shown
    for name, arguments, does in OPERATOR_TOOLS:
        r.mark()
        r.line(f"!{name}")
        shown = r.wait(rf"(?s)> !{name}.*\n.*(needs a|total|{re.escape(f'!{name} {arguments}: {does}')})", 40)
        assert "internal error" not in shown
    r.line("/quit")
    assert r.end() == 0


def test_commands_of_engines_go_to_the_session_that_is_open(chat_after_a_turn, state):
    r = chat_after_a_turn
    r.line("/clear")
    r.wait("is stored: /resume")
    r.line("/remember the board has two UARTs")
    r.wait("recorded: k")
    r.line("/quit")
    assert r.end() == 0
    first, second = sorted(state.glob("audit/sessions/*/events.jsonl"))
    assert "knowledge_activated" not in first.read_text()
    assert "knowledge_activated" in second.read_text()
