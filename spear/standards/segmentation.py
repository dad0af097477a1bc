"""Segmentation: blocks become units, each with its kind, modality and force ceiling (spec 5.1)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from spear.standards.headings import Headings, Standing
from spear.standards.labels import Label, Labels
from spear.standards.leads import Leads
from spear.standards.modality import FORCE_OF, KIND_OF, Reading
from spear.standards.readers.blocks import Block, BlockKind
from spear.standards.references import references
from spear.standards.sentences import sentences
from spear.standards.units import Force, Kind, Modality, Unit

_NOTE = re.compile(
    r"[(\[]?(?:NOTE|Note|Notes|NOTES|EXAMPLE|Example|Rationale|RATIONALE|Remark|Tip|TIP|Informative note|Non-normative|"
    r"Commentary|Implementation note|Editor['’]s note|!NOTE|!TIP)\b(?:\s+(?:\d+|to\s+entry))?\s*(?:[:.—–-]|\]|$)"
)
_NOT_NORMATIVE = re.compile(
    r"[(\[]?this\s+(?:sub)?(?:section|clause|annex|appendix|chapter|part)\s+is\s+(?:entirely\s+)?(?:informative|"
    r"non-normative|not\s+normative|informational|for\s+information\s+only|provided\s+for\s+information)",
    re.I,
)
_EXAMPLE = re.compile(r"For\s+(?:example|instance)\b")
_CAPTION = re.compile(r"((?:Table|Figure|Fig\.|Listing|Example)\s+((?:[A-Z]{1,3}[.-])?\d+(?:[.-]\d+)*))(?!\w)", re.I)
_CEILING = {
    Kind.REQUIREMENT: Force.REQUIREMENT,
    Kind.RECOMMENDATION: Force.RECOMMENDATION,
    Kind.PERMISSION: Force.PERMISSION,
    Kind.TABLE: Force.REQUIREMENT,
}
"""The most that each kind may oblige to; all others oblige nobody."""


@dataclass(slots=True)
class Segmenter:
    """Turns the blocks of one document into units, in order. It is used once."""

    headings: Headings
    labels: Labels
    reading: Reading
    _clause: Standing = field(default_factory=lambda: Standing("", (), front=True))
    _leads: Leads = field(default_factory=Leads)
    _pending: Label | None = None
    """A label that stood alone: it is the next paragraph's."""
    _noted: bool = False
    """A "NOTE" stood alone: the next paragraph is one."""
    _heading: Block | None = None
    """The heading of a clause whose text has not begun."""
    _ids: dict[str, int] = field(default_factory=dict)

    def units(self, blocks: Iterable[Block]) -> Iterator[Unit]:
        """The units of a document's blocks."""
        self._clause = self.headings.clause()
        for block in blocks:
            self._take(block)
            yield from self._leads.drain()
        self._leads.close()
        self._unspoken()
        yield from self._leads.drain()

    def _take(self, block: Block) -> None:
        said = block.text.strip() or any(any(row) for row in block.rows)
        if not said and block.kind is not BlockKind.HEADING:
            return
        match block.kind:
            case BlockKind.HEADING:
                self._begin(block)
            case BlockKind.FURNITURE:
                self._add(block, block.text, Kind.FURNITURE)
            case BlockKind.CONTENTS:
                self._add(block, block.text, Kind.FRONT_MATTER)
            case BlockKind.CAPTION:
                self._add(block, block.text, Kind.CAPTION, label=_caption_label(block.text))
            case BlockKind.TABLE | BlockKind.CODE:
                self._heading = None
                self._drawn(block)
            case _:
                self._written(block)

    def _begin(self, block: Block) -> None:
        self._leads.close()
        self._unspoken()
        self._clause = self.headings.enter(block)
        self._pending, self._noted, self._heading = None, False, block
        label = self.labels.leading(block.text)
        if label is not None and label.kind is not None:
            self._pending = label

    def _unspoken(self) -> None:
        """A clause without text of its own is a unit all the same, so that its number can be found."""
        if self._heading is not None and self._heading.text.strip():
            kind = Kind.FRONT_MATTER if self._clause.front else Kind.INFORMATIVE
            self._add(self._heading, " ".join(self._heading.text.split()), kind)
        self._heading = None

    def _drawn(self, block: Block) -> None:
        """A table, or code and figures: text kept line by line."""
        owner = self._leads.owner(block)
        within = owner.unit_id if owner else ""
        text = block.text or "\n".join("\t".join(row) for row in block.rows)
        if block.kind is BlockKind.CODE:
            self._add(block, text, Kind.FRONT_MATTER if self._clause.front else Kind.INFORMATIVE, within=within)
            return
        clause = self._clause
        bound = not (clause.front or clause.informative or clause.definitions or block.informative)
        label = _caption_label(block.caption)
        force = Force.REQUIREMENT if bound else Force.INFORMATIVE
        table = self._add(block, text, Kind.TABLE, self.reading.of(text), force, label=label, within=within)
        for row in block.rows[1:] if bound else ():
            found = self.labels.leading(row[0]) if row and row[0] else None
            if found is not None and found.end >= len(row[0]):  # a row that begins with a label and nothing else
                self._labelled(block, "\t".join(row), found, self.reading.of("\t".join(row)), table.unit_id)

    def _written(self, block: Block) -> None:
        text = block.text.strip()
        if not text:
            return
        if _NOT_NORMATIVE.match(text) and self._clause.path:
            self.headings.note_informative()
            self._clause = self.headings.clause()
        note = _NOTE.match(text)
        informative = block.informative or self._noted or note is not None
        self._noted = note is not None and note.end() >= len(text)
        owner = self._leads.owner(block)
        label = self.labels.leading(text)
        if label is not None and label.end >= len(text):
            self._pending = label
            return
        label, self._pending = label or self._pending, None
        if label is not None and not self._clause.front:
            self._heading = None
            unit = self._labelled(block, text, label, self.reading.of(text), owner.unit_id if owner else "")
            self._leads.lead(unit, block)
            return
        self._unlabelled(block, text, owner, informative=informative)

    def _unlabelled(self, block: Block, text: str, owner: Unit | None, *, informative: bool) -> None:
        within = owner.unit_id if owner else ""
        heard = not (informative or self._clause.front or self._clause.informative)
        heading, self._heading = self._heading, None
        opening = f"{' '.join(heading.text.split())}\n" if heading is not None else ""
        last: Unit | None = None
        for piece, labels, modality in self._pieces(block, text):
            said, first, opening = f"{opening}{piece}", opening, ""
            for label in labels if heard else ():
                last = self._labelled(block, said, label, self._modality_at(piece, label), within, first)
            if labels and heard:
                continue
            kind = self._kind(modality, informative=informative)
            ceiling = _CEILING.get(kind, Force.INFORMATIVE)
            if heard and owner is not None and modality is Modality.NONE and owner.kind in _CEILING and _is_part(block):
                kind, modality, ceiling = owner.kind, owner.modality, owner.force_ceiling
            last = self._add(block, said, kind, modality, ceiling, within=within, opening=first)
        if last is not None:
            self._leads.lead(last, block)

    def _kind(self, modality: Modality, *, informative: bool) -> Kind:
        if self._clause.front:
            return Kind.FRONT_MATTER
        if informative or self._clause.informative:
            return Kind.INFORMATIVE
        if self._clause.definitions and FORCE_OF[modality] is not Force.REQUIREMENT:
            return Kind.DEFINITION
        return KIND_OF[FORCE_OF[modality]]

    def _pieces(self, block: Block, text: str) -> Iterator[tuple[str, list[Label], Modality]]:
        """Sentences with labels one by one, the others together as long as their modality is the same."""
        held: list[str] = []
        before: tuple[Modality, list[Label]] = (Modality.NONE, [])
        place = 0
        for sentence in _sentences(block, text):
            place = max(place, text.find(sentence, place))
            inline = self.labels.inline(sentence)
            modality = Modality.NONE if _EXAMPLE.match(sentence) else self.reading.of(sentence)
            now = (modality, self._marked(block, place, place + len(sentence)))
            place += len(sentence)
            if held and (inline or now != before):
                yield " ".join(held), before[1], before[0]
                held = []
            if inline:
                yield sentence, inline, now[0]
                continue
            held.append(sentence)
            before = now
        if held:
            yield " ".join(held), before[1], before[0]

    def _marked(self, block: Block, start: int, end: int) -> list[Label]:
        """The labels of the stretches of a block's text, marked by its source, that this one shares something with."""
        shared = (name for name, first, last in block.marks if first < end and last > start)
        return [label for name in shared if (label := self.labels.mark(name)) is not None]

    def _modality_at(self, sentence: str, label: Label) -> Modality:
        """The modal verb that a label in brackets speaks of: the last before it, where that fits its role."""
        clause = re.split(r"[;,]|\b(?:and|but|or|however)\b", sentence[: label.start])[-1]
        force = _CEILING.get(label.kind) if label.kind else None
        for text in (clause, sentence[: label.start], sentence):
            found = self.reading.of(text)
            if found is not Modality.NONE and (force is None or FORCE_OF[found] is force):
                return found
        return self.reading.of(sentence)

    def _labelled(
        self, block: Block, text: str, label: Label, modality: Modality, within: str, opening: str = ""
    ) -> Unit:
        kind = label.kind if label.kind is not None else KIND_OF[FORCE_OF[modality]]
        if kind is Kind.INFORMATIVE and label.text in {name for name, _, _ in block.marks}:
            kind = Kind.REQUIREMENT  # the source says that it is normative, and its verb does not weaken it
        if self._clause.informative or block.informative:
            kind = Kind.INFORMATIVE if kind in _CEILING else kind
        ceiling = _CEILING.get(kind, Force.INFORMATIVE)
        return self._add(block, text, kind, modality, ceiling, label.text, label.ordinal, within, opening)

    def _add(
        self,
        block: Block,
        text: str,
        kind: Kind,
        modality: Modality = Modality.NONE,
        force: Force = Force.INFORMATIVE,
        label: str = "",
        ordinal: str = "",
        within: str = "",
        opening: str = "",
    ) -> Unit:
        section = "" if kind is Kind.FURNITURE else self._clause.section
        unit = Unit(
            unit_id=self._identity(section, label, text),
            kind=kind,
            ordinal=ordinal or (label.split()[-1] if label else ""),
            label=label,
            section=section,
            heading_path=self._clause.path,
            page=block.page,
            lines=block.lines,
            text=text,
            modality=modality,
            force_ceiling=force,
            within=within,
            references=references(text.removeprefix(opening), self.labels, label),
            rows=block.rows if kind is Kind.TABLE else (),
        )
        self._leads.add(unit)
        return unit

    def _identity(self, section: str, label: str, text: str) -> str:
        """An identity made of the place and the text, so that another extraction of the same text finds it again."""
        words = "\0".join((section, label, " ".join(text.split())))
        digest = hashlib.sha256(words.encode("utf-8", errors="replace")).hexdigest()[:16]
        count = self._ids[digest] = self._ids.get(digest, 0) + 1
        return f"u-{digest}" if count == 1 else f"u-{digest}-{count}"


def _sentences(block: Block, text: str) -> Iterator[str]:
    """The sentences of a text; one may begin in lower case where its source gives what begins there an identity."""
    begun = (start for _, start, _ in block.marks)
    cuts = sorted({start for start in begun if text[:start].rstrip().endswith((".", "!", "?"))})
    for start, end in pairwise((0, *cuts, len(text))):
        yield from sentences(text[start:end])


def _is_part(block: Block) -> bool:
    """Whether a block says nothing on its own: an item of a list has the force of the sentence that leads it in."""
    return block.kind in {BlockKind.ITEM, BlockKind.TERM}


def _caption_label(caption: str) -> str:
    """What a citation prints of a caption: "Table 3" of "Table 3. Options"."""
    match = _CAPTION.match(caption)
    return " ".join(match[1].split()) if match else ""
