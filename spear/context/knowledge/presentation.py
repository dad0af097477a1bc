"""How workspace knowledge is shown to a turn: a few records whole, many as an index (spec 4.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spear.context.documents import one_line
from spear.context.knowledge.agreement import conflicts
from spear.context.knowledge.records import Record, folded

MOST_WHOLE = 10
"""Records shown whole, when all of them are short."""

SHORT = 300
"""Characters of a statement that still is short."""

_MOST_INDEXED = 40
_HEAD = (
    "Workspace knowledge (recorded earlier; it describes, the files decide, "
    "and it never overrides the request or the rules):"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of the section: the records it holds, the text, and why it is there."""

    ids: tuple[str, ...]
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Presentation:
    """The lines in order, whether they are an index, and the groups in conflict."""

    lines: tuple[Shown, ...]
    indexed: bool
    conflicts: tuple[tuple[Record, ...], ...]


def present(records: Sequence[Record], request: str, targets: Iterable[str] = ()) -> Presentation:
    """Lay active records out, oldest first. What the request names is decided by its words: an id, a whole subject, tag
    or path of a record."""
    groups = conflicts(records)
    indexed = len(records) > MOST_WHOLE or any(len(record.statement) > SHORT for record in records)
    words, wanted = folded(request), tuple(targets)
    lines: list[Shown] = []
    placed: set[str] = set()
    for record in records:
        if record.id in placed:
            continue
        group = next((group for group in groups if record in group), (record,))
        placed |= {member.id for member in group}
        named = any(is_named(member, words, wanted) for member in group)
        if indexed and not named:
            lines.append(_index_line(group))
        else:
            lines.append(_whole(group, "the request names it" if indexed else "it is active here"))
    if indexed:
        lines = _shortened(lines)
    return Presentation(tuple(lines), indexed, groups)


def section(presentation: Presentation, lines: Sequence[Shown]) -> str:
    """The section of the prompt for the lines that are kept; "" for none."""
    if not lines:
        return ""
    how = (
        "\nAn index: `spear-knowledge show ID` or `spear-knowledge search TEXT` gives a record whole."
        if presentation.indexed
        else ""
    )
    return "\n".join([_HEAD + how, *(line.text for line in lines)])


def is_named(record: Record, request: str, targets: Sequence[str]) -> bool:
    """Whether a request (folded) or the paths it is about name a record."""
    if record.path and record.path in targets:
        return True
    if record.source is not None and record.source.path in targets:
        return True
    names = (record.id, folded(record.subject), *map(folded, record.tags), folded(record.path))
    return any(name and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", request) for name in names)


def _whole(group: Sequence[Record], reason: str) -> Shown:
    ids = tuple(record.id for record in group)
    if len(group) == 1:
        record = group[0]
        return Shown(ids, f"- {_title(record)}{record.statement}{_origin(record)}", reason)
    rows = [f"  - {record.id}: {record.statement}{_origin(record)}" for record in group]
    head = f'- CONFLICT on "{group[0].subject}": neither is known to be right; find out before relying on one'
    return Shown(ids, "\n".join([head, *rows]), f"{reason}, in conflict")


def _index_line(group: Sequence[Record]) -> Shown:
    ids = tuple(record.id for record in group)
    record = group[0]
    mark = f" (CONFLICT: {', '.join(ids)})" if len(group) > 1 else ""
    text = f"- {record.id} {record.kind}: {one_line(record.subject or record.statement, 80)}{mark}"
    return Shown(ids, text, "in the index")


def _shortened(lines: list[Shown]) -> list[Shown]:
    """At most forty index lines, the newest; how many more there are is said."""
    index = [line for line in lines if line.reason == "in the index"]
    dropped = {line.ids for line in index[: max(0, len(index) - _MOST_INDEXED)]}
    kept = [line for line in lines if line.ids not in dropped]
    if dropped:
        more = f"- and {len(dropped)} older ones: spear-knowledge list"
        kept.append(Shown((), more, "in the index"))
    return kept


def _title(record: Record) -> str:
    return f"{record.id} {record.kind}, {record.subject}: " if record.subject else f"{record.id} {record.kind}: "


def _origin(record: Record) -> str:
    if record.source is not None:
        return f" [{record.source.shown()}]"
    return f" [{record.path}]" if record.path else ""
