"""FT3: freezing a store into a deterministic, immutable bundle (spec 7).

The same store gives the same id and the same bytes on every machine: nothing in a bundle is of the time, the place or
the machine it was made on. A bundle appears under its name whole, or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spear.errors import UsageError
from spear.state.files import make_private_directory, state_error, sync_directory
from spear.state.lines import canonical
from spear.training.bundle_files import BundleFiles
from spear.training.governance import Governance
from spear.training.identity import bundle_id
from spear.training.ledger import Ledger
from spear.training.readiness import Readiness, State, assess
from spear.training.report import evaluation_record, governance_record, readiness_page, readiness_record, sample_counts
from spear.training.source import Source
from spear.training.tally import Curation, Nowhere, Tally
from spear.training.trainers import UNCHOSEN_MODEL, configurations, runbook
from spear.training.validation import problems

_STAGING = ".freezing"


@dataclass(frozen=True, slots=True)
class FrozenBundle:
    """A bundle: where it is, what it holds, whether it was there before."""

    id: str
    path: Path
    readiness: Readiness
    tally: Tally
    existed: bool


def survey(source: Source, governance: Governance, scratch: Path) -> tuple[Tally, Readiness]:
    """What a freeze would find; writes nothing but a scratch database in `scratch`, which is gone afterwards."""
    with _staging(scratch) as staging, Ledger(staging / "ledger.sqlite3") as ledger:
        tally = Curation(source, governance, ledger, Nowhere()).run()
    return tally, assess(tally, governance)


def freeze(source: Source, governance: Governance, output: Path, base_model: str = UNCHOSEN_MODEL) -> FrozenBundle:
    """Freeze `source` below `output/bundles/`. Trains nothing.

    Raises UsageError when the store is empty or blocked, StateError when the disk does not take it.
    """
    bundles = output / "bundles"
    with _staging(output) as staging:
        try:
            with Ledger(staging / "ledger.sqlite3") as ledger, BundleFiles(staging / "bundle") as files:
                tally = Curation(source, governance, ledger, files).run()
                readiness = assess(tally, governance)
                _refuse(readiness)
                identity = _complete(files, tally, readiness, governance, base_model)
            return _publish(staging / "bundle", bundles / identity, readiness, tally)
        except OSError as error:
            raise state_error("write the bundle in", output, error) from error


def _refuse(readiness: Readiness) -> None:
    if readiness.state is State.EMPTY:
        raise UsageError("there is nothing to freeze: the store holds no episode", hint="work with capture on first")
    if readiness.state is State.BLOCKED:
        raise UsageError("the store cannot be frozen", hint="; ".join(readiness.reasons))


def _complete(files: BundleFiles, tally: Tally, readiness: Readiness, governance: Governance, model: str) -> str:
    """Everything beside the datasets; returns the id."""
    files.add("governance.json", _json(governance_record(governance, tally)))
    files.add("readiness.json", _json(readiness_record(readiness, tally)))
    files.add("readiness.md", readiness_page(readiness, tally).encode())
    files.add("evaluation-plan.json", _json(evaluation_record(tally)))
    for name, text in configurations(model, tally).items():
        files.add(name, text.encode())
    files.finish_datasets()
    identity = bundle_id(files.digests)
    files.add(
        "RUNBOOK.md",
        runbook(identity, model, readiness, tally, smoke_test_only=governance.smoke_test_only).encode(),
    )
    manifest = {
        "schema": "spear.bundle/1",
        "bundle_id": identity,
        "base_model": model,
        "smoke_test_only": governance.smoke_test_only,
        "source_digest": tally.source_digest,
        "samples": sample_counts(tally),
        "files": dict(sorted(files.digests.items())),
    }
    files.add("manifest.json", _json(manifest))
    listing = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.digests.items()))
    files.add("checksums.sha256", listing.encode())
    return identity


def _publish(made: Path, final: Path, readiness: Readiness, tally: Tally) -> FrozenBundle:
    make_private_directory(final.parent)
    existed = final.exists()
    if existed:
        wrong = problems(final)
        if wrong:
            raise UsageError(
                f"{final} was changed since it was frozen: {wrong[0]}", hint="move it away and freeze again"
            )
    else:
        made.rename(final)
        sync_directory(final.parent)
    return FrozenBundle(final.name, final, readiness, tally, existed)


@contextlib.contextmanager
def _staging(output: Path) -> Iterator[Path]:
    """A scratch directory in `output` that nobody else uses; what a killed freeze left there goes first."""
    make_private_directory(output)
    staging = output / _STAGING
    descriptor = os.open(output, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        shutil.rmtree(staging, ignore_errors=True)
        make_private_directory(staging)
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        os.close(descriptor)


def _json(record: dict[str, Any]) -> bytes:
    return canonical(record) + b"\n"
