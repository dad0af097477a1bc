"""What turns changed, as a unified diff from the contents checkpoints kept to what is in the tree now (spec 3.6)."""

from __future__ import annotations

import os
import tempfile

from spear.cli.application import Application
from spear.host.files import diff_text
from spear.workspace.beneath import Beneath
from spear.workspace.blobs import MissingBlob, StoredContents
from spear.workspace.checkpoint_store import CheckpointStore
from spear.workspace.delivered import DeliveredSource
from spear.workspace.tree_state import NodeKind, PathState, open_regular
from spear.workspace.undo_plan import Restore

_LARGEST = 2 << 20
_NAMED = 3


def difference(app: Application, scope: str) -> str:
    """The diff of the last changing turn (`turn`) or of all turns of this session (`session`); "" for none."""
    manager, root = app.host.checkpoints, app.roots.primary
    mine = manager.listing(root, app.session)
    count = min(1, len(mine)) if scope == "turn" else len(mine)
    if not count:
        return ""
    plan = manager.undo(root, count, None, app.session)
    source = DeliveredSource(root)
    files = [change for change in plan.changes if NodeKind.DIRECTORY not in (change.now.kind, change.target.kind)]
    shown = [change for change in files if source.is_delivered(change.path)]
    with Beneath(root) as tree, CheckpointStore(app.state.checkpoints).blobs.reading() as contents:
        text = "".join(_of_path(change, tree, contents) for change in shown)
    return text + _others([change.path for change in files if change not in shown])


def _others(paths: list[str]) -> str:
    """What changed besides delivered source: ignored files, caches, build output. Named, not shown."""
    if not paths:
        return ""
    places = sorted({path.split("/")[0] for path in paths})
    more = f" and {len(places) - _NAMED} more places" if len(places) > _NAMED else ""
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    return f"besides, ignored by git or built: {files} in {', '.join(places[:_NAMED])}{more}\n"


def _of_path(change: Restore, tree: Beneath, contents: StoredContents) -> str:
    before, now = _stored(change.target, contents), _present(change.path, change.now, tree)
    head = f"--- a/{change.path}\n+++ b/{change.path}\n"
    if before is None or now is None:
        return f"{head}(too large to show, or not kept)\n"
    if b"\0" in before or b"\0" in now:
        return f"{head}(binary: {len(before)} bytes before, {len(now)} now)\n"
    return diff_text(change.path, before, now)


def _stored(state: PathState, contents: StoredContents) -> bytes | None:
    """What was there before; None when it cannot be shown."""
    if state.kind is not NodeKind.FILE:
        return f"link to {state.target}\n".encode() if state.kind is NodeKind.LINK else b""
    if state.size > _LARGEST:
        return None
    with tempfile.TemporaryFile() as scratch:
        try:
            contents.copy_to(state.sha256, scratch.fileno())
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
