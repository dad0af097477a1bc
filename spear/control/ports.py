"""What a turn needs from the floors below, as protocols and values; the controller knows no implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from spear.agent.ceilings import Ceilings
from spear.agent.host import Host
from spear.agent.messages import Complete, Message
from spear.agent.outcome import Budget
from spear.control.classification import Classification
from spear.events.names import Mode
from spear.events.stream import Sink

if TYPE_CHECKING:
    from spear.events.turn import CommandReport, RefusalReport
    from spear.evidence.epochs import EpochLedger
    from spear.evidence.records import EvidenceRecord
    from spear.evidence.turn import ValidationOutcome, Weakening


class TurnHost(Host, Protocol):
    """A host opened for one turn: the core's `Host`, and what the verdict is computed from."""

    def validate(self, policy: str) -> tuple[ValidationOutcome, ...]:
        """Run the project's own validation on the present state (spec 3.5). `policy` is auto, declared or off."""
        ...

    def validation_outputs(self) -> Mapping[str, str]:
        """What the commands of the last validation printed, by command."""
        ...

    def settle(self) -> None:
        """Notice what others changed since the last look; called before a verdict is computed."""
        ...

    def records(self) -> Sequence[EvidenceRecord]:
        """The canonical records of the turn so far."""
        ...

    def ledger(self) -> EpochLedger:
        """The present source epoch."""
        ...

    def weakenings(self) -> tuple[Weakening, ...]:
        """Checks whose own files the turn changed."""
        ...

    def outputs(self) -> Mapping[int, str]:
        """What the checks of each call printed, bounded, by the sequence number of its record."""
        ...

    def stated(self) -> tuple[str, ...]:
        """What the delivered files this turn changed and the project's tests say now, bounded."""
        ...

    def project_declares(self) -> bool:
        """Whether the project declares how it is verified."""
        ...

    def commands(self) -> list[CommandReport]:
        """The terminal commands as they ran."""
        ...

    def refusals(self) -> list[RefusalReport]:
        """What was refused, and how often."""
        ...

    def close(self) -> None:
        """End the turn: the checkpoint is complete, scratch of the turn is gone."""
        ...


OpenHost = Callable[[Classification, int], TurnHost]
"""Opens the host of a turn for a classified request and a turn number."""


@dataclass(frozen=True, slots=True)
class BoundStandard:
    """The standard this machine is bound to. `problem` says, with its remedy, why it cannot be relied on; "" when it
    can."""

    id: str
    revision: str
    problem: str = ""

    @property
    def name(self) -> str:
        """Its id and revision."""
        return f"{self.id} {self.revision}".rstrip()


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What one turn is given: who asks, which model answers, what was said before, what is spent at most.

    `sections` are the parts of workspace context shown to this turn, in order; `conversation` is what earlier turns
    said, without system messages. `cancelled` is polled throughout.
    """

    session: str
    session_dir: str
    turn: int
    mode: Mode
    complete: Complete
    budget: Budget
    open_host: OpenHost
    emit: Sink
    conversation: tuple[Message, ...] = ()
    sections: Callable[[Classification, str], tuple[str, ...]] = lambda _scope, _request: ()
    validation: str = "auto"
    cancelled: Callable[[], bool] = lambda: False
    standard: BoundStandard | None = None
    ceilings: Ceilings = field(default_factory=Ceilings)
    """What the whole turn may spend, its repair included."""
