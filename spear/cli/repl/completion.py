"""Completion of the input line: /commands with their arguments, !tools, @paths, provision labels (spec 8.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.document import Document

from spear.cli.commands.registry import COMMANDS, OPERATOR_TOOLS, Command, Complete, Unknown, resolve
from spear.cli.display.filtering import one_line
from spear.cli.option import FILE, Positional
from spear.cli.repl.paths import PathIndex
from spear.cli.subcommand_table import command_named

_AT = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_SECTION = re.compile(r"§\s?([\w.-]*)$")
_LABEL = re.compile(r"(?<!\w)([A-Z][a-z]+\s[\w.-]*|[A-Z]{2,}-[\w.-]*)$")
"""What may begin a label: a word of a role or a table and a space (`Rule `, `Table 3`), or capitals and a dash."""


def _nothing() -> Sequence[str]:
    return ()


class Provisions(Protocol):
    """The bound standard, and what else is ingested."""

    def sections(self, beginning: str) -> Sequence[str]:
        """Its sections that begin so, not too many."""
        ...

    def labels(self, beginning: str) -> Sequence[str]:
        """Its labels that begin so, not too many."""
        ...

    def stored(self) -> Sequence[tuple[str, str]]:
        """Id and revision of everything ingested."""
        ...


class NoProvisions:
    """Where no standard can be bound."""

    def sections(self, beginning: str) -> Sequence[str]:
        """None."""
        return ()

    def labels(self, beginning: str) -> Sequence[str]:
        """None."""
        return ()

    def stored(self) -> Sequence[tuple[str, str]]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class Sources:
    """Where words come from: paths of the workspace, ids of stored sessions, the bound standard, numbers of background
    jobs, names of backends."""

    paths: PathIndex
    sessions: Callable[[], Sequence[str]] = field(default=_nothing)
    provisions: Provisions = field(default_factory=NoProvisions)
    jobs: Callable[[], Sequence[str]] = field(default=_nothing)
    backends: Callable[[], Sequence[str]] = field(default=_nothing)


class LineCompleter(Completer):
    """What can follow the text before the cursor."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def get_completions(self, document: Document, complete_event: Any) -> Iterable[Completion]:
        """Completions, the likeliest first."""
        text = document.text_before_cursor
        if "\n" not in text and text.startswith("/"):
            return self._slash(text)
        if "\n" not in text and text.startswith("!"):
            return self._tool(text)
        return self._inline(text)

    def _slash(self, text: str) -> Iterator[Completion]:
        name, space, rest = text[1:].partition(" ")
        if not space:
            for command in COMMANDS:
                for known in command.names:
                    if known.startswith(name.lower()):
                        yield Completion(f"/{known}", -len(text), display_meta=command.summary)
            return
        found = resolve(name)
        if not isinstance(found, Unknown):
            yield from self._argument(found, rest)

    def _argument(self, command: Command, rest: str) -> Iterator[Completion]:
        last = rest.rsplit(" ", 1)[-1]
        if " " not in rest:
            yield from (Completion(word, -len(last)) for word in command.words if word.startswith(last))
        match command.complete:
            case Complete.SESSION:
                yield from _starting(self._sources.sessions(), last)
            case Complete.STANDARD if " " in rest:
                yield from self._standard(rest)
                return
            case Complete.BACKEND:
                yield from _starting(self._sources.backends(), last)
            case Complete.JOB if rest.startswith(("show ", "stop ")):
                yield from _starting(self._sources.jobs(), last)
            case Complete.JOB if rest.startswith("start "):
                yield from self._paths(last)
        if "--file " in rest:
            yield from self._paths(last)
        else:
            yield from self._inline(rest)

    def _tool(self, text: str) -> Iterator[Completion]:
        name, space, rest = text[1:].partition(" ")
        if not space:
            for known, _, summary in OPERATOR_TOOLS:
                if known.startswith(name):
                    yield Completion(f"!{known}", -len(text), display_meta=summary)
        elif name in ("read", "ls", "edit", "run"):
            yield from self._paths(rest.rsplit(" ", 1)[-1])

    def _inline(self, text: str) -> Iterator[Completion]:
        if found := _AT.search(text):
            for path in self._sources.paths.matching(found[1]):
                yield Completion(f"@{path}", -len(found[1]) - 1, display=one_line(path, 80))
        else:
            yield from self._provision(text)

    def _provision(self, text: str) -> Iterator[Completion]:
        """Sections after `§`, labels after the word they begin with."""
        if found := _SECTION.search(text):
            yield from _starting(self._sources.provisions.sections(found[1]), found[1])
        elif found := _LABEL.search(text):
            yield from _starting(self._sources.provisions.labels(found[1]), found[1])

    def _standard(self, rest: str) -> Iterator[Completion]:
        """The arguments of `/standard`, as its actions are declared."""
        name, *before = rest.split(" ")
        typed = before.pop()
        action = next((each for each in command_named("standard").actions if each.name == name), None)
        if action is None:
            return
        if typed.startswith("-"):
            yield from _starting([spelled for option in action.options for spelled in option.names], typed)
            return
        option = next((each for each in action.options if before and before[-1] in each.names), None)
        if option is not None and option.takes_value:
            yield from self._paths(typed) if option.kind == FILE else _starting(option.choices, typed)
            return
        yield from self._standard_word(action.positionals, before, typed)

    def _standard_word(self, declared: Sequence[Positional], before: Sequence[str], typed: str) -> Iterator[Completion]:
        stored, place = self._sources.provisions.stored(), len(before)
        word = declared[min(place, len(declared) - 1)] if declared else None
        match word.name if word else "":
            case "id":
                yield from _starting(list(dict.fromkeys(id_ for id_, _ in stored)), typed)
            case "revision" if place == 1:
                yield from _starting([revision for id_, revision in stored if id_ == before[0]], typed)
            case "source":
                yield from self._paths(typed)
            case "retrieval_mode" if word:
                yield from _starting(word.choices, typed)
            case "words":
                reference = " ".join((*before, typed))
                labels = self._sources.provisions.labels(reference) if reference else ()
                yield from (Completion(label, -len(reference)) for label in labels)
                if place == 0 and not typed.startswith("§"):
                    yield from _starting(self._sources.provisions.sections(typed), typed)
                elif not labels:
                    yield from self._provision(reference)

    def _paths(self, typed: str) -> Iterator[Completion]:
        for path in self._sources.paths.matching(typed):
            yield Completion(path, -len(typed), display=one_line(path, 80))


def _starting(words: Sequence[str], typed: str) -> Iterator[Completion]:
    low = typed.lower()
    return (Completion(word, -len(typed)) for word in words if word.lower().startswith(low))
