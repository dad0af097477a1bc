"""Sets of names, written as one line of words."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """`names("-k -m")` is the set of its words."""
    return frozenset(text.split())
