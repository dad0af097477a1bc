"""The status a turn ends the program with (spec 1.3)."""

from __future__ import annotations

from spear.control.controller import FinishedTurn
from spear.events.names import Stop, Verdict
from spear.host.confirmation import NOBODY_TO_ASK

NOT_SHOWN = 3
"""The status of an answer that was not shown to hold."""


def exit_status(done: FinishedTurn, signalled: int = 0) -> int:
    """The status a script acts on (spec 1.3)."""
    result = done.result
    match result.stop.reason:
        case Stop.ENDPOINT_ERROR:
            return 75
        case Stop.INTERRUPTED:
            return signalled or 130
        case Stop.CONFINEMENT_UNAVAILABLE:
            return 6
        case Stop.ANSWERED:
            if any(refusal.code == NOBODY_TO_ASK for refusal in result.refusals):
                return 4
            withheld = result.normative is not None and bool(result.normative.get("withheld"))
            return NOT_SHOWN if withheld or result.verdict is Verdict.UNVERIFIED else 0
        case _:
            return 4
