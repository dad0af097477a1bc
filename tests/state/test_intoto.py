"""The in-toto Statement says what the logs show, and no more."""

from __future__ import annotations

from spear.events.names import EventName
from spear.state.audit import AuditLog, read
from spear.state.intoto import last_judged_turn, statement
from spear.state.records import EvidenceLog, read_evidence
from spear.state.redaction import Redactor

A, B, C = "a" * 64, "b" * 64, "c" * 64


def change(path, before, after, delivered=True):
    return {"path": path, "kind": "modified", "before_sha256": before, "after_sha256": after, "delivered": delivered}


def logs(tmp_path):
    with AuditLog(tmp_path / "s1" / "events.jsonl", "s1", Redactor()) as audit:
        audit.append(EventName.SESSION_STARTED, 0, {})
        audit.append(EventName.CHECK_RECORDED, 1, {"command": "old"})
        audit.append(EventName.VERDICT_COMPUTED, 1, {"verdict": "UNVERIFIED", "reasons": []})
        audit.append(EventName.CHECK_RECORDED, 2, {"command": "make test", "status": "passed"})
        audit.append(EventName.VERDICT_COMPUTED, 2, {"verdict": "VERIFIED", "reasons": [{"code": "checked"}]})
    evidence = EvidenceLog(tmp_path / "s1" / "evidence.jsonl", Redactor())
    evidence.append({"turn": 1, "changes": [change("old.c", A, B)]})
    evidence.append(
        {"turn": 2, "changes": [change("src/ring.c", A, B), change("back.c", A, B), change("gone.c", A, None)]}
    )
    evidence.append(
        {
            "turn": 2,
            "outcome": "ok",
            "epoch_after": 1,
            "command": {"script": "make test", "exit_code": 0},
            "changes": [],
        }
    )
    evidence.append(
        {
            "turn": 2,
            "changes": [change("src/ring.c", B, C), change("back.c", B, A), change("build/x.o", None, B, False)],
        }
    )
    evidence.close()
    return list(read(tmp_path / "s1" / "events.jsonl")), list(read_evidence(tmp_path / "s1" / "evidence.jsonl"))


def test_subjects_are_the_final_files_and_the_predicate_holds_verdict_checks_and_commands(tmp_path):
    events, evidence = logs(tmp_path)
    assert last_judged_turn(events) == 2
    made = statement(events, evidence, 2)
    assert made["_type"] == "https://in-toto.io/Statement/v1"
    assert made["subject"] == [{"name": "src/ring.c", "digest": {"sha256": C}}]
    predicate = made["predicate"]
    assert predicate["verdict"] == "VERIFIED"
    assert predicate["checks"] == [{"command": "make test", "status": "passed"}]
    assert [c["script"] for c in predicate["commands"]] == ["make test"]
    assert predicate["removed"] == ["gone.c"]
    assert predicate["audit"] == {"session": "s1", "seq": 5, "hash": events[4]["hash"]}


def test_a_turn_without_a_verdict_has_no_statement(tmp_path):
    events, evidence = logs(tmp_path)
    assert statement(events, evidence, 3) is None
    assert last_judged_turn([]) is None


def test_deleted_evidence_leaves_a_statement_without_subjects(tmp_path):
    events, _ = logs(tmp_path)
    assert statement(events, [], 2)["subject"] == []
