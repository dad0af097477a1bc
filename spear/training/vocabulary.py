"""The words training data is described in: origin, rating, mark, split (spec 7)."""

from __future__ import annotations

from enum import StrEnum


class DataOrigin(StrEnum):
    """Where an episode comes from. NORMAL_USAGE is the only one a real bundle admits by default."""

    NORMAL_USAGE = "NORMAL_USAGE"
    BENCHMARK = "BENCHMARK"
    TEST_FIXTURE = "TEST_FIXTURE"
    SYNTHETIC = "SYNTHETIC"
    MANUAL_IMPORT = "MANUAL_IMPORT"


PROHIBITED = frozenset({DataOrigin.BENCHMARK, DataOrigin.TEST_FIXTURE, DataOrigin.SYNTHETIC})
"""Origins no real training may use: a bundle that admits one is for smoke tests only."""


class Rating(StrEnum):
    """What a turn's judges said. UNRATED means that nothing judged it; such an episode is kept all the same."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    UNRATED = "unrated"


class Mark(StrEnum):
    """What the operator said of an exchange: worth learning from, or never to be trained on."""

    GOOD = "good"
    BAD = "bad"


class Split(StrEnum):
    """The part of the data an episode belongs to, from the freest to the strictest."""

    TRAIN = "train"
    VALIDATION = "validation"
    HOLDOUT = "holdout"
