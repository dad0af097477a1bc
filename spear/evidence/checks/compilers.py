"""Compilers on loose files: a build of those files, and no more."""

from __future__ import annotations

import re

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, Scope
from spear.evidence.names import names

_NAMES = names(
    "cc gcc g++ c++ clang clang++ tcc icc icx rustc javac kotlinc scalac gfortran ghc ocamlc ocamlopt swiftc"
    " nvcc fpc dmd "
    "ldc2 gnatmake nasm as ld valac nim v crystal erlc elixirc mcs csc go-gcc musl-gcc emcc em++ zig-cc sdcc avr-gcc"
)
_CROSS = re.compile(
    r"(?:[\w.]+-)+(gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(-\d+(\.\d+)*)?|(gcc|g\+\+|clang|clang\+\+)-\d+(\.\d+)*"
)
_ONLY_LOOKS = frozenset(
    {"--version", "--help", "-dumpversion", "-dumpmachine", "-v", "-V", "-###", "-M", "-MM", "-E", "-version"}
)
_VALUED = names(
    "-o -I -L -D -U -x -include -isystem -MF -MT -MQ -arch -target --target -std -l --edition --crate-type -cp -d"
)


def is_compiler(name: str) -> bool:
    """`gcc`, `clang-17`, `arm-none-eabi-gcc`, `rustc`…"""
    return name in _NAMES or _CROSS.fullmatch(name) is not None


def read_compiler(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """A compilation of the files named; None without any. `makes` names what it writes, as written."""
    sources: list[str] = []
    makes: list[str] = []
    looks = bool(_ONLY_LOOKS & set(invocation.known))
    rest = list(invocation.args)
    while rest:
        arg = rest.pop(0)
        if arg is None:
            sources.append("?")
        elif arg in _VALUED:
            value = (rest.pop(0) if rest else None) or "?"
            if arg == "-o":
                makes.append(value)
        elif arg.startswith("-o") and len(arg) > 2:
            makes.append(arg[2:])
        elif not arg.startswith("-"):
            sources.append(arg)
    if not sources and not looks:
        return None
    if not makes and "-c" not in invocation.known and sources:
        makes.append("./a.out")
    paths = tuple(place for source in sources if (place := facts.place(source, invocation.cwd)) is not None)
    void = CheckCode.LISTING if looks else None
    found = kinds("i") if looks else kinds("b")
    return Finding("compiler", found, Scope.LOOSE, tuple(sources), paths, invocation.cwd, void, makes=tuple(makes))
