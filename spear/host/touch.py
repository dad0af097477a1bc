"""What is added to a result for the model: the rules of a directory at its first touch, the operator's word."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from spear.agent.host import Outcome, ToolRequest, ToolResult
from spear.evidence.records import CommandRecord, EvidenceRecord

_WORD = re.compile(r"[^\s'\"|&;<>()$`=*?{}\[\]]+")
_MOST_WORDS = 64
"""Words of one command that are looked at as paths."""


class Touch:
    """Asks `rules` once a path that a call reached; it returns text for the model the first time, "" afterwards."""

    def __init__(self, rules: Callable[[str], str] | None = None) -> None:
        self._rules = rules

    def after(self, request: ToolRequest, result: ToolResult, record: EvidenceRecord) -> str:
        """Text to append to the result of a call that went well, or of a command that ran, however it ended."""
        if self._rules is None or (result.outcome is not Outcome.OK and record.command is None):
            return ""
        paths = dict.fromkeys(_reached(request, record))
        return "\n".join(text for path in paths if (text := self._rules(path)))


def _reached(request: ToolRequest, record: EvidenceRecord) -> Iterator[str]:
    """The paths of a call: what it names, what it changed, and where a command ran."""
    for key in ("path", "workdir"):
        named = request.arguments.get(key)
        if isinstance(named, str) and named:
            yield named
    if record.command is not None:
        yield from _of_command(record.command)
    yield from (change.path for change in record.changes)


def _of_command(command: CommandRecord) -> Iterator[str]:
    """Every word may name a path: one that names none has no rules. Words are taken from where the command began and
    where it ended, since `cd` may stand anywhere in it."""
    yield command.cwd_before
    yield command.cwd_after
    for word in _WORD.findall(command.script)[:_MOST_WORDS]:
        for place in dict.fromkeys((command.cwd_before, command.cwd_after)):
            yield posixpath.join(place, word)


def said_meanwhile(text: str) -> str:
    """What the operator said while the turn ran, as the model is told it at the next tool boundary; "" for nothing."""
    return f"\n\n[the operator says now, as part of the request: {text.strip()}]" if text.strip() else ""
