"""Searching a standard: the clauses that answer a question best, each with the unit that says it (spec 5.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from spear.retrieval.words import Query
from spear.standards.corpus import Corpus
from spear.standards.index import UnitIndex, folded
from spear.standards.units import Unit

_CLAUSES = 60
_UNITS = 240
_PAIRS = 48
_FEW = 5_000
_COMMON = 10
"""A word that one passage in so many holds is common, and only where that is more than a few."""
_OF_UNIT = 1.5
"""What the best unit of a clause counts beside the clause as a whole: more, for one sentence or row is asked about."""
_ASKING = frozenset({"may", "must", "shall", "should", "might", "would", "could", "does", "many", "much"})
"""Words of the question itself: a clause is not about them because it holds them."""
_REFERENCE = re.compile(
    r"(?:(?P<sign>§|\b(?i:section|clause|annex))\s?|\b[A-Za-z]+[ -])?"
    r"(?P<number>\b(?:[A-Z]\.?)?\d+(?:\.\d+)*(?:-\d+)?)\b"
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """One clause that answers: the unit of it that fits best, a score (higher is better, comparable within one
    search), and the units that complete it."""

    unit: Unit
    score: float
    completion: tuple[Unit, ...] = ()


def search(index: UnitIndex, corpus: Corpus, question: str, limit: int, completion: int = 0) -> tuple[Hit, ...]:
    """The best `limit` clauses for a question in any words, at most one hit a clause; `completion` more units of the
    document's structure come with each. What the question names by its label or number goes first. Nothing for a
    question without words. Raises StateError."""
    named = _named(index, question)
    expression = _expression(index, question, telling=bool(named))
    if limit < 1 or not (expression or named):
        return ()
    clauses = _clauses(index, expression, limit)
    best = _best_units(index, expression, limit)
    scores = {
        number: clauses.get(number, 0.0) + _OF_UNIT * best.get(number, (0.0, 0))[0] for number in clauses | best
    }  # fmt: skip
    highest = max(scores.values(), default=0.0)
    for clause, position in named:
        scores[clause] = scores.get(clause, 0.0) + highest + 1
        if position:
            best[clause] = (scores[clause], position)
    ranked = sorted(scores.items(), key=lambda row: (-row[1], row[0]))[:limit]
    return tuple(
        _hit(
            index, corpus, best[clause][1] if clause in best else _telling(index, expression, clause), score, completion
        )
        for clause, score in ranked
    )


def _clauses(index: UnitIndex, expression: str, limit: int) -> dict[int, float]:
    """Numbers of the best clauses by their words, with what they score."""
    if not expression:
        return {}
    found = index.rows(
        "SELECT rowid, rank FROM clause_words WHERE clause_words MATCH ? ORDER BY rank LIMIT ?",
        expression, max(_CLAUSES, limit),
    )  # fmt: skip
    return {number: -rank for number, rank in found}


def _best_units(index: UnitIndex, expression: str, limit: int) -> dict[int, tuple[float, int]]:
    """For the clauses of the best units: what the best unit of each scores, and its position."""
    if not expression:
        return {}
    found = index.rows(
        "SELECT position, found.rank, units.clause FROM"
        " (SELECT rowid, rank FROM passage_words WHERE passage_words MATCH ? ORDER BY rank LIMIT ?) AS found"
        " JOIN passages ON passages.number = found.rowid JOIN units USING (position) ORDER BY found.rank",
        expression, max(_UNITS, limit),
    )  # fmt: skip
    best: dict[int, tuple[float, int]] = {}
    for position, rank, clause in found:
        best.setdefault(clause, (-rank, position))
    return best


def _named(index: UnitIndex, question: str) -> dict[tuple[int, int], None]:
    """Clauses a question names, with the position of the unit where it names one: `Rule 4.2.1-2`, `MUST-15`, `§4.2`."""
    found: dict[tuple[int, int], None] = {}
    for match in _REFERENCE.finditer(question):
        rows = index.rows("SELECT clause, position FROM units WHERE folded = ? AND folded != ''", folded(match[0]))
        if "-" in match["number"]:
            rows += index.rows(
                "SELECT clause, position FROM units WHERE ordinal = ? AND ordinal != ''", match["number"].casefold()
            )
        found.update(dict.fromkeys((clause, position) for clause, position in rows))
        if match["sign"] or "." in match["number"]:
            found.update(dict.fromkeys((clause.number, 0) for clause in index.clauses_of(match["number"])))
    return found


def _expression(index: UnitIndex, question: str, *, telling: bool) -> str:
    """The question in the language of FTS5: any of its words, and the pairs of them that stand side by side. Words that
    nearly everything holds tell little and cost the most: they are left out where others remain, or where only
    `telling` ones are wanted."""
    asked = Query.of(question).terms
    terms = [term for term in asked if term not in _ASKING] or list(asked)
    passages = index.rows("SELECT max(number) FROM passages")[0][0] or 0
    most = max(_FEW, passages // _COMMON)
    rare = {term for term in terms if passages <= most or _held(index, term, most + 1) <= most}
    kept = rare or (set() if telling else set(terms))
    words = [word.lower() for word in _WORD.findall(question)]
    pairs = (f'"{one} {other}"' for one, other in pairwise(words) if one in kept and other in kept)
    return " OR ".join([*(f'"{term}"' for term in terms if term in kept), *list(dict.fromkeys(pairs))[:_PAIRS]])


def _held(index: UnitIndex, term: str, most: int) -> int:
    """How many passages hold a term; no more than `most` are counted."""
    found = index.rows(
        "SELECT count(*) FROM (SELECT 1 FROM passage_words WHERE passage_words MATCH ? LIMIT ?)", f'"{term}"', most
    )
    return int(found[0][0])


def _telling(index: UnitIndex, expression: str, clause: int) -> int:
    """The unit of a clause that fits a question best; its first where none holds a word of it."""
    rows = index.rows("SELECT min(position) FROM units WHERE clause = ?", clause)
    if expression:
        rows = index.rows(
            "SELECT position FROM"
            " (SELECT rowid, rank FROM passage_words WHERE passage_words MATCH ?"
            " AND rowid IN (SELECT number FROM passages JOIN units USING (position) WHERE clause = ?)"
            " ORDER BY rank LIMIT 1) AS found"
            " JOIN passages ON passages.number = found.rowid",
            expression, clause,
        ) or rows  # fmt: skip
    return int(rows[0][0])


def _hit(index: UnitIndex, corpus: Corpus, position: int, score: float, completion: int) -> Hit:
    unit = corpus.at(*index.places("position = ?", position)[0])
    if completion < 1:
        return Hit(unit, score)
    return Hit(unit, score, tuple(_completing(index, corpus, unit, position, completion)))


def _completing(index: UnitIndex, corpus: Corpus, unit: Unit, position: int, most: int) -> Iterable[Unit]:
    """What belongs to a unit by the document's structure: the table or list it is of, then its neighbours in the
    clause, nearest first."""
    found: dict[str, Unit] = {}
    if unit.within:
        for place in index.places("unit_id = ?", unit.within):
            found.setdefault(unit.within, corpus.at(*place))
    clause = index.rows("SELECT clause FROM units WHERE position = ?", position)[0][0]
    near = index.rows(
        "SELECT at, length FROM units WHERE clause = ? AND position != ? AND kind NOT IN ('furniture', 'front_matter')"
        " ORDER BY abs(position - ?), position LIMIT ?",
        clause, position, position, most,
    )  # fmt: skip
    for at, length in near:
        neighbour = corpus.at(int(at), int(length))
        found.setdefault(neighbour.unit_id, neighbour)
    return list(found.values())[:most]
