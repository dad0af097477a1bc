"""Whether a frozen bundle is what was frozen: every byte, nothing more, nothing less, and fit to train on (spec 7)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spear.training.bundle_files import DATASETS, file_name
from spear.training.curation import CurationError, check_line
from spear.training.identity import bundle_id
from spear.training.vocabulary import PROHIBITED, Split

_LISTING = "checksums.sha256"
_SHOWN = 20


def problems(bundle: Path) -> list[str]:
    """What is wrong with the bundle, one sentence each, at most twenty; empty when it is as it was frozen."""
    found = []
    for problem in _all(bundle):
        found.append(problem)
        if len(found) == _SHOWN:
            return [*found, "and perhaps more"]
    return found


def _all(bundle: Path) -> Iterator[str]:
    listed = _listing(bundle)
    if listed is None:
        yield f"{bundle} is no bundle: it has no {_LISTING} that can be read"
        return
    damaged = list(_damaged(bundle, listed))
    yield from damaged
    if damaged:
        return
    yield from _identity(bundle, listed)
    for dataset, check in _CHECKS.items():
        for split in (Split.TRAIN, Split.VALIDATION):
            yield from _records(bundle, file_name(dataset, split), check)


def _listing(bundle: Path) -> dict[str, str] | None:
    try:
        lines = (bundle / _LISTING).read_text(encoding="utf-8").splitlines()
        return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    except (OSError, ValueError):
        return None


def _damaged(bundle: Path, listed: dict[str, str]) -> Iterator[str]:
    present = {str(path.relative_to(bundle)) for path in bundle.rglob("*") if path.is_symlink() or not path.is_dir()}
    for name in sorted(present - listed.keys() - {_LISTING}):
        yield f"{name} is not part of the bundle"
    for name in sorted(listed.keys() - present):
        yield f"{name} is missing"
    for name in sorted(listed.keys() & present):
        path = bundle / name
        if path.is_symlink() or not path.is_file():
            yield f"{name} is no regular file"
            continue
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != listed[name]:
                yield f"{name} does not match its checksum"


def _identity(bundle: Path, listed: dict[str, str]) -> Iterator[str]:
    try:
        manifest = json.loads((bundle / "manifest.json").read_bytes())
        governance = json.loads((bundle / "governance.json").read_bytes())
        runbook = (bundle / "RUNBOOK.md").read_text(encoding="utf-8")
        files, identity, smoke = manifest["files"], manifest["bundle_id"], manifest["smoke_test_only"]
        origins = set(governance["admitted_origins"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield f"the manifest cannot be read: {type(error).__name__}"
        return
    if files != {name: digest for name, digest in listed.items() if name != "manifest.json"}:
        yield "manifest.json and checksums.sha256 list different files"
    if identity != bundle_id(listed):
        yield f"the bundle calls itself {identity} and is {bundle_id(listed)}"
    if bundle.resolve().name.startswith("bundle-") and bundle.resolve().name != identity:
        yield f"the directory is called {bundle.resolve().name} and holds {identity}"
    if smoke is not bool(origins & PROHIBITED):
        yield "smoke_test_only does not follow from the admitted origins"
    if smoke and ("axolotl train" in runbook or "trl " in runbook):
        yield "the runbook of a smoke-test bundle names a training command"


def _records(bundle: Path, name: str, check: Callable[[bytes], None]) -> Iterator[str]:
    with (bundle / name).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                check(line)
            except CurationError as error:
                yield f"{name}, line {number}: {error.message}"


def _check_pair(line: bytes) -> None:
    record: dict[str, Any] = json.loads(line)
    chosen, rejected = record["chosen"], record["rejected"]
    if chosen == rejected or {chosen["role"], rejected["role"]} != {"assistant"}:
        raise CurationError("a pair needs two different assistant messages")


_CHECKS: dict[str, Callable[[bytes], None]] = dict(zip(DATASETS, (check_line, check_line, _check_pair), strict=True))
