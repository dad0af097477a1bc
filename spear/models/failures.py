"""What went wrong in one attempt to ask a model, and whether another attempt may help. Pure.

The endpoint's name is added, and the key removed, where an `AttemptFailed` becomes a `ModelFailure` (`retry.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from spear.agent.messages import FailureKind

_OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length"}
)
_OVERFLOW_TEXT = re.compile(
    r"maximum context length|context (length|window|size|limit)|exceeds? the (available )?context|prompt is too long"
    r"|too many (input )?tokens|exceed(s|ed)? .{0,40}token limit|reduce the length of the (messages|prompt|input)"
    r"|input (is too long|length exceeds|tokens exceed)|greater than the context|context the overflows",
    re.IGNORECASE,
)
_NEVER_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_KEY = re.compile(r"\b(sk|pk|key|gsk|xai|hf)[-_][A-Za-z0-9_\-*.]{6,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LONGEST_DETAIL = 300

NEVER = 0
"""`AttemptFailed.limit` of a failure that another attempt cannot cure."""


class AttemptFailed(Exception):
    """One attempt failed. `limit` is how many retries this failure allows at most (None: the policy's figure).

    `retry_after` is the pause the server asked for, in seconds. `status` is 0 when no HTTP status was received.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        hint: str = "",
        limit: int | None = None,
        retry_after: float | None = None,
        status: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint or _HINTS.get(kind, "")
        self.limit = limit
        self.retry_after = retry_after
        self.status = status


_HINTS = {
    FailureKind.UNREACHABLE: "start the server, or name another endpoint with --api-base",
    FailureKind.AUTHENTICATION: "check the key in the variable that --api-key-env names",
    FailureKind.CONTEXT_OVERFLOW: "set --ctx to the window the model is served with; in the chat /clear begins anew",
    FailureKind.RATE_LIMITED: "wait a moment, then ask again",
    FailureKind.SERVER_ERROR: "look at the server's own log, then ask again",
    FailureKind.DROPPED_STREAM: "the connection broke while the model answered; ask again",
    FailureKind.BAD_REPLY: "check that --api-base is an endpoint that speaks the protocol of --provider",
    FailureKind.BAD_REQUEST: "check --model and --api-base",
}


def classify_status(status: int, body: object, retry_after: float | None = None) -> AttemptFailed:
    """The failure an HTTP error status, or an error object inside a stream, stands for."""
    code, message = describe(body)
    shown = f"HTTP {status}" + (f": {message}" if message else "")
    if _is_overflow(status, code, message):
        return AttemptFailed(FailureKind.CONTEXT_OVERFLOW, shown, limit=NEVER, status=status)
    if status in (401, 403):
        return AttemptFailed(FailureKind.AUTHENTICATION, shown, limit=NEVER, status=status)
    if status == 402 or code in _NEVER_CODES:
        hint = "the account has no credit left for this model"
        return AttemptFailed(FailureKind.RATE_LIMITED, shown, hint=hint, limit=NEVER, status=status)
    if status == 429:
        return AttemptFailed(FailureKind.RATE_LIMITED, shown, retry_after=retry_after, status=status)
    if status in (408, 409) or (status >= 500 and status != 501):
        return AttemptFailed(FailureKind.SERVER_ERROR, shown, retry_after=retry_after, status=status)
    return AttemptFailed(FailureKind.BAD_REQUEST, shown, hint=_request_hint(status), limit=NEVER, status=status)


def classify_error_object(error: object) -> AttemptFailed:
    """The failure an error sent inside a stream or in a 200 reply stands for.

    The code of such an object may be an HTTP status, a word, or missing; what cannot be placed is a server error.
    """
    code, message = describe(error)
    kind = str(error.get("type", "")) if isinstance(error, Mapping) else ""
    if code.isdigit() and 400 <= int(code) < 600:
        return classify_status(int(code), error)
    if "rate_limit" in code + kind:
        return AttemptFailed(FailureKind.RATE_LIMITED, f"error in the reply: {message}", status=429)
    if "authentication" in code + kind or "permission" in code + kind:
        return classify_status(401, error)
    failed = classify_status(400 if "invalid_request" in code + kind else 500, error)
    failed.message = failed.message.replace(f"HTTP {failed.status}", "error in the reply", 1)
    return failed


def describe(body: object) -> tuple[str, str]:
    """`(code, message)` of an error body in any of the usual shapes; empty strings where there is none."""
    if isinstance(body, Mapping):
        for inner in ("error", "detail"):
            if body.get(inner) and "message" not in body:
                return describe(body[inner])
        code = body.get("code") or body.get("type") or ""
        place = ".".join(str(part) for part in body["loc"]) + ": " if isinstance(body.get("loc"), list) else ""
        return str(code), one_line(place + str(body.get("message") or body.get("msg") or ""))
    if isinstance(body, list) and body:
        return describe(body[0] if isinstance(body[0], Mapping) else str(body[0]))
    return "", one_line(body) if isinstance(body, str) else ""


def one_line(text: str) -> str:
    """Text of a server made fit for a message: one line, short, nothing that looks like a key."""
    text = _KEY.sub("***", _CONTROL.sub(" ", text)).strip()
    return text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 1] + "…"


def parse_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait from `retry-after-ms` or `retry-after` (seconds or an HTTP date); None when not stated."""
    millis = headers.get("retry-after-ms")
    if millis is not None and (value := _number(millis)) is not None:
        return value / 1000
    text = headers.get("retry-after")
    if text is None:
        return None
    if (value := _number(text)) is not None:
        return value
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _is_overflow(status: int, code: str, message: str) -> bool:
    if status == 413 or code in _OVERFLOW_CODES:
        return True
    return status in (400, 422, 500) and _OVERFLOW_TEXT.search(message) is not None


def _request_hint(status: int) -> str:
    if 300 <= status < 400:
        return "the endpoint redirects; set --api-base to the final address"
    if status == 404:
        return "check --model, and that --api-base ends as the server expects (usually /v1)"
    return ""


def bad_reply(message: str, *, limit: int | None = None) -> AttemptFailed:
    """A reply that is not what the protocol says."""
    return AttemptFailed(FailureKind.BAD_REPLY, message, limit=limit)


def dropped(message: str, *, limit: int | None = None) -> AttemptFailed:
    """A reply that broke off. Nothing of it has run and nothing of it may."""
    return AttemptFailed(FailureKind.DROPPED_STREAM, message, limit=limit)


def decode_object(text: str, what: str) -> dict[str, Any]:
    """The JSON object in `text`. Raises `AttemptFailed` (BAD_REPLY) when it is anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise bad_reply(f"{what} is not JSON") from error
    if not isinstance(value, dict):
        raise bad_reply(f"{what} is not a JSON object")
    return value
