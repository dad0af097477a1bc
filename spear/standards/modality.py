"""Modality: the modal verb of a sentence with its polarity, and which words of a document count at all (spec 5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from spear.standards.units import Force, Kind, Modality

FORCE_OF = {
    Modality.SHALL: Force.REQUIREMENT,
    Modality.SHALL_NOT: Force.REQUIREMENT,
    Modality.SHOULD: Force.RECOMMENDATION,
    Modality.SHOULD_NOT: Force.RECOMMENDATION,
    Modality.MAY: Force.PERMISSION,
    Modality.NONE: Force.INFORMATIVE,
}
_STRENGTH = {modality: force.rank for modality, force in FORCE_OF.items()}
KIND_OF = {
    Force.REQUIREMENT: Kind.REQUIREMENT,
    Force.RECOMMENDATION: Kind.RECOMMENDATION,
    Force.PERMISSION: Kind.PERMISSION,
    Force.INFORMATIVE: Kind.INFORMATIVE,
}

_BE = r"(?:is|are|be|was|were|being)\s+(?:(?:also|always|only|therefore|thus|however|still|strictly|strongly)\s+)?"
_SO = r"\s+(?:(?:also|always|therefore|thus|however|generally|normally)\s+)?"
_BEGINS = r"(?:\A|(?<=[\n(])|(?<=[,;:.]\s)|(?<=and\s)|(?<=but\s)|(?<=that\s))"
_NONE = (
    rf"(?:{_BEGINS}(?:no(?=\s)(?!\s+(?:later|earlier|sooner|more|less|fewer|longer|matter)\b)|neither|none|nothing|nobody)\b"
    r"|(?:at\s+no\s+time|in\s+no\s+case|under\s+no\s+circumstances?)\b)[^,.;:\n]{0,80}?\s"
)
"""A subject that there is none of, as far as its verb."""
# What says each, the negations of a strength before it. A negation that turns a requirement into its opposite ("is not
# required to", "need not") makes a permission.
_WORDS: tuple[tuple[Modality, tuple[str, ...]], ...] = (
    (
        Modality.MAY,
        (
            rf"{_BE}(?:not|no\s+longer)\s+(?:strictly\s+)?(?:required|mandatory|necessary)\b",
            r"need\s+not\b",
            r"(?:do|does)\s+not\s+(?:need|have)\s+to\b",
            r"not\s+required\s+(?:to|for|that)\b",
        ),
    ),
    (
        Modality.SHALL_NOT,
        (
            rf"(?:shall|must){_SO}(?:be\s+neither|no\s+longer|not|never|neither)\b",
            rf"{_NONE}(?:shall|must)\b",
            r"(?:mustn|shan)['’]t\b",
            r"(?:shall|must)\s+(?:in\s+no\s+case|under\s+no\s+circumstances?)\b",
            rf"{_BE}(?:not\s+(?:permitted|allowed)|prohibited|forbidden|disallowed)\b",
        ),
    ),
    (
        Modality.SHALL,
        (
            r"(?:shall|must)\b(?!-)",
            rf"{_BE}(?:required|mandated|obliged)\s+(?:to|that)\b",
            rf"{_BE}(?:mandatory|required)\b(?!\s+(?:for|by|in|when|because)\b)",
        ),
    ),
    (
        Modality.SHOULD_NOT,
        (
            rf"should{_SO}(?:be\s+neither|no\s+longer|not|never|neither)\b",
            rf"{_NONE}should\b",
            r"shouldn['’]t\b",
            r"not\s+(?:recommended|advisable|encouraged)\b",
            rf"{_BE}discouraged\b",
        ),
    ),
    (
        Modality.SHOULD,
        (
            r"(?:should|ought\s+to)\b",
            rf"{_BE}(?:recommended|advisable|encouraged)\b",
            r"recommended\s+(?:that|to)\b",
            r"^\s*recommended\b",
        ),
    ),
    (
        Modality.MAY,
        (
            r"may\b(?!\s+(?:(?:19|20)\d\d|\d{1,2})\b)",  # the month is none
            r"can\b(?!\s*(?:not|['’]t)\b)",
            rf"{_BE}(?:optional|permitted|allowed)\b",
            r"^\s*optional(?:ly)?\b",
        ),
    ),
)
_CAPITALS: tuple[tuple[Modality, tuple[str, ...]], ...] = (
    (Modality.SHALL_NOT, (r"(?:MUST|SHALL)\s+(?:NOT|NEVER)\b", rf"(?i:{_NONE})(?:MUST|SHALL)\b")),
    (Modality.MAY, (r"(?:NOT|not)\s+REQUIRED\b",)),
    (Modality.SHALL, (r"(?:MUST|SHALL|REQUIRED)\b",)),
    (Modality.SHOULD_NOT, (r"SHOULD\s+NOT\b", r"NOT\s+RECOMMENDED\b", rf"(?i:{_NONE})SHOULD\b")),
    (Modality.SHOULD, (r"(?:SHOULD|RECOMMENDED)\b",)),
    (Modality.MAY, (r"(?:MAY|OPTIONAL|OPTIONALLY)\b",)),
)


def _compiled(
    table: tuple[tuple[Modality, tuple[str, ...]], ...], flags: int
) -> tuple[re.Pattern[str], tuple[Modality, ...]]:
    """One expression of a table, a group for each of its rows."""
    rows = (f"((?:{'|'.join(words)}))" for _, words in table)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(rows)})", flags), tuple(modality for modality, _ in table)


_ANY_CASE = _compiled(_WORDS, re.I)
_UPPER = _compiled(_CAPITALS, 0)
_HINT = re.compile(
    r"shall|shan|must|should|may\b|can\b|requir|mandat|option|recommend|need|have to|necess|oblige|ought|permit|allow|"
    r"prohibit|forbid|discourag|encourag|advis",
    re.I,
)
_CONDITION = re.compile(r"(?:^|[,;]\s*)should\s+(?:the|an?|this|that|any|it|such|there)\b", re.I)
_MODAL = r"(?:shall|must|should|may|can|required|recommended|optional)(?:\s+not)?"
_SPOKEN = r"(?:is|are)\s+(?:to\s+be\s+)?(?:used|interpreted|understood|reserved)"
_SPEAKS = rf"(?:means?|indicates?|denotes?|expresses|{_SPOKEN}|in\s+this)"
_MENTIONED = re.compile(
    rf"\b(?:key\s*)?(?:words?|terms?|verbs?)\s+{_MODAL}\b(?:(?:\s*,\s*|\s+)(?:(?:and|or)\s+)?{_MODAL}\b)*+"
    rf"(?=\s+{_SPEAKS}\b)",
    re.I,
)
"""Modal words that are spoken of, unlike those of a sentence about words: "a word must be aligned"."""
_WHETHER = re.compile(
    r"\bwhether\b[^.;:]{0,80}?\b(?:is|are)\s+(?:mandatory|required|optional|recommended|permitted|allowed)\b", re.I
)
_QUOTED = re.compile(rf"[\"“‘'`]{_MODAL}[\"”’'`]", re.I)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a document's modal words are read: `capitals` when it says that only capitalised ones count."""

    capitals: bool = False

    def of(self, sentence: str) -> Modality:
        """The strongest modality of a sentence, the first of the strongest where several stand; NONE where none does.

        Words that are spoken of (in quotation marks, after "the word") do not count, nor what a sentence leaves open
        ("whether it is optional"), nor a "should" that means "if".
        """
        if not self.capitals and not _HINT.search(sentence):
            return Modality.NONE
        text = _WHETHER.sub("", _MENTIONED.sub("", _QUOTED.sub('""', sentence)))
        if not self.capitals:
            text = _CONDITION.sub(", if the", text)
        pattern, names = _UPPER if self.capitals else _ANY_CASE
        best = Modality.NONE
        for match in pattern.finditer(text):
            found = names[(match.lastindex or 1) - 1]
            if _STRENGTH[found] > _STRENGTH[best]:
                best = found
        return best


_KEY_WORDS = re.compile(
    r"key\s*words\b.{0,400}?\binterpreted\s+as\s+described\b|\bRFC\s*-?2119\b|\bBCP\s*-?14\b", re.I | re.S
)
_ONLY_CAPITALS = re.compile(
    r"when,?\s+(?:and\s+)?only\s+when,?\s+(?:they\s+)?(?:appear|are\s+(?:written|capitali[sz]ed))|"
    r"(?:only\s+(?:when|where|if)|when)\s+(?:(?:they|are|appear|appearing|written|in)\s+){0,4}"
    r"(?:all\s+)?(?:capitals?|capitali[sz]ed|upper[- ]?case)\b",
    re.I,
)
_BOILERPLATE = re.compile(r"key\s*words\s+[\"“‘'`]?MUST\b.{0,400}?\binterpreted\s+as\s+described\b", re.S)
_CAPITAL = re.compile(r"(?<![\"“‘'`\w])(?:MUST|SHALL|SHOULD)\b(?![\"”’'`])")
_LOWER = re.compile(r"(?<![\"“‘'`\w])(?:must|shall|should)\b(?![\"”’'`])")


def reading_of(texts: Iterable[str]) -> Reading:
    """How a document wants its words read (RFC 2119, RFC 8174).

    Only capitalised words count where the document says so: in so many words, or by the old boilerplate that lists them
    in capitals, if its own text then uses them so more often than not.
    """
    listed, upper, lower = False, 0, 0
    for text in texts:
        if _KEY_WORDS.search(text) and _ONLY_CAPITALS.search(text):
            return Reading(capitals=True)
        listed = listed or bool(_BOILERPLATE.search(text))
        upper += len(_CAPITAL.findall(text))
        lower += len(_LOWER.findall(text))
    return Reading(capitals=listed and upper > lower)
