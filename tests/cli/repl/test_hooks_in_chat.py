"""The operator's hooks in the chat of `spear-chat` itself: notices, a gate for tools by hand, both ends (docs/hooks.md)."""

from __future__ import annotations

import json


def test_hooks_are_heard_in_the_chat_and_guard_tools_by_hand(real, tmp_path, project, state):
    program = tmp_path / "check"
    program.write_text(
        f"#!/bin/sh\ncat >> {tmp_path}/told\ngrep -q before_tool {tmp_path}/told || exit 3\n"
        """echo '{"decision": "deny", "reason": "hands off"}'\n""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    config = "".join(
        f"[[hooks]]\nevent = '{event}'\ncommand = ['./check']\n"
        for event in ("session_started", "before_tool", "session_ended")
    )
    r = real([], "--safe", config=config)
    r.wait(r"of\s+session_started\s+failed:\s+it\s+ended\s+with\s+status\s+3")
    r.line("!read app.py")
    r.wait(r"says\s+no:\s+hands\s+off")
    r.line("/quit")
    r.wait(r"session_ended\s+asks\s+for\s+no\s+decision")
    assert r.end() == 0
    told = [json.loads(line) for line in (tmp_path / "told").read_text(encoding="utf-8").splitlines()]
    assert [each["event"] for each in told] == ["session_started", "before_tool", "session_ended"]
    assert told[1]["arguments"]["path"] == "app.py" and told[1]["workspace"] == str(project)
    (log,) = state.glob("audit/sessions/*/events.jsonl")
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    ran = [row["data"] for row in rows if row["event"] == "hook_ran"]
    assert [row.get("by", "") for row in ran] == ["", "operator", ""]
