"""All families in one table: from a program's name to what its command line does."""

from __future__ import annotations

import fnmatch
import re
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
from spear.shell.tools.call import NOTHING, OPAQUE, Call, Reading, Tool, Write, Writes, literal, names

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


_SYSTEM_DIRECTORY = re.compile(r"(?:/proc/self/root)?(?:/usr(?:/local)?)?/s?bin")
_LOADS_CODE = names("BASH_ENV ENV LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PYTHONSTARTUP PERL5OPT RUBYOPT NODE_OPTIONS PATH")


def read_call(simple: Simple) -> Reading:
    """What a simple command does by its own arguments, wrappers included, redirections and nested scripts not."""
    if not simple.argv or simple.function:
        return NOTHING
    first = simple.argv[0]
    if simple.name is None or first.value is None:
        return OPAQUE
    directory, slash, _ = first.value.rpartition("/")
    strange = bool(slash) and not _SYSTEM_DIRECTORY.fullmatch(directory)
    loads = any(name in _LOADS_CODE for name, _ in simple.assignments)
    called = _matching(simple.name) if first.glob else (simple.name,)
    readings = [_program(Call(name, simple.argv[1:], simple.heredoc), simple) for name in called]
    writes = [write for reading in readings for write in reading.writes]
    opaque = strange or loads or first.glob or any(reading.opaque for reading in readings)
    return Reading((*_wrapper_outputs(simple), *writes), opaque)


def _matching(name: str) -> tuple[str, ...]:
    """Programs a pattern in the place of a command name may stand for."""
    return tuple(sorted(fnmatch.filter(TOOLS, name)))[:8]


def _program(call: Call, simple: Simple) -> Reading:
    if call.name in SHELLS:
        return _shell(call, simple)
    if python.NAMES.fullmatch(call.name):
        return python.read_python(call)
    tool = TOOLS.get(call.name) or scripts.TABLE.get(scripts.bare_name(call.name))
    return OPAQUE if tool is None else tool(call)


def _shell(call: Call, simple: Simple) -> Reading:
    """A shell is clear where its script was read, and opaque where the script is a file or unknown."""
    options = read_options(call.words, "-o -O +o +O --rcfile --init-file", stop_early=True)
    if options.has("-n", "--version", "--help"):
        return NOTHING
    inline = options.has("-c", "-s") or not options.operands
    return NOTHING if inline and simple.nested is not None and not options.has("-i", "--rcfile") else OPAQUE


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
