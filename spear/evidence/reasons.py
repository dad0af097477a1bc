"""The closed list of reasons behind a verdict, and the sentence each one is said in (spec 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class ReasonCode(StrEnum):
    """Why a verdict is what it is. The JSON result carries these values."""

    NOTHING_CHANGED = "nothing_changed"
    CHANGED_BACK = "changed_back"
    CHECK_PASSED = "check_passed"
    VALIDATION_PASSED = "validation_passed"
    CHECK_CHANGED = "check_changed"
    FAILED_BEFORE = "failed_before"
    CHECK_WEAKENED = "check_weakened"
    OWN_CHECK = "own_check"
    PRODUCT_PLANTED = "product_planted"
    CHANGED_AFTER_CHECK = "changed_after_check"
    NOTHING_RAN = "nothing_ran"
    NOTHING_READS = "nothing_reads"
    CHECK_FAILED = "check_failed"
    CHECK_INCONCLUSIVE = "check_inconclusive"
    LOOSE_COMPILATION = "loose_compilation"
    VALIDATION_FAILED = "validation_failed"
    VALIDATION_NOT_RUN = "validation_not_run"
    REPAIR_UNFINISHED = "repair_unfinished"
    CLAIM_NOT_SHOWN = "claim_not_shown"
    NUMBER_NOT_SEEN = "number_not_seen"
    REBUILD_NOT_SHOWN = "rebuild_not_shown"
    VALUE_NOT_SEEN = "value_not_seen"
    QUALITY_NOT_SHOWN = "quality_not_shown"
    COMPLAINT_SEEN = "complaint_seen"


TEMPLATES: dict[ReasonCode, str] = {
    ReasonCode.NOTHING_CHANGED: "No delivered source changed.",
    ReasonCode.CHANGED_BACK: "{files}: changed within the turn and put back as before.",
    ReasonCode.CHECK_PASSED: "`{command}` passed on the final state ({status}).",
    ReasonCode.VALIDATION_PASSED: "The project's own {kind} passed on the final state: `{command}` ({origin}).",
    ReasonCode.CHECK_CHANGED: "{files}: a check's own file was changed in this turn.",
    ReasonCode.FAILED_BEFORE: "`{command}` failed on the same source before {files} changed.",
    ReasonCode.CHECK_WEAKENED: "{files}: the check itself was changed to pass in this turn ({why}).",
    ReasonCode.OWN_CHECK: (
        "`{command}` runs what this turn wrote itself ({files}), which does not stand for the project's own checks."
    ),
    ReasonCode.PRODUCT_PLANTED: (
        "{files}: not made by a build, so `{command}` may have run it in place of what the source makes."
    ),
    ReasonCode.CHANGED_AFTER_CHECK: ("{files}: changed after `{command}` passed; that run speaks of an earlier state."),
    ReasonCode.NOTHING_RAN: "{files}: nothing that ran on the final state shows that it works.",
    ReasonCode.NOTHING_READS: "{files}: nothing that ran reads this file.",
    ReasonCode.CHECK_FAILED: "`{command}` failed on the final state ({status}).",
    ReasonCode.CHECK_INCONCLUSIVE: "`{command}` shows nothing: {why}.",
    ReasonCode.LOOSE_COMPILATION: "`{command}` compiles loose files; the project declares how it is verified.",
    ReasonCode.VALIDATION_FAILED: (
        "The project's own {kind} failed on the final state: `{command}` ({origin}, {status})."
    ),
    ReasonCode.VALIDATION_NOT_RUN: "The project's own {kind} could not run: `{command}` ({origin}{why}).",
    ReasonCode.REPAIR_UNFINISHED: "The repair after the failed validation {why}.",
    ReasonCode.CLAIM_NOT_SHOWN: "No {kind} passed on the final state that shows “{sentence}”.",
    ReasonCode.NUMBER_NOT_SEEN: "No test summary of the final state shows the number in “{sentence}”.",
    ReasonCode.REBUILD_NOT_SHOWN: (
        "No clean, build and look at the result, in that order, ran on the final state for “{sentence}”."
    ),
    ReasonCode.VALUE_NOT_SEEN: "No check that passed on the final state shows {value}, which “{sentence}” names.",
    ReasonCode.QUALITY_NOT_SHOWN: "No check of the {quality} passed on the final state that shows “{sentence}”.",
    ReasonCode.COMPLAINT_SEEN: "What `{command}` printed on the final state speaks against “{sentence}”.",
}
"""Sentence templates. `files` names at most four files."""

MAX_FILES = 4
MAX_QUOTED = 160


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: its code, its sentence, and the files it names."""

    code: ReasonCode
    text: str
    files: tuple[str, ...] = ()


def reason(code: ReasonCode, *, files: Sequence[str] = (), **values: object) -> Reason:
    """The reason said with its template. Long commands and sentences are cut in the middle of one line."""
    shown = {name: _one_line(str(value)) for name, value in values.items()}
    return Reason(code, TEMPLATES[code].format(files=name_files(files), **shown), tuple(files))


def name_files(files: Sequence[str]) -> str:
    """`a.c, b.c and 3 more`."""
    named = ", ".join(shown_path(path) for path in files[:MAX_FILES])
    return named if len(files) <= MAX_FILES else f"{named} and {len(files) - MAX_FILES} more"


def shown_path(path: str) -> str:
    """A path as text anybody can store: bytes that are no UTF-8 are shown escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _one_line(text: str) -> str:
    flat = " ".join(text.encode("utf-8", "backslashreplace").decode().split()).replace("`", "'")
    return flat if len(flat) <= MAX_QUOTED else f"{flat[: MAX_QUOTED - 1]}…"
