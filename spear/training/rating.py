"""What a turn's judges said of it: a project's bench, a composite verdict, its validation, its checks (spec 7)."""

from __future__ import annotations

from spear.events.names import Verdict
from spear.events.turn import TurnResult
from spear.evidence.reasons import ReasonCode
from spear.training.vocabulary import Rating

_NOT_COMPLIANT = "NOT COMPLIANT"


def rate(result: TurnResult, bench: bool | None = None) -> tuple[Rating, str]:
    """The rating, and which judge gave it ("" when none did). `bench` is what the acceptance script said, if one ran.

    A turn that is not VERIFIED never passes, even where a validation did: the check itself may have been weakened.
    """
    failed = {step.kind for step in result.validation if step.status == "FAILED"}
    codes = {reason.code for reason in result.reasons}
    if bench is not None:
        return (Rating.PASS if bench else Rating.FAIL), "bench"
    if result.mixed is not None and result.mixed.get("verdict") == _NOT_COMPLIANT:
        return Rating.FAIL, "mixed verdict"
    if failed:
        return Rating.FAIL, f"validation: {', '.join(sorted(failed))}"
    if result.verdict is Verdict.VERIFIED:
        return Rating.PASS, "validation" if ReasonCode.VALIDATION_PASSED in codes else "check"
    if ReasonCode.CHECK_FAILED in codes:
        return Rating.FAIL, "check"
    return Rating.UNRATED, ""
