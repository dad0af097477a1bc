"""Lead-ins: what stands under "shall support the following:" belongs to that sentence, and its text says so."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from spear.standards.readers.blocks import Block, BlockKind
from spear.standards.units import Unit

_LEADS = re.compile(r":\s*(?:[(\[][^()\[\]]*[)\]]\s*)?$")
_LISTED = frozenset((BlockKind.ITEM, BlockKind.TERM))
_MOST_OWNED = 6000
"""Characters of list and table that are said again in the text of the sentence they belong to."""


@dataclass(slots=True)
class _Lead:
    unit: Unit
    level: int
    place: int
    parts: list[str] = field(default_factory=list)
    size: int = 0
    informative: bool = False
    listing: BlockKind | None = None
    """Items or terms, once one of them has come: a list of another kind at that depth is another list."""


@dataclass(slots=True)
class Leads:
    """The lead-ins that are open, and the units held back until all that belongs to them has come."""

    _open: list[_Lead] = field(default_factory=list)
    _held: list[Unit] = field(default_factory=list)

    def add(self, unit: Unit) -> None:
        """The next unit of the document."""
        self._held.append(unit)

    def drain(self) -> list[Unit]:
        """The units that are complete: all, or none while a lead-in is open."""
        if self._open:
            return []
        done, self._held = self._held, []
        return done

    def close(self, level: int = 0) -> None:
        """The lead-ins at this depth and deeper are complete."""
        while self._open and self._open[-1].level >= level:
            lead = self._open.pop()
            if lead.parts:
                self._held[lead.place] = replace(lead.unit, text="\n".join((lead.unit.text, *lead.parts)))

    def owner(self, block: Block) -> Unit | None:
        """The lead-in that a block belongs to, in whose text it stands from now on; those it ends are closed."""
        listed = block.kind in _LISTED
        if listed or block.kind is BlockKind.PARAGRAPH:
            self.close(block.level)
        while self._open and _is_over(self._open[-1], block):
            self.close(self._open[-1].level)
        if not self._open:
            return None
        last = self._open[-1]
        if not listed and block.kind is not BlockKind.PARAGRAPH and last.listing is not None:
            return None  # a table after a list is not the list's lead-in's
        if listed and block.level == last.level + 1:
            last.listing = block.kind
        text = block.text or "\n".join("\t".join(row) for row in block.rows)
        if block.number:
            text = f"{block.number} {text}"
        for lead in self._open:
            if lead.size < _MOST_OWNED:
                lead.parts.append(text[:_MOST_OWNED])
                lead.size += len(text)
        return self._open[-1].unit

    def lead(self, unit: Unit, block: Block) -> None:
        """The unit added last leads in what comes next, if its text ends so."""
        if _LEADS.search(unit.text[-400:]):
            lead = _Lead(unit, block.level, len(self._held) - 1, informative=block.informative)
            self._open.append(lead)


def _is_over(lead: _Lead, block: Block) -> bool:
    """Whether a block begins something else than what a lead-in has: outside its note, or a list of another kind."""
    if lead.informative and not block.informative:
        return True
    another = block.kind in _LISTED and lead.listing not in {None, block.kind}
    return another and block.level == lead.level + 1
