"""The closed list of event names (spec 3.8) and the enumerations a turn's record is written in."""

from __future__ import annotations

from enum import StrEnum


class EventName(StrEnum):
    """Audited events. A name not listed here cannot be written to the log."""

    SESSION_STARTED = "session_started"
    REQUEST_CLASSIFIED = "request_classified"
    CONTEXT_SELECTED = "context_selected"
    CONTEXT_REJECTED = "context_rejected"
    TOOLSET_SELECTED = "toolset_selected"
    MODEL_REQUESTED = "model_requested"
    MODEL_ANSWERED = "model_answered"
    TOOL_CALLED = "tool_called"
    TOOL_REFUSED = "tool_refused"
    TOOL_FINISHED = "tool_finished"
    CONFIRMATION_ASKED = "confirmation_asked"
    CONFIRMATION_ANSWERED = "confirmation_answered"
    HOOK_RAN = "hook_ran"
    CHECKPOINT_CREATED = "checkpoint_created"
    EPOCH_OPENED = "epoch_opened"
    CHECK_RECORDED = "check_recorded"
    VALIDATION_STARTED = "validation_started"
    VALIDATION_FINISHED = "validation_finished"
    VALIDATION_REPAIR_STARTED = "validation_repair_started"
    VALIDATION_REPAIR_FINISHED = "validation_repair_finished"
    REPEATED_REFUSAL_STOPPED = "repeated_refusal_stopped"
    GUARDRAIL_STOPPED = "guardrail_stopped"
    VERDICT_COMPUTED = "verdict_computed"
    UNDO_APPLIED = "undo_applied"
    JOB_STARTED = "job_started"
    JOB_ENDED = "job_ended"
    KNOWLEDGE_PROPOSED = "knowledge_proposed"
    KNOWLEDGE_ACTIVATED = "knowledge_activated"
    KNOWLEDGE_SELECTED = "knowledge_selected"
    KNOWLEDGE_STALE = "knowledge_stale"
    KNOWLEDGE_CONFLICT = "knowledge_conflict"
    KNOWLEDGE_REVOKED = "knowledge_revoked"
    CAPABILITY_REGISTERED = "capability_registered"
    CAPABILITY_FAMILY_SELECTED = "capability_family_selected"
    CAPABILITY_INDEX_EXPOSED = "capability_index_exposed"
    CAPABILITY_DESCRIBED = "capability_described"
    CAPABILITY_CALLED = "capability_called"
    CAPABILITY_FAILED = "capability_failed"
    STANDARD_BOUND = "standard_bound"
    SESSION_CLOSED = "session_closed"


class Mode(StrEnum):
    """How much the operator lets happen without being asked (spec 2.1)."""

    SAFE = "safe"
    ASK = "ask"
    AUTO = "auto"


class RequestClass(StrEnum):
    """What a request is about (spec 1.2)."""

    GENERAL = "GENERAL"
    IMPLEMENTATION = "IMPLEMENTATION"
    NORMATIVE = "NORMATIVE"
    MIXED = "MIXED"


class Path(StrEnum):
    """Which path serves a request (spec 1.3)."""

    CODING_CORE = "coding_core"
    NORMATIVE = "normative"
    NORMATIVE_WORKFLOW = "normative_workflow"
    MIXED = "mixed"


class Verdict(StrEnum):
    """What a turn's record shows (spec 3.4)."""

    VERIFIED = "VERIFIED"
    UNVERIFIED = "UNVERIFIED"
    NO_CHANGE = "NO_CHANGE"


class Stop(StrEnum):
    """Why a turn ended (spec 1.4). Independent of the verdict."""

    ANSWERED = "answered"
    ROUND_BUDGET = "round_budget"
    TOOL_BUDGET = "tool_budget"
    CONTEXT_HALF = "context_half"
    RESPONSE_TRUNCATED = "response_truncated"
    STALLED_GUARDRAIL = "stalled_guardrail"
    STALLED_REFUSALS = "stalled_refusals"
    INTERRUPTED = "interrupted"
    ENDPOINT_ERROR = "endpoint_error"
    CONFINEMENT_UNAVAILABLE = "confinement_unavailable"
