"""What a clause forbids: every change, the changes it names, or none, though it has the words of a prohibition.

"No changes" forbids all of them, "no changes to the API" only these, "no change in behaviour" qualifies the work that is
asked for, "no changes are lost" states a fact, and "implement the read-only mode" is work like any other. What a
prohibition excepts ("nothing but src/a.c", "outside src/") is what may be worked on.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Reach(StrEnum):
    """How far a prohibition goes."""

    NONE = "none"
    SOMETHING = "something"
    EVERYTHING = "everything"


_NOUNS = re.compile(
    r"""\b(?:(?:no|without(?:\s+any)?|zero)\s+(?:code\s+)?(?:changes?|edits?|modifications?|writes?|writing)
      | sans\s+(?:aucune?\s+|la\s+moindre\s+)?(?:modification|changement)s?
      | pas\s+de\s+(?:modifications?|changements?) | aucune?\s+(?:modification|changement))\b""",
    re.X,
)
_NOTHING = re.compile(
    r"""\b(?:change|modify|edit|touch|write|alter)\s+nothing\b | \bhands\s+off\b | \bdry[- ]run\s+only\b
      | \b(?:ne\s+)?(?:change|changez|modifie|modifiez|touche|touchez|ecris)\s+(?:a\s+)?rien\b | \brien\s+(?:modifier|changer|toucher|ecrire)\b
      | \bsans\s+(?:rien\s+)?(?:modifier|changer|toucher)(?:\s+(?:quoi\s+que\s+ce\s+soit|le\s+code))?\s*$""",
    re.X,
)
_READ_ONLY = re.compile(r"\b(?:read[- ]only|lecture\s+seule)\b")
_KEPT_READ_ONLY = re.compile(
    r"^(?:please\s+)?(?:keep|stay|remain|reste[rz]?)\b(?:\s+\S+){0,2}\s+(?:en\s+)?(?:read[- ]only|lecture\s+seule)\b"
)
_DOING_NONE = re.compile(r"^(?:make|apply|do|perform|save|introduce|keep|fais|faites|apporte[rz]?)(?:\s+\w+)?\s*$")
_GENERIC = (
    r"(?:the|this|that|my|our|your|any|all|le|la|les|l'|ce|du|des)?\s*(?:of\s+the\s+)?(?:source\s+|working\s+)?"
    r"(?:code(?:base)?|source\s+code|files?|tree|sources?|repo(?:sitory)?|project|workspace|disk|anything|everything|fichiers?"
    r"|arborescence|depot|projet|quoi\s+que\s+ce\s+soit)"
)
_WHOLE = re.compile(
    rf"""^(?:[\s,]|please|at\s+all|whatsoever|yet|now|for\s+now|here|today|of\s+any\s+kind|s'il\s+(?:te|vous)\s+plait|stp|svp|pour\s+l'instant
      | (?:should|may|must|can|are|is|to)\s+(?:be\s+)?(?:made|allowed|permitted|done|wanted|needed)
      | (?:to|in|on|of|au|aux|a|dans|du|des|de)\s+{_GENERIC}\b
      | (?:until|unless|before|tant\s+que|avant)\b.*)*$""",
    re.X,
)
_ALLOWED = r"(?:made|allowed|permitted|done|wanted|needed)\b"
_STATES = re.compile(
    rf"^\s*(?:(?:is|are|was|were|may|might|can|could|must|should|shall|will|would|has|have|had)\s+(?!(?:be\s+)?{_ALLOWED})"
    r"|(?:gets?|happens?|occurs?|takes?|goes|reach(?:es)?|survives?|follows?|that|which|while|when|after)\b)"
)
_SAVE = (
    r"(?:except(?:ing)?(?:\s+for)?|but|besides|other\s+than|apart\s+from|excluding|outside(?:\s+of)?|beyond|sauf|hormis|excepte|a\s+part"
    r"|a\s+l'exception\s+(?:de|du|des)|en\s+dehors\s+(?:de|du|des)|hors\s+(?:de|du|des)|d'autre\s+que)"
)
_EXCEPTING = re.compile(rf"\b{_SAVE}\b")
_URGING = re.compile(
    r"^((?:please|also|and|but|so|then)\s+)*(?:(?:do\s+not|don't|dont|never)\s+(?:forget|hesitate|be\s+(?:afraid|shy))\s+to\b"
    r"|n'(?:oublie|hesite)[rz]?\s+(?:surtout\s+)?pas\s+(?:surtout\s+)?(?:de\b|d'|a\b))\s*"
)


def urged(plain: str) -> str:
    """The clause without "don't forget to" and its like, which ask for what they seem to forbid."""
    return _URGING.sub("", plain)


def reach(plain: str, *, changing: bool) -> Reach:
    """How far the clause's nouns and adverbs forbid changes. `plain` is folded; `changing` says that its head is an
    imperative that changes the tree, which then forbids nothing but by itself ("make no changes", "change nothing")."""
    if _NOTHING.match(plain) or _KEPT_READ_ONLY.match(plain):
        return Reach.EVERYTHING
    found = _NOUNS.search(plain)
    if found is not None and changing and not _DOING_NONE.match(plain[: found.start()]):
        return Reach.NONE
    if found is not None:
        rest = plain[found.end() :]
        if _WHOLE.match(rest):
            return Reach.EVERYTHING
        return Reach.NONE if _STATES.match(rest) else Reach.SOMETHING
    if changing:
        return Reach.NONE
    return Reach.EVERYTHING if _NOTHING.search(plain) or _READ_ONLY.search(plain) else Reach.NONE


def excepts(plain: str) -> bool:
    """Whether a prohibition leaves something out ("anything except the comments")."""
    return _EXCEPTING.search(plain) is not None
