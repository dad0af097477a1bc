"""`standard candidates | promote-candidate | approve-structure | build-structure` (spec 5.1, 5.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from spear.cli.display.filtering import one_line
from spear.cli.standards.answer import Answer, Desk
from spear.errors import UsageError
from spear.standards.candidates import Candidate, Shape, candidates
from spear.standards.citation import section_sign
from spear.standards.structures import Decision, Structure, approve, build, decisions, promote, served


def listing(desk: Desk) -> Answer:
    """`candidates [ID REV] [--json]`."""
    stored = desk.store.trusted(desk.named())
    decided, built = decisions(stored), {structure.id for structure in served(stored)}
    with stored.index() as index, stored.corpus() as corpus:
        found = list(candidates(index, corpus))
    if desk.asked.json:
        rows = [
            {**each.record(), **_decided(decided.get(each.id, Decision())), "served": each.id in built}
            for each in found
        ]  # fmt: skip
        return Answer(json.dumps(rows, indent=2))
    if not found:
        return Answer(f"no table or layout was found in {stored.name}")
    width = max(len(each.id) for each in found)
    return Answer("\n".join(_line(each, decided.get(each.id, Decision()), each.id in built, width) for each in found))


def promoting(desk: Desk) -> Answer:
    """`promote-candidate ID REV CANDIDATE [--as KIND] [--title TEXT]`."""
    shape = Shape(desk.asked.shape) if desk.asked.shape else None
    title = " ".join((desk.asked.title or "").split())
    if shape is None and not title:
        raise UsageError("say what it is or what it is called", hint="--as fields | values | table, --title TEXT")
    with desk.store.changing(desk.named()) as stored:
        found = promote(stored, desk.asked.candidate, shape, title)
    return Answer(f"{found.id}: {(shape or found.shape).value}, {title or found.title}; it is to be approved as that")


def approving(desk: Desk) -> Answer:
    """`approve-structure ID REV CANDIDATE --reviewer NAME`."""
    name = desk.named()
    with desk.store.changing(name) as stored:
        found = approve(stored, desk.asked.candidate, desk.asked.reviewer or "")
    return Answer(
        f"{found.id} ({found.title}) is approved with its {len(found.cells) - 1} rows;"
        f" {desk.front.command} build-structure {name} serves it"
    )


def building(desk: Desk) -> Answer:
    """`build-structure ID REV`."""
    with desk.store.changing(desk.named()) as stored:
        built = build(stored)
    return Answer("\n".join(line for structure in built for line in _structure(structure)))


def _decided(decision: Decision) -> dict[str, object]:
    approval = decision.approval
    given = {"kind": decision.shape.value if decision.shape else "", "title": decision.title}
    return {
        **{key: value for key, value in given.items() if value},
        "approved_by": approval.reviewer if approval else None,
    }


def _line(found: Candidate, decision: Decision, is_served: bool, width: int) -> str:
    state = "served" if is_served else "approved" if decision.approval else "candidate"
    where = section_sign(found.section) + (f", p. {found.page}" if found.page is not None else "")
    shape = (decision.shape or found.shape).value
    size = "1 row" if len(found.cells) == 2 else f"{len(found.cells) - 1} rows"
    title = one_line(decision.title or found.title, 80)
    return f"{found.id:<{width}}  {state:<9} {shape:<6} {where:<14} {size:<8} {title}"


def _structure(structure: Structure) -> Iterator[str]:
    yield f"{structure.id} {structure.title} ({structure.kind.value}, approved by {structure.reviewer})"
    yield f"  {one_line(' | '.join(structure.columns), 110)}"
    for entry in structure.entries:
        yield f"  {one_line(' | '.join(cell.text for cell in entry.cells), 110)}"
