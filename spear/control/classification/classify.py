"""From a request's words to its class, path and scope (spec 1.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from spear.control.classification.clauses import Clause, Mood, split
from spear.control.classification.lexicon import (
    CHANGING,
    NEUTRAL,
    OWNERSHIP,
    fold,
)
from spear.control.classification.prohibitions import excepts
from spear.control.classification.references import paths, provisions, symbols
from spear.control.classification.roles import Placed, Role, place, restricts
from spear.control.classification.small_talk import is_decline, is_go_ahead, is_greeting
from spear.control.classification.tree_reference import subject_of_the_tree, tree_reference
from spear.events.names import Path, RequestClass


@dataclass(frozen=True, slots=True)
class Classification:
    """The record a request is classified into.

    `targets` are files, directories or globs to work on; `symbols` code names; `sources` paths named only as
    information; `exclusions` paths to leave alone; `excluded_kinds` nouns to leave alone ("header", "tests").
    `everywhere` says that a name is meant wherever it occurs. `read_only` turns lose every write. `reasons` say which words decided.
    """

    request_class: RequestClass
    path: Path
    read_only: bool
    targets: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    excluded_kinds: tuple[str, ...] = ()
    everywhere: bool = False
    reasons: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The JSON form, as `classify --jsonl` and the audit log show it."""
        return {
            "class": self.request_class.value,
            "path": self.path.value,
            "read_only": self.read_only,
            "targets": list(self.targets),
            "exclusions": list(self.exclusions),
            "provisions": list(self.provisions),
            "symbols": list(self.symbols),
            "sources": list(self.sources),
            "excluded_kinds": list(self.excluded_kinds),
            "everywhere": self.everywhere,
            "reasons": list(self.reasons),
        }


_EVERYWHERE = re.compile(
    r"\b(?:everywhere|every|all|each|throughout|across|wherever|callers?|partout|tous|toutes|chaque|appelants?)\b"
)
_AUTHORITY = re.compile(
    r"\b(?:standard|specification|spec|norme|norm|rfc(?:\s*\d+)?|datasheet|the\s+document|le\s+document|recommendation)s?\b"
    r"|\b(?:as|comme)\s+(?:required|exige|requis)"
)
_COMPLIANCE = re.compile(
    r"\b(?:compl(?:y|ies|ied|iant|iance|ying)|conform\w*|(?:mets?|rends?|mettre|rendre)\s+.*\bconforme\w*|respect(?:e|er|ent|s)?(?:-t-\w+)?|violat\w+"
    r"|deviat\w+|satisf(?:y|ies)|non-compl\w+|enfrei\w+|viole\w*)\b"
)
_PRONOUN_COMPLIES = re.compile(
    r"\b(?:this|it|that|ours?|ce(?:ci|la)?|ca)\s+(?:\w+\s+)?(?:compl(?:y|ies|iant)|conform\w*|respecte)|\bmake\s+(?:this|it|that)\b"
)
_STRONG_TREE = re.compile(
    r"\b(?:the|our|my|this|le|la|les|notre|nos|du)\s+(?:\w+\s+)?(?:code|codebase|implementation|repository|repo|tests?|build|commit|branch|source|program|programme|depot)\b"
)
_GENERIC = re.compile(
    r"\b(?:anything|nothing|any(?:\s+\w+)?\s+(?:files?|changes?|edits?|code)|it|them|this|that|the\s+(?:code|files?|tree|sources?|repo|repository|project)|files?|changes|yet"
    r"|rien|quoi\s+que\s+ce\s+soit|le\s+code|les\s+fichiers|aucun\s+fichier|l'arborescence|(?:modifie|change|corrige|touche)\w*\s+pas)\b"
)
_ELSE = re.compile(r"\b(?:else|other|more|besides|d'autre|autre)\b")
_BROAD = frozenset(
    [
        "change",
        "modify",
        "edit",
        "touch",
        "alter",
        "write",
        "apply",
        "fix",
        "update",
        "implement",
        "save",
        "make",
        "create",
        "nothing",
        "modifie",
        "change",
        "touche",
        "ecris",
        "applique",
        "corrige",
    ]
)
_EXCLUDABLE = re.compile(r"\b(headers?|tests?|docs?|documentation|entetes?|en-tetes?)\b")
_KIND_LEFT_ALONE = re.compile(
    r"\b(?:keep|leave|garde|gardez|laisse|laissez)\s+(?:\w+\s+){0,2}?(?P<kept>headers?|tests?|docs?|documentation|entetes?|en-tetes?)\s+"
    r"(?:unchanged|untouched|alone|as\s+(?:it|they)\s+(?:is|are)|inchangee?s|intacte?s|tels?\s+quels|telles?\s+quelles)"
    r"|\b(?P<named>headers?|tests?|docs?|documentation|entetes?|en-tetes?)\s+(?:(?:must|should|shall|may)\s+(?:not|never)\s+(?:be\s+)?(?:chang|modif|touch|edit|alter)"
    r"|(?:must|should|shall)\s+(?:stay|remain)\s+(?:untouched|unchanged|as\b)|(?:is|are)\s+off[- ]limits"
    r"|ne\s+doi(?:t|vent)\s+(?:pas|jamais)\s+(?:etre\s+)?(?:chang|modif|touch))"
)

_POINTER = re.compile(r"(?<![\w@./])@(?=[\w./~*])")
"""What the chat writes before a path that it completes: `@src/ring.c` names src/ring.c."""


def classify(request: str, standard_engaged: bool = False) -> Classification:
    """Classify a request. `standard_engaged` says that a standard is bound to the session; whether this turn engages
    it is decided here. Deterministic, total, bounded in the length of the request."""
    text = _POINTER.sub(" ", request[:20_000])
    folded = " ".join(fold(text).split())
    clauses = split(text)
    placed = place(text, clauses, paths(text))
    labels = tuple(dict.fromkeys(m.text for m in provisions(text)))
    reasons: list[str] = []
    read_only = _read_only(text, clauses, folded, reasons)
    request_class, path = _class(text, folded, clauses, placed, labels, standard_engaged, read_only, reasons)
    targets, sources = _targets(placed, clauses, read_only)
    exclusions = tuple(dict.fromkeys(p.mention.text for p in placed if p.role is Role.EXCLUDED))
    return Classification(
        request_class=request_class,
        path=path,
        read_only=read_only,
        targets=tuple(t for t in targets if t not in exclusions),
        exclusions=exclusions,
        provisions=labels,
        symbols=tuple(m.text for m in symbols(text)),
        sources=sources,
        excluded_kinds=_excluded_kinds(clauses, placed),
        everywhere=bool(_EVERYWHERE.search(folded)),
        reasons=tuple(reasons),
    )


def _read_only(text: str, clauses: tuple[Clause, ...], folded: str, reasons: list[str]) -> bool:
    for clause in clauses:
        if clause.mood is Mood.FORBID and _forbids_everything(clause, clauses) and not _allows_something(text, clause):
            reasons.append(f"forbids changes: “{_brief(clause.text)}”")
            return True
    if is_decline(folded):
        reasons.append("asks for nothing more")
        return True
    writing = next((c for c in clauses if c.mood in (Mood.CHANGE, Mood.ACT)), None)
    if writing is not None:
        reasons.append(f"asks for something to be done: “{_brief(writing.text)}”")
        return False
    if is_go_ahead(folded):
        reasons.append("tells the assistant to go ahead")
        return False
    if is_greeting(folded):
        reasons.append("says nothing that asks for work")
        return True
    asking = next((c for c in clauses if c.mood in (Mood.READ, Mood.QUESTION)), None)
    if asking is not None:
        reasons.append(f"asks to be told something: “{_brief(asking.text)}”")
        return True
    reasons.append("states something without asking a question: treated as a request")
    return False


def _forbids_everything(clause: Clause, clauses: tuple[Clause, ...]) -> bool:
    plain = fold(clause.text)
    if excepts(plain):
        return False
    if clause.head == "nothing":
        return not _ELSE.search(plain)
    if clause.head not in _BROAD or _ELSE.search(plain) or paths(clause.text):
        return False
    if re.search(r"\b(?:anything|any\s+(?:\w+\s+)?files?|rien)\b", plain):
        return True
    asked = any(c.mood is Mood.CHANGE for c in clauses)
    return bool(_GENERIC.search(plain)) and not asked


def _allows_something(text: str, clause: Clause) -> bool:
    """Whether a prohibition names what it leaves open: "change nothing but src/a.c"."""
    return any(clause.start <= m.start < clause.end and restricts(text, m) for m in paths(text))


def _targets(
    placed: tuple[Placed, ...], clauses: tuple[Clause, ...], read_only: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Targets and sources. In a change, a path that only a reading clause names is a source, unless no other is named."""
    wanted = [p for p in placed if p.role is Role.TARGET]
    consulted = [p for p in placed if p.role is Role.SOURCE]
    if not read_only:
        acting = [p for p in wanted if p.clause is None or p.clause.mood in _ACTING or _leaves_open(p.clause)]
        if acting:
            consulted += [p for p in wanted if p not in acting]
            wanted = acting
        elif _refers_back(clauses):
            wanted, consulted = (
                wanted + [p for p in consulted if p.clause and p.clause.mood in (Mood.READ, Mood.QUESTION)],
                [],
            )
    elif not wanted:
        wanted, consulted = consulted, []
    names = tuple(dict.fromkeys(p.mention.text for p in wanted))
    return names, tuple(dict.fromkeys(p.mention.text for p in consulted if p.mention.text not in names))


_ACTING = frozenset({Mood.CHANGE, Mood.ACT, Mood.STATEMENT})


def _leaves_open(clause: Clause) -> bool:
    """Whether a target stands in a prohibition to change things: it is then what the prohibition leaves open."""
    return clause.mood is Mood.FORBID and (clause.head == "nothing" or clause.head in CHANGING)


def _refers_back(clauses: tuple[Clause, ...]) -> bool:
    """Whether what is to be changed is a pronoun: "Read src/a.c. Then improve its messages"."""
    return any(_PRONOUN.search(fold(c.text)) for c in clauses if c.mood is Mood.CHANGE)


_PRONOUN = re.compile(
    r"\b(?:it|its|them|their|this|son|sa|ses|leurs?)\b|-(?:le|la|les)\b|\bl'"
    r"|\bwhat(?:ever|'s|\s+is)\b|\b(?:ce|tout\s+ce)\s+qui\b|\bany\s+(?:\w+\s+)?(?:bugs?|errors?|problems?|issues?|leaks?|mistakes?)\b"
)


def _class(
    text: str,
    folded: str,
    clauses: tuple[Clause, ...],
    placed: tuple[Placed, ...],
    labels: tuple[str, ...],
    engaged: bool,
    read_only: bool,
    reasons: list[str],
) -> tuple[RequestClass, Path]:
    changing = not read_only and any(c.mood in (Mood.CHANGE, Mood.STATEMENT) for c in clauses)
    if is_greeting(folded) or is_go_ahead(folded) or is_decline(folded):
        return RequestClass.GENERAL, Path.CODING_CORE
    if engaged:
        return _engaged_class(text, folded, clauses, placed, labels, changing, reasons)
    evidence = tree_reference(text, folded, placed)
    asked = any(c.mood is Mood.CHANGE for c in clauses) and not read_only
    acts = any(c.mood is Mood.ACT for c in clauses)
    if evidence or asked or acts:
        reasons.append(evidence or "asks for work in the tree")
        return RequestClass.IMPLEMENTATION, Path.CODING_CORE
    reasons.append("names nothing of the tree")
    return RequestClass.GENERAL, Path.CODING_CORE


def _engaged_class(
    text: str,
    folded: str,
    clauses: tuple[Clause, ...],
    placed: tuple[Placed, ...],
    labels: tuple[str, ...],
    changing: bool,
    reasons: list[str],
) -> tuple[RequestClass, Path]:
    compliance = bool(_COMPLIANCE.search(folded))
    normative = bool(labels) or bool(_AUTHORITY.search(folded)) or compliance
    tree = (
        bool(placed)
        or bool(symbols(text))
        or bool(OWNERSHIP & set(re.findall(r"[\w']+", folded)))
        or bool(_STRONG_TREE.search(folded))
    )
    tree = tree or (compliance and bool(_PRONOUN_COMPLIES.search(folded) or subject_of_the_tree(folded)))
    if changing:
        if normative:
            reasons.append("a change asked for in the standard's terms")
            return RequestClass.MIXED, Path.MIXED
        reasons.append("a change that names no provision")
        return RequestClass.IMPLEMENTATION, Path.NORMATIVE_WORKFLOW
    if any(c.mood is Mood.ACT for c in clauses) and not normative:
        reasons.append("something to operate: does not engage the standard")
        return RequestClass.IMPLEMENTATION, Path.CODING_CORE
    if tree and normative:
        reasons.append("asks about both sides")
        return RequestClass.MIXED, Path.NORMATIVE
    if tree or tree_reference(text, folded, placed, strict=True):
        reasons.append("asks about the tree alone")
        return RequestClass.IMPLEMENTATION, Path.CODING_CORE
    reasons.append("asks what the standard says")
    return RequestClass.NORMATIVE, Path.NORMATIVE


def _excluded_kinds(clauses: tuple[Clause, ...], placed: tuple[Placed, ...]) -> tuple[str, ...]:
    found: list[str] = []
    for clause in clauses:
        if any(p.clause is clause for p in placed):
            continue
        plain = fold(clause.text)
        if clause.mood is Mood.FORBID and (clause.head == "nothing" or clause.head not in NEUTRAL):
            found += [_kind(match.group(1)) for match in _EXCLUDABLE.finditer(plain)]
        if clause.mood not in (Mood.READ, Mood.QUESTION):
            found += [_kind(match["kept"] or match["named"]) for match in _KIND_LEFT_ALONE.finditer(plain)]
    return tuple(dict.fromkeys(found))


def _kind(word: str) -> str:
    return "header" if word.startswith(("header", "en")) else "tests" if word.startswith("test") else "docs"


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "…"
