"""Every change of the tree on its way into the record: checkpointed before, noticed after, judged as delivered source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spear.agent.host import Outcome, ToolRequest, ToolResult
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.evidence.records import Change
from spear.evidence.turn import Weakening
from spear.evidence.weakened import weakening
from spear.host.recorder import Draft, Recorder
from spear.workspace.changes import Snapshot, compare, snapshot
from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.delivered import DeliveredSource
from spear.workspace.roots import PRIMARY, Location, Roots

OUTSIDE = "outside"
"""The tool name of a record about changes nobody in this turn made."""


class ChangeLog:
    """The changes of one turn. `created` is shared with the path rules: what the turn made belongs to it."""

    def __init__(
        self,
        roots: Roots,
        delivered: DeliveredSource,
        checkpoints: CheckpointManager,
        recorder: Recorder,
        created: set[str],
        emit: Sink,
        turn: int,
    ) -> None:
        self._roots = roots
        self._delivered = delivered
        self._checkpoints = checkpoints
        self._recorder = recorder
        self._created = created
        self._emit = emit
        self._turn = turn
        self._announced = False
        self._weakenings: dict[str, Weakening] = {}
        self._known: Snapshot | None = None

    @property
    def weakenings(self) -> tuple[Weakening, ...]:
        """Checks whose own files this turn changed."""
        return tuple(self._weakenings.values())

    def is_delivered(self, location: Location) -> bool:
        """Whether a path is delivered source. Other roots than the primary are delivered whole."""
        return location.root_name != PRIMARY or self._delivered.is_delivered(location.relative)

    def protect(self, *locations: Location) -> None:
        """Make the present state of these paths durable before it is changed. Raises OSError."""
        mine = [location.relative for location in locations if location.root_name == PRIMARY]
        fresh = self._checkpoints.protect(mine)
        if fresh and not self._announced:
            self._announced = True
            self._event(EventName.CHECKPOINT_CREATED, {"paths": list(fresh)[:20], "count": len(fresh)})

    def settled(self, locations: Iterable[Location]) -> None:
        """Note what the turn left at these paths."""
        self._checkpoints.record_after([where.relative for where in locations if where.root_name == PRIMARY])

    def changed(
        self,
        draft: Draft,
        changes: Sequence[Change],
        content_before: bytes | None = None,
        content_after: bytes | None = None,
    ) -> None:
        """Changes that have happened; contents are given for one file at a time, to see whether a check was weakened."""
        for change in changes:
            if change.kind == "created":
                self._created.add(change.path)
        if len(changes) == 1 and content_before is not None and content_after is not None:
            found = weakening(changes[0].path, _text(content_before), _text(content_after))
            if found is not None:
                self._weakenings[found.path] = found
        if self._recorder.changed(draft, changes):
            paths = [change.path for change in changes if change.delivered]
            self._event(EventName.EPOCH_OPENED, {"epoch": self._recorder.ledger.epoch, "paths": paths[:50], "count": len(paths)})
        if self._known is not None:
            self._known = self._known.updated(self._roots.primary, [change.path for change in changes])

    def watch(self) -> None:
        """Remember the tree as it is, so that what others change meanwhile is noticed."""
        if self._known is None:
            self._known = snapshot(self._roots.primary, self._delivered)

    def settle(self, why: str) -> None:
        """Notice what others changed since the last look; it opens an epoch like any change (spec 3.7)."""
        if self._known is None:
            return
        now = snapshot(self._roots.primary, self._delivered, previous=self._known)
        found = compare(self._known, now)
        self._known = now
        if not found:
            return
        request = ToolRequest(f"{OUTSIDE}-{self._recorder.ledger.epoch}-{why}", OUTSIDE, {"noticed": why})
        draft = self._recorder.open(request)
        changes = [
            Change(path=c.path, kind=c.kind, before_sha256=c.before_sha256, after_sha256=c.after_sha256, delivered=True)
            for c in found
        ]
        self.changed(draft, changes)
        self._recorder.close(request, ToolResult("", Outcome.OK, changed=True, reason="changed by someone else"))

    def _event(self, name: EventName, data: dict[str, object]) -> None:
        self._emit(Event(name, data, self._turn))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
