"""What curation remembers: exactly what was met, whatever its digests have in common."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spear.training.ledger import Ledger
from spear.training.lists import ManifestLine
from spear.training.vocabulary import Split

ALIKE = st.builds("{0:06x}{1:052x}{2:06x}".format, *(st.integers(0, 2) for _ in range(3)))
"""Digests that differ at their beginning, in their middle, or at their end."""


@given(st.lists(ALIKE, max_size=40))
def test_an_episode_is_new_once(tmp_path_factory, digests):
    with Ledger(tmp_path_factory.mktemp("ledger") / "ledger.sqlite3") as ledger:
        met: set[str] = set()
        for digest in digests:
            assert ledger.new_episode(digest) is (digest not in met)
            met.add(digest)


def test_more_than_waits_in_memory_is_remembered_too(tmp_path: Path):
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        digests = [f"{n % 7:06x}{n:052x}{n % 5:06x}" for n in range(5_000)]
        assert all(ledger.new_episode(digest) for digest in digests)
        assert not any(ledger.new_episode(digest) for digest in digests)


def test_a_sample_is_new_once_for_each_context_target_and_outcome(tmp_path: Path):
    kinds = list(product(("0" * 32, "1" * 32), ("2" * 32, "3" * 32), (False, True)))
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        assert all(ledger.new_sample(*kind) for kind in kinds)
        assert not any(ledger.new_sample(*kind) for kind in kinds)


def test_contexts_with_the_same_beginning_are_not_paired(tmp_path: Path):
    line = ManifestLine(session="s", turn=1, sha256="a" * 64, bytes=1).model_dump_json().encode()
    with Ledger(tmp_path / "ledger.sqlite3") as ledger:
        for ordinal, (context, said, desirable) in enumerate(
            [("0" * 32, "1" * 32, True), ("0" * 31 + "1", "2" * 32, False), ("0" * 32, "3" * 32, False)]
        ):
            ledger.steps(ordinal, line, Split.TRAIN, desirable, ((ordinal, context, said),))
        assert [(chosen.place, rejected.place) for chosen, rejected in ledger.pairs()] == [(0, 2)]
