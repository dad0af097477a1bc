"""A request cut into clauses, each with its mood. The head word of a clause decides, not a word somewhere in it.

"Run the test suite and tell me which fail, but do not fix them" is three clauses: something to run, something to be
told, something forbidden. A piece that begins with no verb ("… and src/b.c") belongs to the clause before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from spear.control.classification import prohibitions
from spear.control.classification.lexicon import (
    CHANGING,
    NEUTRAL,
    POLITE,
    QUESTION_WORDS,
    READING,
    fold,
)
from spear.control.classification.prohibitions import Reach


class Mood(StrEnum):
    """What a clause does."""

    CHANGE = "change"
    ACT = "act"
    READ = "read"
    QUESTION = "question"
    FORBID = "forbid"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its span in the request, its mood, its head verb (folded, "" for statements and questions)."""

    start: int
    end: int
    text: str
    mood: Mood
    head: str = ""


_SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$|[)\"'»])|[;\n]+|\s[—–]\s|:(?=\s)")
_JOINT = re.compile(
    r",?\s+(?:and then|and|but|then|so that|so|et puis|et|mais|puis|ensuite|plutôt que de|instead of|rather than|without|sans)\s+|,\s*",
    re.I,
)
_WORD = re.compile(r"[A-Za-zÀ-ÿ'’]+(?:-(?:tu|vous|moi|les|la|le|t-il|t-elle|y|ce|on|il|elle|nous)\b)*")
_NEGATION = re.compile(
    r"""^(?:
        (?:please\s+|just\s+|but\s+|and\s+|also\s+|you\s+(?:must|should|may|can)\s+|i(?:'d|\s+would)?\s+)*
        (?:do\s+not|don't|dont|never|must\s+not|mustn't|should\s+not|shouldn't|cannot|can't|may\s+not|not|
           (?:do\s+not|don't)\s+want\s+you\s+to|rather\s+you\s+did(?:\s+not|n't)|prefer\s+(?:you\s+)?not(?:\s+to)?|no\s+need\s+to)\b
      | without\b | avoid\b | instead\s+of\b | rather\s+than\b | leave\b | refrain\s+from\b
      | (?:tu\s+|vous\s+|il\s+)?(?:ne|n')\b | (?:tu\s+|vous\s+|il\s+)?n'(?=\w) | sans\b | evite(?:z)?\b | pas\s+de\b | inutile\s+de\b | au\s+lieu\s+de\b | plutot\s+que\b
    )""",
    re.X,
)
_ONLY_TALK = re.compile(
    r"\b(?:only|just|simply|merely|seulement|uniquement|simplement|juste)\s+(?:to\s+)?(\w+)|\b(\w+)\s+(?:only|seulement|uniquement)\b"
)
_KNOWING = re.compile(
    r"^(?:i\s+(?:wonder|am\s+curious|was\s+wondering)|i'm\s+(?:curious|wondering)|(?:i\s+want|i'd\s+like|i\s+would\s+like|i\s+need)\s+to\s+"
    r"(?:know|understand|see|learn)|je\s+me\s+demande|(?:j'aimerais|je\s+voudrais|je\s+veux)\s+(?:savoir|comprendre|connaitre))\b"
)


def split(text: str) -> tuple[Clause, ...]:
    """The clauses of a request, in order; they cover it without overlap."""
    clauses: list[Clause] = []
    for start, end, question in _sentences(text):
        pieces = _pieces(text, start, end)
        opened = len(clauses)
        for index, (left, right) in enumerate(pieces):
            piece = _clause(text, left, right, question, first=index == 0)
            if piece.mood is Mood.STATEMENT and len(clauses) > opened and not _turns(text, clauses[-1], piece):
                previous = clauses.pop()
                piece = Clause(previous.start, right, text[previous.start : right], previous.mood, previous.head)
            clauses.append(piece)
    return tuple(clauses)


def _turns(text: str, previous: Clause, piece: Clause) -> bool:
    """ "Don't touch the API, but speed up X": after a prohibition, "but" and several words begin something new."""
    joint = fold(text[previous.end : piece.start])
    return previous.mood is Mood.FORBID and ("but" in joint or "mais" in joint) and len(piece.text.split()) > 1


def _sentences(text: str) -> list[tuple[int, int, bool]]:
    found, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        if text[start : match.start()].strip():
            found.append((start, match.start(), "?" in match.group()))
        start = match.end()
    if text[start:].strip():
        found.append((start, len(text), False))
    return found


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces, left = [], start
    for match in _JOINT.finditer(text, start, end):
        if text[left : match.start()].strip():
            pieces.append((left, match.start()))
        joint = fold(match.group())
        # "instead of X", "without X" open a clause of their own and are part of it
        left = (
            match.start()
            if any(w in joint for w in ("instead", "rather", "plutot", "without", "sans"))
            else match.end()
        )
    if text[left:end].strip():
        pieces.append((left, end))
    return pieces


def _clause(text: str, start: int, end: int, question: bool, *, first: bool) -> Clause:
    raw = text[start:end]
    plain = " ".join(fold(raw).split())
    mood, head = _mood(plain, question, first=first)
    return Clause(start, end, raw, mood, head)


def _mood(plain: str, question: bool, *, first: bool) -> tuple[Mood, str]:
    plain = prohibitions.urged(plain)
    bare, polite = _without_politeness(plain)
    match prohibitions.reach(bare, changing=_imperative((_WORD.findall(bare) or [""])[0]) is Mood.CHANGE):
        case Reach.EVERYTHING:
            return Mood.FORBID, "nothing"
        case Reach.SOMETHING:
            return Mood.FORBID, "change"
        case Reach.NONE:
            pass
    if _NEGATION.match(plain) or _NEGATION.match(bare):
        verb = _first_verb(bare)
        return (Mood.FORBID, verb) if verb else (Mood.STATEMENT, "")
    if _KNOWING.match(plain):
        return Mood.QUESTION, ""
    words = _WORD.findall(bare)
    head = words[0] if words else ""
    if (
        head in QUESTION_WORDS
        and not polite
        and (question or head not in {"do", "have", "is", "can", "will", "may"})
        and first
    ):
        return Mood.QUESTION, ""
    found = _imperative(head)
    if found is not None:
        return found, stem(head)
    if question and first:
        return Mood.QUESTION, ""
    only = _ONLY_TALK.search(plain)
    if only and stem(only.group(1) or only.group(2)) in READING:
        return Mood.READ, stem(only.group(1) or only.group(2))
    return Mood.STATEMENT, ""


def _imperative(head: str) -> Mood | None:
    verb = stem(head)
    if verb in CHANGING:
        return Mood.CHANGE
    if verb in READING:
        return Mood.READ
    if verb in NEUTRAL:
        return Mood.ACT
    return None


def _without_politeness(plain: str) -> tuple[str, bool]:
    """The clause without its polite opening, and whether it asked a favour ("could you …")."""
    favour = False
    changed = True
    while changed:
        changed = False
        for opening in sorted(POLITE, key=len, reverse=True):
            if plain.startswith(opening) and not plain[len(opening) : len(opening) + 1].isalnum():
                favour = favour or " " in opening or "-" in opening
                plain = plain[len(opening) :].lstrip(" ,:!")
                changed = True
                break
    return plain, favour


def _first_verb(plain: str) -> str:
    for word in _WORD.findall(plain):
        verb = stem(word)
        if verb in CHANGING or verb in READING or verb in NEUTRAL:
            return verb
    return ""


_ALL_VERBS = CHANGING | READING | NEUTRAL


def stem(word: str) -> str:
    """The imperative a form belongs to: "touching" → "touch", "modifier" → "modifie", "corrige-les" → "corrige"."""
    word = word.split("-")[0].strip("'")
    if word in _ALL_VERBS:
        return word
    for suffix, ending in (
        ("ing", ""),
        ("ing", "e"),
        ("ez", "e"),
        ("er", "e"),
        ("ir", "is"),
        ("re", "s"),
        ("es", "e"),
        ("s", ""),
        ("ant", "e"),
    ):
        if word.endswith(suffix):
            candidate = word[: -len(suffix)] + ending
            if candidate in _ALL_VERBS:
                return candidate
            if ending == "" and len(candidate) > 2 and candidate[-1] == candidate[-2] and candidate[:-1] in _ALL_VERBS:
                return candidate[:-1]
    return word
