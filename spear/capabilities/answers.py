"""What the gateway answers, and what it asks the operator: the values it shares with whoever composes it (spec 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from spear.agent.host import Refusal


class AnswerOutcome(StrEnum):
    """How a host command ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model is told. `code` names the refusal or the failure; `refusal` is there for REFUSED only."""

    text: str
    outcome: AnswerOutcome = AnswerOutcome.ANSWERED
    code: str = ""
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class CapabilityQuestion:
    """One confirmation: what will be sent, exactly. `writes` false means that only its network use is asked about."""

    capability: str
    arguments: str
    writes: bool
    network: bool


class Decision(StrEnum):
    """What the operator said."""

    YES = "yes"
    NO = "no"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class CapabilityReply:
    """The operator's answer; `reason` is told to the model after a no."""

    decision: Decision
    reason: str = ""


ConfirmCapability = Callable[[CapabilityQuestion], CapabilityReply]
