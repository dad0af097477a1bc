"""Whether what came out of a document is of use, and if not, why (spec 5.1)."""

from __future__ import annotations

from spear.standards.units import Extraction, Kind

_PROVISIONS = frozenset((Kind.REQUIREMENT, Kind.RECOMMENDATION, Kind.PERMISSION, Kind.OBSERVATION))
_TEXT = frozenset(Kind) - {Kind.FURNITURE}
_PAGES_A_PROVISION = 8
"""Pages for which a document that was read well has at least one provision."""
_FEW_PAGES = 8
_CHARACTERS_A_PROVISION = 60_000
"""The same, in characters, for formats without pages."""
_CHARACTERS_A_PAGE = 80
_GARBLED = 0.02


def problems(extraction: Extraction) -> tuple[str, ...]:
    """Why an extraction is unusable, one sentence a reason; empty when it is usable.

    No provisions or headings at all, far too few provisions for the document's length (a 121-page document with four
    did not extract), hardly any text on its pages (a scan), and text that is not words (a wrong encoding).
    """
    units = [unit for unit in extraction.units if unit.kind in _TEXT]
    provisions = sum(unit.kind in _PROVISIONS for unit in units)
    size = sum(len(unit.text) for unit in units)
    clauses = {unit.section for unit in units if unit.section}
    found: list[str] = []
    if not units:
        found.append("no text came out of the document, so it has no provisions")
    elif provisions == 0:
        found.append("no provisions were found: nothing in it is labelled as one or says shall, must, should or may")
    if units and not clauses:
        found.append("no headings were found, so no provision can be cited by its clause")
    if provisions and _too_few(extraction, provisions, size):
        length = f"{extraction.pages} pages" if extraction.pages else f"{size // 1000} thousand characters"
        found.append(f"only {provisions} provisions were found in {length}: the document did not extract")
    pages = extraction.pages or 0
    if pages >= _FEW_PAGES and units and size < pages * _CHARACTERS_A_PAGE:
        found.append(
            f"{pages} pages hold {size} characters of text: most of them are pictures, without provisions to read"
        )
    if size and (garbled := _garbled(extraction)) > _GARBLED:
        found.append(f"{garbled:.0%} of the characters stand for nothing: its provisions cannot be read as text")
    return tuple(found)


def _too_few(extraction: Extraction, provisions: int, size: int) -> bool:
    pages = extraction.pages or 0
    if pages > _FEW_PAGES:
        return provisions * _PAGES_A_PROVISION < pages
    return not pages and provisions * _CHARACTERS_A_PROVISION < size


def _garbled(extraction: Extraction) -> float:
    """The share of characters that no text has: replacements, controls, private use."""
    total = wrong = 0
    for unit in extraction.units:
        total += len(unit.text)
        wrong += sum(
            char == "\ufffd" or "\ue000" <= char <= "\uf8ff" or (char < " " and char not in "\n\t")
            for char in unit.text
        )
    return wrong / total if total else 0.0
