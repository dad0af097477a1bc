"""A turn's verdict as an in-toto Statement (spec 3.8): final files, their digests, and the checks behind it.

Built from the logs alone, so that it can be made long after the turn and says nothing the record does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from spear.events.names import EventName

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:spear-chat:turn-verdict:1"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEPT = {
    EventName.CHECK_RECORDED: "checks",
    EventName.VALIDATION_FINISHED: "validation",
    EventName.GUARDRAIL_STOPPED: "stops",
    EventName.REPEATED_REFUSAL_STOPPED: "stops",
}


def last_judged_turn(events: Iterable[Mapping[str, Any]]) -> int | None:
    """The last turn with a verdict, None when there is none."""
    judged = [event["turn"] for event in events if event.get("event") == EventName.VERDICT_COMPUTED]
    return judged[-1] if judged else None


def statement(
    events: Iterable[Mapping[str, Any]], evidence: Iterable[Mapping[str, Any]], turn: int
) -> dict[str, Any] | None:
    """The Statement of one turn from its session's audit and evidence records; None when it has no verdict.

    Subjects are the delivered files the turn changed and left; what it removed is in the predicate, since nothing is
    left to take a digest of. The predicate names the log record (seq and hash) the verdict stands in.
    """
    predicate: dict[str, Any] = {"turn": turn, "checks": [], "validation": [], "stops": [], "commands": []}
    judged: Mapping[str, Any] | None = None
    for event in events:
        if event.get("turn") != turn:
            continue
        predicate.setdefault("startedOn", event.get("ts"))
        name = event.get("event", "")
        if name == EventName.VERDICT_COMPUTED:
            judged = event
        elif name in _KEPT:
            predicate[_KEPT[EventName(name)]].append(event.get("data"))
    if judged is None:
        return None
    predicate |= dict(judged["data"])
    predicate["finishedOn"] = judged.get("ts")
    predicate["audit"] = {key: judged.get(key) for key in ("session", "seq", "hash")}
    records = [record for record in evidence if record.get("turn") == turn]
    predicate["commands"] = [_command(record) for record in records if record.get("command")]
    left, removed = _final_files(records)
    predicate["removed"] = removed
    subjects = [{"name": path, "digest": {"sha256": digest}} for path, digest in sorted(left.items())]
    return {"_type": STATEMENT_TYPE, "subject": subjects, "predicateType": PREDICATE_TYPE, "predicate": predicate}


def _command(record: Mapping[str, Any]) -> dict[str, Any]:
    command = record["command"]
    shown = {key: command.get(key) for key in ("script", "cwd_before", "exit_code", "pipe_status")}
    return {**shown, "outcome": record.get("outcome"), "epoch": record.get("epoch_after"), "check": record.get("check")}


def _final_files(records: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Digest of each delivered file that differs from the start of the turn, and the paths that are gone."""
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    for record in records:
        for change in record.get("changes") or ():
            if change.get("delivered", True):
                before.setdefault(change["path"], change.get("before_sha256"))
                after[change["path"]] = change.get("after_sha256")
    changed = {path: digest for path, digest in after.items() if digest != before[path]}
    left = {path: digest for path, digest in changed.items() if digest and _SHA256.fullmatch(digest)}
    return left, sorted(path for path, digest in changed.items() if not digest)
