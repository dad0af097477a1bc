"""Words: the parts of identifiers written in mixed case, and the query that any text becomes.

FTS5 cuts at everything that is no letter or digit, `snake_case` included; what it cannot see is `camelCase`. The parts
of such identifiers are indexed in a column of their own and asked for beside the identifier itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUMP = b"aA"
_SHAPES = bytes(
    [ord("A") if chr(c).isupper() else ord("a") if chr(c).isalnum() else ord(" ") for c in range(128)]
).ljust(256)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|[0-9]+")
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"[^\W\d]\w*")
_PHRASE = re.compile(r'"([^"]+)"')
_TERMS = 48
_LONGEST = 200
_REMEMBERED = 100_000

_ENGLISH = """
a an and are as at be by can do does for from how i if in into is it its of on or that the their there these this to was
we what when where which who why will with you your
"""
_FRENCH = """
au aux ce ces cette comment dans de des du elle en est et il ils je la le les leur lui mais ou où par pas pour que quel
quelle qui sa se ses si son sont sur un une
"""
_FILLING = frozenset((_ENGLISH + _FRENCH).split())


def parts(identifier: str) -> tuple[str, ...]:
    """`parseHTTPHeader2` → `parse`, `HTTP`, `Header`, `2`; nothing for a word of one part."""
    found = tuple(_PART.findall(identifier))
    return found if len(found) > 1 else ()


class _Split(dict[str, str]):
    """The parts of identifiers that were asked for, joined by spaces."""

    def __missing__(self, identifier: str) -> str:
        split = " ".join(parts(identifier[:_LONGEST]))
        if len(self) < _REMEMBERED:
            self[identifier] = split
        return split


class MixedCase:
    """The parts of all mixed-case identifiers of a text, each once. Remembers identifiers it has split before.

    A text is first turned into its shape (one byte a character: small, capital, other), where a hump is two bytes and
    is found ten times as fast as by a pattern.
    """

    def __init__(self) -> None:
        self._known = _Split()

    def of(self, text: str) -> str:
        """The parts, joined by spaces; empty for most prose."""
        shape = text.encode("ascii", "replace").translate(_SHAPES)
        at = shape.find(_HUMP)
        if at < 0:
            return ""
        identifiers: dict[str, None] = {}
        while at >= 0:
            end = shape.find(b" ", at)
            identifiers[text[shape.rfind(b" ", 0, at) + 1 : end if end >= 0 else None]] = None
            at = shape.find(_HUMP, end) if end >= 0 else -1
        known = self._known
        return " ".join([known[identifier] for identifier in identifiers])


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `terms` are single words in lower case; `phrases` stood in double quotes and must occur;
    `names` are what can only be names of the source (`read_file`, `RingBuffer`, a word alone), in lower case."""

    text: str
    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Query:
        """Read any text: words, identifiers whole and in parts, "quoted phrases". Filling words count only alone. At
        most 48 terms."""
        phrases = tuple(words for phrase in _PHRASE.findall(text) if (words := tuple(_words(phrase))))
        terms: dict[str, None] = {}
        for word in _WORD.findall(text):
            for term in (word, *parts(word)):
                terms.setdefault(term.lower())
        telling = [term for term in terms if term not in _FILLING] or list(terms)
        spelled = _NAME.findall(text)
        names = (word for word in spelled if "_" in word.strip("_") or parts(word) or len(spelled) == 1)
        return cls(text, tuple(telling[:_TERMS]), phrases, frozenset(name.lower() for name in names))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.terms

    def expression(self) -> str:
        """The query in the language of FTS5: every phrase, ranked by all the terms. Never a syntax error."""
        any_term = " OR ".join(f'"{term}"' for term in self.terms)
        required = [f'"{" ".join(phrase)}"' for phrase in self.phrases]
        return " AND ".join((*required, f"({any_term})"))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
