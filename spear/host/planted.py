"""Planted build products from turn to turn, session to session: what is still there as it was put there counts on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from spear.evidence.roots import root_of, within_root
from spear.host.changes import link_digest
from spear.host.recorder import Recorder
from spear.state.planted import PlantedProducts
from spear.workspace.beneath import Beneath
from spear.workspace.roots import Roots
from spear.workspace.tree_state import NodeKind, observe


class PlantedMemory:
    """Brings what the workspace remembers into a turn's recorder, and what the turn found out back. Every root has a
    memory of its own, so that a session launched there shares it; another root's is read once the turn changes source
    there, and from the start where the primary root builds with it (`builds_with`, given its name and its place)."""

    def __init__(
        self,
        store_of: Callable[[Path], PlantedProducts],
        roots: Roots,
        recorder: Recorder,
        builds_with: Callable[[str, Path], bool],
    ) -> None:
        self._store_of = store_of
        self._roots = {"": roots.primary, **{f"/workspaces/{name}": place for name, place in roots.others.items()}}
        self._recorder = recorder
        self._before: dict[str, dict[str, str]] = {"": {}}
        others = ((root, place) for root, place in self._roots.items() if root)
        self._before |= {root: {} for root, place in others if store_of(place).recall() and builds_with(root, place)}
        self.look()

    def look(self) -> None:
        """Take over what any session has remembered by now of the roots in use. Reads one small file a root, as a rule
        absent."""
        for root in self._before:
            self._recall(root)

    def changed_in(self, roots: Iterable[str]) -> None:
        """The turn changes source in these roots, by their recorded names: what is remembered of them counts."""
        for root in roots:
            if root not in self._before and root in self._roots:
                self._before[root] = {}
                self._recall(root)

    def keep(self) -> None:
        """Remember what this turn leaves. Raises StateError."""
        now: dict[str, dict[str, str]] = {root: {} for root in self._before}
        for path, sha in self._recorder.products.planted:
            if sha is not None and (root := root_of(path)) in self._roots:
                now.setdefault(root, {})[within_root(path)] = sha
        for root, products in now.items():
            self._store_of(self._roots[root]).remember(self._before.get(root, {}), products)

    def _recall(self, root: str) -> None:
        before, place = self._before[root], self._roots[root]
        found = {path: sha for path, sha in self._store_of(place).recall().items() if path not in before}
        if not found:
            return
        before |= found
        still = {f"{root}/{path}" if root else path: sha for path, sha in found.items() if _is_still(place, path, sha)}
        products = self._recorder.products
        known = {**still, **{path: sha for path, sha in products.planted if sha is not None}}
        made = {path for path, _ in products.made}
        left = tuple(sorted((path, sha) for path, sha in known.items() if path not in made))
        self._recorder.products = replace(products, planted=left)


def _is_still(root: Path, path: str, sha: str) -> bool:
    """Whether the product is as it was put there: whoever made it anew outside of any session took it back."""
    try:
        with Beneath(root) as tree:
            state = observe(tree, path)
    except OSError:
        return False
    return (link_digest(state.target) if state.kind is NodeKind.LINK else state.sha256) == sha
