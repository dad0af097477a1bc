"""A request cut into clauses, each with its mood. The head word of a clause decides, not a word somewhere in it.

"Run the test suite and tell me which fail, but do not fix them" is three clauses: something to run, something to be
told, something forbidden. A piece that begins with no verb ("… and src/b.c") belongs to the clause before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from spear.control.classification import prohibitions
from spear.control.classification.lexicon import (
    CHANGING,
    DETERMINERS,
    NEUTRAL,
    POLITE,
    QUESTION_WORDS,
    READING,
    fold,
)
from spear.control.classification.prohibitions import Reach
from spear.control.classification.references import paths


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


_SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$|[)\"'»])|[;\n]+|\s(?:[—–]|--?)\s|:(?=\s)")
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
      | without\b | avoid\b | \w+\s+neither\b | instead\s+of\b | rather\s+than\b | leave\b | laiss(?:e|es|ez|ons)\b | refrain\s+from\b
      | (?:tu\s+|vous\s+|il\s+)?(?:ne|n')\b | je\s+ne\s+(?:veux|voudrais|souhaite)\s+pas\s+que\b | (?:tu\s+|vous\s+|il\s+)?n'(?=\w) | sans\b | evite(?:z)?\b | pas\s+de\b | inutile\s+de\b | au\s+lieu\s+de\b | plutot\s+que\b
    )""",
    re.X,
)
_ONLY_TALK = re.compile(
    r"\b(?:only|just|simply|merely|seulement|uniquement|simplement|juste)\s+(?:to\s+)?(\w+)|\b(\w+)\s+(?:only|seulement|uniquement)\b"
)
_KNOWING = re.compile(
    r"^(?:let\s+(?:me|us)\s+know|fais-(?:moi|nous)\s+savoir|i\s+(?:wonder|am\s+curious|was\s+wondering)|i'm\s+(?:curious|wondering)|(?:i\s+want|i'd\s+like|i\s+would\s+like|i\s+need)\s+to\s+"
    r"(?:know|understand|see|learn)|je\s+me\s+demande|(?:j'aimerais|je\s+voudrais|je\s+veux)\s+(?:savoir|comprendre|connaitre))\b"
)


_TELLING_NOUN = re.compile(
    r"^(?:(?:i|we|je|nous)\s+|i'd\s+|we'd\s+|j')(?:would\s+)?(?:(?:just|only|simply)\s+)?(?:want|need|like|aimerais|voudrais|veux|souhaite|voulons)\s+"
    r"(?:(?:just|only|juste|seulement|simplement)\s+)?(?:an?|the|some|your|une?|des|ton|ta|tes|votre|vos)\s+(?:\w+\s+)?"
    r"(?:explanations?|overview|summary|opinion|review|description|advice|analysis|walkthrough|assessment|estimate"
    r"|explications?|apercu|resume|avis|description|conseils?|analyse|estimation|revue)(?:\s+(?:of|on|about|from|de|du|des|sur)\b|\s+d'|$)"
)
_DEFINES_CODE = re.compile(
    r"^(?:define|definis|definir)\s+(?:an?|une?|another|new)\s+(?:[\w-]+\s+)?(?:macro|constante?|function|fonction|classe?|type|struct|structure"
    r"|enum|variable|method|methode|alias|target|cible|interface|trait|exception|error|option|flag|rule|fixture)\b"
)
_BRINGS_ABOUT = re.compile(r"^(?:fais|faites|faire)\s+en\s+sorte\b")
_COMMENTS_CODE = re.compile(
    r"^comment\s+(?:the|all|every|each|this|that|these|those|my|our|your|its|out|any|it|them)\b|^comment\s+\S*[./_(]"
)
_LOOKS = re.compile(r"^(?:(?:have|take)\s+a\s+(?:[\w-]+\s+)?look|jete?t?(?:e|ez|er)\s+un\s+(?:coup\s+d')?oeil)\b")
_TRANSLATES_PROVISION = re.compile(
    r"^(?:translate|tradui\w+)\s+(?:the\s+|la\s+|le\s+|l')?(?:§|(?:rule|clause|section|article|annexe?|regle|paragraphe?|definition|text|texte)\b)"
)
_INTRODUCTION = re.compile(
    r"^(?:according\s+to|in|under|for|with|per|from|given|when|if|selon|d'apres|dans|pour|si|quand|en|avec|d'abord|first)\b"
)
# "the read and write paths", "between add and remove": a verb's name used as a noun, coordinated with another
_NAMED_VERB = re.compile(
    r"(?:\b(?:the|an?|this|that|each|every|any|our|its|your|between|of|both|le|la|les|entre|de|un|une|ce|cette)\s+|\bl')(?:[\w-]+,\s+)*([\w-]+),?\s*$"
)
_NOUN_FOLLOWS = re.compile(
    r"^(?:$|(?:and|or|et|ou|of|in|for|from|with|to|de|du|des|dans|pour)\b|(?:paths?|commands?|functions?|methods?|operations?|calls?|targets?|steps?|phases?|files?"
    r"|rules?|buffers?|pointers?|permissions?|modes?|handlers?|hooks?|endpoints?|requests?|queues?|times?|sides?|scripts?|jobs?|stages?|macros?|routines?|options?|flags?|events?)\b)"
)
# "how to compile and install it": the second verb belongs to what is to be told
_OPEN_INFINITIVE = re.compile(
    r"\b(?:how\s+to|whether\s+to|ways?\s+to|steps\s+to|how\s+(?:i|you|we|one)\s+(?:can|could|should|would|might|may)|comment|pour)\b"
)
_PLAIN_JOINT_AND = re.compile(r"^,?\s*(?:and(?:\s+then)?|then|et(?:\s+puis)?|puis|ensuite)\s*$")
_PUTS = re.compile(
    r"^(?P<verb>[a-z]{3,})\s+(?:it|them|its|their|the|this|that|these|those|an?|some|son|sa|ses|leurs?|les?|la|une?|des|ce"
    r"|cette|ces)\b.*\s(?:in|into|inside|dans)\s+(?P<file>\S+)$"
)
_NO_VERBS = frozenset(
    {
        "also", "whether", "both", "only", "even", "especially", "maybe", "perhaps", "possibly", "not", "including",
        "particularly", "namely", "besides", "with", "without", "for", "from", "about", "against", "between", "under",
        "over", "near", "like", "unlike", "than", "since", "because", "although", "though", "while", "until", "before",
        "after", "where", "there", "here", "half", "most", "many", "much", "aussi", "avec", "pour", "sur", "sous",
        "entre", "comme", "surtout", "meme", "tous", "toutes", "tout", "toute", "donc", "puis", "chez", "contre",
    }
)  # fmt: skip
_PLAIN_JOINT = re.compile(r"^,?\s*(?:and|or|et|ou)?\s*$")
_FRENCH_INFINITIVE = re.compile(r"^\w+(?:er|ir|re)\b")


def split(text: str) -> tuple[Clause, ...]:
    """The clauses of a request, in order; they cover it without overlap."""
    clauses: list[Clause] = []
    for start, end, question in _sentences(text):
        pieces = _pieces(text, start, end)
        opened = len(clauses)
        first = True
        for left, right in pieces:
            piece = _clause(text, left, right, question, first=first)
            first = first and bool(_INTRODUCTION.match(fold(piece.text).lstrip()))
            if len(clauses) > opened and (verb := _puts_somewhere(text, clauses[-1], piece)):
                piece = replace(piece, mood=Mood.CHANGE, head=verb)
            if len(clauses) > opened and _continues(text, clauses[-1], piece):
                previous = clauses.pop()
                piece = Clause(previous.start, right, text[previous.start : right], previous.mood, previous.head)
            clauses.append(piece)
    return tuple(clauses)


def _continues(text: str, previous: Clause, piece: Clause) -> bool:
    """Whether a piece says nothing of its own and belongs to the clause before it."""
    if piece.mood is Mood.STATEMENT:
        return not _turns(text, previous, piece)
    if previous.mood not in (Mood.READ, Mood.QUESTION) or piece.mood not in (Mood.CHANGE, Mood.ACT):
        return False
    if not _PLAIN_JOINT.match(fold(text[previous.end : piece.start])):
        return False
    before, plain = fold(previous.text), fold(piece.text).strip()
    rest = plain.partition(" ")[2]
    named = _NAMED_VERB.search(before)
    if named is not None and _imperative(named[1]) is not None and _NOUN_FOLLOWS.match(rest):
        return True
    if not _OPEN_INFINITIVE.search(before):
        return False
    if re.search(r"\bcomment\b|\bpour\b", before):
        return bool(_FRENCH_INFINITIVE.match(plain))
    return piece.mood is Mood.ACT or rest not in {"it", "them", "that", "this"}


def _puts_somewhere(text: str, previous: Clause, piece: Clause) -> str:
    """ "Read a.json and cache its content in b.py": after something to read, a word that no lexicon knows and that has
    an object and a file to put it into is a verb, and asks for a change. "" for any other piece."""
    if previous.mood is not Mood.READ or piece.mood is not Mood.STATEMENT:
        return ""
    found = _PUTS.match(fold(piece.text).strip())
    if found is None or not _PLAIN_JOINT_AND.match(fold(text[previous.end : piece.start])):
        return ""
    destination = found["file"].rstrip(".,;:!?)")
    verb = found["verb"]
    known = verb in QUESTION_WORDS or verb in DETERMINERS or verb in _NO_VERBS
    return verb if not known and paths(destination) and destination not in fold(previous.text) else ""


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
    if (told := _phrase(plain, bare)) is not None:
        return told
    words = _WORD.findall(bare)
    head = words[0] if words and not _begins_with_path(bare) else ""
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


def _phrase(plain: str, bare: str) -> tuple[Mood, str] | None:
    """The mood of an opening whose first word alone would mislead, None where there is none."""
    if _KNOWING.match(plain) or _TELLING_NOUN.match(bare):
        return Mood.QUESTION, ""
    if _DEFINES_CODE.match(bare) or _COMMENTS_CODE.match(bare) or _BRINGS_ABOUT.match(bare):
        return Mood.CHANGE, bare.split()[0]
    if _LOOKS.match(bare):
        return Mood.READ, "look"
    if _TRANSLATES_PROVISION.match(bare):
        return Mood.READ, "translate"
    return None


def _begins_with_path(plain: str) -> bool:
    """Whether a clause begins with a path, whose first word is no verb: "tests/", "run.sh"."""
    return any(mention.start == 0 for mention in paths(plain.partition(" ")[0]))


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
            if plain.startswith(opening) and not (
                opening[-1].isalnum() and plain[len(opening) : len(opening) + 1].isalnum()
            ):
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
        ("yer", "ie"),
        ("yez", "ie"),
        ("ttre", "ts"),
        ("oudre", "ous"),
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
