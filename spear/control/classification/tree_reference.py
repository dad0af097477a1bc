"""What in a request points at the working tree (spec 1.2). `folded` is its text without case and accents."""

from __future__ import annotations

import re

from spear.control.classification.lexicon import DETERMINERS, OWNERSHIP, TREE_NOUNS
from spear.control.classification.references import symbols
from spear.control.classification.roles import Placed
from spear.control.classification.small_talk import asks_about_the_assistant

_LOCATES = re.compile(
    r"\bwhere(?:'s|\s+is|\s+are|\s+does|\s+do)?\b.*\b(?:defined|declared|implemented|used|set|called|handled|located|configured|parsed|read|written|stored|live|come)\b"
    r"|\bou\s+(?:est|sont|se)\b.*\b(?:defini|declare|implemente|utilise|appele|trouve)"
)
_RECENT_WORK = re.compile(
    r"\b(?:you\s+(?:just\s+)?(?:made|did|changed|wrote|edited|added)|tu\s+(?:as|viens)|vous\s+avez"
    r"|your\s+(?:last|latest|previous|recent)\s+(?:changes?|edits?|commit|work|patch)|(?:ta|votre)\s+derniere\s+modification"
    r"|what(?:'s|\s+has|\s+have)?\s+(?:been\s+)?changed\b(?!\s+in\s+[a-z]+\s*\d)|qu'est-ce\s+qui\s+a\s+change)\b"
)
_HOWTO = re.compile(
    r"^(?:how\s+(?:do|can|could|should|would)\s+(?:i|we|you|one)\b|how\s+to\b|comment\s+(?:on|je|faire|puis-je|peut-on|\w+(?:er|ir|re))\b)"
)
_EXISTING_TESTS = re.compile(
    r"\b(?:(?:is|are)\s+there\s+(?:an?|any|some|already\s+an?)\s+(?:[\w-]+\s+)?tests?|(?:y\s+a-t-il|existe-t-il|il\s+y\s+a)\s+(?:un|des)\s+tests?)\b"
    r"|\b(?:uses|usages?|calls|callers|occurrences|references)\s+(?:of|to)\b"
)
_BUILDS = re.compile(
    r"\b(?:it|this|that|ca|cela|ceci)\s+(?:(?:does|doesn't|do|don't|won't|no|not|longer|still|ne|always)\s+)*(?:compiles?|builds?|links?|crash(?:es|ed)?|segfaults?|plante)\b"
)


def tree_reference(text: str, folded: str, placed: tuple[Placed, ...], *, strict: bool = False) -> str:
    """What in the request points at the working tree, "" if nothing does."""
    if placed:
        return f"names {placed[0].mention.text}"
    if found := symbols(text):
        return f"names {found[0].text}"
    if _RECENT_WORK.search(folded):
        return "refers to what was just done"
    if strict or asks_about_the_assistant(folded):
        return ""
    words = re.findall(r"[\w'-]+", folded)
    if OWNERSHIP & set(words):
        return "speaks of the operator's own code"
    if _HOWTO.match(folded):
        return ""
    if _EXISTING_TESTS.search(folded):
        return "asks about tests"
    if _BUILDS.search(folded):
        return "speaks of what is being built"
    if _LOCATES.search(folded):
        return "asks where something is"
    return _definite_noun(words)


def subject_of_the_tree(folded: str) -> bool:
    """Whether a question is about something of the tree: "is the encoder compliant"; "must the encoder respect …" is not."""
    match = _IS_THE.match(folded)
    return match is not None and (match["noun"] or match["sujet"]) in TREE_NOUNS | {"change", "result"}


_IS_THE = re.compile(
    r"^(?:is|are|does|do|did|why\s+(?:is|does)|where\s+(?:is|does)|est-ce\s+que)\s+(?:the\s+|le\s+|la\s+|les\s+|l')(?:[\w-]+\s+)??(?P<noun>[\w-]+?)s?\b"
    r"|^(?:le\s+|la\s+|les\s+|l')(?P<sujet>\w+?)s?\s+(?:\w+-t-|est-|sont-)(?:il|elle)s?\b"
)


def _definite_noun(words: list[str]) -> str:
    openers = DETERMINERS | {"which", "what", "many", "quels", "quelles", "quel", "quelle", "combien"}
    for index, word in enumerate(words):
        noun = word.split("'")[-1]
        if noun not in TREE_NOUNS:
            continue
        window = words[max(0, index - 3) : index]
        if any(w in openers for w in window) or ("'" in word and word.split("'")[0] in {"l", "d"}):
            return f"speaks of “{noun}”"
    return ""
