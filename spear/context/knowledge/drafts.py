"""What somebody wants recorded, and whether it may be: lengths, secrets, instructions (spec 4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spear.context.knowledge.records import (
    LONGEST_STATEMENT,
    LONGEST_SUBJECT,
    LONGEST_WORD,
    Kind,
    KnowledgeProblem,
    tidy,
)
from spear.state.redaction import Redactor

INSTRUCTION = "instruction"
_MOST_TAGS = 12


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement somebody wants recorded. `source` is `FILE[:LINE]`, `quote` the text it is to hold."""

    statement: str
    kind: Kind = Kind.FACT
    subject: str = ""
    tags: tuple[str, ...] = ()
    path: str = ""
    source: str = ""
    quote: str | None = None


def checked(draft: Draft, redactor: Redactor) -> Draft | KnowledgeProblem:
    """The draft on one line each, or why it is not knowledge."""
    clean = replace(
        draft,
        statement=tidy(draft.statement),
        subject=tidy(draft.subject),
        tags=tuple(dict.fromkeys(tag for given in draft.tags if (tag := tidy(given)))),
        path=tidy(draft.path),
    )
    if not clean.statement:
        return KnowledgeProblem("empty", "there is no statement", "say what is known, in one sentence")
    if len(clean.statement) > LONGEST_STATEMENT:
        return KnowledgeProblem("long", f"the statement is longer than {LONGEST_STATEMENT} characters", "split it")
    if len(clean.subject) > LONGEST_SUBJECT:
        return KnowledgeProblem("long", f"the subject is longer than {LONGEST_SUBJECT} characters", "name it shortly")
    if len(clean.tags) > _MOST_TAGS or any(len(word) > LONGEST_WORD for word in (*clean.tags, clean.path)):
        return KnowledgeProblem(
            "long", f"at most {_MOST_TAGS} tags, each word up to {LONGEST_WORD} characters", "shorten them"
        )
    if any(redactor.text(text) != text for text in (clean.statement, clean.subject, draft.quote or "", *clean.tags)):
        return KnowledgeProblem("secret", "it holds what looks like a secret", "leave the secret out")
    if clean.quote is not None and not clean.source:
        return KnowledgeProblem("no_source", "a quote needs its file", "add --source FILE[:LINE]")
    return _instruction(clean.statement) or clean


def _instruction(statement: str) -> KnowledgeProblem | None:
    # The tables of grammar are compiled on import: only what records something pays for them, not every start.
    from spear.context.knowledge.instructions import forbidden_command, is_instruction

    if not is_instruction(statement):
        return None
    command = forbidden_command(statement)
    text = "an instruction is not knowledge: it belongs into a rule"
    remedy = "/recall TEXT records a rule for every corpus; AGENTS.md or .spear/rules/*.md one for this tree"
    if command:
        remedy += f" (which only asks the model not to run `{command}`; /remember in the chat offers to refuse it)"
    return KnowledgeProblem(INSTRUCTION, text, remedy)
