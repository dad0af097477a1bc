"""Typographic characters and the ASCII a model writes for them: matching across the two, and keeping the file's own."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SINGLE = "\u2018\u2019\u201a\u201b\u2032"
_DOUBLE = "\u201c\u201d\u201e\u201f\u2033"
_DASHES = "\u2010\u2011\u2012\u2013\u2212"
_LONG = {"\u2014": "--", "\u2015": "--", "\u2026": "..."}
_FOLDS = str.maketrans(
    dict.fromkeys(_SPACES, " ")
    | dict.fromkeys(_SINGLE, "'")
    | dict.fromkeys(_DOUBLE, '"')
    | dict.fromkeys(_DASHES, "-")
    | _LONG
)
_PIECES = re.compile(r"--|\.\.\.|.", re.DOTALL)
_ALTERNATIVES = {
    " ": f"[ {_SPACES}]",
    "'": f"['{_SINGLE}]",
    '"': f'["{_DOUBLE}]',
    "-": f"[{_DASHES}-]",
    "--": f"(?:[\u2014\u2015]|[{_DASHES}-][{_DASHES}-])",
    "...": "(?:\u2026|\\.\\.\\.)",
}
_TOKENS = re.compile(r"\w+|\s+|.", re.DOTALL)


def folded(text: str) -> str:
    """The text with typographic quotes, dashes, spaces and the ellipsis as ASCII."""
    return text.translate(_FOLDS)


def folding_pattern(old: str) -> str:
    """A regular expression for every text that folds to what `old` folds to."""
    return "".join(_ALTERNATIVES.get(piece, re.escape(piece)) for piece in _PIECES.findall(folded(old)))


def carry_over(actual: str, old: str, new: str) -> str:
    """`new` with the characters of `actual` wherever it says the same as `old`. `actual` folds to what `old` folds to,
    so that only what differs between `old` and `new` changes in the file."""
    positions = _folded_positions(old)
    pieces = _atoms(actual)
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    starts = [0]
    for token in before:
        starts.append(starts[-1] + len(token))
    result: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            result.append(_slice(pieces, positions[starts[i1]], positions[starts[i2]]))
        else:
            result.append("".join(after[j1:j2]))
    return "".join(result)


def _folded_positions(text: str) -> list[int]:
    positions = [0]
    for character in text:
        positions.append(positions[-1] + len(_LONG.get(character, " ")))
    return positions


def _atoms(text: str) -> list[tuple[int, int, str, str]]:
    """(folded start, folded end, character, what it folds to)."""
    atoms = []
    position = 0
    for character in text:
        ascii_form = folded(character)
        atoms.append((position, position + len(ascii_form), character, ascii_form))
        position += len(ascii_form)
    return atoms


def _slice(atoms: list[tuple[int, int, str, str]], start: int, end: int) -> str:
    result = []
    for begin, stop, character, ascii_form in atoms:
        if start <= begin and stop <= end:
            result.append(character)
        elif begin < end and stop > start:
            result.append(ascii_form[max(start - begin, 0) : end - begin])
    return "".join(result)
