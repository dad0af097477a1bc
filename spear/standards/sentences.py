"""Sentences of a paragraph, whole and in order: a label in brackets after a full stop stays with what it labels."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.!?])(?P<close>[\"”’')\]]*)\s+(?=[\"“‘'(\[]?[A-Z0-9`*_§#]|[a-z][A-Za-z0-9]*[_(])")
_SHORT = re.compile(
    r"(?:\b(?:[eE]\.g|[iI]\.e|cf|vs|viz|resp|approx|Fig|Figs|Sec|Sect|Eq|Eqs|Ref|Refs|No|Nos|Vol|Ch|Chap|App|Art|pp?|al|Dr|Mr|Ms|"
    r"Mrs|Inc|Ltd|Corp|Jr|Eds|incl|ca|[A-Z]\.[A-Z]))\.$"
)
_ENUMERATOR = re.compile(r"(?:^|\s)\(?(?:\d{1,3}|[A-Za-z])\.$")
_LABEL_NEXT = re.compile(r"[(\[][A-Z][A-Za-z_]*[-_ ]?\d[\w.-]*[)\]]")


def sentences(text: str) -> list[str]:
    """The sentences of a text; joined by a space they are the text again, white space aside."""
    parts: list[str] = []
    start = 0
    for match in _END.finditer(text):
        before = text[max(start, match.start() - 12) : match.start()]
        if _SHORT.search(before) or _enumerates(text, start, match.start()):
            continue
        label = _LABEL_NEXT.match(text, match.end())
        end = label.end() if label else match.end()
        piece = text[start:end].strip()
        if piece and end > start:
            parts.append(piece)
            start = end
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def _enumerates(text: str, start: int, end: int) -> bool:
    """Whether what stands before a full stop is nothing but a list's number or letter."""
    return end - start < 8 and _ENUMERATOR.fullmatch(text[start:end].strip()) is not None
