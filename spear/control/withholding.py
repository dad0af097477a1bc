"""Turns that engage the bound standard, which nothing in this build can answer from the document: withheld, not
answered by the coding core as if no standard were bound (spec 1, "fail closed, and say so").

What is withheld stays out of the conversation too, so that no later turn serves it by the way.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from spear.control.classification import Classification
from spear.control.ports import AgentContext, BoundStandard
from spear.events.names import EventName, Path, Stop, Verdict
from spear.events.stream import Event
from spear.evidence.reasons import ReasonCode, reason

if TYPE_CHECKING:
    from spear.events.turn import TurnResult

_ASKS = {
    Path.NORMATIVE: "this asks what the bound standard{} says",
    Path.NORMATIVE_WORKFLOW: "this is a change while the standard{} is bound",
    Path.MIXED: "this is a change asked for in the terms of the bound standard{}",
}


def sentence(scope: Classification, standard: BoundStandard) -> str:
    """Why the turn is withheld, and the way out."""
    asks = _ASKS[scope.path].format(f" {standard.name}".rstrip())
    if standard.problem:
        return f"Withheld: {asks}, and that cannot be relied on: {standard.problem}"
    return (
        f"Withheld: {asks}, and this build has no normative engine to serve it from the document — read the clauses"
        " with /standard search and /standard show (spear-chat standard …), or work without the standard:"
        " /standard unbind"
    )


def withheld(
    context: AgentContext, scope: Classification, request: str, standard: BoundStandard, started: float
) -> TurnResult:
    """The result of a turn that was withheld: nothing ran, no model was asked. `started` is `time.monotonic()`."""
    from spear.events.turn import TurnResult

    said = sentence(scope, standard)
    unchanged = reason(ReasonCode.NOTHING_CHANGED)
    reasons = [{"code": unchanged.code.value, "text": unchanged.text}]
    context.emit(
        Event(
            EventName.VERDICT_COMPUTED,
            {"verdict": Verdict.NO_CHANGE.value, "reasons": reasons, "epoch": 0, "stop": Stop.ANSWERED.value,
             "files": {}, "digests": {}, "withheld": said},
            context.turn,
        )
    )  # fmt: skip
    return TurnResult.model_validate(
        {
            "schema": "spear.turn/1", "session": context.session, "turn": context.turn, "request": request,
            "class": scope.request_class, "path": scope.path, "mode": context.mode, "read_only": scope.read_only,
            "answer": said, "verdict": Verdict.NO_CHANGE, "reasons": reasons,
            "stop": {"reason": Stop.ANSWERED}, "epoch": 0, "changed_files": [], "commands": [], "checks": [],
            "validation": [], "repair": None, "refusals": [], "usage": {}, "rounds": 0, "tool_calls": 0,
            "normative": {
                "bound": {"id": standard.id, "revision": standard.revision}, "findings": [], "clauses_read": [],
                "citations": [], "withheld": True,
            },
            "duration_s": round(time.monotonic() - started, 3), "audit": {"session_dir": context.session_dir},
        }
    )  # fmt: skip
