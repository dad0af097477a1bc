"""Commands SpearHost answers itself, recognised where a shell would run a command word (spec 2.5).

They must stand alone on one line; their words are split, never expanded. Elsewhere the name is ordinary text.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from spear.shell.destinations import commands
from spear.shell.syntax import Script, Simple

HOST_COMMANDS = frozenset({"spear-capability", "spear-knowledge", "spear-web"})

_ANY = re.compile("|".join(re.escape(name) for name in sorted(HOST_COMMANDS)))


@dataclass(frozen=True, slots=True)
class HostCommand:
    """A host command and its words, the name first."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostCommandProblem:
    """A host command that is not alone on one line, or whose quotes do not close."""

    name: str
    reason: str


def host_command(text: str, script: Script | None) -> HostCommand | HostCommandProblem | None:
    """The host command `text` consists of, what is wrong with one it contains, or None where there is none.

    `script` is the tree of `text`, None where it has no tree (a syntax error).
    """
    if not _ANY.search(text):
        return None
    found = [] if script is None else [simple for simple in commands(script) if _is_host_command(simple)]
    first = text.strip().split(None, 1)[0] if text.strip() else ""
    if not found and first not in HOST_COMMANDS:
        return None
    name = found[0].argv[0].value or first if found else first
    if "\n" in text.strip() or (script is not None and not _stands_alone(script)):
        return HostCommandProblem(name, "it must be the only command, on one line")
    try:
        words = shlex.split(text.strip(), comments=False, posix=True)
    except ValueError as problem:
        return HostCommandProblem(name, str(problem).lower())
    return HostCommand(tuple(words))


def _is_host_command(simple: Simple) -> bool:
    return bool(simple.argv) and simple.argv[0].value in HOST_COMMANDS


def _stands_alone(script: Script) -> bool:
    if len(script.statements) != 1:
        return False
    only = script.statements[0]
    return (
        isinstance(only, Simple)
        and bool(only.words)
        and only.words[0].value in HOST_COMMANDS
        and not only.assignments
        and not only.redirects
    )
