"""How records stand to one another: the same, in conflict, already decided about (spec 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spear.context.knowledge.drafts import Draft
from spear.context.knowledge.records import Kind, KnowledgeProblem, Provenance, Record, State, folded


def conflicts(records: Iterable[Record]) -> tuple[tuple[Record, ...], ...]:
    """Groups of active records that say different things on one subject. A record without a subject is in none."""
    groups: dict[tuple[Kind, str], list[Record]] = {}
    for record in records:
        if record.subject:
            groups.setdefault((record.kind, folded(record.subject)), []).append(record)
    return tuple(tuple(group) for group in groups.values() if len({folded(r.statement) for r in group}) > 1)


def disagreeing(record: Record, others: Iterable[Record]) -> tuple[Record, ...]:
    """The other active records that say something else on the subject of an active one."""
    if record.state is not State.ACTIVE or not record.subject:
        return ()
    return tuple(
        other
        for other in others
        if other.state is State.ACTIVE
        and other.id not in (record.id, record.supersedes)
        and other.kind is record.kind
        and folded(other.subject) == folded(record.subject)
        and folded(other.statement) != folded(record.statement)
    )


def says(record: Record, draft: Draft) -> bool:
    """Whether a record says what the draft says, with the same source."""
    quote = "" if record.source is None else record.source.quote
    return (
        folded(record.statement) == folded(draft.statement)
        and folded(record.subject) == folded(draft.subject)
        and quote == (draft.quote or "")
    )


def decided(equal: Sequence[Record], provenance: Provenance, state: State) -> Record | KnowledgeProblem | None:
    """What needs no writing: it is known already, or the operator has revoked it and a model offers it again."""
    for record in equal:
        if record.state is State.ACTIVE or (record.state is State.PROPOSED and state is State.PROPOSED):
            return record
    if provenance is Provenance.MODEL and equal:
        last = equal[-1]
        return KnowledgeProblem("rejected", f"this is {last.id}, {last.state.value} already", "go on without it")
    return None


def searchable(record: Record) -> str:
    """The text of a record that searching looks in."""
    return " ".join((record.id, record.subject, record.statement, *record.tags, record.path, record.kind)).casefold()
