"""What a language's module says: patterns over a lower-case clause whose code and quotations are tokens.

Tokens: `⟦test⟧ ⟦build⟧ ⟦lint⟧ ⟦call⟧ ⟦program⟧ ⟦code⟧` stand for inline code by what it is, `⟦quote⟧` for quotations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One language's patterns.

    `denials` are negations that say something good, with what to read instead ("without errors"); `hedges` make what
    follows in the clause unasserted; `everywhere` make the whole clause so, wherever they stand; `breaks` part a
    sentence into clauses that hedge separately, `pieces` part a clause.
    `builds … success` match a claim; `mentions_tests` says that "they pass" is about tests; `all_pass` is such a
    phrase; `whole` speaks of every test there is. `numbers` match a count of passing tests in their first group, as
    digits or a word of `words_of_number`.
    `printed`, `returned` and `exited` end where the literal begins that is said to be so, `printed_then` in a tense
    that counts only where something `ran`; `lists` match kinds of checks that are said to pass together, in a group
    `before` or `after` the verb, whose members `kinds_of_member` tells apart by the names of claims. `checks` are the
    whole of a sentence that only names checks, which pass where it is ticked: in the words of `passes`.
    """

    denials: tuple[tuple[Pattern, str], ...]
    hedges: Pattern
    everywhere: Pattern
    breaks: Pattern
    pieces: Pattern
    builds: Pattern
    tests: Pattern
    lint: Pattern
    runs: Pattern
    rebuilds: Pattern
    success: Pattern
    mentions_tests: Pattern
    all_pass: Pattern
    whole: Pattern
    numbers: Pattern
    words_of_number: Mapping[str, int]
    printed: tuple[str, ...]
    printed_then: tuple[str, ...]
    returned: tuple[str, ...]
    exited: tuple[str, ...]
    ran: Pattern
    lists: Pattern
    kinds_of_member: tuple[tuple[Pattern, str], ...]
    checks: Pattern
    passes: str


NUMBER = r"[-+−]?(?:0x[0-9a-f]+|\d[\d_]*(?:[.,]\d+)*)"
"""A number in a sentence for reading."""
LITERAL_END = (
    r"(?![\w%])(?=\s*(?:$|[.,;:!?)\]—–-]|(?:now|for|when|if|and|or|as|in|on|with|at|again|to|too|from|after|once"
    r"|by|ok"
    r"|not|because|since|each|both|also|correctly|exactly|here|there|then|so|which|instead|rather|twice"
    r"|maintenant|pour|quand|si|et|ou|comme|dans|sur|avec|à|aussi|désormais|puis|au|chez|car|donc)\b|⟦))"
)
"""What may follow a literal that is the object of its verb: "prints 42 now", not "prints 42 lines"."""
NUMBER_GAP = (
    r"(?:(?!(?:and|the|or|to|in|on|for|so|but|when|if|with|as|at|is|are|my|your"
    r"|et|les|le|la|des|de|ou|car|donc|pour|dans|avec|mes|vos|sur|que|à)\b)\w+\s+){0,2}?"
)
"""What may stand between a count and what it counts ("12 unit tests", not "returns 0 and the tests")."""


REST_OF_LABEL = (
    r"(?:\s*[:–—-]?\s*\(?(?:(?:all|tous|of|sur|tests?|⟦test⟧|⟦build⟧|⟦lint⟧|\d+(?:/\d+)?)(?:[,\s]+|(?=\)|$)))*\)?)?"
)
"""What may follow the name of a check in its label: a command, a count."""


def words(*alternatives: str) -> Pattern:
    """One pattern that matches any of the alternatives as whole words."""
    return re.compile(r"(?<!\w)(?:" + "|".join(alternatives) + r")(?!\w)")


def anywhere(*alternatives: str) -> Pattern:
    """One pattern that matches any of the alternatives."""
    return re.compile("|".join(f"(?:{item})" for item in alternatives))
