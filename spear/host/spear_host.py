"""`SpearHost`: the host of one turn (spec 2). Each method reads as the list of chapter 2; the work lies beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from spear.agent.host import (
    Access,
    AfterTool,
    CommandResult,
    DeleteResult,
    Outcome,
    Refusal,
    Resolved,
    ToolRequest,
    ToolResult,
    WriteResult,
)
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.events.turn import CommandReport, RefusalReport
from spear.evidence.epochs import EpochLedger
from spear.evidence.records import EvidenceRecord
from spear.evidence.turn import ValidationOutcome, Weakening
from spear.host.changes import ChangeLog
from spear.host.files import Files
from spear.host.paths import PathGate, TurnRules
from spear.host.planted import PlantedMemory
from spear.host.recorder import Recorder
from spear.host.session import HostSession
from spear.host.terminal import Terminal
from spear.host.touch import Touch, said_meanwhile
from spear.host.validation import ProjectValidation, declared_commands
from spear.host.web import WebTools
from spear.policy.refusal_breaker import RefusalBreaker
from spear.state.records import ToolAction
from spear.web.tools import FETCH

if TYPE_CHECKING:
    from spear.host.hooks import TurnHooks

_WRITING = frozenset({"patch", "write_file", "delete_file"})
_CONFINED = _WRITING | {"terminal"}
CONFINEMENT = "confinement_unavailable"


class SpearHost:
    """Decides, performs and records every call of one turn. Built by `spear.host.opening.open_turn`."""

    def __init__(
        self,
        session: HostSession,
        turn: int,
        rules: TurnRules,
        gate: PathGate,
        files: Files,
        terminal: Terminal,
        web: WebTools | None,
        validation: ProjectValidation,
        log: ChangeLog,
        recorder: Recorder,
        planted: PlantedMemory,
        breaker: RefusalBreaker,
        touch: Touch,
        steered: Callable[[], str],
        emit: Sink,
        hooks: TurnHooks | None = None,
    ) -> None:
        self._session = session
        self._turn = turn
        self._rules = rules
        self._gate = gate
        self._files = files
        self._terminal = terminal
        self._web = web
        self._validation = validation
        self._log = log
        self._recorder = recorder
        self._planted = planted
        self._breaker = breaker
        self._touch = touch
        self._steered = steered
        self._emit = emit
        self._hooks = hooks
        self._unconfined = ""

    # --- the core's protocol ----------------------------------------------------------------------------------------

    def authorize(self, request: ToolRequest) -> Refusal | None:
        """Modes and confinement: what may not happen at all in this turn; then the operator's own hooks, which can only
        take away. The mode is the present one."""
        self._recorder.open(request)
        self._renew()
        refusal = self._forbidden(request)
        if refusal is None and self._hooks is not None:
            refusal = self._hooks.before(request)
        return refusal

    def resolve(self, path: str, access: Access, tool: str) -> Resolved | Refusal:
        """Roots, credentials, scope, protected targets."""
        return self._gate.resolve(path, access, tool)

    def open_read(self, target: Resolved) -> BinaryIO:
        """A descriptor opened beneath the root."""
        return self._gate.open_read(target)

    def readable(self, shown: str) -> bool:
        """Whether a path may appear in search results."""
        return self._gate.readable(shown)

    def write(
        self, target: Resolved, content: bytes, expected_sha256: str | None, request: ToolRequest
    ) -> WriteResult | Refusal:
        """Confirmed, checkpointed, durable."""
        return self._files.write(target, content, expected_sha256, request, self._recorder.draft(request))

    def delete(self, target: Resolved, reason: str, request: ToolRequest) -> DeleteResult | Refusal:
        """Confirmed, checkpointed, durable."""
        return self._files.delete(target, reason, request, self._recorder.draft(request))

    def run_command(
        self, command: str, timeout: int, workdir: str | None, request: ToolRequest
    ) -> CommandResult | Refusal:
        """Judged, confined, judged again by what it did."""
        return self._terminal.run(command, timeout, workdir, request, self._recorder.draft(request))

    def run_web(self, request: ToolRequest) -> ToolResult:
        """`search_internet` or `fetch_url`, by its name. Not of the core's protocol: the core has `spear-web`."""
        if self._web is None:
            why, remedy = "there is no network in this session", "go on without it; --no-network takes the web away"
            refusal = Refusal("no_network", request.tool, request.tool, why, remedy)
            return ToolResult(refusal.line(), Outcome.REFUSED, refusal, reason=refusal.code)
        return self._web.run(request)

    def after_tool(self, request: ToolRequest, result: ToolResult) -> AfterTool:
        """Audit, canonical evidence, the count of equal refusals."""
        record = self._recorder.close(request, result)
        if record.effect == "mutating":
            self._session.actions.append(self._action(request, result))
        if self._hooks is not None:
            self._hooks.after(request, result)
        if self._unconfined:
            return AfterTool(stop=(CONFINEMENT, self._unconfined))
        stopped = self._count_refusals(request, result)
        if stopped is not None:
            return AfterTool(stop=("stalled_refusals", stopped))
        return AfterTool(append=self._touch.after(request, result, record) + said_meanwhile(self._steered()))

    # --- what the verdict is computed from --------------------------------------------------------------------------

    def validate(self, policy: str) -> tuple[ValidationOutcome, ...]:
        """The project's own validation on the present state."""
        self._renew()
        self._log.settle("before validation")
        self._planted.look()
        return self._validation.run(policy)

    def validation_outputs(self) -> Mapping[str, str]:
        """What the commands of the last validation printed."""
        return self._validation.outputs

    def settle(self) -> None:
        """Notice what others changed."""
        self._log.settle("end of turn")

    def records(self) -> Sequence[EvidenceRecord]:
        """The canonical records so far."""
        return self._recorder.records

    def ledger(self) -> EpochLedger:
        """The present source epoch."""
        return self._recorder.ledger

    def weakenings(self) -> tuple[Weakening, ...]:
        """Checks whose own files the turn changed."""
        return self._log.weakenings()

    def outputs(self) -> Mapping[int, str]:
        """What the checks of each call printed, by the number of its record."""
        return self._recorder.outputs

    def stated(self) -> tuple[str, ...]:
        """What the changed files and the project's tests say now."""
        return self._log.stated()

    def project_declares(self) -> bool:
        """Whether the project declares how it is verified."""
        return bool(declared_commands(self._session.project))

    def commands(self) -> list[CommandReport]:
        """The terminal commands as they ran."""
        return [
            CommandReport(
                command=record.command.script,
                cwd=record.command.cwd_before,
                exit_code=record.command.exit_code,
                status=record.outcome.value,
                epoch=record.epoch_after,
                kind=[kind.value for kind in record.check.kinds] if record.check else [],
            )
            for record in self._recorder.records
            if record.command is not None and record.tool == "terminal"
        ]

    def refusals(self) -> list[RefusalReport]:
        """What was refused, and how often."""
        return [
            RefusalReport(
                tool=counted.refusal.tool,
                target=counted.refusal.target,
                reason=counted.refusal.reason,
                count=counted.count,
                code=counted.refusal.code,
            )
            for counted in self._breaker.refusals()
        ]

    def close(self) -> None:
        """Complete the checkpoint, remove the turn's scratch."""
        self._log.close()
        self._terminal.close()
        self._session.next_seq = self._recorder.next_seq
        self._planted.keep()
        self._session.scratch_planted = self._recorder.products.scratch
        self._session.evidence.flush()

    # --- details ----------------------------------------------------------------------------------------------------

    def _renew(self) -> None:
        """A call begins: the mode as it is now. A turn that could write nothing so far begins to look at the tree."""
        self._rules.authority.renew()
        if self._rules.may_write:
            self._log.watch()

    def _forbidden(self, request: ToolRequest) -> Refusal | None:
        """What the mode and this machine refuse, whatever the operator's hooks say."""
        saves = request.tool == FETCH and bool(request.arguments.get("save_as"))
        if (request.tool in _CONFINED or saves) and (refusal := self._confined(request)):
            return refusal
        if request.tool in _WRITING:
            return self._gate.read_only_refusal(request.tool, str(request.arguments.get("path", "")))
        return None

    def _confined(self, request: ToolRequest) -> Refusal | None:
        found = self._session.confinement.result()
        if found.ok:
            return None
        self._unconfined = f"{found.problem}: {found.remedy}"
        target = str(request.arguments.get("path") or request.arguments.get("command") or request.tool)
        return Refusal(CONFINEMENT, request.tool, target, found.problem, found.remedy)

    def _count_refusals(self, request: ToolRequest, result: ToolResult) -> str | None:
        """Count this call's refusals; the sentence that stops the turn when one came once too often."""
        left_out = self._recorder.refusals_of(request)
        refusals = [*left_out, *([result.refusal] if result.refusal else [])]
        if result.outcome is Outcome.OK:
            self._breaker.succeeded(str(request.arguments.get("path") or request.arguments.get("command") or ""))
        for refusal in dict.fromkeys(refusals):
            if self._breaker.refused(refusal, self._recorder.ledger.epoch if refusal in left_out else None):
                data = {
                    "tool": refusal.tool,
                    "target": refusal.target,
                    "code": refusal.code,
                    "count": self._breaker.limit,
                }
                self._emit(Event(EventName.REPEATED_REFUSAL_STOPPED, data, self._turn))
                return f"{refusal.target} was refused {self._breaker.limit} times: {refusal.reason}"
        return None

    def _action(self, request: ToolRequest, result: ToolResult) -> ToolAction:
        return ToolAction(
            session=self._session.identity,
            turn=self._turn,
            call_id=request.call_id,
            tool=request.tool,
            target=str(request.arguments.get("path") or request.arguments.get("command") or ""),
            outcome=result.outcome.value,
            code=result.refusal.code if result.refusal else "",
            mode=self._rules.authority.mode.value,
            operator=self._session.options.operator,
        )
