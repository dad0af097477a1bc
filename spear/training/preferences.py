"""FT2: preference pairs of two observed completions of exactly the same model-visible context (spec 7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spear.state.lines import canonical
from spear.training.curation import CurationError
from spear.training.episode import Episode
from spear.training.ledger import Ledger
from spear.training.source import Source
from spear.training.vocabulary import Split


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair as it is written: `preference` for a chat-template trainer, `trl` as TRL reads it."""

    split: Split
    preference: bytes
    trl: bytes


def pairs(source: Source, ledger: Ledger) -> Iterator[Pair]:
    """Every pair. The digests propose; the messages themselves are compared before a pair is made.

    Raises CurationError when equal digests turn out to stand for different contexts.
    """
    for better, worse in ledger.pairs():
        one, other = source.read(better.line), source.read(worse.line)
        context, chosen = _at(one, better.place)
        same, rejected = _at(other, worse.place)
        if context != same or one.tools != other.tools:
            raise CurationError(f"episodes {one.id} and {other.id} do not share a context")
        split = Split.VALIDATION if Split.VALIDATION in (better.split, worse.split) else Split.TRAIN
        tools = json.loads(one.tools)
        ids = f"{one.id}.{other.id}.{better.place}"
        yield Pair(
            split,
            _line({"id": ids, "messages": context, "chosen": chosen, "rejected": rejected, "tools": tools}),
            _line({"prompt": context, "chosen": [chosen], "rejected": [rejected], "tools": tools}),
        )


def _at(episode: Episode, place: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    messages = [*json.loads(episode.context), json.loads(episode.target)]
    return messages[:place], messages[place]


def _line(record: dict[str, Any]) -> bytes:
    return canonical(record) + b"\n"
