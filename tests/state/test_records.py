"""Evidence and tool actions: complete as metadata, free of contents and secrets."""

from __future__ import annotations

import hashlib
import json

from spear.state.records import EvidenceLog, ToolAction, ToolActionLog, command_head, read_evidence
from spear.state.redaction import Redactor


def test_evidence_comes_back_in_order_and_redacted(tmp_path):
    log = EvidenceLog(tmp_path / "evidence.jsonl", Redactor(["correct-horse"]))
    log.append({"seq": 1, "tool": "patch", "changes": [{"path": "a.c"}]})
    log.append({"seq": 2, "tool": "terminal", "command": {"script": "echo correct-horse"}})
    log.close()
    first, second = read_evidence(tmp_path / "evidence.jsonl")
    assert first == {"seq": 1, "tool": "patch", "changes": [{"path": "a.c"}]}
    assert second["command"]["script"] == "echo [redacted]"


def test_deleted_evidence_is_no_evidence_and_no_crash(tmp_path):
    assert list(read_evidence(tmp_path / "none" / "evidence.jsonl")) == []


def test_tool_actions_hold_metadata_only(tmp_path):
    command = "DEBUG=verbose-setting API_TOKEN=s3cr3t cat > note.txt <<'X'\nUNIQUE-CONTENT\nX\n"
    log = ToolActionLog(tmp_path / "tool-actions.jsonl", Redactor())
    log.append(ToolAction("s1", 1, "c1", "terminal", command, "ok", mode="auto", operator="ann"))
    log.close()
    line = (tmp_path / "tool-actions.jsonl").read_text()
    record = json.loads(line)
    assert record["tool"] == "terminal"
    assert record["outcome"] == "ok"
    assert record["target"].startswith("DEBUG=[redacted] API_TOKEN=[redacted] cat > note.txt <<'X'")
    assert record["target_sha256"] == hashlib.sha256(command.encode()).hexdigest()
    for hidden in ("UNIQUE-CONTENT", "verbose-setting", "s3cr3t"):
        assert hidden not in line


def test_a_long_command_is_bounded():
    assert len(command_head("echo " + "word " * 10_000)) < 320
    assert command_head("make test") == "make test"
