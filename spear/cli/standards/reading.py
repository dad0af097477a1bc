"""`standard show | cite | search | export`: what a document says, and how it is cited (spec 5.2, 5.4)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from spear.cli.display.filtering import one_line
from spear.cli.standards.answer import Answer, Desk
from spear.errors import UsageError
from spear.standards.citation import citation, section_sign
from spear.standards.index import Clause
from spear.standards.lookup import Found, look_up
from spear.standards.retrieval import load_retrieval
from spear.standards.search import Hit, search
from spear.standards.store import StoredStandard
from spear.standards.unit_lines import exported
from spear.standards.units import Kind, Modality, Unit

_SNIPPET = 400
_LIMIT, _MOST = 10, 100
_NUMBER = 6
"""The most words a printed number has before its heading: `Chapter 4.`, `3.8.6.3.`"""
_MARKER = 12
"""Characters of the number or bullet before an item."""
_LETTERS = re.compile(r"[^\W_]+")
_PLAIN = frozenset({Kind.INFORMATIVE, Kind.CAPTION, Kind.TABLE, Kind.FRONT_MATTER})
"""Kinds that a clause is read through without being told at each of them."""


def show(desk: Desk) -> Answer:
    """`show [ID REV] SECTION|LABEL|CITATION [--json]`."""
    found = _found(desk)
    if desk.asked.json:
        return Answer(json.dumps([exported(unit) for unit in found.units], indent=2))
    lines = []
    if found.is_ambiguous:
        named = found.units[0].label or found.units[0].ordinal
        lines += [f"ambiguous: {len(found.units)} provisions are printed as {named}", ""]
    lines += _by_label(found.units) if found.by_label else _clause(found.units)
    if found.below:
        lines += ["", *_below(found.below)]
    return Answer("\n".join(lines).strip("\n"))


def cite(desk: Desk) -> Answer:
    """`cite [ID REV] SECTION|LABEL`: one citation a line."""
    found = _found(desk)
    if found.by_label:
        return Answer("\n".join(dict.fromkeys(citation(unit) for unit in found.units)))
    sections = {(unit.section, unit.page) for unit in found.units[:1]} or {(found.below[0].section, None)}
    pages = [f"p. {page}" for _, page in sections if page is not None]
    return Answer(f"({', '.join([section_sign(next(iter(sections))[0]), *pages])})")


def search_(desk: Desk) -> Answer:
    """`search [ID REV] QUESTION [--limit N] [--json]`."""
    limit = _LIMIT if desk.asked.limit is None else desk.asked.limit
    if not 1 <= limit <= _MOST:
        raise UsageError(f"--limit {limit} is not from 1 to {_MOST}", hint="--limit 5")
    stored, question = desk.pointed()
    if not question.strip():
        raise UsageError("a question is needed", hint='standard search "how long may it wait?"')
    completion = load_retrieval(stored.place).completion
    with stored.index() as index, stored.corpus() as corpus:
        hits = search(index, corpus, question, limit, completion)
    if desk.asked.json:
        return Answer(json.dumps([_hit_record(hit) for hit in hits]))
    if not hits:
        return Answer(f"nothing in {stored.name} holds these words")
    return Answer("\n".join(line for hit in hits for line in _hit_lines(hit, question)))


def export(desk: Desk) -> Answer:
    """`export [ID REV] [--format jsonl]`: one unit a line."""
    stored = desk.store.trusted(desk.named())
    if not desk.front.chat:
        return Answer("", rows=_units(stored))
    place = desk.front.here / f"{stored.name.id}-{stored.name.revision}.jsonl"
    try:
        with open(place, "x", encoding="utf-8") as file:
            file.writelines(f"{row}\n" for row in _units(stored))
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}", hint="move it, then export again") from error
    return Answer(f"written to {place}")


def _units(stored: StoredStandard) -> Iterator[str]:
    with stored.corpus() as corpus:
        for unit in corpus:
            yield json.dumps(exported(unit))


def _found(desk: Desk) -> Found:
    stored, reference = desk.pointed()
    with stored.index() as index, stored.corpus() as corpus:
        return look_up(index, corpus, reference)


def _by_label(units: tuple[Unit, ...]) -> list[str]:
    lines = []
    for unit in units:
        lines += [f"{citation(unit)} {_nature(unit)}", *_text(unit), ""]
    return lines[:-1]


def _clause(units: tuple[Unit, ...]) -> list[str]:
    """The units of a clause below its heading; page numbers where they change. What belongs to a unit and is one of its
    own is not said twice."""
    first = {unit.within: unit for unit in reversed(units) if unit.within}
    lines: list[str] = []
    heading: tuple[str, ...] | None = None
    page: int | None = None
    for unit in units:
        if unit.kind is Kind.FURNITURE:
            continue
        if unit.heading_path != heading:
            heading, title = unit.heading_path, unit.heading_path[-1] if unit.heading_path else ""
            lines += ["", _headed(unit.section, title)]
        if unit.page is not None and unit.page != page:
            page = unit.page
            lines.append(f"[p. {page}]")
        if text := _text(unit if unit.unit_id not in first else _before(unit, first[unit.unit_id])):
            named = [] if unit.kind in _PLAIN else [f"{unit.label or unit.kind.value} {_nature(unit)}".rstrip()]
            lines += ["", *named, *text]
    return lines


def _before(unit: Unit, part: Unit) -> Unit:
    """A unit with its text as far as the first that belongs to it."""
    head, _, _ = part.text.partition("\n")
    found = re.search(rf"\n[^\n]{{0,{_MARKER}}}{re.escape(head)}", unit.text)
    return unit if found is None or unit.rows else replace(unit, text=unit.text[: found.start()])


def _headed(section: str, title: str) -> str:
    """A clause by its number and heading, the number once."""
    rest = title.removeprefix(section).strip() if title.startswith(section) else title
    return f"{section_sign(section)} {rest}".rstrip()


def _nature(unit: Unit) -> str:
    """Kind, modality and force of a unit, as far as its name does not say them."""
    kind, force = unit.kind.value, unit.force_ceiling.value
    said = [] if not unit.label or unit.label.lower().startswith(kind) else [kind.replace("_", " ")]
    said += [unit.modality.value] if unit.modality is not Modality.NONE else []
    said += [f"at most {force}"] if force != kind else []
    return f"[{', '.join(said)}]" if said else ""


def _text(unit: Unit) -> list[str]:
    """What a unit says; the heading above it is not said again."""
    rows = [_row(row) for row in unit.rows] or _own(unit).splitlines()
    return [f"  {row}" for row in rows]


def _own(unit: Unit) -> str:
    """A unit's text without the heading it begins with."""
    first, _, rest = unit.text.partition("\n")
    heading = _LETTERS.findall(unit.heading_path[-1]) if unit.heading_path else []
    words = _LETTERS.findall(first)
    numbered = len(words) - len(heading)
    repeats = bool(heading) and 0 <= numbered <= _NUMBER and words[numbered:] == heading
    return rest if repeats else unit.text


def _row(cells: Sequence[str]) -> str:
    return " | ".join(" ".join(cell.split()) for cell in cells)


def _below(clauses: tuple[Clause, ...]) -> list[str]:
    return ["below it:"] + [f"  {_headed(clause.section, clause.title)}" for clause in clauses]


def _hit_lines(hit: Hit, question: str) -> list[str]:
    unit = hit.unit
    title = unit.heading_path[-1] if unit.heading_path else ""
    heading = _headed(unit.section, title).removeprefix(section_sign(unit.section)).strip()
    lines = [f"{citation(unit)} {one_line(heading, 80)}".rstrip(), f"  {one_line(_telling(unit, question), _SNIPPET)}"]
    return lines + [f"    {citation(each)} {one_line(_telling(each, question), _SNIPPET)}" for each in hit.completion]


def _telling(unit: Unit, question: str) -> str:
    """What a unit says; of a table the row that holds most of the question's words, each the less of a word the more
    rows hold it."""
    if len(unit.rows) < 2:
        return _own(unit) or unit.text
    asked = _words(question)
    held = [asked & _words(" ".join(row)) for row in unit.rows[1:]]
    rows = Counter(word for words in held for word in words)
    _, best = max(zip(held, unit.rows[1:], strict=True), key=lambda each: sum(1 / rows[word] for word in each[0]))
    return f"{_row(unit.rows[0])}: {_row(best)}"


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _LETTERS.findall(text)}


def _hit_record(hit: Hit) -> dict[str, Any]:
    unit = hit.unit
    record = {
        "section": unit.section, "label": unit.label, "page": unit.page, "text": unit.text, "kind": unit.kind,
        "force_ceiling": unit.force_ceiling, "score": round(hit.score, 4), "unit_id": unit.unit_id,
        "heading_path": unit.heading_path, "citation": citation(unit),
    }  # fmt: skip
    return {**record, "completion": [exported(each) for each in hit.completion]} if hit.completion else record
