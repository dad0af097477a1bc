"""The tree of a plain command without starting the grammar: `make -j4 test` has one reading (spec 2.6).

Starting `shfmt` takes 3 to 5 ms, a large part of a round. A text of plain words on one line holds nothing the grammar
would have to decide, so the same tree is written down directly; anything else is the grammar's.
"""

from __future__ import annotations

import re
from typing import Any

_WORD = r"[A-Za-z0-9_./:@%+,-]+"
_MEANT = (
    "if|then|else|elif|fi|for|in|do|done|while|until|case|esac|select|function|time|coproc|"
    "declare|local|export|readonly|typeset|nameref|let"
)
"""First words that the grammar reads as more than a name."""

_PLAIN = re.compile(rf"(?!(?:{_MEANT})(?: |$)){_WORD}(?: +[A-Za-z0-9_./:@%+,=-]+)*")
_WORDS = re.compile(r"[^ ]+")


def plain_tree(text: str) -> dict[str, Any] | None:
    """The tree `shfmt` gives for a single command of plain words; None for every other text."""
    if not _PLAIN.fullmatch(text):
        return None
    words = list(_WORDS.finditer(text))
    whole = _span(0, len(text))
    command = {"Type": "CallExpr", **whole, "Args": [_word(found) for found in words]}
    return {"Type": "File", **whole, "Stmts": [{**whole, "Cmd": command, "Position": _place(0)}]}


def _word(found: re.Match[str]) -> dict[str, Any]:
    span = _span(*found.span())
    literal = {
        "Type": "Lit",
        **span,
        "ValuePos": _place(found.start()),
        "ValueEnd": _place(found.end()),
        "Value": found[0],
    }
    return {**span, "Parts": [literal]}


def _span(start: int, end: int) -> dict[str, Any]:
    return {"Pos": _place(start), "End": _place(end)}


def _place(offset: int) -> dict[str, int]:
    return {"Offset": offset, "Line": 1, "Col": offset + 1}
