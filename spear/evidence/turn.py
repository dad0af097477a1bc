"""The evidence of one turn: everything a verdict is computed from, and nothing else (spec 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from spear.evidence.epochs import EpochLedger
from spear.evidence.kinds import CheckKind
from spear.evidence.records import CheckResult, EvidenceRecord

VALIDATION_TOOL = "validation"
"""The tool name of records the host's own validation leaves."""
NO_OUTPUTS: Mapping[int, str] = MappingProxyType({})
"""What is known where nobody kept what the checks printed."""


class Origin(StrEnum):
    """Where a validation command comes from."""

    DECLARED = "declared"
    PROBED = "probed"


class ValidationStatus(StrEnum):
    """How one step of the project's own validation ended (spec 3.5)."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    NOT_RUN = "NOT_RUN"
    ERROR = "ERROR"


class ValidationKind(StrEnum):
    """What a validation step validates."""

    BUILD = "build"
    TEST = "test"
    LINT = "lint"
    ACCEPTANCE = "acceptance"


@dataclass(frozen=True, slots=True)
class ValidationOutcome:
    """One step of the project's own validation as the host ran it, on the state named by epoch and fingerprint.

    `check` is the same run read as a check (its summary, its kinds); None when the command is not one that is known.
    `output` is what it printed, where the verdict may need it.
    """

    kind: ValidationKind
    origin: Origin
    command: str
    status: ValidationStatus
    exit_code: int | None
    epoch: int
    fingerprint: str
    detail: str = ""
    check: CheckResult | None = None
    output: str = ""


@dataclass(frozen=True, slots=True)
class Weakening:
    """A check's own file changed in the turn. `certain` says that it was changed so that it passes (emptied, deleted,
    its assertions removed…); otherwise it merely changed. `kinds` are the checks it takes the force from.
    """

    path: str
    why: str
    certain: bool
    kinds: frozenset[CheckKind]


class Repair(StrEnum):
    """How the one repair went. NONE: none was offered."""

    NONE = "none"
    FINISHED = "finished"
    STOPPED = "stopped"
    CHANGED_NOTHING = "changed_nothing"


@dataclass(frozen=True, slots=True)
class SeenCheck:
    """A check with its place in the turn: (sequence number of its call, order within it). `ledger` is the source as its
    call left it, None where that was the last call's; `output` what the checks of its command printed, bounded, ""
    where nobody kept it."""

    place: tuple[int, int]
    result: CheckResult
    ledger: EpochLedger | None = None
    output: str = ""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A command's checks said something against a quality (a compiler's warning, a leak) on the state of the source
    named by epoch and fingerprint, whatever status they ended with."""

    quality: str
    command: str
    epoch: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """What the host hands over at the end of a turn. `project_declares` says that the project declares at least one
    command of how it is verified (spec 3.3, loose compilation). `texts` are what the delivered files that this turn
    changed and the project's tests say now, for the values an answer names; `complaints` what checks
    said against qualities.
    """

    answer: str
    ledger: EpochLedger = field(default_factory=EpochLedger)
    checks: tuple[SeenCheck, ...] = ()
    validation: tuple[ValidationOutcome, ...] = ()
    weakened: tuple[Weakening, ...] = ()
    project_declares: bool = False
    repair: Repair = Repair.NONE
    texts: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = ()

    @classmethod
    def from_records(
        cls,
        records: Iterable[EvidenceRecord],
        answer: str,
        *,
        validation: tuple[ValidationOutcome, ...] = (),
        weakened: tuple[Weakening, ...] = (),
        project_declares: bool = False,
        repair: Repair = Repair.NONE,
        outputs: Mapping[int, str] = NO_OUTPUTS,
        texts: tuple[str, ...] = (),
    ) -> TurnEvidence:
        """The evidence of a turn from its records, oldest first: epochs and checks are replayed from them.

        A record of the host's own validation gives its changes only: what it showed is in `validation`. `outputs` are
        what the checks of a call printed, by the sequence number of its record.
        """
        evidence = cls(
            answer,
            validation=validation,
            weakened=weakened,
            project_declares=project_declares,
            repair=repair,
            texts=texts,
        )
        by_host: dict[str, str] = {}
        for record in records:
            ledger, output = evidence.ledger.after(record.changes), outputs.get(record.seq, "")
            own = record.tool == VALIDATION_TOOL
            seen = tuple(
                SeenCheck((record.seq, result.order), result, ledger, output)
                for result in (record.check.results if record.check and not own else ())
            )
            complaints = evidence.complaints
            if record.command is not None:
                script, state = record.command.script, (ledger.epoch, ledger.fingerprint)
                complaints += tuple(Complaint(quality, script, *state) for quality in record.command.complaints)
                if own:
                    by_host[script] = output
            evidence = replace(evidence, ledger=ledger, checks=evidence.checks + seen, complaints=complaints)
        heard = (replace(outcome, output=by_host.get(outcome.command, "")) for outcome in validation)
        return replace(evidence, validation=tuple(heard))
