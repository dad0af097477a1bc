"""When to ask again, how long to wait before it, and when to give up (spec 8.4).

Bounded three ways: per kind of failure, per call, and per turn (`RetryBudget`). Waiting is cut short by `cancelled`.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from spear.agent.messages import FailureKind, ModelFailure
from spear.models.failures import AttemptFailed

T = TypeVar("T")

POLL_S = 0.05
"""The longest time between two looks at `cancelled`, in seconds."""

_LIMITS = {
    FailureKind.UNREACHABLE: (3, 0.3),
    FailureKind.DROPPED_STREAM: (3, 0.3),
    FailureKind.BAD_REPLY: (2, 0.3),
    FailureKind.SERVER_ERROR: (5, 0.5),
    FailureKind.RATE_LIMITED: (5, 1.0),
}
"""Kind → retries allowed and first pause in seconds; a kind not listed is never retried."""

_SHORTEST_SECRET = 6
"""Keys of local servers are often a placeholder, `x` or `none`: nothing to hide, and part of many words."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`per_call` and `per_turn` bound retries; pauses double up to `longest_pause_s`, plus up to 25 % jitter.

    A server may ask for a pause of up to `longest_wait_s`; when it asks for more, the call fails at once and says so.
    `scale` multiplies every pause that the policy itself chooses.
    """

    per_call: int = 6
    per_turn: int = 24
    longest_pause_s: float = 8.0
    longest_wait_s: float = 120.0
    scale: float = 1.0

    def pause(self, failed: AttemptFailed, nth: int) -> float | None:
        """Seconds to wait before the retry after the `nth` (from 0) failure of this kind; None to give up."""
        allowed, first = _LIMITS.get(failed.kind, (0, 0.0))
        if nth >= (allowed if failed.limit is None else min(allowed, failed.limit)):
            return None
        if failed.retry_after is not None:
            return failed.retry_after if failed.retry_after <= self.longest_wait_s else None
        jitter = 1 + random.random() / 4  # noqa: S311 - spreads clients, guards nothing
        return min(first * 2.0**nth, self.longest_pause_s) * jitter * self.scale


class RetryBudget:
    """How many retries a turn has left, over all of its calls."""

    def __init__(self, per_turn: int) -> None:
        self._per_turn = per_turn
        self._left = per_turn

    def reset(self) -> None:
        """A new turn begins."""
        self._left = self._per_turn

    def take(self) -> bool:
        """Use one retry; false when none is left."""
        if self._left <= 0:
            return False
        self._left -= 1
        return True


@dataclass(frozen=True, slots=True)
class Retrier:
    """Runs attempts for one endpoint. `endpoint` is its name in messages, `secret` is kept out of them."""

    endpoint: str
    secret: str | None
    policy: RetryPolicy
    budget: RetryBudget

    def run(self, attempt: Callable[[], T], cancelled: Callable[[], bool] | None) -> T:
        """The first attempt that succeeds. Raises `ModelFailure` when the bounds are reached or on cancellation."""
        seen: Counter[FailureKind] = Counter()
        while True:
            try:
                return attempt()
            except AttemptFailed as failed:
                pause = self.policy.pause(failed, seen[failed.kind])
                seen[failed.kind] += 1
                if pause is None or seen.total() > self.policy.per_call or not self.budget.take():
                    raise self.failure(failed, seen.total()) from failed
            wait(pause, cancelled)

    def failure(self, failed: AttemptFailed, attempts: int = 1) -> ModelFailure:
        """The failure as callers see it: endpoint named, key removed."""
        message = f"{self.endpoint}: {failed.message}"
        if attempts > 1:
            message += f" (asked {attempts} times)"
        hint = failed.hint
        if failed.retry_after is not None and failed.retry_after > self.policy.longest_wait_s:
            hint = f"the server asks to wait {failed.retry_after:.0f} s; ask again after that"
        if self.secret and len(self.secret) >= _SHORTEST_SECRET:
            message = message.replace(self.secret, "***")
        return ModelFailure(failed.kind, message, hint)


def wait(seconds: float, cancelled: Callable[[], bool] | None) -> None:
    """Sleep, looking at `cancelled` every `POLL_S`. Raises `ModelFailure` (CANCELLED)."""
    end = time.monotonic() + seconds
    while True:
        check(cancelled)
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, POLL_S))


def check(cancelled: Callable[[], bool] | None) -> None:
    """Raises `ModelFailure` (CANCELLED) once `cancelled` says so."""
    if cancelled is not None and cancelled():
        raise ModelFailure(FailureKind.CANCELLED, "the request was cancelled")
