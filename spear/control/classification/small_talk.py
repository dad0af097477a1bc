"""Requests that are about the conversation and not the work: greetings, a no, a go-ahead (spec 1.2). `folded` is text
without case and accents."""

from __future__ import annotations

import re

from spear.control.classification.lexicon import DECLINE, GO_AHEAD, GREETING

_SELF = re.compile(r"\b(?:que\s+sais-tu|what\s+can\s+you\s+do|who\s+are\s+you|qui\s+es-tu|que\s+peux-tu)\b")


def asks_about_the_assistant(folded: str) -> bool:
    """Whether a request asks what the assistant is or can do."""
    return _SELF.search(folded) is not None


def is_greeting(folded: str) -> bool:
    """Whether a request greets, thanks or asks what the assistant is, and no more."""
    words = re.findall(r"[\w']+", folded)
    if not words or words[0] not in GREETING or len(words) > 8:
        return False
    return asks_about_the_assistant(folded) or all(w in GREETING | _SMALL_TALK for w in words)


_SMALL_TALK = frozenset(
    [
        "morning",
        "your",
        "evening",
        "afternoon",
        "night",
        "day",
        "welcome",
        "bon",
        "journee",
        "you",
        "very",
        "much",
        "a",
        "lot",
        "so",
        "for",
        "that's",
        "that",
        "it's",
        "is",
        "was",
        "the",
        "all",
        "there",
        "again",
        "everyone",
        "team",
        "work",
        "job",
        "well",
        "done",
        "help",
        "beaucoup",
        "bien",
        "c'est",
        "tout",
        "à",
        "a",
        "pour",
        "tres",
        "ca",
        "va",
        "vous",
        "toi",
    ]
)


def is_decline(folded: str) -> bool:
    """Whether a request only says no."""
    words = re.findall(r"[\w']+", folded)
    return (
        0 < len(words) <= 4
        and words[0] in DECLINE
        and all(w in DECLINE | GREETING | {"it", "that", "ca", "please"} for w in words)
    )


def is_go_ahead(folded: str) -> bool:
    """Whether a request only tells the assistant to go on with what it proposed."""
    words = re.findall(r"[\w'-]+", folded)
    if not words or len(words) > 6 or words[0].split("-")[0] not in GO_AHEAD | {"vas", "c'est"}:
        return False
    known = GO_AHEAD | _ASSENT
    return any(_assents(w, GO_AHEAD) for w in words) and all(_assents(w, known) for w in words)


def _assents(word: str, known: frozenset[str]) -> bool:
    """Whether a word, or every part of one joined by hyphens, is among the words of assent."""
    return word in known or all(part in known for part in word.split("-"))


_ASSENT = frozenset(
    [
        "c'est",
        "bon",
        "again",
        "ahead",
        "on",
        "please",
        "it",
        "that",
        "with",
        "this",
        "now",
        "both",
        "them",
        "all",
        "the",
        "plan",
        "both",
        "s'il",
        "te",
        "plait",
        "ca",
        "le",
        "les",
        "avec",
        "cela",
    ]
)
