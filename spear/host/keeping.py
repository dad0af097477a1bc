"""After a command: what of its writes may stay in the tree (spec 2.3, 3.6).

Each change is judged as `write_file` to the same path would be. The accepted ones are checkpointed and promoted; the
others never reach the tree, and are reported to the model as refused.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from spear.agent.host import Refusal
from spear.evidence.products import ProductWrite, is_product
from spear.evidence.records import Change, ChangeKind
from spear.evidence.roots import root_of, within_root
from spear.host.changes import ChangeLog, link_digest
from spear.host.files import no_checkpoint
from spear.host.making import Making
from spear.host.paths import PathGate
from spear.host.recorder import Draft
from spear.host.session import HostSession
from spear.policy.target_policy import TargetCode
from spear.policy.write_scope import ScopeRule
from spear.sandbox.request import RootMount, RunOutcome
from spear.workspace import presence
from spear.workspace.beneath import Beneath
from spear.workspace.build_output import signs_directory
from spear.workspace.changes import CLOCK_TICK_NS
from spear.workspace.git_layout import git_part
from spear.workspace.promotion import Dropped, DropReason, promote
from spear.workspace.roots import PRIMARY, Location
from spear.workspace.tree_state import NodeKind, PathState, observe
from spear.workspace.upper import ChangeKind as UpperKind
from spear.workspace.upper import Layer, UpperEntry, read_layer

_NAMED = 4
_GIT = "git"
"""Stands for the name of a git directory that lies outside the roots."""
_KINDS: dict[UpperKind, ChangeKind] = {
    UpperKind.CREATED: "created",
    UpperKind.MODIFIED: "modified",
    UpperKind.DELETED: "deleted",
    UpperKind.MODE: "mode",
    UpperKind.SYMLINK: "symlink",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What stayed, what was refused, what the model should know. `only_locks`: of delivered source, the command changed
    nothing but lock files its own tools keep, which they do before they build. `rewrote` are the delivered files it
    wrote and left as they were. `dropped`: some of what it wrote did not stay. `products` are the build products it
    wrote, `backdated` the delivered files to which it gave a time before its own start, under their recorded names."""

    changes: tuple[Change, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    only_locks: bool = False
    rewrote: tuple[str, ...] = ()
    dropped: bool = False
    products: tuple[ProductWrite, ...] = ()
    backdated: tuple[str, ...] = ()


class Keeper:
    """Judges and promotes the writes of the commands of one turn."""

    def __init__(self, session: HostSession, gate: PathGate, log: ChangeLog) -> None:
        self._session = session
        self._gate = gate
        self._log = log

    def keep(
        self,
        roots: Sequence[RootMount],
        upper: Path,
        outcome: RunOutcome,
        made: Making,
        tool: str,
        draft: Draft,
        without: Collection[str] = (),
    ) -> Kept:
        """Promote what may stay of the layers of `roots`, all below `upper`, and remove them. Nothing is promoted of a
        root whose present state cannot be kept for undo. What the command had to do `without` and has not made anew
        stays."""
        kept = Kept()
        try:
            for mount in roots:
                if mount.writes is not None:
                    layer = read_layer(mount.writes, mount.path, outcome.started_ns)
                    taken = frozenset(without) if mount.path == self._session.roots.primary else frozenset()
                    gone = {e.path for e in layer.entries if e.path in taken and e.after.kind is NodeKind.ABSENT}
                    layer = replace(layer, entries=tuple(e for e in layer.entries if e.path not in gone))
                    backdated = self._backdated(layer, mount, outcome.started_ns)
                    kept = _joined(
                        kept, self._keep_root(mount.writes, mount.path, layer, frozenset(backdated), made, tool, draft)
                    )
                    kept = replace(
                        kept, rewrote=kept.rewrote + self._rewrote(layer, mount),
                        products=kept.products + self._touched(layer, mount, taken),
                        backdated=kept.backdated + tuple(self._location(mount.path, path).shown for path in backdated),
                    )  # fmt: skip
        finally:
            if not all(_is_empty(mount.writes) for mount in roots if mount.writes is not None):
                shutil.rmtree(upper, ignore_errors=True)  # layers nothing was written to serve the next command
        return kept

    def _rewrote(self, layer: Layer, mount: RootMount) -> tuple[str, ...]:
        places = (self._location(mount.path, path) for path in layer.same)
        return tuple(p.shown for p in places if p.root_name != _GIT and self._log.is_delivered(p))

    def _backdated(self, layer: Layer, mount: RootMount, started_ns: int) -> tuple[str, ...]:
        """Delivered files the command left older than itself: what is built by time would pass them over."""
        old = (path for path, time in layer.times.items() if time < started_ns - CLOCK_TICK_NS)
        return tuple(path for path in old if self._log.is_delivered(self._location(mount.path, path)))

    def _touched(self, layer: Layer, mount: RootMount, taken: Collection[str]) -> tuple[ProductWrite, ...]:
        """Products that were given another time and nothing else. One that was `taken` away has been made anew."""
        moved = (
            (path, self._location(mount.path, path))
            for path in layer.same
            if path in layer.times and is_product(path, executable=os.access(mount.path / path, os.X_OK))
        )
        found = [(path, at) for path, at in moved if at.root_name != _GIT and not self._log.is_delivered(at)]
        with Beneath(mount.path) as tree:
            renewed = {path: _digest(observe(tree, path)) or "" for path, _ in found if path in taken}
        return tuple(
            ProductWrite(at.shown, renewed.get(path, ""), path not in renewed, layer.times[path]) for path, at in found
        )

    def renew(self, writes: Iterable[ProductWrite], ended_ns: int) -> None:
        """Give what a build has made to the same bytes the time it was made at: else it would be made again each
        time."""
        for write in writes:
            root = root_of(write.path)
            place = self._session.roots.others[PurePosixPath(root).name] if root else self._session.roots.primary
            with contextlib.suppress(OSError), Beneath(place) as tree:
                tree.set_times(within_root(write.path), min(write.time_ns, ended_ns))

    def _keep_root(
        self, upper: Path, root: Path, layer: Layer, backdated: frozenset[str], made: Making, tool: str, draft: Draft
    ) -> Kept:
        entries = layer.entries
        if not entries:
            return Kept()
        if made.sets_up:
            self._note_set_up(upper, root, entries)
        places = {entry.path: self._location(root, entry.path) for entry in entries}
        delivered = {entry.path: self._is_delivered(entry, places[entry.path], root, upper) for entry in entries}
        refusals: list[Refusal] = []
        accepted: set[str] = set()
        for entry in entries:
            refusal = self._judge(entry, places[entry.path], delivered[entry.path], made, tool)
            if refusal is None:
                accepted.add(entry.path)
            else:
                refusals.append(refusal)
        try:
            self._log.protect(*(places[path] for path in sorted(accepted)))
        except OSError as error:
            return Kept((), (*refusals, no_checkpoint(tool, "what the command changed", error)))
        report = promote(
            entries, upper, root, lambda entry: entry.path in accepted,
            disposable=lambda entry: not delivered[entry.path], durable=lambda entry: delivered[entry.path],
            renewed=lambda entry: entry.path in backdated,
        )  # fmt: skip
        changes = [_change(e, places[e.path].shown, delivered[e.path]) for e in report.applied if e.kind in _KINDS]
        if changes:
            draft.committed = draft.durable = True
        self._log.changed(draft, changes)
        self._log.settled(places[entry.path] for entry in report.applied)
        notes = [f"{c.entry.path} was left as it is: {c.reason}" for c in report.conflicts]
        source = [change.path for change in changes if change.delivered]
        locks = bool(source) and all(made.keeps(path) for path in source)
        return Kept(
            tuple(changes), tuple(refusals), (*notes, *_told(report.dropped)), only_locks=locks,
            dropped=bool(refusals or report.conflicts),
            products=tuple(self._products(report.applied, places, delivered)),
        )  # fmt: skip

    def _is_delivered(self, entry: UpperEntry, place: Location, root: Path, upper: Path) -> bool:
        """Whether what a command changed is delivered source, as it was or as it is: nothing ceases to be that by what
        is put into it."""
        is_directory = _is_directory(entry)
        states = {UpperKind.CREATED: (upper,), UpperKind.DELETED: (root,)}.get(entry.kind, (upper, root))
        return any(
            self._log.is_delivered(place, base / entry.path, directory=is_directory)
            for base in states[: 1 if is_directory else 2]
        )

    def _note_set_up(self, upper: Path, root: Path, entries: Sequence[UpperEntry]) -> None:
        """Directories a tool has just marked as its own, where nothing of anybody else lies in the tree."""
        for entry in entries:
            directory, _, name = entry.path.rpartition("/")
            if directory and entry.kind is UpperKind.CREATED and signs_directory(name, upper / entry.path):
                place = root / directory
                if not presence.is_link(place) and (not presence.is_directory(place) or presence.is_empty(place)):
                    self._log.note_output(self._location(root, directory))

    def _products(
        self, applied: Sequence[UpperEntry], places: Mapping[str, Location], delivered: Mapping[str, bool]
    ) -> Iterator[ProductWrite]:
        """The build products among what reached the tree; a directory that is gone takes its own with it."""
        own: dict[str, bool] = {}
        for entry in applied:
            place = places[entry.path]
            if git_part(entry.path) is not None or entry.kind is UpperKind.MODE:
                continue
            if delivered[entry.path] and not _leads_out_of(place.root, entry):
                continue
            if place.root_name == _GIT:
                continue
            gone = entry.after.kind in (NodeKind.ABSENT, NodeKind.DIRECTORY)
            executable = entry.after.kind is NodeKind.FILE and bool(entry.after.mode & 0o111)
            existed = entry.before.kind is not NodeKind.ABSENT
            directory = entry.path.rpartition("/")[0]
            if directory not in own:
                own[directory] = self._log.is_tools_own(self._location(place.root, directory))
            configured = not gone and self._log.is_configured(place.shown)
            if (
                gone
                or configured
                or is_product(entry.path, executable=executable, existed=existed, tools_own=own[directory])
            ):
                yield ProductWrite(place.shown, None if gone else _digest(entry.after) or "")

    def _judge(self, entry: UpperEntry, place: Location, delivered: bool, made: Making, tool: str) -> Refusal | None:
        """Build outputs may always be written; a build may write generated files; git writes its own files."""
        if git_part(entry.path) is not None or place.root_name not in (PRIMARY, *self._session.roots.others):
            return None  # promotion itself knows what of a git directory git may write
        target = self._gate.judge_target(place, entry.path, tool)
        if target is not None and target.code == TargetCode.GENERATED and made.regenerates:
            return self._gate.judge_exclusion(place, tool)
        if target is not None and (delivered or target.code != TargetCode.THIRD_PARTY):
            return target
        scope = self._gate.judge_scope(place, tool)
        if scope is None or scope.code == ScopeRule.EXCLUDED:
            return scope
        product = not delivered or entry.kind is UpperKind.DIRECTORY or made.keeps(entry.path)
        return None if product else scope

    def _location(self, root: Path, relative: str) -> Location:
        roots = self._session.roots
        name = PRIMARY if root == roots.primary else next((n for n, path in roots.others.items() if path == root), _GIT)
        real = root / relative
        link = presence.is_link(real)
        shown = relative if name == PRIMARY else f"/workspaces/{name}/{relative}"
        return Location(
            name,
            root,
            relative,
            shown,
            real,
            link or presence.exists(real),
            presence.is_directory(real) and not link,
            False,
            link,
        )


def _is_directory(entry: UpperEntry) -> bool:
    """Whether a change is of a directory itself: made, removed, or its mode."""
    kinds = {entry.before.kind, entry.after.kind} - {NodeKind.ABSENT}
    return kinds == {NodeKind.DIRECTORY}


def _change(entry: UpperEntry, shown: str, delivered: bool) -> Change:
    moved = entry.before.mode != entry.after.mode and entry.before.kind is entry.after.kind is NodeKind.FILE
    return Change(
        path=shown,
        kind=_KINDS[entry.kind],
        before_sha256=_digest(entry.before),
        after_sha256=_digest(entry.after),
        delivered=delivered,
        before_mode=entry.before.mode if moved else None,
        after_mode=entry.after.mode if moved else None,
    )


def _leads_out_of(root: Path, entry: UpperEntry) -> bool:
    """Whether a link takes the place of products and leads out of its root, where nobody watches."""
    if entry.after.kind is not NodeKind.LINK or not is_product(entry.path):
        return False
    place = os.path.normpath(root / entry.path.rpartition("/")[0] / entry.after.target)
    return not Path(place).is_relative_to(root)


def _digest(state: PathState) -> str | None:
    if state.kind is NodeKind.LINK:
        return link_digest(state.target)
    return state.sha256 or None


def _told(dropped: Sequence[Dropped]) -> Iterator[str]:
    """What did not reach the tree for a reason of its own; what was refused is told as a refusal."""
    special = [d.entry.path for d in dropped if d.reason is DropReason.SPECIAL_FILE]
    if special:
        yield f"{_some(special)}: not kept, no pipe, socket or device stays in the workspace"
    filled = [d.entry.path for d in dropped if d.reason is DropReason.NOT_EMPTIED]
    if filled:
        yield f"{_some(filled)}: not removed, something in it stays"
    closed = [d.entry.path for d in dropped if d.reason is DropReason.GIT_CLOSED]
    if closed:
        yield f"{_some(closed)}: not kept, it would make git run or read something else outside the sandbox"


def _some(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:_NAMED])
    return f"{shown} and {len(paths) - _NAMED} more" if len(paths) > _NAMED else shown


def _joined(one: Kept, other: Kept) -> Kept:
    locks = [kept.only_locks for kept in (one, other) if any(change.delivered for change in kept.changes)]
    return Kept(
        one.changes + other.changes, one.refusals + other.refusals, one.notes + other.notes,
        only_locks=bool(locks) and all(locks), rewrote=one.rewrote + other.rewrote,
        dropped=one.dropped or other.dropped, products=one.products + other.products,
        backdated=one.backdated + other.backdated,
    )  # fmt: skip


def _is_empty(directory: Path) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True
