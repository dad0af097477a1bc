"""A range of pages, as it is written and as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages counted from 1; `last` None is the last there is."""

    first: int = 1
    last: int | None = None


def pages_of(text: str) -> Pages | str | None:
    """A range as written: `7`, `3-9`, `10-`; None where none is given, a sentence where it is no range."""
    if not text.strip():
        return None
    match = re.fullmatch(r"\s*([0-9]{1,6})\s*(?:(-)\s*([0-9]{1,6})?)?\s*", text)
    first = int(match[1]) if match else 0
    last = int(match[3]) if match and match[3] else None if match and match[2] else first
    if not first or (last is not None and last < first):
        return f"pages {text.strip()!r} is no range such as 7, 3-9 or 10-"
    return Pages(first, last)
