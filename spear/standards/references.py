"""What a unit's text points at: clauses, labels, tables and figures, as printed (spec 5.1)."""

from __future__ import annotations

import re

from spear.standards.labels import Labels

_NUMBER = r"(?:[A-Z]\d{0,3}|\d{1,4})(?:\.\d{1,4})*"
_CLAUSE = re.compile(
    rf"(?:\b(?i:sections?|sec\.|clauses?|subclauses?|chapters?|appendix|appendices|annex|annexes|tables?|figures?|fig\.)"
    rf"\s+|§+\s*){_NUMBER}(?![\w-])(?:\s*(?:,|and|or|to|through|–|-)\s+(?:§\s*)?{_NUMBER}(?![\w-]))*",
)
_ELSEWHERE = re.compile(r"\s*(?:of|in)\s+(?:the\s+)?(?:\[|RFCs?\b|ISO\b|IEEE\b|IEC\b|IETF\b)", re.I)
_LABEL = re.compile(r"(?<![\w-])([A-Z][A-Za-z]{1,20})[ _-]([A-Z]?\d+(?:[.-]\d+)*[a-z]?)(?![\w-])")
_MONTHS = frozenset(("May", "may"))
_MOST = 40


def references(text: str, labels: Labels, own: str = "") -> tuple[str, ...]:
    """What a text points at within its own document, in order and once each; its own label left out."""
    found: dict[str, None] = {}
    for match in _CLAUSE.finditer(text):
        if not _ELSEWHERE.match(text, match.end()):
            found[" ".join(match[0].split())] = None
    for match in _LABEL.finditer(text):
        if labels.kind(match[1]) is not None and match[0] != own and match[1] not in _MONTHS:
            found[match[0]] = None
    return tuple(found)[:_MOST]
