"""FT3: whether a store is ready to train on, how far, and with which method (spec 7). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spear.training.governance import Exclusion, Governance
from spear.training.source import Problem
from spear.training.tally import Tally
from spear.training.vocabulary import Split

SMOKE_SAMPLES = 8
EXPERIMENT_SAMPLES = 500
EXPERIMENT_FAMILIES = 50
EXPERIMENT_VALIDATION = 20
PAIRS_FOR_DPO = 200
LABELS_FOR_KTO = 100
"""The least of each label in the train split; below that a balance cannot be learned."""


class State(StrEnum):
    """How a store stands."""

    EMPTY = "EMPTY"
    COLLECTING = "COLLECTING"
    READY = "READY"
    BLOCKED = "BLOCKED"
    NEEDS_REVIEW = "NEEDS_REVIEW"


class Level(StrEnum):
    """What the data is good for."""

    NOT_READY = "NOT_READY"
    READY_FOR_SMOKE = "READY_FOR_SMOKE"
    READY_FOR_EXPERIMENT = "READY_FOR_EXPERIMENT"


class Strategy(StrEnum):
    """The method that fits what was collected."""

    COLLECT = "collect"
    SFT = "sft"
    KTO = "kto"
    DPO = "dpo"


@dataclass(frozen=True, slots=True)
class Readiness:
    """The finding. `reasons` are sentences for the operator: what blocks, what to review, what is missing."""

    state: State
    level: Level
    strategy: Strategy
    reasons: tuple[str, ...]


def assess(tally: Tally, governance: Governance) -> Readiness:
    """The readiness of what a pass found."""
    blocked, review = _blocked(tally), _review(tally)
    level, missing = _level(tally, governance)
    if blocked:
        return Readiness(State.BLOCKED, Level.NOT_READY, Strategy.COLLECT, blocked)
    if tally.episodes == 0:
        return Readiness(State.EMPTY, Level.NOT_READY, Strategy.COLLECT, ("nothing was captured yet", *review))
    usual = State.COLLECTING if level is Level.NOT_READY else State.READY
    state = State.NEEDS_REVIEW if review else usual
    return Readiness(state, level, _strategy(tally, level), (*review, *missing))


def _blocked(tally: Tally) -> tuple[str, ...]:
    altered = tally.problems[Problem.ALTERED]
    if not altered:
        return ()
    return (
        f"{altered} episodes do not match their checksum ({', '.join(tally.altered)}): "
        "restore their files, or delete them if they cannot be trusted",
    )


def _review(tally: Tally) -> tuple[str, ...]:
    sentences = (
        (tally.problems[Problem.MISSING], "listed episodes are no longer there"),
        (tally.problems[Problem.UNREADABLE], "records cannot be read"),
        (tally.problems[Problem.UNLISTED], "episode files are in no manifest and are not used"),
        (tally.excluded[Exclusion.CONFLICT], "exchanges were marked good though their turn failed"),
    )
    return tuple(f"{count} {what}" for count, what in sentences if count)


def _level(tally: Tally, governance: Governance) -> tuple[Level, tuple[str, ...]]:
    samples = tally.samples[("datasets/sft", Split.TRAIN)]
    validation = tally.samples[("datasets/sft", Split.VALIDATION)]
    families = tally.families.get(Split.TRAIN, 0)
    if samples < SMOKE_SAMPLES:
        return Level.NOT_READY, (f"{samples} samples to train on; a smoke test takes {SMOKE_SAMPLES}",)
    wanting = [
        f"{count} {what}; an experiment takes {least}"
        for count, what, least in (
            (samples, "samples to train on", EXPERIMENT_SAMPLES),
            (families, "task families to train on", EXPERIMENT_FAMILIES),
            (validation, "samples to validate with", EXPERIMENT_VALIDATION),
        )
        if count < least
    ]
    if governance.smoke_test_only:
        wanting.append("it admits an origin that no real training may use")
    return (Level.READY_FOR_SMOKE if wanting else Level.READY_FOR_EXPERIMENT), tuple(wanting)


def _strategy(tally: Tally, level: Level) -> Strategy:
    if level is Level.NOT_READY:
        return Strategy.COLLECT
    if tally.samples[("datasets/paired", Split.TRAIN)] >= PAIRS_FOR_DPO:
        return Strategy.DPO
    if min(tally.labels[(True, Split.TRAIN)], tally.labels[(False, Split.TRAIN)]) >= LABELS_FOR_KTO:
        return Strategy.KTO
    return Strategy.SFT
