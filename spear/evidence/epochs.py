"""Source epochs: which state of the delivered source a check ran on (spec 3.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from spear.evidence.records import Change

FileState: TypeAlias = tuple[str | None, int | None]
"""A file's content digest (None: absent) and its permission bits (None: not known to have changed)."""


def fingerprint(states: Mapping[str, FileState]) -> str:
    """A digest of a set of paths and their states, independent of their order: lowercase hex SHA-256."""
    digest = hashlib.sha256()
    for path in sorted(states):
        sha256, mode = states[path]
        for part in (path, sha256 or "-", "-" if mode is None else oct(mode)):
            encoded = part.encode("utf-8", "surrogateescape")
            digest.update(f"{len(encoded)}:".encode() + encoded)
    return digest.hexdigest()


UNCHANGED = fingerprint({})
"""The fingerprint of a tree that is as the turn found it."""


@dataclass(frozen=True, slots=True)
class EpochLedger:
    """The turn's delivered source as a difference from its start. Immutable: `after` gives the next ledger.

    Fingerprints are taken over what differs from the start of the turn, so they cost the changed files only, and two
    states of the same turn are equal exactly when their fingerprints are.
    """

    epoch: int = 0
    start: tuple[tuple[str, FileState], ...] = ()
    current: tuple[tuple[str, FileState], ...] = ()

    def after(self, changes: Iterable[Change]) -> EpochLedger:
        """The ledger after the changes of one call, in order. Opens one epoch if any of them is delivered."""
        delivered = [change for change in changes if change.delivered]
        if not delivered:
            return self
        start, current = dict(self.start), dict(self.current)
        for change in delivered:
            known = current.get(change.path, (change.before_sha256, None))
            before_mode = change.before_mode if change.before_mode is not None else known[1]
            start.setdefault(change.path, (change.before_sha256, before_mode))
            first = start[change.path]
            if first[1] is None and change.before_mode is not None:
                start[change.path] = (first[0], change.before_mode)
            mode = change.after_mode if change.after_mode is not None else (known[1] or start[change.path][1])
            current[change.path] = (change.after_sha256, None if change.after_sha256 is None else mode)
        return EpochLedger(self.epoch + 1, tuple(sorted(start.items())), tuple(sorted(current.items())))

    def moved_since(self, earlier: EpochLedger) -> frozenset[str]:
        """The paths whose state differs from what it was in an earlier ledger of the turn."""
        then, now = dict(earlier.current), dict(self.current)
        return frozenset(path for path in now if now[path] != then.get(path, dict(self.start)[path]))

    def began_absent(self, path: str) -> bool:
        """Whether the turn found nothing at a path it has changed since."""
        return any(name == path and state[0] is None for name, state in self.start)

    @property
    def differences(self) -> dict[str, FileState]:
        """The paths that differ from the start of the turn, with their present state."""
        start = dict(self.start)
        return {path: state for path, state in self.current if not _same(start[path], state)}

    @property
    def fingerprint(self) -> str:
        """The present state's fingerprint; `UNCHANGED` when everything is as it was."""
        return fingerprint(self.differences)

    def net_changes(self) -> tuple[tuple[str, str], ...]:
        """(path, created | modified | deleted | mode) of each delivered file that differs from the start."""
        start = dict(self.start)
        return tuple((path, _kind(start[path], state)) for path, state in sorted(self.differences.items()))


def _same(before: FileState, after: FileState) -> bool:
    if before[0] != after[0]:
        return False
    return before[0] is None or before[1] == after[1]


def _kind(before: FileState, after: FileState) -> str:
    if before[0] is None:
        return "created"
    if after[0] is None:
        return "deleted"
    return "mode" if before[0] == after[0] else "modified"
