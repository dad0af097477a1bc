"""What part each named path plays in a request: something to work on, something to leave alone, or a source to consult."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from spear.control.classification.clauses import Clause, Mood
from spear.control.classification.lexicon import CHANGING, NEUTRAL, fold
from spear.control.classification.references import Mention


class Role(StrEnum):
    """The part a path plays."""

    TARGET = "target"
    EXCLUDED = "excluded"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Placed:
    """A mention, its role and the clause it stands in."""

    mention: Mention
    role: Role
    clause: Clause | None


_FILLER = r"(?:\s+(?:for|the|file|files|in|at|of|a|an|anything|everything|any|all|what|is|under|directory|folder|le|la|les|l'|fichier|du|de|au|aux|dans))*"
_EXCEPT = re.compile(
    r"(?:\bexcept(?:ing)?|\bbut(?:\s+not)?|\bbesides|\bother\s+than|\bapart\s+from|\bexcluding|\bexclude|\bnot|\bnever|\bneither|\bignoring|\bskipping|\bsparing|\bsauf|\bhormis"
    r"|\bexcepte|\ba\s+part|\ba\s+l'exception\s+(?:de|du|des)|\bpas|\bmais\s+pas|\bwithout\s+(?:touching|changing|modifying|editing|altering)"
    r"|\bsans\s+(?:toucher|modifier|changer)(?:\s+a)?|\bleave|\bleaving|\byou\s+left|\blaiss(?:e|es|ez|er|ant)|\bni|\ben\s+ignorant|\bkeep|\bkeeping|\boutside(?:\s+of)?)"
    + _FILLER
    + r"\s*[`'\"(]?$"
)
_CONSULT = re.compile(
    r"(?:\busing|\buse|(?<!would\s)(?<!i'd\s)(?<!we'd\s)\blike|\bunlike|\bas|\bbased\s+on|\bfollow(?:ing)?|\bper|\bsee|\bcf\.?|\baccording\s+to|\b(?:described|documented|specified|mentioned|listed"
    r"|explained|shown|outlined|reported|stated|given)\s+(?:in|by)|\bsimilar(?:ly)?\s+to|\bsame\s+(?:way\s+)?as|\bsame\s+(?:\w+\s+)?as(?:\s+in)?|\binspired\s+by|\bmodell?ed\s+(?:on|after)"
    r"|\bsuch\s+as|\bread(?:ing)?|\bconsult(?:ing)?|\blook(?:ing)?\s+at|\bmatch(?:ing|es)?|\bmimic(?:king)?|\bmirror(?:ing)?|\bwith\s+the\s+help\s+of|\bagainst|\bincludes?|\bincluding"
    r"|\ba\s+partir\s+(?:de|du)|\bd'apres|\bselon|\bcomme|\bsuivant|\ben\s+(?:utilisant|suivant|lisant)|\binspire\s+(?:de|du|par)"
    r"|\bdecrite?s?\s+(?:dans|par)|\bsur\s+le\s+modele\s+(?:de|du)"
    r"|\ben\s+(?:[ts]'|vous\s+)inspirant\s+(?:de|du)|\b(?:ones|those|ceux|celles|celui|celle)\s+(?:\w+\s+)?(?:in|from|of|dans|de|du))"
    + _FILLER
    + r"\s*[`'\"(]?$"
)
_AS_EXAMPLE = re.compile(
    r"^[`'\")]?\s*(?:(?:\w+\s+)?as\s+(?:an?|the|your)?\s*(?:\w+\s+)?(?:example|model|reference|template|guide|pattern|inspiration|starting\s+point)"
    r"|for\s+(?:reference|inspiration)|comme\s+(?:exemple|modele|reference)|does\b|says\b|do\b|fait\b)"
)
_TRANSFER = frozenset(
    {
        "apply",
        "copy",
        "port",
        "backport",
        "transfer",
        "translate",
        "merge",
        "applique",
        "copie",
        "porte",
        "import",
        "use",
        "utilise",
    }
)
_DERIVED = frozenset({"generate", "regenerate", "create", "write", "derive", "make", "genere", "cree", "ecris"})
_FROM = re.compile(r"\bfrom" + _FILLER + r"\s*[`'\"(]?$")
_INTO = re.compile(r"(?:\bto|\binto|\bonto|\bin|\ba|\bdans|\bvers|\bsur)" + _FILLER + r"\s*[`'\"(]?$")
_ONLY_JOIN = re.compile(r"^[`'\")\s,]*(?:(?:and|or|nor|et|ou|ni|&|/|plus)\s+)?(?:(?:the|le|la)\s+)*[`'\"(]?$")
_JOIN_IN = re.compile(r"^[`'\")\s,]*(?:(?:and|or|et|ou)\s+)?(?:in|dans|to|a)\s+(?:the\s+)?[`'\"(]?$")
_ABOUT = re.compile(
    r"\b(?:explaining|describing|summari[sz]ing|about|how|expliquant|decrivant|resumant|comment)\b[^,;]*$"
)


_LEFT_AS_IT_IS = re.compile(
    r"^[`'\")]?\s*(?:(?:is|are|was|stays?|remains?|must|should|shall|has\s+to|can)\s+(?:stay\s+|remain\s+|be\s+)?(?:off[- ]limits|untouched|unchanged|unmodified|alone|taboo|frozen"
    r"|as\s+(?:it|they)\s+(?:is|are)|(?:not|never)\s+(?:to\s+)?(?:be\s+)?(?:chang|modif|touch|edit|alter|written|rewritten))"
    r"|(?:reste(?:nt)?|doi(?:t|vent)\s+rester)\s+(?:intacte?s?|inchangee?s?|tels?\s+quels?|telles?\s+quelles?)"
    r"|ne\s+doi(?:t|vent)\s+pas\s+(?:etre\s+)?(?:chang|modif|touch|bouger)|est\s+(?:intouchable|hors\s+limites?|interdit)|tels?\s+quels?\b|telles?\s+quelles?\b)"
)
_NOTHING_BUT = re.compile(
    r"(?:\b(?:nothing|anything|everything|(?:no|any)\s+(?:changes?|edits?)|any\s+(?:other\s+)?(?:files?|thing)|rien|quoi\s+que\s+ce\s+soit|aucun(?:\s+autre)?\s+fichier)(?:\s+(?:else|d'autre))?\s+"
    r"(?:but|except(?:\s+for)?|other\s+than|besides|apart\s+from|outside(?:\s+of)?|que|qu'|sauf|hormis|a\s+part|en\s+dehors\s+de)"
    r"|\b(?:ne\s+|n')\w+\s+(?:rien\s+d'autre\s+)?qu[e'])" + _FILLER + r"\s*[`'\"(]?$"
)


def restricts(text: str, mention: Mention) -> bool:
    """Whether the words before a mention make it the one thing that may change: "nothing but X", "ne … que X"."""
    return bool(_NOTHING_BUT.search(fold(text[max(0, mention.start - 80) : mention.start])))


def place(text: str, clauses: tuple[Clause, ...], mentions: tuple[Mention, ...]) -> tuple[Placed, ...]:
    """The role of every mention, in order."""
    placed: list[Placed] = []
    for mention in mentions:
        clause = next((c for c in clauses if c.start <= mention.start < c.end), None)
        placed.append(Placed(mention, _role(text, mention, clause, placed), clause))
    return tuple(_transfers(text, placed))


def _role(text: str, mention: Mention, clause: Clause | None, earlier: list[Placed]) -> Role:
    begin = clause.start if clause else 0
    before = fold(text[max(begin, mention.start - 80) : mention.start])
    previous = earlier[-1] if earlier else None
    if clause and clause.mood is Mood.FORBID and (restricts(text, mention) or _with_allowed(text, mention, previous)):
        return Role.TARGET
    if _LEFT_AS_IT_IS.match(fold(text[mention.end : mention.end + 60])) and not _asks(clause):
        return Role.EXCLUDED
    if (
        clause
        and clause.mood is Mood.FORBID
        and (clause.head in CHANGING or clause.head in NEUTRAL or clause.head in {"nothing", "check"})
    ):
        return Role.EXCLUDED
    if previous and previous.clause is clause:
        between = fold(text[previous.mention.end : mention.start])
        if _ONLY_JOIN.match(between) or (previous.role is not Role.SOURCE and _JOIN_IN.match(between)):
            return previous.role
    if _EXCEPT.search(before) or (begin and _EXCEPT.search(fold(text[max(0, mention.start - 60) : mention.start]))):
        return Role.EXCLUDED
    if clause and clause.mood is Mood.CHANGE and previous and previous.clause is clause and _ABOUT.search(before):
        return Role.SOURCE
    if clause and clause.mood is Mood.CHANGE and clause.head in _DERIVED and _FROM.search(before):
        return Role.SOURCE
    if _CONSULT.search(before) or _AS_EXAMPLE.match(fold(text[mention.end : mention.end + 50])):
        return Role.SOURCE
    return Role.TARGET


def _with_allowed(text: str, mention: Mention, previous: Placed | None) -> bool:
    """Whether a mention continues the list of what alone may change: "nothing but A and B"."""
    if previous is None or not restricts(text, previous.mention):
        return False
    return bool(_ONLY_JOIN.match(fold(text[previous.mention.end : mention.start])))


def _asks(clause: Clause | None) -> bool:
    """Whether the clause is a question: "is src/a.c unchanged?" excludes nothing."""
    return clause is not None and clause.mood in (Mood.READ, Mood.QUESTION)


def _transfers(text: str, placed: list[Placed]) -> list[Placed]:
    """In "apply the comments in A to B" and "copy the table from A into B", A is where things come from."""
    result = list(placed)
    for index, item in enumerate(placed[:-1]):
        following = placed[index + 1]
        if item.clause is None or item.clause is not following.clause or item.role is not Role.TARGET:
            continue
        between = fold(text[item.mention.end : following.mention.start])
        if item.clause.head in _TRANSFER and _INTO.search(between):
            result[index] = Placed(item.mention, Role.SOURCE, item.clause)
    return result
