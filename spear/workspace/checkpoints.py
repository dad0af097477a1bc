"""Checkpoints: what every path was before a turn changed it, and the way back (spec 3.6).

    begin → (protect → mutation → record_after)* → finish          one turn
    undo / redo → UndoPlan → apply → UndoReport                    at any later time, from any process

`protect` returns only when the previous bytes and the journal naming them are durable, so a kill at any instant
leaves a tree that can be put back. Nothing of git (index, refs, stashes) is ever recorded or restored.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spear.workspace.archives import ArchiveWriter
from spear.workspace.beneath import Beneath
from spear.workspace.checkpoint_journal import (
    OPEN,
    Entry,
    JournalWriter,
    Role,
    TurnJournal,
    begin_line,
    new_identifier,
    state_to_json,
)
from spear.workspace.checkpoint_store import CheckpointLimits, CheckpointStore, PruneReport
from spear.workspace.kernel import sync_file_system
from spear.workspace.tree_state import ABSENT, NodeKind, PathState, observe, open_regular
from spear.workspace.undo_apply import restore
from spear.workspace.undo_plan import Conflict, Restore, Seen, UndoPlan, half_done, plan_restore, stacks

_MANY = 8


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """One line of `/undo list`. `finished` is false for a turn that was killed, `running` for one still at work."""

    id: str
    session: str
    turn: int
    at: float
    paths: tuple[str, ...]
    finished: bool
    running: bool


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo did. `conflicts` were left alone; `restored` and `removed_dirs` are relative paths."""

    id: str
    restored: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    removed_dirs: tuple[str, ...]


class _Turn:
    """The checkpoint being written. Its journal file appears with the first protected path."""

    def __init__(self, journal: TurnJournal) -> None:
        self.journal = journal
        self.writer: JournalWriter | None = None

    def append(self, lines: list[dict[str, Any]], *, durable: bool) -> None:
        if not lines:
            return
        if self.writer is None:
            self.writer = JournalWriter(self.journal.file)
            lines = [begin_line(self.journal), *lines]
        self.writer.append(lines, durable=durable)


class CheckpointManager:
    """The checkpoints under `store`. Constructed without touching the disk; one turn at a time. Methods raise OSError
    when the store or the tree cannot be read or written: then the mutation must not begin.
    """

    def __init__(self, store: Path, limits: CheckpointLimits | None = None) -> None:
        self._limits = limits or CheckpointLimits()
        self._store = CheckpointStore(store)
        self._turn: _Turn | None = None

    # --- writing ------------------------------------------------------------------------------------------------

    def begin(self, session: str, turn: int, root: Path) -> str:
        """Start the checkpoint of one turn on `root` (canonical); its stable id. Temporary files that killed turns
        left beside what they were writing are removed.
        """
        self.finish()
        self._store.sweep(root)
        journal = self._new(root, session, turn)
        self._turn = _Turn(journal)
        return journal.id

    def _new(
        self, root: Path, session: str, turn: int, role: Role = Role.TURN, undoes: tuple[str, ...] = ()
    ) -> TurnJournal:
        identifier = new_identifier()
        file = self._store.directory(root) / f"{identifier}{OPEN}"
        return TurnJournal(identifier, file, root, session, turn, time.time(), role, undoes)

    def protect(self, paths: Iterable[str], becoming: Mapping[str, PathState] | None = None) -> tuple[str, ...]:
        """Keep what is at `paths` (relative to the root), durably, before they are changed. Missing parents are kept
        as missing. `becoming` announces what the mutation will leave, where it is known: after a kill that is what
        tells the turn's own bytes from somebody else's. Returns the paths newly protected. Paths in `.git` are skipped.
        """
        turn, blobs = self._active(), self._store.blobs
        entries = turn.journal.entries
        wanted = [path for path in dict.fromkeys(paths) if ".git" not in path.split("/")]
        many = len(wanted) > _MANY
        lines: list[dict[str, Any]] = []
        fresh: dict[str, Entry] = {}
        with self._store.shared(), Beneath(turn.journal.root) as tree:
            with blobs.archive(turn.journal.id) if many else contextlib.nullcontext() as archive:
                for path in (*self._missing_parents(tree, wanted), *wanted):
                    if path in entries:
                        lines += self._again(tree, path)
                    else:
                        fresh[path] = entry = self._keep(tree, path, archive)
                        before = state_to_json(entry.before)
                        lines.append({"kind": "before", "path": path, "state": before, "kept": entry.kept})
            announced = {path: state for path, state in (becoming or {}).items() if path in entries or path in fresh}
            for path, state in announced.items():
                lines.append({"kind": "intent", "path": path, "state": state_to_json(state)})
            if many:
                blobs.sync_all()
            turn.append(lines, durable=True)
        entries.update(fresh)  # what could not be kept is tried again the next time
        for path, state in announced.items():
            entries[path].intents.append(state)
        return tuple(fresh)

    def _missing_parents(self, tree: Beneath, paths: Sequence[str]) -> list[str]:
        known = self._active().journal.entries
        missing: dict[str, None] = {}
        present: set[str] = set()
        for path in paths:
            parts = path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                parent = "/".join(parts[:depth])
                if parent in present or parent in missing or parent in known:
                    continue
                if tree.lstat(parent) is None:
                    missing[parent] = None
                else:
                    present.add(parent)
        return [parent for parent in missing if parent not in paths]

    def _keep(self, tree: Beneath, path: str, archive: ArchiveWriter | None) -> Entry:
        """Store what is at `path`."""
        fd = open_regular(tree, path)
        if fd is None:
            return Entry(observe(tree, path))
        try:
            found = os.fstat(fd)
            mode = stat.S_IMODE(found.st_mode)
            if found.st_size > self._limits.per_file:
                return Entry(observe(tree, path), kept=False)
            sha, size = self._store.blobs.put(fd, archive)
        finally:
            os.close(fd)
        return Entry(PathState(NodeKind.FILE, mode, sha, size))

    def _again(self, tree: Beneath, path: str) -> list[dict[str, Any]]:
        """A path is about to be changed again: did somebody else change it since the turn last did?"""
        entry = self._active().journal.entries[path]
        if entry.foreign or entry.after is None or observe(tree, path) == entry.after:
            return []
        entry.foreign = True
        return [{"kind": "foreign", "path": path}]

    def record_after(self, paths: Iterable[str], known: Mapping[str, PathState] | None = None) -> None:
        """Note what the turn left at `paths` and at the parents made for them. `known` spares reading back what the
        caller has just put there. Paths that were never protected are ignored.
        """
        turn = self._active()
        entries = turn.journal.entries
        wanted: dict[str, None] = {}
        for path in paths:
            parts = path.split("/")
            wanted.update(dict.fromkeys("/".join(parts[:depth]) for depth in range(1, len(parts) + 1)))
        lines = []
        with Beneath(turn.journal.root) as tree:
            for path in wanted:
                if path not in entries:
                    continue
                state = (known or {}).get(path) or observe(tree, path)
                entries[path].after = state
                entries[path].intents.clear()
                lines.append({"kind": "after", "path": path, "state": state_to_json(state)})
        turn.append(lines, durable=False)

    def finish(self) -> CheckpointInfo | None:
        """End the turn's checkpoint: what it left, None when it changed nothing. Without a turn, does nothing."""
        turn = self._turn
        if turn is None:
            return None
        self.record_after([path for path, entry in turn.journal.entries.items() if entry.after is None])
        self._turn, turn.journal.finished = None, True
        if turn.writer is None:
            return None
        if turn.journal.role is Role.TURN and not turn.journal.changed:
            turn.writer.close()
            self._store.forget(turn.journal)
            return None
        turn.append([{"kind": "finish"}], durable=True)
        turn.writer.close()
        return _info(turn.journal)

    # --- the way back -------------------------------------------------------------------------------------------

    def listing(self, root: Path, session: str | None = None) -> tuple[CheckpointInfo, ...]:
        """The turns that an undo could take back, newest first."""
        done, _ = stacks(self._store.journals(root))
        return tuple(_info(j) for j in reversed(done) if session is None or j.session == session)

    def undo(self, root: Path, n: int = 1, file: str | None = None, session: str | None = None) -> UndoPlan:
        """What taking back the last `n` turns would do; only to `file` when it is given, only turns of `session` when
        that is given. Changes nothing.
        """
        journals = self._store.journals(root)
        done, _ = stacks(journals)
        chosen = [j for j in done if session is None or j.session == session][-max(n, 0) :] if n > 0 else []
        return self._plan(root, Role.UNDO, chosen, journals, file, "there is no turn to undo here")

    def redo(self, root: Path, n: int = 1, session: str | None = None) -> UndoPlan:
        """What taking back the last `n` undos would do. Changes nothing."""
        journals = self._store.journals(root)
        _, undone = stacks(journals)
        chosen = [j for j in undone if session is None or j.session == session][-max(n, 0) :] if n > 0 else []
        return self._plan(root, Role.REDO, chosen, journals, None, "there is no undo to take back here")

    def _plan(
        self,
        root: Path,
        role: Role,
        chosen: list[TurnJournal],
        journals: list[TurnJournal],
        file: str | None,
        nothing: str,
    ) -> UndoPlan:
        if not chosen:
            return UndoPlan(root, role, problem=nothing)
        if any(journal.running for journal in chosen):
            return UndoPlan(root, role, problem="the turn is still running in another session")
        with Beneath(root) as tree:
            plan = plan_restore(
                root, role, chosen, lambda path: _see(tree, path), file=file, interrupted=half_done(journals)
            )
        if file is not None and role is Role.UNDO:
            # A file taken back by itself leaves its turn standing.
            return replace(plan, steps=())
        return plan

    def apply(self, plan: UndoPlan, force_conflicts: bool = False) -> UndoReport:
        """Do what the plan says. The state before is itself a checkpoint, so `redo` (after an undo) brings it back.

        A path that changed since the plan was made is a conflict too. `force_conflicts` restores the conflicts that
        can be restored.
        """
        changes = list(plan.changes)
        conflicts = list(plan.conflicts)
        if force_conflicts:
            forced = [c for c in conflicts if c.target is not None]
            paths = {c.path for c in forced}
            changes = [c for c in changes if c.path not in paths]
            changes += [Restore(c.path, c.now, c.target) for c in forced if c.target is not None]
            conflicts = [c for c in conflicts if c.path not in paths]
        self.finish()
        self._store.sweep(plan.root)
        journal = self._new(plan.root, "", 0, plan.role, plan.steps)
        self._turn = _Turn(journal)
        self.protect([c.path for c in changes], {c.path: c.target for c in changes})
        moved = {c.path for c in changes if journal.entries[c.path].before != c.now}
        conflicts += [_moved(c) for c in changes if c.path in moved]
        changes = [c for c in changes if c.path not in moved]
        with Beneath(plan.root) as tree, self._store.blobs.reading() as contents:
            done = restore(tree, contents, changes)
            fd = os.open(plan.root, os.O_RDONLY | os.O_DIRECTORY)
            try:
                sync_file_system(fd)
            finally:
                os.close(fd)
        states = {c.path: c for c in changes}
        conflicts += [Conflict(p, why, states[p].now, states[p].target) for p, why in done.failures.items()]
        known = {path: states[path].target for path in done.paths}
        self.record_after(states, known)
        self._close_undo()
        return UndoReport(journal.id, tuple(done.paths), tuple(conflicts), tuple(done.removed_directories))

    def prune(self, *, perform: bool = False) -> PruneReport:
        """What must go for the store to fit its limit: the oldest turns of all roots, and contents nobody names any
        more. Removed only when `perform`.
        """
        return self._store.prune(self._limits.total, perform=perform)

    def _close_undo(self) -> None:
        """An undo that found everything as it should be still counts: its turns are taken back."""
        turn = self._active()
        if turn.writer is None:
            turn.writer = JournalWriter(turn.journal.file)
            turn.writer.append([begin_line(turn.journal)], durable=False)
        self.finish()

    def _active(self) -> _Turn:
        if self._turn is None:
            raise RuntimeError("no checkpoint was begun")
        return self._turn


def _see(tree: Beneath, path: str) -> Seen:
    try:
        state = observe(tree, path)
    except PermissionError:
        # What cannot be looked at is nothing the turn left: a conflict, and the rest is restored all the same.
        return Seen(PathState(NodeKind.SPECIAL))
    if state == ABSENT:
        return Seen(state)
    found = tree.lstat(path)
    return Seen(state, found.st_ctime_ns if found else 0)


def _moved(change: Restore) -> Conflict:
    return Conflict(change.path, "it was changed by somebody else just now", change.now, change.target)


def _info(journal: TurnJournal) -> CheckpointInfo:
    changed = tuple(path for path, entry in journal.entries.items() if entry.changed)
    return CheckpointInfo(
        journal.id, journal.session, journal.turn, journal.at, changed, journal.finished, journal.running
    )
