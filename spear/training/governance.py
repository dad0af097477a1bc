"""Which episodes may become data, and why each other one may not (spec 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from spear.events.names import Stop
from spear.training.episode import Episode
from spear.training.families import split_of
from spear.training.vocabulary import PROHIBITED, DataOrigin, Mark, Rating, Split


class Exclusion(StrEnum):
    """Why an episode is not used. The first that holds is the one recorded."""

    MARKED_BAD = "marked_bad"
    ORIGIN = "origin_not_admitted"
    STANDARD_TEXT = "standard_text"
    CONFLICT = "marked_good_but_failed"
    UNRATED = "unrated"
    NO_ANSWER = "no_answer"
    STOPPED = "stopped_early"
    HOLDOUT = "holdout"


@dataclass(frozen=True, slots=True)
class Admission:
    """An episode that may be used: whether it is an example to follow, and its split (never HOLDOUT)."""

    desirable: bool
    split: Split


@dataclass(frozen=True, slots=True)
class Governance:
    """The rules of one bundle: the origins it admits."""

    origins: frozenset[DataOrigin] = frozenset({DataOrigin.NORMAL_USAGE})

    @classmethod
    def admitting(cls, also: Iterable[DataOrigin]) -> Governance:
        """NORMAL_USAGE and what the operator names."""
        return cls(frozenset({DataOrigin.NORMAL_USAGE, *also}))

    @property
    def smoke_test_only(self) -> bool:
        """Whether a bundle under these rules may only prove that it loads."""
        return bool(self.origins & PROHIBITED)

    def decide(self, episode: Episode, mark: Mark | None) -> Admission | Exclusion:
        """Whether and as what an episode is used."""
        exclusion = self._by_rule(episode, mark)
        if exclusion is not None:
            return exclusion
        split = split_of(episode.facts.families)
        if split is Split.HOLDOUT:
            return Exclusion.HOLDOUT
        return Admission(mark is Mark.GOOD or episode.facts.outcome is Rating.PASS, split)

    def _by_rule(self, episode: Episode, mark: Mark | None) -> Exclusion | None:
        facts = episode.facts
        if mark is Mark.BAD:
            return Exclusion.MARKED_BAD
        if facts.origin not in self.origins:
            return Exclusion.ORIGIN
        if facts.standard_text:
            return Exclusion.STANDARD_TEXT
        if mark is Mark.GOOD and facts.outcome is Rating.FAIL:
            return Exclusion.CONFLICT
        if mark is None and facts.outcome is Rating.UNRATED:
            return Exclusion.UNRATED
        if episode.target == b"null" or not facts.steps:
            return Exclusion.NO_ANSWER
        return Exclusion.STOPPED if facts.stop != Stop.ANSWERED.value else None
