"""Task families: which requests are the same task, and the split a family belongs to for good (spec 7).

A split is a pure function of a family's name. A family is never moved, whatever else is captured later, so what is
held out today has never been and will never be trained on.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from spear.training.vocabulary import Split

_PARAGRAPH = re.compile(r"\n\s*\n")
_NUMBER = re.compile(r"\d+")
_OTHER = re.compile(r"[^\w#]+")
_HOLDOUT_PERCENT = 10
_VALIDATION_PERCENT = 10
_REMEMBERED = 10_000
_STRICTNESS = (Split.HOLDOUT, Split.VALIDATION, Split.TRAIN)


def family_of(request: str) -> str:
    """The family of a request, 16 hex digits: its first paragraph without case, spacing, punctuation and numbers.

    What is attached below the first paragraph does not make another task. Coarse on purpose: two tasks in one family
    cost some data, one task in two families would leak the holdout into training.
    """
    folded = unicodedata.normalize("NFKC", _PARAGRAPH.split(request.strip(), maxsplit=1)[0]).casefold()
    words = _OTHER.sub(" ", _NUMBER.sub("#", folded)).strip()
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def split_of(families: Iterable[str]) -> Split:
    """The strictest split of any family a model saw in the episode: its own and those of earlier turns."""
    splits = {_split(family) for family in families}
    return next((split for split in _STRICTNESS if split in splits), Split.HOLDOUT)


@lru_cache(_REMEMBERED)
def _split(family: str) -> Split:
    place = int.from_bytes(hashlib.sha256(f"spear.split/1 {family}".encode()).digest()[:4], "big") % 100
    if place < _HOLDOUT_PERCENT:
        return Split.HOLDOUT
    return Split.VALIDATION if place < _HOLDOUT_PERCENT + _VALIDATION_PERCENT else Split.TRAIN
