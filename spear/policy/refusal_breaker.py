"""Equal refusals are counted; the n-th one stops the turn (spec 2.6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from spear.agent.host import Refusal
from spear.policy.patterns import normal

DEFAULT_REPEATS = 5


@dataclass(frozen=True, slots=True)
class CountedRefusal:
    """A refusal and how often it happened in this turn."""

    refusal: Refusal
    count: int


@dataclass(slots=True)
class RefusalBreaker:
    """Counts refusals of one turn by tool, normalized target and code. `limit` is SPEAR_REFUSAL_REPEATS, at least 1."""

    limit: int = DEFAULT_REPEATS
    _counts: dict[tuple[str, str, str], CountedRefusal] = field(default_factory=dict)
    _streaks: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _epochs: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def refused(self, refusal: Refusal, epoch: int | None = None) -> bool:
        """Count a refusal; true when the turn has to stop.

        `epoch` is the source epoch of a write that was left out of what a command did: a formatter, say, that is run
        after every edit. Such refusals are counted anew once the turn has changed something: it does not stall.
        """
        key = (refusal.tool, _target(refusal.target), refusal.code)
        if epoch is not None and self._epochs.get(key, epoch) != epoch:
            self._streaks.pop(key, None)
        if epoch is not None:
            self._epochs[key] = epoch
        before = self._counts.get(key)
        self._counts[key] = CountedRefusal(refusal, 1 if before is None else before.count + 1)
        self._streaks[key] = self._streaks.get(key, 0) + 1
        return self._streaks[key] >= max(1, self.limit)

    def succeeded(self, target: str) -> None:
        """Any successful call on `target` forgives its refusals so far."""
        wanted = _target(target)
        for key in [key for key in self._streaks if key[1] == wanted]:
            del self._streaks[key]

    def refusals(self) -> tuple[CountedRefusal, ...]:
        """Every refusal of the turn with its total count, in the order first met."""
        return tuple(self._counts.values())


def _target(target: str) -> str:
    """Paths by their normal spelling, commands with their spaces collapsed."""
    collapsed = " ".join(target.split())
    return collapsed if " " in collapsed else normal(collapsed)
