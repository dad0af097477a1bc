"""Quotes of a text in which secrets were hidden: what a sentinel stands for is found in the file, and kept.

A conversation that is gone on with shows `[redacted]` where the file has a secret. An edit that quotes it leaves the
secret as it is when the sentinel stands in the replacement as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SENTINEL = re.compile(r"«redacted[^»\n]{0,80}»|\[redacted\]")


def sentinels(text: str) -> set[str]:
    """The sentinels in a text."""
    return set(SENTINEL.findall(text)) if "redacted" in text else set()  # a word is found faster than a pattern


def unhidden(text: str, old: str, new: str) -> tuple[str, str]:
    """`old` and `new` with the sentinels of `old` as the text has it, where that is one place and `new` has all of them
    in the same order, or none; otherwise both as they are. A sentinel that the text itself has is text. A hidden part
    lies within a line; one that nothing precedes cannot be found."""
    quoted_ones = SENTINEL.findall(old)
    if not quoted_ones or old in text or SENTINEL.findall(new) not in ([], quoted_ones):
        return old, new
    places = _places(text, SENTINEL.split(old))
    found, another = next(places, None), next(places, None)
    if found is None or another is not None:
        return old, new
    quoted, hidden = found
    remaining = iter(hidden)
    return quoted, SENTINEL.sub(lambda _: next(remaining), new)


def _places(text: str, pieces: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Where the pieces follow each other with something hidden between: the whole of it, and what is hidden."""
    if not all(pieces[:-1]):
        return
    start = text.find(pieces[0])
    while start >= 0:
        position, hidden = start + len(pieces[0]), []
        for piece in pieces[1:]:
            line_end = text.find("\n", position)
            line_end = len(text) if line_end < 0 else line_end
            end = text.find(piece, position + 1, line_end + len(piece)) if piece else line_end
            if end <= position:
                break
            hidden.append(text[position:end])
            position = end + len(piece)
        else:
            yield text[start:position], hidden
        start = text.find(pieces[0], start + 1)
