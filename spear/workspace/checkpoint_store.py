"""Where checkpoints live: journals by workspace root, contents by digest, one lock; and pruning (spec 1.5)."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spear.workspace.beneath import Beneath
from spear.workspace.blobs import BlobStore, private_directory
from spear.workspace.checkpoint_journal import OPEN, RESTING, TurnJournal, read_journal, retire
from spear.workspace.tree_state import NodeKind
from spear.workspace.undo_apply import sweep_beside

_DEPTH = 500


@dataclass(frozen=True, slots=True)
class CheckpointLimits:
    """Bytes: one file's previous content larger than `per_file` is not kept (and is named when an undo needs it);
    `total` is what pruning keeps the store under.
    """

    per_file: int = 1 << 30
    total: int = 5 << 30


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What pruning frees (or freed): checkpoints by id, and bytes on disk; `kept_bytes` is what stays."""

    checkpoints: tuple[str, ...]
    bytes: int
    kept_bytes: int


class CheckpointStore:
    """The files under `directory`. Constructed without touching the disk. Raises OSError."""

    def __init__(self, directory: Path) -> None:
        self._store = directory
        self.blobs = BlobStore(directory / "blobs")

    def directory(self, root: Path) -> Path:
        """Where the journals of one workspace root are."""
        return self._store / "turns" / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]

    def journals(self, root: Path) -> list[TurnJournal]:
        """The journals of a root in the order of time; the newest few hundred."""
        files = sorted((f for f in self._files(self.directory(root))), key=lambda file: file.stem)[-_DEPTH:]
        found = [read_journal(file) for file in files]
        return [journal for journal in found if journal is not None and journal.root == root]

    @staticmethod
    def _files(directory: Path) -> Iterator[Path]:
        return (file for file in directory.glob("*") if file.suffix in (OPEN, RESTING))

    def forget(self, journal: TurnJournal) -> None:
        """Remove a journal that has nothing to say, and its archives."""
        journal.file.with_suffix(RESTING).unlink(missing_ok=True)
        journal.file.unlink(missing_ok=True)
        self.blobs.discard_archives(journal.id)

    def sweep(self, root: Path) -> None:
        """Remove the temporary files that killed turns left beside what they were writing; once a turn."""
        for file in self.directory(root).glob(f"*{OPEN}"):
            journal = read_journal(file)
            if journal is None or journal.running or journal.root != root:
                continue
            with contextlib.suppress(OSError), Beneath(root) as tree:
                sweep_beside(tree, list(journal.entries))
                retire(file)

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """While held, contents being stored are not pruned before the journal that names them is there."""
        with self._locked(fcntl.LOCK_SH):
            yield

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        private_directory(self._store)
        fd = os.open(self._store / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, how)
            yield
        finally:
            os.close(fd)

    def prune(self, limit: int, *, perform: bool) -> PruneReport:
        """What must go for the contents to fit `limit` bytes: the oldest turns, and contents that no turn names."""
        with self._locked(fcntl.LOCK_EX):
            sizes = self.blobs.sizes()
            files = [file for directory in self._store.glob("turns/*") for file in self._files(directory)]
            journals = sorted((j for f in files if (j := read_journal(f)) is not None), key=lambda j: j.id)
            users: dict[str, int] = {}
            for journal in journals:
                for sha in _contents(journal):
                    users[sha] = users.get(sha, 0) + 1
            unused = {sha for sha in sizes if sha not in users}
            archived = self.blobs.archived()
            ownerless = archived.keys() - {journal.id for journal in journals}
            freed = sum(archived.pop(owner) for owner in ownerless)
            kept = sum(size for sha, size in sizes.items() if sha not in unused) + sum(archived.values())
            gone: list[TurnJournal] = []
            for journal in journals:
                if kept <= limit:
                    break
                if journal.running:
                    continue
                gone.append(journal)
                kept -= archived.get(journal.id, 0)
                freed += archived.get(journal.id, 0)
                for sha in _contents(journal):
                    users[sha] -= 1
                    if not users[sha] and sha in sizes:
                        unused.add(sha)
                        kept -= sizes[sha]
            if perform:
                self.blobs.sweep()
                for journal in gone:
                    self.forget(journal)
                for owner in ownerless:
                    self.blobs.discard_archives(owner)
                for sha in unused:
                    self.blobs.discard(sha)
        return PruneReport(tuple(journal.id for journal in gone), freed + sum(sizes[sha] for sha in unused), kept)


def _contents(journal: TurnJournal) -> set[str]:
    return {e.before.sha256 for e in journal.entries.values() if e.before.kind is NodeKind.FILE and e.kept}
