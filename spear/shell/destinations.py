"""Where a script would write: every destination that can be read from it, and how sure the reading is (spec 2.3).

Pure: no file is looked at. Paths are as seen from the directory the script starts in. A destination that cannot be
read has no path and is never certain; a program that runs code makes the whole reading opaque.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spear.shell.state import join
from spear.shell.syntax import (
    AndOr,
    Background,
    Compound,
    CompoundKind,
    Node,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Word,
)
from spear.shell.tools.call import Write, WriteKind
from spear.shell.tools.registry import read_call

_STREAMS = re.compile(
    r"/dev/(?:null|zero|full|stdin|stdout|stderr|random|urandom|fd/\d+|(?:tcp|udp)/.*)"
    r"|/proc/(?:self|\$\$|\d+|thread-self)/fd/\d+"
)


@dataclass(frozen=True, slots=True)
class Destination:
    """One place a script would write.

    `path` is relative to the start ("" is the start itself) or absolute, None when it cannot be known; a `glob` path
    is a pattern. `operator` is the redirection as written, or the program's name. `certain` is false when the path is
    unknown. `into` are names written below `path` when that is a directory; `tree` says that anything below may
    change; `directory` that it must be one. `start` and `end` are byte offsets of the command in its own script,
    `command` its program name.
    """

    path: str | None
    operator: str
    certain: bool
    kind: WriteKind
    start: int
    end: int
    command: str
    written: str = ""
    glob: bool = False
    tree: bool = False
    directory: bool = False
    into: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Effects:
    """Everything read from a script. `opaque` are names of what may do more than is listed, "" for unknown ones."""

    destinations: tuple[Destination, ...]
    opaque: tuple[str, ...]


def effects(script: Script) -> Effects:
    """What `script` would write, and what in it cannot be read."""
    destinations: list[Destination] = []
    opaque: list[str] = []
    for simple, compound in _walk(script):
        if simple is not None:
            destinations.extend(_redirected(simple.redirects, simple.cwd, simple.name or ""))
            reading = read_call(simple)
            destinations.extend(_written(write, simple) for write in reading.writes if not _is_stream(write.target))
            if reading.opaque or any(_evaluates(word) for _, word in simple.assignments):
                opaque.append(simple.name or "")
        elif compound is not None:
            destinations.extend(_redirected(compound.redirects, compound.cwd, compound.name or compound.kind.value))
    return Effects(tuple(dict.fromkeys(destinations)), tuple(dict.fromkeys(opaque)))


def destinations(script: Script) -> tuple[Destination, ...]:
    """What `script` would write."""
    return effects(script).destinations


def commands(script: Script) -> Iterator[Simple]:
    """Every simple command that could run, in source order, scripts within scripts included."""
    for simple, _ in _walk(script):
        if simple is not None:
            yield simple


def _walk(script: Script) -> Iterator[tuple[Simple | None, Compound | None]]:
    waiting: list[Node] = list(reversed(script.statements))
    while waiting:
        node = waiting.pop()
        match node:
            case Simple():
                yield node, None
                inner = [*node.substitutions, *((node.nested,) if node.nested is not None else ())]
                waiting.extend(reversed([n for part in inner for n in part.statements]))
            case Pipeline(stages=stages):
                waiting.extend(reversed(stages))
            case AndOr(left=left, right=right):
                waiting.extend((right, left))
            case Background(body=body):
                waiting.append(body)
            case Compound():
                yield None, node
                inner = [*node.substitutions, *node.parts]
                waiting.extend(reversed([n for part in inner for n in part.statements]))


def _evaluates(word: Word | None) -> bool:
    """Whether a value runs a command once arithmetic reads it: `a[$(…)]`."""
    return word is not None and word.value is not None and ("[$(" in word.value or "[`" in word.value)


def _is_stream(word: Word) -> bool:
    return word.value is not None and bool(_STREAMS.fullmatch(posixpath.normpath(word.value)))


def _redirected(redirects: tuple[Redirect, ...], cwd: str | None, command: str) -> Iterator[Destination]:
    for redirect in redirects:
        if not redirect.writes or _is_stream(redirect.target):
            continue
        path = join(cwd, redirect.target.value)
        yield Destination(
            path,
            redirect.operator,
            path is not None,
            WriteKind.WRITE if redirect.operator in (">>", "&>>", "<>") else WriteKind.TRUNCATE,
            redirect.start,
            redirect.end,
            command,
            redirect.target.raw,
            redirect.target.glob,
        )


def _written(write: Write, simple: Simple) -> Destination:
    path = join(simple.cwd, write.target.value) if write.target.value != "" else None
    return Destination(
        path,
        simple.name or "",
        path is not None,
        write.kind,
        simple.start,
        simple.end,
        simple.name or "",
        write.target.raw,
        write.target.glob,
        write.tree,
        write.directory,
        write.into,
    )


def function_names(script: Script) -> frozenset[str]:
    """Names the script defines as functions."""
    return frozenset(
        compound.name
        for _, compound in _walk(script)
        if compound is not None and compound.kind is CompoundKind.FUNCTION
    )
