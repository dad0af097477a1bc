"""The JSON of `policy explain` and `policy check`: what would be decided, without running anything (spec 2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spear.agent.host import Refusal
from spear.errors import UsageError
from spear.events.names import Mode
from spear.policy.command_policy import Assessment, CommandPolicy
from spear.policy.denials import DenyRule
from spear.policy.destination_policy import DestinationVerdict, PolicyView
from spear.policy.modes import grants
from spear.policy.places import Root, TreeFacts
from spear.policy.write_scope import WriteScope


class CheckRow(BaseModel):
    """One row in: a command, and the turn it is asked about. `scope` absent means the whole workspace."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    command: str
    scope: list[str] | None = None
    exclude: list[str] = Field(default_factory=list)
    read_only: bool = False
    mode: Mode = Mode.AUTO
    cwd: str = ""


def check_row(
    row: Mapping[str, Any],
    policy: CommandPolicy,
    *,
    roots: tuple[Root, ...] = (Root("/workspace"),),
    facts: TreeFacts | None = None,
    denials: tuple[DenyRule, ...] = (),
) -> dict[str, Any]:
    """The decision about one row, as JSON values. Raises UsageError for a row that is not one.

    `roots` are the roots, the primary first, `facts` what is known of its tree, `denials` the operator's prohibitions.
    """
    try:
        asked = CheckRow.model_validate(dict(row))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "row"
        raise UsageError(
            f"{where}: {first['msg']}", hint='a row is {"command": "…", "scope"?: [], "read_only"?: true}'
        ) from None
    wide = asked.scope is None
    view = PolicyView(
        roots=roots,
        grants=grants(asked.mode, read_only=asked.read_only),
        scope=WriteScope(tuple(asked.scope or ()), tuple(asked.exclude), workspace_wide=wide),
        cwd=asked.cwd,
        facts=facts or TreeFacts(),
        denials=denials,
    )
    return explain(policy.assess(asked.command, view), asked.command)


def explain(assessment: Assessment, command: str) -> dict[str, Any]:
    """An assessment as JSON values."""
    found: dict[str, Any] = {
        "command": command,
        "decision": assessment.decision.value,
        "class": assessment.command_class.value,
        "destinations": [_destination(verdict) for verdict in assessment.verdicts],
        "network": assessment.network,
        "reasons": list(assessment.reasons),
    }
    if assessment.refusal is not None:
        found["refusal"] = _refusal(assessment.refusal)
    return found


def _destination(verdict: DestinationVerdict) -> dict[str, Any]:
    destination = verdict.destination
    return {
        "path": verdict.shown or (None if destination.path is None else "."),
        "operator": destination.operator,
        "certain": destination.certain and not verdict.opaque,
        "kind": destination.kind.value,
        "command": destination.command,
        "start": destination.start,
        "end": destination.end,
        "allowed": verdict.refusal is None,
        "rule": "" if verdict.refusal is None else verdict.refusal.code,
    }


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {
        "code": str(refusal.code),
        "tool": refusal.tool,
        "target": refusal.target,
        "reason": refusal.reason,
        "remedy": refusal.remedy,
        "line": refusal.line(),
    }
