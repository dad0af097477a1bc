"""How a turn ends: the project's own validation, the one repair, the verdict, the result (spec chapter 3).

Apart from the controller because it needs all of evidence, which is loaded while the model answers the first request.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from spear.agent.messages import Message, Role, Usage
from spear.agent.outcome import Outcome
from spear.control.classification import Classification
from spear.control.ports import AgentContext, TurnHost
from spear.control.report import turn_result
from spear.events.names import EventName, Stop
from spear.events.stream import Event
from spear.events.turn import RepairReport, TurnResult
from spear.evidence.claims import names_values
from spear.evidence.completion import VerdictReport, judge
from spear.evidence.marking import mark
from spear.evidence.turn import Repair, TurnEvidence, ValidationOutcome
from spear.evidence.validation import may_repair, repair_message

Core = Callable[[list[Message]], Outcome]
"""Runs the coding core once more over a conversation, in this turn's host and budget."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """What the coding core left, one pass or two."""

    outcome: Outcome
    validation: tuple[ValidationOutcome, ...] = ()
    repair: Repair = Repair.NONE
    repair_report: RepairReport | None = None


class Conclusion:
    """Takes a turn from the coding core's first outcome to its result. One instance a turn."""

    def __init__(self, context: AgentContext, host: TurnHost, scope: Classification, core: Core) -> None:
        self._context = context
        self._host = host
        self._scope = scope
        self._core = core

    def result(self, request: str, first: Outcome, started: float) -> tuple[TurnResult, Outcome]:
        """The turn's result, and what the core left after the repair. `started` is `time.monotonic()` of the start."""
        host, scope = self._host, self._scope
        done = self._passes(first)
        host.settle()
        report, answer = self._verdict(done)
        result = turn_result(
            self._context, host, scope, request, answer, report, done.outcome,
            validation=done.validation, repair=done.repair_report, duration_s=time.monotonic() - started,
        )  # fmt: skip
        return result, done.outcome

    def _passes(self, outcome: Outcome) -> _Pass:
        if not self._worth_validating(outcome):
            return _Pass(outcome)
        validation = self._validate()
        offer = may_repair(validation, stop=Stop(outcome.stop), read_only=self._scope.read_only, mixed=False)
        if not offer:
            return _Pass(outcome, validation)
        if reached := self._context.ceilings.before_request():
            detail = f"{reached}, so that the failed validation was not repaired"
            return _Pass(replace(outcome, stop=Stop.ROUND_BUDGET, detail=detail), validation)
        return self._repair(outcome, validation)

    def _worth_validating(self, outcome: Outcome) -> bool:
        changed = bool(self._host.ledger().net_changes())
        usable = outcome.stop not in (Stop.INTERRUPTED, Stop.ENDPOINT_ERROR, Stop.CONFINEMENT_UNAVAILABLE)
        return changed and usable and not self._scope.read_only and self._context.validation != "off"

    def _validate(self) -> tuple[ValidationOutcome, ...]:
        return self._host.validate(self._context.validation)

    def _repair(self, outcome: Outcome, failed: tuple[ValidationOutcome, ...]) -> _Pass:
        """The one more pass, with the validation as the host ran it; what it leaves is validated at its own epoch."""
        host = self._host
        self._emit(EventName.VALIDATION_REPAIR_STARTED, {"epoch": host.ledger().epoch})
        before = host.ledger().fingerprint
        asked = Message(Role.USER, repair_message(failed, host.validation_outputs()))
        again = self._core([*outcome.conversation, asked])
        merged = _both(outcome, again)
        changed = host.ledger().fingerprint != before
        if again.stop != Stop.ANSWERED:
            repair, validation, ended = Repair.STOPPED, failed, f"stopped: {again.stop}"
        elif not changed:
            repair, validation, ended = Repair.CHANGED_NOTHING, failed, "changed nothing"
        else:
            repair, validation = Repair.FINISHED, self._validate()
            ended = ", ".join(f"{v.kind.value} {v.status.value}" for v in validation) or "nothing validates it"
        self._emit(EventName.VALIDATION_REPAIR_FINISHED, {"changed": changed, "result": ended})
        return _Pass(merged, validation, repair, RepairReport(offered=True, changed=changed, result=ended))

    def _verdict(self, done: _Pass) -> tuple[VerdictReport, str]:
        host = self._host
        evidence = TurnEvidence.from_records(
            host.records(),
            done.outcome.answer,
            validation=done.validation,
            weakened=host.weakenings(),
            project_declares=host.project_declares(),
            repair=done.repair,
            outputs=host.outputs(),
            texts=host.stated() if names_values(done.outcome.answer) else (),
        )
        report = judge(evidence)
        self._emit(
            EventName.VERDICT_COMPUTED,
            {
                "verdict": report.verdict.value,
                "reasons": [{"code": r.code.value, "text": r.text} for r in report.reasons],
                "epoch": host.ledger().epoch,
                "stop": done.outcome.stop,
                "files": dict(host.ledger().net_changes()),
                "digests": {path: state[0] for path, state in host.ledger().differences.items() if state[0]},
            },
        )
        return report, mark(done.outcome.answer, report)

    def _emit(self, name: EventName, data: dict[str, object]) -> None:
        self._context.emit(Event(name, data, self._context.turn))


def _both(first: Outcome, second: Outcome) -> Outcome:
    """Two passes of one turn as one outcome: the second's answer and conversation, the sum of what was spent."""
    return replace(
        second,
        rounds=first.rounds + second.rounds,
        tool_calls=first.tool_calls + second.tool_calls,
        commands=first.commands + second.commands,
        requests=first.requests + second.requests,
        usage=Usage(*(_sum(getattr(first.usage, name), getattr(second.usage, name)) for name in _USAGE)),
    )


_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "written_tokens")


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
