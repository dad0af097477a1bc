"""One pass over a store: episodes become data or a counted reason why not (spec 7)."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from spear.training.curation import Parts, select
from spear.training.episode import Episode
from spear.training.families import split_of
from spear.training.governance import Admission, Exclusion, Governance
from spear.training.ledger import Ledger
from spear.training.preferences import pairs
from spear.training.source import Found, Problem, Source
from spear.training.vocabulary import Split


class DatasetSink(Protocol):
    """Where lines of datasets go."""

    def write(self, dataset: str, split: Split, line: Parts) -> None:
        """Add a line to `datasets/sft`, `trl/dpo` and so on."""
        ...


class Nowhere:
    """A sink for a pass that only counts."""

    def write(self, dataset: str, split: Split, line: Parts) -> None:
        """Nothing is kept."""


@dataclass(slots=True)
class Tally:
    """What a pass found. `samples` counts lines by (dataset, split)."""

    episodes: int = 0
    origins: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    samples: Counter[tuple[str, Split]] = field(default_factory=Counter)
    labels: Counter[tuple[bool, Split]] = field(default_factory=Counter)
    families: dict[Split, int] = field(default_factory=dict)
    duplicates: int = 0
    partial_contexts: int = 0
    altered: tuple[str, ...] = ()
    source_digest: str = ""


class Curation:
    """Runs the pass. One instance a pass."""

    def __init__(self, source: Source, governance: Governance, ledger: Ledger, sink: DatasetSink) -> None:
        self._source = source
        self._governance = governance
        self._ledger = ledger
        self._sink = sink
        self.tally = Tally()

    def run(self) -> Tally:
        """The whole pass. Raises CurationError for a record that would train what was not selected."""
        tally = self.tally
        digest = hashlib.sha256()
        listed = 0
        for listed, found in enumerate(self._source.episodes(), 1):
            digest.update(f"{found.line.sha256} {found.mark or '-'}\n".encode())
            match found.episode:
                case Problem():
                    tally.problems[found.episode] += 1
                    if found.episode is Problem.ALTERED and len(tally.altered) < 10:
                        tally.altered += (found.line.id,)
                case Episode():
                    self._episode(listed, found, found.episode)
                case _:
                    assert_never(found.episode)
        for pair in pairs(self._source, self._ledger):
            self._write("datasets/paired", pair.split, (pair.preference,))
            self._write("trl/dpo", pair.split, (pair.trl,))
        self._others(listed)
        tally.families = {split: self._ledger.families(split) for split in Split}
        tally.source_digest = digest.hexdigest()
        return tally

    def _episode(self, ordinal: int, found: Found, episode: Episode) -> None:
        tally = self.tally
        if not self._ledger.new_episode(found.line.sha256):
            tally.duplicates += 1
            return
        facts = episode.facts
        tally.episodes += 1
        tally.origins[facts.origin] += 1
        tally.outcomes[facts.outcome] += 1
        if found.mark is not None:
            tally.marks[found.mark] += 1
        match self._governance.decide(episode, found.mark):
            case Exclusion() as exclusion:
                tally.excluded[exclusion] += 1
                if split_of((facts.family,)) is Split.HOLDOUT:
                    self._ledger.family(Split.HOLDOUT, facts.family)
            case Admission() as admission:
                self._admitted(ordinal, found, episode, admission)

    def _admitted(self, ordinal: int, found: Found, episode: Episode, admission: Admission) -> None:
        facts = episode.facts
        self._ledger.family(admission.split, facts.family)
        if facts.whole_context:
            self._ledger.steps(ordinal, found.raw, admission.split, admission.desirable, facts.steps)
        else:
            self.tally.partial_contexts += 1
        _, context, completion = facts.steps[-1]
        if not self._ledger.new_sample(context, completion, admission.desirable):
            self.tally.duplicates += 1
            return
        split, desirable = admission.split, admission.desirable
        sample = select(episode)
        if desirable:
            self._write("datasets/sft", split, sample.sft())
        self._write("datasets/unpaired", split, sample.labelled(desirable))
        self._write("trl/desirable" if desirable else "trl/undesirable", split, sample.prompt_completion(desirable))
        self.tally.labels[(desirable, split)] += 1

    def _write(self, dataset: str, split: Split, line: Parts) -> None:
        self.tally.samples[(dataset, split)] += 1
        self._sink.write(dataset, split, line)

    def _others(self, listed: int) -> None:
        """What lies in the store beside the listed episodes."""
        problems = self.tally.problems
        problems[Problem.UNREADABLE] += self._source.unreadable_lines
        problems[Problem.UNLISTED] += self._source.unlisted(listed - problems[Problem.MISSING])
        problems[Problem.UNFINISHED] += self._source.unfinished()
        self.tally.problems = +problems
