"""Runs the project's own validation on the present state, confined like any command (spec 3.5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from spear.agent.host import CommandResult, Outcome, Refusal, ToolRequest, ToolResult
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind
from spear.evidence.old_products import may_be_old, objects_of_removed
from spear.evidence.products import TOOLS
from spear.evidence.roots import root_of
from spear.evidence.turn import VALIDATION_TOOL, ValidationKind, ValidationOutcome, ValidationStatus
from spear.evidence.validation import StepResult, ValidationMode, ValidationStep, classify, plan_validation, telling
from spear.host.project_facts import project_files
from spear.host.recorder import Recorder
from spear.host.terminal import Terminal
from spear.workspace.projects import Project

_DECLARED = {
    ValidationKind.BUILD: "build_commands",
    ValidationKind.TEST: "test_commands",
    ValidationKind.LINT: "lint_commands",
    ValidationKind.ACCEPTANCE: "acceptance_commands",
}
_KINDS = {
    ValidationKind.BUILD: frozenset({CheckKind.BUILD}),
    ValidationKind.TEST: frozenset({CheckKind.TEST}),
    ValidationKind.LINT: frozenset({CheckKind.LINT}),
    ValidationKind.ACCEPTANCE: frozenset({CheckKind.TEST, CheckKind.RUN}),
}


_MOST_NAMED = 1 << 19
"""Characters of the paths a step is to do without: more cannot be named in one command."""


def declared_commands(project: Project | None) -> dict[ValidationKind, tuple[str, ...]]:
    """What the project declares, by kind."""
    if project is None:
        return {}
    found = {kind: tuple(getattr(project.declared, name)) for kind, name in _DECLARED.items()}
    return {kind: commands for kind, commands in found.items() if commands}


def declared_checks(project: Project | None) -> dict[str, frozenset[CheckKind]]:
    """Declared commands as recognition of checks wants them."""
    return {command: _KINDS[kind] for kind, commands in declared_commands(project).items() for command in commands}


class ProjectValidation:
    """The validation of one turn: at most once for one state of the source."""

    def __init__(
        self,
        root: Path,
        declared: Mapping[ValidationKind, tuple[str, ...]],
        terminal: Terminal,
        recorder: Recorder,
        emit: Sink,
        turn: int,
        timeout_s: int,
        cancelled: Callable[[], bool],
        facts: Callable[[], ProjectFacts],
    ) -> None:
        self._root = root
        self._declared = declared
        self._terminal = terminal
        self._recorder = recorder
        self._emit = emit
        self._turn = turn
        self._timeout = timeout_s
        self._cancelled = cancelled
        self._facts = facts
        self._done: dict[str, tuple[ValidationOutcome, ...]] = {}
        self.outputs: dict[str, str] = {}

    def run(self, policy: str) -> tuple[ValidationOutcome, ...]:
        """Every step on the present state. A step after one that failed still runs: each kind shows its own claim."""
        fingerprint = self._recorder.ledger.fingerprint
        if fingerprint in self._done:
            return self._done[fingerprint]
        steps = plan_validation(self._declared, project_files(self._root), ValidationMode(policy))
        if not steps:
            return ()
        self._event(
            EventName.VALIDATION_STARTED, {"epoch": self._recorder.ledger.epoch, "commands": [s.command for s in steps]}
        )
        outcomes: list[ValidationOutcome] = []
        for step in steps:
            if self._cancelled():
                break
            outcomes.append(self._step(step, len(outcomes)))
        result = tuple(outcomes)
        self._done[fingerprint] = result
        self._event(
            EventName.VALIDATION_FINISHED,
            {
                "epoch": self._recorder.ledger.epoch,
                "steps": [{"command": o.command, "status": o.status.value} for o in result],
            },
        )
        return result

    def _step(self, step: ValidationStep, index: int) -> ValidationOutcome:
        """Run a step so that it shows something: without the products that no build made, and once more without those
        that are older than the source where it ran one of them. What it cannot do without it runs with, as it is."""
        number = f"{self._recorder.ledger.epoch}-{index}"
        planted = self._planted()
        outcome = self._run(step, number, planted)
        if planted and outcome.status in (ValidationStatus.FAILED, ValidationStatus.NOT_RUN):
            return self._run(step, f"{number}-as-it-is")
        if outcome.check is None or outcome.check.code is not CheckCode.BUILT_BEFORE:
            return outcome
        facts = self._facts()
        removed = objects_of_removed(self._recorder.products, facts)
        old = tuple(path for path in may_be_old(self._recorder.products, facts) if path not in removed)
        if not old or sum(map(len, (*old, *removed))) > _MOST_NAMED:
            return outcome
        before = self._recorder.products
        anew = self._run(step, f"{number}-anew", old, removed)
        all_made = set(old).isdisjoint(may_be_old(self._recorder.products, facts))
        builds = step.kind is ValidationKind.BUILD
        if all_made or (builds and anew.status is ValidationStatus.PASSED):
            return anew  # a test may have passed over what it did not find
        self._recorder.products = before
        return outcome

    def _planted(self) -> tuple[str, ...]:
        """The products of the primary root that no build made, those in the directories of tools aside."""
        found = (path for path, sha in self._recorder.products.planted if sha is not None and not root_of(path))
        paths = tuple(path for path in found if TOOLS.isdisjoint(path.split("/")))
        return paths if sum(map(len, paths)) <= _MOST_NAMED else ()

    def _run(
        self, step: ValidationStep, number: str, without: Collection[str] = (), removed: Collection[str] = ()
    ) -> ValidationOutcome:
        ledger = self._recorder.ledger
        request = ToolRequest(
            f"{VALIDATION_TOOL}-{number}", VALIDATION_TOOL, {"command": step.command, "kind": step.kind.value}
        )
        draft = self._recorder.open(request)
        done = self._terminal.run(step.command, self._timeout, "/workspace", request, draft, without, removed)
        if isinstance(done, Refusal):
            self._recorder.close(request, ToolResult("", Outcome.REFUSED, done, reason=done.reason))
            found = StepResult(None, "", could_not_run=done.reason)
        else:
            record = self._recorder.close(request, ToolResult(done.output, _ended(done), changed=bool(done.changes)))
            results = record.check.results if record.check else ()
            check = telling(results, step.kind)
            found = StepResult(
                done.exit_code, done.output, done.timed_out, done.cancelled or done.signal is not None, check=check
            )
        self.outputs[step.command] = found.output
        status, detail = classify(step, found)
        return ValidationOutcome(
            step.kind, step.origin, step.command, status, found.exit_code, ledger.epoch, ledger.fingerprint, detail,
            found.check,
        )  # fmt: skip

    def _event(self, name: EventName, data: dict[str, object]) -> None:
        self._emit(Event(name, data, self._turn))


def _ended(done: CommandResult) -> Outcome:
    if done.timed_out:
        return Outcome.TIMEOUT
    if done.cancelled:
        return Outcome.CANCELLED
    return Outcome.OK
