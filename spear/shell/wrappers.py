"""Programs that run another program given on their command line, and where that command line begins (spec 2.3, 3.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spear.shell.syntax import Word

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
MAX_DEPTH = 12
"""Most wrappers taken off one command."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How a wrapper's own words are told from the command it runs.

    `valued` are options that take the next word; `operands` is how many words of its own precede the command;
    `queries` are options with which it runs nothing; `directory` are options that name where the command runs.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assignments: bool = False
    queries: frozenset[str] = frozenset()
    directory: frozenset[str] = frozenset()


def _wrapper(
    valued: str = "", operands: int = 0, assignments: bool = False, queries: str = "", directory: str = ""
) -> Wrapper:
    return Wrapper(
        frozenset(valued.split()), operands, assignments, frozenset(queries.split()), frozenset(directory.split())
    )


WRAPPERS: Mapping[str, Wrapper] = {
    "env": _wrapper("-u --unset -C --chdir", assignments=True, queries="-S --split-string", directory="-C --chdir"),
    "command": _wrapper(queries="-v -V"),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n --class --classdata", queries="-p --pid -P --pgid -u --uid"),
    "chrt": _wrapper("-T -P -D", operands=1, queries="-p --pid -m --max"),
    "taskset": _wrapper(operands=1, queries="-p --pid"),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "unbuffer": _wrapper(),
    "timeout": _wrapper("-k -s --kill-after --signal", operands=1),
    "time": _wrapper("-f -o --format --output"),
    "xvfb-run": _wrapper("-e -f -n -p -s -w --error-file --auth-file --server-num --server-args --wait"),
    "catchsegv": _wrapper(),
    "fakeroot": _wrapper("-l -s -i -b -u --lib --faked"),
    "eatmydata": _wrapper(),
    "ccache": _wrapper(),
    "chronic": _wrapper(),
    "strace": _wrapper("-o -e -p -s -P -a -b -E -I -O -S -u -U -X"),
    "ltrace": _wrapper("-o -e -p -s -a -A -D -F -l -n -u -w -x"),
    "valgrind": _wrapper(),
    "setarch": _wrapper(operands=1),
    "linux32": _wrapper(),
    "linux64": _wrapper(),
    "prlimit": _wrapper("-p --pid"),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "noglob": _wrapper(),
    "flock": _wrapper("-w -E --timeout --wait --conflict-exit-code", operands=1, queries="-c --command"),
}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What really runs. `directory` is where, when a wrapper says so, else None."""

    argv: tuple[Word, ...]
    names: tuple[str, ...] = ()
    assignments: tuple[tuple[str, Word], ...] = ()
    directory: Word | None = None


def unwrap(words: Sequence[Word]) -> Unwrapped:
    """Take wrappers off until a command remains; a wrapper that runs nothing stays the command."""
    argv, names = tuple(words), list[str]()
    assignments: list[tuple[str, Word]] = []
    directory: Word | None = None
    for _ in range(MAX_DEPTH):
        if not argv or argv[0].value is None:
            break
        name = argv[0].value.rsplit("/", 1)[-1]
        wrapper = WRAPPERS.get(name)
        step = None if wrapper is None else _inside(argv, wrapper)
        if step is None:
            break
        names.append(name)
        argv = step.argv
        assignments.extend(step.assignments)
        directory = step.directory or directory
    return Unwrapped(argv, tuple(names), tuple(assignments), directory)


def _inside(argv: tuple[Word, ...], wrapper: Wrapper) -> Unwrapped | None:
    """One wrapper taken off, or None when it runs nothing."""
    index, operands = 1, wrapper.operands
    directory: Word | None = None
    assignments: list[tuple[str, Word]] = []
    while index < len(argv):
        text = argv[index].value
        if text is None:
            break
        if text == "--":
            index += 1
            index += operands
            operands = 0
            break
        if text.startswith("-") and len(text) > 1:
            option, joined, value = text.partition("=")
            if option in wrapper.queries or _clustered(text, wrapper.queries):
                return None
            takes_next = option in wrapper.valued and not joined
            if option in wrapper.directory:
                directory = Word(value, argv[index].raw) if joined else argv[min(index + 1, len(argv) - 1)]
            index += 2 if takes_next else 1
        elif wrapper.assignments and _ASSIGNMENT.fullmatch(text):
            name, _, value = text.partition("=")
            assignments.append((name, Word(value, argv[index].raw)))
            index += 1
        elif operands:
            operands -= 1
            index += 1
        else:
            break
    if index >= len(argv):
        return None
    return Unwrapped(argv[index:], (), tuple(assignments), directory)


def _clustered(text: str, queries: frozenset[str]) -> bool:
    """Whether a query option hides in a cluster or carries its value: `-vp`, `-Sx`."""
    return not text.startswith("--") and any(len(query) == 2 and query[1] in text[1:2] for query in queries)
