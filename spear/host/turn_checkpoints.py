"""The checkpoints of one turn: one a workspace root, begun when the turn first changes something there (spec 3.6).

Undo is keyed by root: what a turn changed in another root is put back from that root's own directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.roots import PRIMARY, Location, Roots
from spear.workspace.tree_state import PathState


class TurnCheckpoints:
    """Keeps what is about to change, root by root. Git directories that lie outside the roots are git's own to undo."""

    def __init__(
        self,
        roots: Roots,
        primary: CheckpointManager,
        another: Callable[[], CheckpointManager],
        session: str,
        turn: int,
    ) -> None:
        self._roots = roots
        self._another = another
        self._session = session
        self._turn = turn
        primary.begin(session, turn, roots.primary)
        self._managers: dict[Path, CheckpointManager] = {roots.primary: primary}

    def protect(self, locations: Iterable[Location]) -> list[str]:
        """Make the present state of these paths durable; those newly kept, as shown. Raises OSError."""
        fresh: list[str] = []
        for root, paths in self._by_root(locations).items():
            shown = {location.relative: location.shown for location in paths}
            kept = self._manager(root).protect(list(shown))
            fresh += [shown.get(path, path) for path in kept]
        return fresh

    def settled(self, locations: Iterable[Location], known: Mapping[Location, PathState] | None = None) -> None:
        """Note what the turn left at these paths, as far as it is `known`, else as they are now."""
        for root, paths in self._by_root(locations).items():
            left = {place.relative: known[place] for place in paths if known is not None and place in known}
            self._manager(root).record_after([location.relative for location in paths], left)

    def finish(self) -> None:
        """The turn is over: every checkpoint is complete."""
        for manager in self._managers.values():
            manager.finish()

    def _by_root(self, locations: Iterable[Location]) -> dict[Path, list[Location]]:
        found: dict[Path, list[Location]] = {}
        for location in locations:
            if location.root_name == PRIMARY or location.root_name in self._roots.others:
                found.setdefault(location.root, []).append(location)
        return found

    def _manager(self, root: Path) -> CheckpointManager:
        if root not in self._managers:
            manager = self._another()
            manager.begin(self._session, self._turn, root)
            self._managers[root] = manager
        return self._managers[root]
