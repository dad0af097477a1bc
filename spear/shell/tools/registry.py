"""All families in one table: from a program's name to what its command line does."""

from __future__ import annotations

from collections.abc import Mapping

from spear.shell.handed_on import SHELLS
from spear.shell.options import read_options
from spear.shell.syntax import Simple, Word
from spear.shell.tools import (
    archives,
    awk,
    compilers,
    copying,
    downloads,
    files,
    formatters,
    git,
    patches,
    python,
    readers,
    scripts,
    sed,
)
from spear.shell.tools.call import NOTHING, OPAQUE, Call, Reading, Tool, Write, Writes, literal

TOOLS: Mapping[str, Tool] = {
    **readers.TABLE,
    **files.TABLE,
    **copying.TABLE,
    **compilers.TABLE,
    **archives.TABLE,
    **downloads.TABLE,
    **patches.TABLE,
    **sed.TABLE,
    **awk.TABLE,
    **git.TABLE,
    **formatters.TABLE,
    **scripts.TABLE,
    **python.TABLE,
}

_WRAPPER_OUTPUTS: Mapping[str, str] = {"strace": "-o", "ltrace": "-o", "time": "-o", "valgrind": "--log-file"}


def read_call(simple: Simple) -> Reading:
    """What a simple command does by its own arguments, wrappers included, redirections and nested scripts not."""
    if not simple.argv:
        return NOTHING
    name = simple.name
    if name is None or simple.argv[0].glob:
        return OPAQUE
    reading = _program(Call(name, simple.argv[1:], simple.heredoc), simple)
    wrapped = _wrapper_outputs(simple)
    return reading if not wrapped else Reading((*wrapped, *reading.writes), reading.opaque)


def _program(call: Call, simple: Simple) -> Reading:
    if call.name in SHELLS:
        return _shell(call, simple)
    if python.NAMES.fullmatch(call.name):
        return python.read_python(call)
    tool = TOOLS.get(call.name) or scripts.TABLE.get(scripts.bare_name(call.name))
    if tool is None:
        return NOTHING if simple.nested is not None and call.name not in _UNREAD else OPAQUE
    return tool(call)


_UNREAD = frozenset({"make", "gmake", "man"})


def _shell(call: Call, simple: Simple) -> Reading:
    """A shell is clear where its script was read, and opaque where the script is a file or unknown."""
    if simple.nested is not None:
        return NOTHING
    options = read_options(call.words, "-o -O", stop_early=True)
    return NOTHING if options.has("-n", "--version", "--help") else OPAQUE


def _wrapper_outputs(simple: Simple) -> tuple[Write, ...]:
    """Files the wrappers themselves write: `strace -o FILE`, `flock FILE`."""
    found = Writes()
    before = simple.words[: len(simple.words) - len(simple.argv)]
    for wrapper in simple.wrappers:
        if wrapper in _WRAPPER_OUTPUTS:
            option = _WRAPPER_OUTPUTS[wrapper]
            found.add(read_options(_after(before, wrapper), option, stop_early=True).values(option))
        elif wrapper == "flock":
            found.add(read_options(_after(before, wrapper), "-w -E --timeout", stop_early=True).operands[:1])
    if simple.name == "flock":
        found.add(read_options(simple.argv[1:], "-w -E -c --command", stop_early=True).operands[:1])
    return tuple(Write(literal(w.target.value), w.kind) for w in found.found if w.target.value)


def _after(words: tuple[Word, ...], name: str) -> tuple[Word, ...]:
    for index, word in enumerate(words):
        if (word.value or "").rsplit("/", 1)[-1] == name:
            return words[index + 1 :]
    return ()
