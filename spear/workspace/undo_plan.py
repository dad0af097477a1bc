"""What an undo or a redo would do: a pure function of the journals and of what is in the tree now (spec 3.6).

A path is restored only along states the turns themselves left. Where the tree holds something else, somebody else
changed it: a conflict, left alone. A turn that was killed may have died before it could record what it left; then

* what it had announced (`intent`) counts as its own;
* without an announcement, a path it was just about to change counts as its own when nothing has touched the path
  later than a moment after the last sign of life of the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spear.workspace.checkpoint_journal import Entry, Role, TurnJournal
from spear.workspace.tree_state import NodeKind, PathState

_DYING_NS = 10_000_000_000


@dataclass(frozen=True, slots=True)
class Restore:
    """One path to put back: `now` is what is there, `target` what will be."""

    path: str
    now: PathState
    target: PathState


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that is left alone, and why. `target` is what forcing would restore, None when that is impossible."""

    path: str
    reason: str
    now: PathState
    target: PathState | None


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What will be restored. `steps` are the checkpoints taken back; `interrupted` says that one of them belongs to a
    turn that never finished. `problem` is one sentence when nothing can be done at all.
    """

    root: Path
    role: Role
    steps: tuple[str, ...] = ()
    changes: tuple[Restore, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    interrupted: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is at a path now, and when it last changed (status change time, ns; 0 when absent)."""

    state: PathState
    changed_ns: int = 0


Look = Callable[[str], Seen]


def stacks(journals: Sequence[TurnJournal]) -> tuple[list[TurnJournal], list[TurnJournal]]:
    """The turns that stand, oldest first, and the undos that a redo could take back, oldest first.

    `journals` are those of one root in the order of time. An undo that was killed half-way does not count: it can
    simply be asked for again.
    """
    known = {journal.id: journal for journal in journals}
    done: list[TurnJournal] = []
    undone: list[TurnJournal] = []
    for journal in journals:
        match journal.role:
            case Role.TURN:
                if journal.changed:
                    done.append(journal)
                    undone.clear()
            case Role.UNDO:
                if journal.finished:
                    done = [turn for turn in done if turn.id not in journal.undoes]
                    undone.append(journal)
            case Role.REDO:
                taken = [undo for undo in undone if undo.id in journal.undoes]
                if journal.finished and taken:
                    undone = [undo for undo in undone if undo.id not in journal.undoes]
                    back = [known[i] for undo in taken for i in undo.undoes if i in known]
                    done = sorted([*done, *back], key=lambda turn: turn.id)
    return done, undone


def half_done(journals: Sequence[TurnJournal]) -> frozenset[str]:
    """Paths that an undo killed just now may have left absent, or a directory still open for writing, on the way to
    what it was restoring.
    """
    last = journals[-1] if journals else None
    if last is None or last.role is Role.TURN or last.running:
        return frozenset()
    paths = frozenset(last.entries)  # read first: a damaged one is not finished
    return frozenset() if last.finished else paths


def plan_restore(
    root: Path,
    role: Role,
    steps: Sequence[TurnJournal],
    look: Look,
    *,
    file: str | None = None,
    interrupted: frozenset[str] = frozenset(),
) -> UndoPlan:
    """What taking back `steps` (oldest first) would do; only for `file` when it is given."""
    paths = sorted({path for step in steps for path in step.entries if file is None or _concerns(path, file)})
    changes: list[Restore] = []
    conflicts: list[Conflict] = []
    for path in paths:
        seen = look(path)
        target, reason = _walk_back(path, steps, seen, path in interrupted)
        if reason:
            conflicts.append(Conflict(path, reason, seen.state, _forced(path, steps)))
        if target != seen.state and not _same_directory(target, seen.state):
            changes.append(Restore(path, seen.state, target))
    unfinished = any(not step.finished for step in steps)
    return UndoPlan(root, role, tuple(s.id for s in steps), tuple(changes), tuple(conflicts), unfinished)


def _concerns(path: str, file: str) -> bool:
    """The file itself, and the directories that were made for it."""
    return path == file or path.startswith(file.rstrip("/") + "/") or file.startswith(path + "/")


def _walk_back(path: str, steps: Sequence[TurnJournal], seen: Seen, half: bool) -> tuple[PathState, str]:
    """The state to go back to, as far as the states on the way are the turns' own; and why not further."""
    cursor = seen.state
    for step in reversed(steps):
        entry = step.entries.get(path)
        if entry is None or cursor == entry.before:
            continue
        first = cursor is seen.state
        if entry.foreign:
            return cursor, "somebody else changed it between two changes of the turn"
        passing = first and half and cursor.kind in (NodeKind.ABSENT, NodeKind.DIRECTORY)
        if not passing and not _own(entry, cursor, step, seen if first else None):
            return cursor, "it was changed since by somebody else"
        if not entry.kept:
            return cursor, "its previous content was too large to keep"
        if entry.before.kind is NodeKind.SPECIAL:
            return cursor, "it was neither a file, a link nor a directory"
        cursor = entry.before
    return cursor, ""


def _own(entry: Entry, cursor: PathState, step: TurnJournal, seen: Seen | None) -> bool:
    """Whether `cursor` is what the turn left at this path."""
    if entry.after is not None and (cursor == entry.after or _same_directory(cursor, entry.after)):
        return True
    if any(cursor.same_content(intent) for intent in entry.intents):
        return True
    if entry.after is not None or entry.intents or step.finished or seen is None:
        return False
    return seen.changed_ns <= step.last_ns + _DYING_NS


def _same_directory(one: PathState, other: PathState) -> bool:
    return one.kind is NodeKind.DIRECTORY and one == other


def _forced(path: str, steps: Sequence[TurnJournal]) -> PathState | None:
    entry = next(step.entries[path] for step in steps if path in step.entries)
    return entry.before if entry.kept and entry.before.kind is not NodeKind.SPECIAL else None
