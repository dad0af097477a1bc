"""What a command makes by its nature: build products, regenerated files, the lock files of its tools (spec 2.3, 2.4).

Destinations a command names are judged before it runs; this is about what its programs write on their own account.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spear.evidence.checks.candidates import CheckCandidate
from spear.evidence.checks.python import is_interpreter
from spear.evidence.kinds import CheckKind
from spear.policy.belonging import lock_tools

_MAKING = frozenset({CheckKind.BUILD, CheckKind.TEST, CheckKind.CLEAN})
_GENERATORS = frozenset(
    {
        "protoc", "buf", "flatc", "thrift", "capnp", "bison", "yacc", "flex", "lex", "antlr4", "re2c", "ragel", "swig",
        "cython", "moc", "uic", "rcc", "gperf", "sqlc", "mockgen", "stringer", "bindgen", "cbindgen", "autoreconf",
        "autoconf", "automake", "autoheader", "aclocal", "openapi-generator", "openapi-generator-cli", "meson", "gn",
        "ccmake", "qmake", "qmake6", "premake5",
    }
)  # fmt: skip


_SETTING_UP = frozenset(
    {
        "cmake", "ccmake", "meson", "make", "uv", "virtualenv", "poetry", "pdm", "pipenv", "hatch", "tox", "nox",
        "conda", "micromamba", "cargo", "gn", "configure",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Making:
    """`regenerates`: the command builds, tests, cleans, sets a build up or runs a generator, and so may write generated
    files.
    `keeps_locks`: it may rewrite the lock files of any tool, or of the `programs` it names."""

    regenerates: bool = False
    keeps_locks: bool = False
    programs: frozenset[str] = frozenset()

    @property
    def sets_up(self) -> bool:
        """Whether it names a tool that sets a directory of its own up."""
        return not self.programs.isdisjoint(_SETTING_UP) or any(is_interpreter(name) for name in self.programs)

    def keeps(self, path: str) -> bool:
        """Whether a file is the lock file of a tool this command runs."""
        tools = lock_tools(path)
        return bool(tools) and (self.keeps_locks or not self.programs.isdisjoint(tools))


def making(candidates: Iterable[CheckCandidate], programs: Sequence[str], created: Iterable[str]) -> Making:
    """What a command with these checks and programs makes. A program of the tree is a generator too, unless this turn
    wrote it (`created`): else a script would do what an edit may not."""
    found = list(candidates)
    builds = any(candidate.kinds & _MAKING for candidate in found)
    own = set(created)
    runs = any(CheckKind.RUN in c.kinds and c.finding.paths and own.isdisjoint(c.finding.paths) for c in found)
    names = frozenset(posixpath.basename(program) for program in programs)
    regenerates = builds or runs or not names.isdisjoint(_GENERATORS) or any(_configures(c) for c in found)
    return Making(regenerates, builds, names)


def _configures(candidate: CheckCandidate) -> bool:
    """Whether CMake sets a build up, and is no shell of its own (`cmake -E copy`)."""
    return candidate.finding.tool == "cmake" and all(word.value != "-E" for word in candidate.simple.argv[1:])
