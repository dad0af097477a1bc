"""Citations: `(Rule 7.1-3, §7.1, p. 44)`, and reading one back (spec 5.4)."""

from __future__ import annotations

import re

from spear.standards.units import Unit

_NUMBERED = re.compile(r"[A-Z]?\d+(?:\.\w+)*|[A-Z](?:\.\w+)*")
_SIGN = re.compile(r"^(?:§+|sections?|clauses?|sec\.|cl\.)\s*(?=\S)", re.IGNORECASE)
_PAGE = re.compile(r"^p\.\s*\d+$")


def citation(unit: Unit) -> str:
    """How a unit is cited: its label, its clause, its page; what it lacks is left out."""
    parts = [unit.label, section_sign(unit.section), f"p. {unit.page}" if unit.page is not None else ""]
    return f"({', '.join(part for part in parts if part)})"


def section_sign(section: str) -> str:
    """`§7.1` for a number, a heading as it stands; "" for none."""
    return f"§{section}" if _NUMBERED.fullmatch(section) else section


def cited(reference: str) -> tuple[str, bool]:
    """What a reference names, and whether it says that it is a section: a label, a number, or a whole citation."""
    text = " ".join(reference.split()).strip()
    if text.startswith("(") and text.endswith(")"):
        parts = [part.strip() for part in text[1:-1].split(",")]
        text = next((part for part in parts if part and not _PAGE.match(part)), "")
    bare = _SIGN.sub("", text)
    return bare, bare != text
