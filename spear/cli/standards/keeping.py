"""`standard list | status | use | unbind | verify | rebuild | retrieval | approve | remove` (spec 5.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from enum import StrEnum
from typing import Any

from spear.cli.exit_status import NOT_SHOWN
from spear.cli.standards.answer import Answer, Desk, kinds
from spear.errors import SpearError, StateError, UsageError
from spear.standards.manifest import HumanValidation, Manifest, Origin, Review
from spear.standards.retrieval import MOST_COMPLETION, Mode, Retrieval, load_retrieval
from spear.standards.standard_name import StandardName
from spear.standards.store import MANIFEST
from spear.standards.structures import served
from spear.state.audit import timestamp


def listing(desk: Desk) -> Answer:
    """`list [--json]`."""
    bound = _bound(desk)
    if desk.asked.json:
        return Answer(json.dumps(list(_records(desk, bound)), indent=2))
    rows = []
    for name in desk.store.names():
        mark = "*" if name == bound else " "
        try:
            rows.append((mark, name, _described(desk.store.stored(name).manifest)))
        except SpearError as error:
            rows.append((mark, name, f"unreadable: {error}"))
    cut_off = [
        f"{name} is not ingested yet: the same ingest goes on with it, {desk.front.command} remove {name} drops it"
        for name in desk.store.unfinished()
    ]  # fmt: skip
    if not rows and not cut_off:
        return Answer(f"no standard is ingested: {desk.front.command} ingest FILE --id ID --revision REV")
    width = max((len(str(name)) for _, name, _ in rows), default=0)
    lines = [f"{mark} {name!s:<{width}}  {text}" for mark, name, text in rows]
    if bound is not None:
        lines.append("* is bound" if any(mark == "*" for mark, _, _ in rows) else f"{bound} is bound, and gone")
    return Answer("\n".join([*lines, *cut_off]))


def status(desk: Desk) -> Answer:
    """`status [--json]`: the bound standard. Status 3 for one that cannot be relied on."""
    bound = desk.bindings.present()
    if bound is None:
        return Answer("null" if desk.asked.json else f"no standard is bound: {desk.front.command} use ID REV")
    try:
        desk.bindings.opened(bound)
        problem = ""
    except SpearError as error:
        problem = str(error)
    if not desk.store.holds(bound.name):
        return Answer(problem, NOT_SHOWN)
    stored = desk.store.stored(bound.name)
    manifest = stored.manifest
    retrieval, structures = load_retrieval(stored.place), len(served(stored)) if not problem else 0
    if desk.asked.json:
        extra = {"bound_at": bound.at, "problem": problem, "retrieval": retrieval.model_dump(mode="json")}
        return Answer(json.dumps({**manifest.model_dump(mode="json"), **extra}, indent=2), NOT_SHOWN * bool(problem))
    rows = [
        ("bound", f"{manifest.name}, since {bound.at[:16].replace('T', ' ')} UTC"),
        ("title", manifest.title or "none"),
        ("document", f"{manifest.source[0].path} ({_document(manifest)})"),
        ("units", f"{manifest.units}: {kinds(manifest)}"),
        ("clauses", str(manifest.sections)),
        ("review", _reviewed(manifest)),
        ("retrieval", f"{retrieval.mode.value}, {retrieval.completion} units come with a hit"),
        ("structures", f"{structures} served"),
        ("files", problem or "as they were verified"),
    ]
    rows += [("not read", error) for error in manifest.errors[:5]]
    return Answer("\n".join(f"{label:<11} {text}" for label, text in rows), NOT_SHOWN * bool(problem))


def use(desk: Desk) -> Answer:
    """`use ID REV`."""
    name = desk.named()
    desk.bindings.use(name)
    manifest = desk.store.stored(name).manifest
    size = f"{manifest.units} units, {manifest.sections} clauses"
    return Answer(f"bound: {name} ({size}), for every session here", bound=True)


def unbind(desk: Desk) -> Answer:
    """`unbind`."""
    try:
        before = desk.bindings.present()
        said = f"{before.name} is bound no more" if before else "no standard was bound"
    except StateError:
        said = "no standard is bound now"
    desk.bindings.unbind()
    return Answer(said, bound=True)


def verify(desk: Desk) -> Answer:
    """`verify [ID REV] [--full]`: 0 when it may be relied on, 3 when it may not."""
    name = desk.named()
    stored = desk.store.stored(name)
    alike = not stored.differing()
    if alike and not desk.asked.full:
        return Answer(f"{name}: its files look as they did when they were checked; --full reads every byte")
    with nullcontext() if alike else desk.store.alone(name):
        problems = stored.verify()
    if not problems:
        return Answer(f"{name}: every file is what was ingested")
    lines = [f"{name} is not what was ingested:", *(f"  {problem}" for problem in problems)]
    if any("corpus/" in problem or MANIFEST in problem for problem in problems):
        lines.append(f"  {desk.front.command} remove {name}, then ingest its document again")
    else:
        lines.append(f"  {desk.front.command} rebuild {name} makes what is derived anew from the units")
    return Answer("\n".join(lines), NOT_SHOWN)


def rebuild(desk: Desk) -> Answer:
    """`rebuild [ID REV]`."""
    name = desk.named()
    stored = desk.store.stored(name)
    units = stored.manifest.units
    with desk.store.alone(name):
        dropped = stored.rebuild(lambda count: desk.front.progress("indexing", count, units))
    lost = "; its structures were not what was checked and are to be approved again" if dropped else ""
    return Answer(f"{name}: the index of {units} units is made anew{lost}")


def retrieval(desk: Desk) -> Answer:
    """`retrieval [MODE] [--completion N]`: of the bound standard."""
    name, asked = desk.bound_name(), desk.asked
    place = desk.store.stored(name).place
    present = load_retrieval(place)
    if asked.retrieval_mode is not None or asked.completion is not None:
        completion = present.completion if asked.completion is None else asked.completion
        if not 0 <= completion <= MOST_COMPLETION:
            raise UsageError(f"--completion {completion} is not from 0 to {MOST_COMPLETION}", hint="--completion 3")
        present = Retrieval(mode=Mode(asked.retrieval_mode or present.mode), completion=completion)
        present.save(place)
    return Answer(
        f"{name}: {present.mode.value} search, {present.completion} units of the document's structure come with a hit\n"
        f"modes of this build: {', '.join(Mode)} (words with their stems; no vectors)"
    )


def approve(desk: Desk) -> Answer:
    """`approve ID REV --reviewer NAME`: a person compared the units with the document."""
    reviewer = " ".join((desk.asked.reviewer or "").split())
    if not reviewer:
        raise UsageError("an approval needs its reviewer", hint="--reviewer NAME")
    name = desk.named()
    with desk.store.changing(name) as stored:
        validation = HumanValidation(status=Review.REVIEWED, reviewer=reviewer, at=timestamp())
        stored.manifest.model_copy(update={"human_validation": validation}).save(stored.place / MANIFEST)
    return Answer(f"{name}: reviewed by {reviewer}")


def remove(desk: Desk) -> Answer:
    """`remove ID REV [--yes]`."""
    name = desk.named()
    if _bound(desk) == name:
        raise UsageError(f"{name} is bound", hint=f"{desk.front.command} unbind, then remove it")
    held = desk.store.holds(name)
    if not held and not desk.store.staging(name).exists():
        desk.store.stored(name)  # says that there is none, and what there is
    question = f"Remove {name}, with its units, index and approved structures?"
    if held and not desk.asked.yes and not desk.front.confirm(question):
        return Answer("nothing was removed", 1)
    desk.store.remove(name)
    return Answer(f"{name} is removed" if held else f"what an ingestion left of {name} is removed")


def _bound(desk: Desk) -> StandardName | None:
    try:
        bound = desk.bindings.present()
    except StateError:
        return None
    return bound.name if bound else None


def _records(desk: Desk, bound: StandardName | None) -> Iterator[dict[str, Any]]:
    for name in desk.store.names():
        try:
            yield {**desk.store.stored(name).manifest.model_dump(mode="json"), "bound": name == bound}
        except SpearError as error:
            yield {"id": name.id, "revision": name.revision, "bound": name == bound, "problem": str(error)}


def _described(manifest: Manifest) -> str:
    oblige = manifest.counts.get("requirement", 0)
    lacking = f", {len(manifest.errors)} extraction errors" if manifest.errors else ""
    figures = f"{manifest.units} units, {manifest.sections} clauses, {oblige} requirements{lacking}"
    origin, review = manifest.origin.value, manifest.human_validation.status.value
    return f"{origin:<{_widest(Origin)}}  {review:<{_widest(Review)}}  {figures}"


def _widest(names: type[StrEnum]) -> int:
    return max(map(len, names))


def _document(manifest: Manifest) -> str:
    pages = f", {manifest.pages} pages" if manifest.pages is not None else ""
    more = f", {len(manifest.source)} files" if len(manifest.source) > 1 else ""
    kept = ", kept" if manifest.retained else ""
    return f"{manifest.format}{pages}{more}, {manifest.origin.value}, extractor {manifest.extractor_version}{kept}"


def _reviewed(manifest: Manifest) -> str:
    found = manifest.human_validation
    return f"{found.status.value} by {found.reviewer}, {found.at[:10]}" if found.reviewer else found.status.value
