"""What turns changed, as a unified diff from the contents checkpoints kept to what is in the tree now (spec 3.6)."""

from __future__ import annotations

import os
import tempfile

from spear.cli.application import Application
from spear.host.files import diff_text
from spear.workspace.beneath import Beneath
from spear.workspace.blobs import BlobStore, MissingBlob
from spear.workspace.checkpoint_store import CheckpointStore
from spear.workspace.tree_state import NodeKind, PathState, open_regular
from spear.workspace.undo_plan import Restore

_LARGEST = 2 << 20


def difference(app: Application, scope: str) -> str:
    """The diff of the last changing turn (`turn`) or of all turns of this session (`session`); "" for none."""
    manager, root = app.host.checkpoints, app.roots.primary
    mine = manager.listing(root, app.session)
    count = min(1, len(mine)) if scope == "turn" else len(mine)
    if not count:
        return ""
    plan = manager.undo(root, count, None, app.session)
    blobs = CheckpointStore(app.state.checkpoints).blobs
    with Beneath(root) as tree:
        return "".join(_of_path(change, tree, blobs) for change in plan.changes)


def _of_path(change: Restore, tree: Beneath, blobs: BlobStore) -> str:
    before, now = _stored(change.target, blobs), _present(change.path, change.now, tree)
    if before is None or now is None:
        return f"--- a/{change.path}\n+++ b/{change.path}\n(too large to show, or not kept)\n"
    return diff_text(change.path, before, now)


def _stored(state: PathState, blobs: BlobStore) -> bytes | None:
    """What was there before; None when it cannot be shown."""
    if state.kind is not NodeKind.FILE:
        return f"link to {state.target}\n".encode() if state.kind is NodeKind.LINK else b""
    if state.size > _LARGEST:
        return None
    with tempfile.TemporaryFile() as scratch:
        try:
            blobs.copy_to(state.sha256, scratch.fileno())
        except MissingBlob:
            return None
        scratch.seek(0)
        return scratch.read()


def _present(path: str, state: PathState, tree: Beneath) -> bytes | None:
    """What is there now; None when it cannot be shown."""
    if state.kind is not NodeKind.FILE:
        return f"link to {state.target}\n".encode() if state.kind is NodeKind.LINK else b""
    descriptor = open_regular(tree, path) if state.size <= _LARGEST else None
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(_LARGEST + 1)
