"""A finished turn as the `spear.turn/1` value."""

from __future__ import annotations

from spear.agent.outcome import Outcome
from spear.control.classification import Classification
from spear.control.ports import AgentContext, TurnHost
from spear.events.names import Stop
from spear.events.turn import (
    AuditReport,
    ChangedFile,
    Reason,
    RepairReport,
    StopReport,
    TurnResult,
    UsageReport,
    ValidationReport,
)
from spear.evidence.completion import VerdictReport
from spear.evidence.reasons import shown_path
from spear.evidence.turn import ValidationOutcome


def turn_result(
    context: AgentContext,
    host: TurnHost,
    scope: Classification,
    request: str,
    answer: str,
    report: VerdictReport,
    outcome: Outcome,
    *,
    validation: tuple[ValidationOutcome, ...],
    repair: RepairReport | None,
    duration_s: float,
) -> TurnResult:
    """Everything a front end or a script needs of a turn. `answer` is already marked (spec 3.4)."""
    return TurnResult.model_validate(
        {
            "schema": "spear.turn/1",
            "session": context.session,
            "turn": context.turn,
            "request": request,
            "class": scope.request_class,
            "path": scope.path,
            "mode": context.mode,
            "read_only": scope.read_only,
            "answer": answer,
            "verdict": report.verdict,
            "reasons": [Reason(code=r.code.value, text=r.text) for r in report.reasons],
            "stop": StopReport(reason=Stop(outcome.stop), detail=outcome.detail),
            "epoch": host.ledger().epoch,
            "changed_files": [
                ChangedFile.model_validate({"path": shown_path(p), "change": k}) for p, k in host.ledger().net_changes()
            ],
            "commands": host.commands(),
            "checks": list(report.checks),
            "validation": [_validation(v) for v in validation],
            "repair": repair,
            "refusals": host.refusals(),
            "usage": UsageReport(
                input_tokens=outcome.usage.input_tokens or 0,
                output_tokens=outcome.usage.output_tokens or 0,
                requests=outcome.requests,
            ),
            "rounds": outcome.rounds,
            "tool_calls": outcome.tool_calls,
            "duration_s": round(duration_s, 3),
            "audit": AuditReport(session_dir=context.session_dir),
        }
    )


def _validation(outcome: ValidationOutcome) -> ValidationReport:
    return ValidationReport(
        kind=outcome.kind.value,
        origin=outcome.origin.value,
        command=outcome.command,
        status=outcome.status.value,
        exit_code=outcome.exit_code,
        epoch=outcome.epoch,
        detail=outcome.detail,
    )
