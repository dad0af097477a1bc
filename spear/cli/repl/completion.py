"""Completion of the input line: /commands with their arguments, !tools, @paths, provision labels (spec 8.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.document import Document

from spear.cli.commands.registry import COMMANDS, OPERATOR_TOOLS, Command, Complete, Unknown, resolve
from spear.cli.display.filtering import one_line
from spear.cli.repl.paths import PathIndex

_AT = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_PROVISION = re.compile(r"(?:§|(?<!\w)[Rr]ule\s)([\w.-]*)$")


def _nothing() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Sources:
    """Where words come from: paths of the workspace, ids of stored sessions, labels of the bound standard, numbers of
    background jobs, names of backends."""

    paths: PathIndex
    sessions: Callable[[], Sequence[str]] = field(default=_nothing)
    provisions: Callable[[], Sequence[str]] = field(default=_nothing)
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
            case Complete.PROVISION if rest.startswith("show "):
                yield from _starting(self._sources.provisions(), last)
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
        elif found := _PROVISION.search(text):
            yield from _starting(self._sources.provisions(), found[1])

    def _paths(self, typed: str) -> Iterator[Completion]:
        for path in self._sources.paths.matching(typed):
            yield Completion(path, -len(typed), display=one_line(path, 80))


def _starting(words: Sequence[str], typed: str) -> Iterator[Completion]:
    low = typed.lower()
    return (Completion(word, -len(typed)) for word in words if word.lower().startswith(low))
