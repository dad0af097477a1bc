"""Where the roots of one command come from: an overlay each, or the tree itself read-only."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spear.sandbox.closure import protect
from spear.sandbox.launcher import Overlay
from spear.sandbox.namespaces import STAGE
from spear.sandbox.plan import PlacedRoot
from spear.sandbox.request import RootMount


@dataclass(frozen=True, slots=True)
class Placement:
    """The roots as they are mounted. `walk` are (overlay, destination) to look at again right before the start;
    `watched` are closed paths to take out of each upper layer afterwards.
    """

    roots: tuple[PlacedRoot, ...]
    overlays: tuple[Overlay, ...]
    walk: tuple[tuple[int, str], ...]
    watched: tuple[tuple[Path, tuple[str, ...]], ...]


def place(roots: Sequence[RootMount], *, overlay: bool, reach: Callable[[str], str]) -> Placement:
    """Decide for every root, making its upper layer. Without `overlay` all are read-only. Raises OSError."""
    placed: list[PlacedRoot] = []
    overlays: list[Overlay] = []
    walk: list[tuple[int, str]] = []
    watched: list[tuple[Path, tuple[str, ...]]] = []
    for root in roots:
        protection = protect(root.path, root.closed, root.hidden)
        if root.writes is not None and overlay:
            index = len(overlays)
            make_upper(root.path, root.writes)
            overlays.append(Overlay(root.path, root.writes))
            walk += [(index, name) for name in protection.destinations]
            watched.append((root.writes, protection.watched))
            placed.append(PlacedRoot(str(root.path), f"{STAGE}/{index}", True, root.alias, protection))
        else:
            placed.append(PlacedRoot(str(root.path), reach(str(root.path)), False, root.alias, protection))
    return Placement(tuple(placed), tuple(overlays), tuple(walk), tuple(watched))


def make_upper(lower: Path, upper: Path) -> None:
    """Make an upper layer. The merged root has its mode and owner, so those of the tree are given to it."""
    if upper.exists():
        return
    upper.mkdir(mode=0o700, parents=True)
    status = lower.stat()
    if os.geteuid() == 0:
        os.chown(upper, status.st_uid, status.st_gid)
    upper.chmod(status.st_mode & 0o7777)
