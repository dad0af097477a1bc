"""Whether a compiler or CMake is told to take in what is no source of the project's (spec 3.3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from itertools import pairwise

from spear.evidence.facts import ProjectFacts
from spear.evidence.names import names
from spear.evidence.setting import is_scratch
from spear.shell.syntax import Simple

_BRING_IN = ("-include", "-imacros", "-L", "-B", "-specs=", "-fplugin=")
_TELLS_CMAKE = re.compile(
    r"(?:-C|-DCMAKE_(?:PROJECT_\w*INCLUDE\w*|TOOLCHAIN_FILE|CROSSCOMPILING_EMULATOR|\w+_COMPILER(?:_LAUNCHER)?)"
    r"(?::\w+)?=)(?P<value>.+)"
)
_IDLE = names("true false : echo sleep")

Place = Callable[[str], str]
"""The name records have for what a word names, "" where it lies in no root."""


def brings_in(compiler: Simple, place: Place) -> bool:
    """Whether a compiler is told to take in more than its sources: a header, an object or a library of the tree."""
    words = [word.value or "" for word in compiler.argv[1:]]
    for word, following in pairwise([*words, ""]):
        option = next((option for option in _BRING_IN if word.startswith(option)), None)
        if option is not None and place(word[len(option) :] or following):
            return True
    return any(word.startswith(("-l:", "-Wl,")) for word in words)


def is_told_a_program(cmake: Simple, place: Place, facts: ProjectFacts) -> bool:
    """Whether CMake is given code or a program of this turn's, or one that does nothing, in place of the project's."""
    words = [word.value or "" for word in cmake.argv[1:]]
    for word, following in pairwise([*words, ""]):
        told = _TELLS_CMAKE.match(f"{word}{following}" if word in ("-D", "-C") else word)
        if told is None:
            continue
        value, named = told["value"], place(told["value"])
        if posixpath.basename(value) in _IDLE or is_scratch(value, facts) or (named and facts.made_here(named)):
            return True
    return False
