"""`WorkspaceKnowledge`: what is recorded about one workspace, by whom, and when it stops counting (spec 4.3).

Knowledge describes; it grants nothing and overrides nothing. What a model offers waits for the operator. Expected
outcomes are values (`KnowledgeProblem`); a database that cannot be used is a StateError.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from spear.context.identity import WorkspaceIdentity
from spear.context.knowledge import rows, sources
from spear.context.knowledge.agreement import decided, disagreeing, says, searchable
from spear.context.knowledge.database import KnowledgeDatabase
from spear.context.knowledge.drafts import Draft, checked
from spear.context.knowledge.records import (
    KnowledgeProblem,
    Provenance,
    Record,
    Source,
    State,
    Verification,
    folded,
)
from spear.errors import StateError
from spear.state.redaction import Redactor

if TYPE_CHECKING:
    from spear.context.knowledge.given import RecordModel

MOST_PROPOSED = 100
"""Proposals that may wait in one workspace; beyond it a model's are refused until the operator has looked."""


def utc_now() -> str:
    """The present, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id() -> str:
    """An id short enough to be typed."""
    return "k" + secrets.token_hex(4)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record as it is now. `known` says that nothing was written because it was there already; `against` are active
    records that say something else on the subject."""

    record: Record
    known: bool = False
    against: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking the sources found: records that went stale, and those that hold again as they were verified."""

    stale: tuple[Record, ...]
    restored: tuple[Record, ...]
    unbound: int


@dataclass(frozen=True, slots=True)
class Imported:
    """What of an import was taken: the records, how many were known, each row left out with its reason."""

    records: tuple[Record, ...]
    known: int
    left_out: tuple[tuple[str, KnowledgeProblem], ...]


class WorkspaceKnowledge:
    """The knowledge of one workspace. `actor` is the operator's name, as the audit trail has it. `clock` and `fresh_id`
    give times and ids."""

    def __init__(
        self,
        database: KnowledgeDatabase,
        workspace: WorkspaceIdentity,
        actor: str,
        redactor: Redactor,
        *,
        clock: Callable[[], str] = utc_now,
        fresh_id: Callable[[], str] = new_id,
    ) -> None:
        self.workspace = workspace
        self._database = database
        self._actor = actor
        self._redactor = redactor
        self._clock = clock
        self._fresh_id = fresh_id

    # --- recording --------------------------------------------------------------------------------------------------

    def add(self, draft: Draft) -> Recorded | KnowledgeProblem:
        """Record what the operator says: active at once, its source verified where one is named."""
        return self._record(draft, Provenance.OPERATOR, State.ACTIVE)

    def propose(self, draft: Draft, actor: str = "model") -> Recorded | KnowledgeProblem:
        """Record what a model offers: it waits for `accept`, and is shown to no turn until then."""
        return self._record(draft, Provenance.MODEL, State.PROPOSED, actor)

    def amend(self, identity: str, draft: Draft) -> Recorded | KnowledgeProblem:
        """Put a new version in a record's place; the old one is revoked and stays in the history."""
        old = self.find(identity)
        if isinstance(old, KnowledgeProblem):
            return old
        if old.state is State.REVOKED:
            return KnowledgeProblem("revoked", f"{old.id} is revoked", "add a new record")
        prepared = self._prepared(draft)
        if isinstance(prepared, KnowledgeProblem):
            return prepared
        clean, source = prepared
        with self._database.writing() as connection:
            present = self._present(connection, old.id)
            if present is None or present.state is State.REVOKED:
                return KnowledgeProblem("changed", f"{old.id} was changed meanwhile", "look at it again")
            record = self._new(connection, clean, Provenance.OPERATOR, State.ACTIVE, source, self._actor)
            record = replace(record, version=old.version + 1, supersedes=old.id)
            rows.update(
                connection, replace(old, state=State.REVOKED, updated=record.created), "superseded", self._actor
            )
            rows.insert(connection, record, "amended")
            others = rows.of_workspace(connection, self.workspace.keys)
        return Recorded(record, against=disagreeing(record, others))

    # --- the operator's decisions -----------------------------------------------------------------------------------

    def accept(self, identity: str) -> Recorded | KnowledgeProblem:
        """Make a proposed or stale record active; a source must hold its quote now, and is bound anew."""
        record = self.find(identity)
        if isinstance(record, KnowledgeProblem):
            return record
        if record.state is State.REVOKED:
            return KnowledgeProblem("revoked", f"{record.id} is revoked", "add it anew")
        source = record.source
        if source is not None:
            bound = sources.again(self.workspace.root, source)
            if isinstance(bound, KnowledgeProblem):
                return KnowledgeProblem(bound.code, f"{record.id}: {bound.text}", "amend the record or revoke it")
            source = bound
        verification = Verification.SOURCE_VERIFIED if source else Verification.USER_CONFIRMED
        if record.state is State.ACTIVE and source == record.source:
            return Recorded(record, known=True)
        return self._change(record, "accepted", State.ACTIVE, verification, source)

    def revoke(self, identity: str) -> Recorded | KnowledgeProblem:
        """Take a record back for good; it stays in the history."""
        record = self.find(identity)
        if isinstance(record, KnowledgeProblem):
            return record
        if record.state is State.REVOKED:
            return Recorded(record, known=True)
        return self._change(record, "revoked", State.REVOKED, record.verification, record.source)

    def check(self) -> Checked:
        """Compare every source with its file: what changed goes stale, what is again as it was verified is active."""
        records = self.records()
        changed = self._stale(records)
        back = [
            r for r in records if r.state is State.STALE and r.source and sources.fresh(self.workspace.root, r.source)
        ]
        restored = self._set(back, State.ACTIVE, "restored")
        unbound = sum(1 for record in records if record.state is State.ACTIVE and record.source is None)
        return Checked(self._set(changed, State.STALE, "stale"), restored, unbound)

    def purge(self) -> int:
        """Delete everything recorded about the workspace, history included; how many records."""
        if not self._database.path.exists():
            return 0
        with self._database.writing() as connection:
            count = rows.delete_workspace(connection, self.workspace.keys)
        self._database.erase_traces()
        return count

    # --- looking ----------------------------------------------------------------------------------------------------

    def records(self) -> tuple[Record, ...]:
        """Everything recorded about the workspace, in every state, oldest first. Raises StateError."""
        with self._database.reading() as connection:
            return rows.of_workspace(connection, self.workspace.keys) if connection is not None else ()

    def current(self) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
        """The active records whose sources hold, and those that have just gone stale (and are marked so).

        A database that can only be read still never shows a stale record.
        """
        records = self.records()
        changed = self._stale(records)
        gone = {record.id for record in changed}
        try:
            changed = list(self._set(changed, State.STALE, "stale"))
        except StateError:  # a read-only store: they are left out all the same
            changed = [replace(record, state=State.STALE) for record in changed]
        active = tuple(r for r in records if r.state is State.ACTIVE and r.id not in gone)
        return active, tuple(changed)

    def find(self, identity: str) -> Record | KnowledgeProblem:
        """The record of an id or of the beginning only one id has."""
        wanted = identity.strip().lower()
        found = [record for record in self.records() if wanted and record.id.startswith(wanted)]
        exact = [record for record in found if record.id == wanted]
        if exact or len(found) == 1:
            return (exact or found)[0]
        if found:
            return KnowledgeProblem(
                "ambiguous", f"{identity} could be {', '.join(r.id for r in found[:5])}", "name one"
            )
        return KnowledgeProblem("unknown", f"there is no record {identity or '(no id given)'} here", "list shows them")

    def history(self, identity: str) -> tuple[rows.Entry, ...]:
        """What happened to a record."""
        with self._database.reading() as connection:
            return rows.history(connection, identity) if connection is not None else ()

    def search(self, text: str) -> tuple[Record, ...]:
        """Records that hold every word of `text`, in any state but revoked."""
        words = folded(text).split()
        return tuple(
            record
            for record in self.records()
            if record.state is not State.REVOKED and words and all(word in searchable(record) for word in words)
        )

    # --- import -----------------------------------------------------------------------------------------------------

    def take_in(self, models: Iterable[RecordModel], *, proposed: bool) -> Imported:
        """Take records of an export in. Active ones stay active only if their sources hold here; `proposed` makes
        every one wait for `accept`. Instructions and secrets are left out, as anywhere.
        """
        taken: list[Record] = []
        left_out: list[tuple[str, KnowledgeProblem]] = []
        known = 0
        for model in models:
            if model.state is State.REVOKED:
                continue
            wanted = State.PROPOSED if proposed or model.state is State.PROPOSED else State.ACTIVE
            done = self._record(_draft_of(model), Provenance.IMPORT, wanted)
            if isinstance(done, KnowledgeProblem):
                left_out.append((model.statement, done))
            elif done.known:
                known += 1
            else:
                taken.append(done.record)
        return Imported(tuple(taken), known, tuple(left_out))

    # --- inside -----------------------------------------------------------------------------------------------------

    def _record(
        self, draft: Draft, provenance: Provenance, state: State, actor: str = ""
    ) -> Recorded | KnowledgeProblem:
        prepared = self._prepared(draft)
        if isinstance(prepared, KnowledgeProblem):
            return prepared
        clean, source = prepared
        with self._database.writing() as connection:
            present = rows.of_workspace(connection, self.workspace.keys)
            equal = [record for record in present if says(record, clean)]
            match decided(equal, provenance, state):
                case Record() as known:
                    return Recorded(known, known=True)
                case KnowledgeProblem() as problem:
                    return problem
            if provenance is Provenance.MODEL and sum(r.state is State.PROPOSED for r in present) >= MOST_PROPOSED:
                return KnowledgeProblem(
                    "many_proposals", f"{MOST_PROPOSED} proposals wait for the operator already", "go on without it"
                )
            record = self._new(connection, clean, provenance, state, source, actor or self._actor)
            for waiting in equal:
                if waiting.state in (State.PROPOSED, State.STALE) and state is State.ACTIVE:
                    old = replace(waiting, state=State.REVOKED, updated=record.created)
                    rows.update(connection, old, "superseded", self._actor)
                    record = replace(record, supersedes=waiting.id)
            rows.insert(connection, record, "proposed" if state is State.PROPOSED else "recorded")
            return Recorded(record, against=disagreeing(record, present))

    def _prepared(self, draft: Draft) -> tuple[Draft, Source | None] | KnowledgeProblem:
        """The draft cleaned, with its source as it holds now; or what is wrong with it."""
        clean = checked(draft, self._redactor)
        if isinstance(clean, KnowledgeProblem):
            return clean
        if not clean.source:
            return clean, None
        source = sources.verify(self.workspace.root, self.workspace.inner(), clean.source, clean.quote)
        return source if isinstance(source, KnowledgeProblem) else (clean, source)

    def _new(
        self,
        connection: Connection,
        draft: Draft,
        provenance: Provenance,
        state: State,
        source: Source | None,
        actor: str,
    ) -> Record:
        identity = self._fresh_id()
        while rows.taken(connection, identity):
            identity = self._fresh_id()
        confirmed = Verification.USER_CONFIRMED if provenance is Provenance.OPERATOR else Verification.NONE
        now = self._clock()
        return Record(
            identity, self.workspace.keys[0], draft.kind, draft.subject, draft.statement, draft.tags, draft.path,
            provenance, Verification.SOURCE_VERIFIED if source else confirmed, source, state, 1, "", now, now, actor,
        )  # fmt: skip

    def _change(
        self, record: Record, action: str, state: State, verification: Verification, source: Source | None
    ) -> Recorded | KnowledgeProblem:
        """Write one decision, unless somebody decided otherwise meanwhile."""
        with self._database.writing() as connection:
            present = self._present(connection, record.id)
            if present is None or present.state is not record.state:
                return KnowledgeProblem("changed", f"{record.id} was changed meanwhile", "look at it again")
            done = replace(record, state=state, verification=verification, source=source, updated=self._clock())
            rows.update(connection, done, action, self._actor)
            return Recorded(done, against=disagreeing(done, rows.of_workspace(connection, self.workspace.keys)))

    def _present(self, connection: Connection, identity: str) -> Record | None:
        records = rows.of_workspace(connection, self.workspace.keys)
        return next((record for record in records if record.id == identity), None)

    def _stale(self, records: Iterable[Record]) -> list[Record]:
        root = self.workspace.root
        return [r for r in records if r.state is State.ACTIVE and r.source and not sources.fresh(root, r.source)]

    def _set(self, records: Sequence[Record], state: State, action: str) -> tuple[Record, ...]:
        if not records:
            return ()
        done = tuple(replace(record, state=state, updated=self._clock()) for record in records)
        with self._database.writing() as connection:
            for record in done:
                rows.update(connection, record, action, "check")
        return done


def knowledge_of(
    path: Path, workspace: WorkspaceIdentity, operator: str, redactor: Redactor, busy_s: float = 10.0
) -> WorkspaceKnowledge:
    """The knowledge of a workspace in the database at `path`; nothing is opened or created yet."""
    return WorkspaceKnowledge(KnowledgeDatabase(path, busy_s), workspace, operator, redactor)


def _draft_of(model: RecordModel) -> Draft:
    source = model.source
    return Draft(
        statement=model.statement,
        kind=model.kind,
        subject=model.subject,
        tags=model.tags,
        path=model.path,
        source=source.path if source else "",
        quote=source.quote if source else None,
    )
