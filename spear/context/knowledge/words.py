"""The words of a knowledge command as values, the same from a shell, the chat and a model."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spear.context.knowledge.drafts import Draft
from spear.context.knowledge.records import Kind, KnowledgeProblem, Record

DRAFT_OPTIONS = ("kind", "subject", "tags", "path", "source", "quote")


@dataclass(frozen=True, slots=True)
class Words:
    """What was said: `rest` in order, `options` by name, `flags` that were given."""

    rest: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()


def read(words: Sequence[str], options: Sequence[str] = (), flags: Sequence[str] = ()) -> Words | KnowledgeProblem:
    """Read the words behind a command. `--` ends the options; an unknown one is named with the nearest."""
    rest: list[str] = []
    given: dict[str, str] = {}
    found: set[str] = set()
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            rest += left
            break
        if not word.startswith("--"):
            rest.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if name in flags and not equals:
            found.add(name)
        elif name in options and (equals or left):
            given[name] = value if equals else left.pop(0)
        elif name in options:
            return KnowledgeProblem("usage", f"--{name} needs a value", f"write --{name} TEXT")
        else:
            near = difflib.get_close_matches(name, (*options, *flags), 1)
            known = ", ".join(f"--{option}" for option in (*options, *flags)) or "there are none"
            hint = f"did you mean --{near[0]}?" if near else f"options here: {known}"
            return KnowledgeProblem("usage", f"--{name} is not an option", hint)
    return Words(tuple(rest), given, frozenset(found))


def split(text: str) -> tuple[str, ...]:
    """A typed line as words. Quotes group; an apostrophe that closes nothing is an apostrophe."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def draft(words: Words, base: Record | None = None) -> Draft | KnowledgeProblem:
    """The draft that words describe; what they leave out is as in `base`, except its source."""
    kind = base.kind if base else Kind.FACT
    if "kind" in words.options:
        try:
            kind = Kind(words.options["kind"].lower())
        except ValueError:
            known = ", ".join(Kind)
            return KnowledgeProblem("usage", f"{words.options['kind']} is not a kind", f"kinds: {known}")
    tags = tuple(words.options["tags"].split(",")) if "tags" in words.options else (base.tags if base else ())
    return Draft(
        statement=" ".join(words.rest) or (base.statement if base else ""),
        kind=kind,
        subject=words.options.get("subject", base.subject if base else ""),
        tags=tags,
        path=words.options.get("path", base.path if base else ""),
        source=words.options.get("source", ""),
        quote=words.options.get("quote"),
    )
