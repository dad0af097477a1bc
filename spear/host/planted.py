"""Planted build products from turn to turn, session to session: what is still there as it was put there counts on."""

from __future__ import annotations

from pathlib import Path

from spear.evidence.products import Products
from spear.host.changes import link_digest
from spear.host.recorder import Recorder
from spear.state.planted import PlantedProducts
from spear.workspace.beneath import Beneath
from spear.workspace.tree_state import NodeKind, observe


class PlantedMemory:
    """Brings what the workspace remembers into a turn's recorder, and what the turn found out back."""

    def __init__(self, store: PlantedProducts, root: Path, recorder: Recorder) -> None:
        self._store = store
        self._root = root
        self._recorder = recorder
        self._before: dict[str, str] = {}
        self.look()

    def look(self) -> None:
        """Take over what any session of the workspace has remembered by now. Reads one small file, as a rule absent."""
        found = {path: sha for path, sha in self._store.recall().items() if path not in self._before}
        if found:
            self._before |= found
            still = {path: sha for path, sha in found.items() if self._is_still(path, sha)}
            products = self._recorder.products
            known = {**still, **{path: sha for path, sha in products.planted if sha is not None}}
            made = {path for path, _ in products.made}
            self._recorder.products = Products(
                tuple(sorted((path, sha) for path, sha in known.items() if path not in made)),
                products.made, products.built, products.state, products.scratch,
            )  # fmt: skip

    def keep(self) -> None:
        """Remember what this turn leaves. Raises StateError."""
        now = {path: sha for path, sha in self._recorder.products.planted if sha is not None}
        self._store.remember(self._before, now)

    def _is_still(self, path: str, sha: str) -> bool:
        """Whether the product is as it was put there: whoever made it anew outside of any session took it back."""
        try:
            with Beneath(self._root) as tree:
                state = observe(tree, path)
        except OSError:
            return False
        return (link_digest(state.target) if state.kind is NodeKind.LINK else state.sha256) == sha
