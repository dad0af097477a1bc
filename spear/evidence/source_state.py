"""Which state of the source a product was made of: all of it, and what compilers read of it (spec 3.2, 3.3).

A change of compiled source makes old what is older and of its family, one of a build file everything. Prose, what only
tests read and what tools keep for themselves go into no product, other data and scripts where a build file names them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from spear.evidence.coverage import is_prose
from spear.evidence.epochs import EpochLedger, FileState, fingerprint
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckKind
from spear.evidence.names import names
from spear.evidence.roots import root_of, within_root
from spear.evidence.weakened import is_expectation, kinds_of_check_file


class Family(StrEnum):
    """Sources that become products of the same kind: RULES are compiled by rules somebody wrote, who may have forgotten
    what depends on what; TOOLS by tools that find it out themselves."""

    RULES = "rules"
    TOOLS = "tools"
    MANAGED = "managed"
    WEB = "web"


SOURCES: Mapping[Family, frozenset[str]] = {
    Family.RULES: names(
        ".c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp .tpp .tcc .inc .def .s .asm .m .mm .f .f90 .f95 .for"
        " .cu .cuh .l .ll .y .yy .pyx .pxd .xs"
    ),
    Family.TOOLS: names(".rs .go .zig .swift .d .nim .hs .ml .mli .pas .adb .ads"),
    Family.MANAGED: names(".java .kt .scala .groovy .clj .cs .fs .vb"),
    Family.WEB: names(".ts .tsx .mts .cts .js .jsx .mjs .cjs .vue .svelte .css"),
}
"""The suffixes of each family's sources."""
_PRODUCTS: Mapping[Family, frozenset[str]] = {
    Family.MANAGED: names(".class .jar .war .dll"),
    Family.WEB: SOURCES[Family.WEB] | names(".html .map"),
}
_NATIVE = frozenset({Family.RULES, Family.TOOLS})
_REPORTS = names(
    ".log .txt .xml .json .tap .trs .csv .tsv .md .d .pyc .gcda .gcno .gcov .info .junit .dat .cache .lock .stamp .tmp"
)
"""What is written beside products, by builds and by runs, and is made of no source."""
_HIDDEN = names(".libs .obj .objs .build .next .stack-work .venv .tox .nox .bin")
"""Hidden directories that hold products; the others are tools' memories, as hidden files are."""
_BUILD_FILES = names(
    ".cmake .am .ac .m4 .in .bzl .bazel .gn .gni .ninja .gradle .kts .lock .mod .sum .toml .build .pro .ld"
)
_SCRIPTS = names(".py .sh .bash .zsh .pl .rb .lua .tcl .awk .php .r .ps1 .bat")
_BESIDE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e|tools|scripts?|bench(?:marks)?|docs)/|\.(?:test|spec)\.\w+$|\.config\.\w+$"
)
"""Where JavaScript lies that runs as it is, and goes into no bundle."""


def is_makefile(path: str) -> bool:
    """Whether a file holds the rules by which make builds, or a part of them."""
    name = PurePosixPath(path.lower())
    return name.name in ("makefile", "gnumakefile") or name.suffix in (".mk", ".mak")


def family_of_source(path: str) -> Family | None:
    """The family of a source, None where no compiler reads it."""
    name = PurePosixPath(path.lower())
    if is_makefile(path):
        return Family.RULES  # whose flags and commands make what is there
    family = next((family for family, suffixes in SOURCES.items() if name.suffix in suffixes), None)
    is_plain = name.suffix in (".js", ".mjs", ".cjs", ".jsx", ".css")
    if family is Family.WEB and (is_plain or ".config." in name.name) and _BESIDE.search(within_root(path).lower()):
        return None
    return family


def may_go_in(path: str, facts: ProjectFacts) -> bool:
    """Whether a changed file, by its recorded name, may be taken into a product."""
    inside = within_root(path)
    if family_of_source(path) is not None:
        return True
    name = PurePosixPath(inside.lower())
    decides = kinds_of_check_file(inside)
    if CheckKind.BUILD in decides or name.suffix in _BUILD_FILES:
        return True
    if is_prose(inside) or any(part.startswith(".") for part in name.parts) or decides or is_expectation(inside):
        return False
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    words = (name.name,) if name.suffix in _SCRIPTS else (name.name, *name.parts[:-1])
    return there is None or any(there.named_before(word) for word in words)


def families_of_product(path: str) -> frozenset[Family]:
    """What a product may be made of, by its name: a program may be called anything."""
    name = PurePosixPath(path.lower())
    is_cached = any(part.startswith(".") and part not in _HIDDEN for part in name.parts) or "__pycache__" in name.parts
    if is_cached or name.suffix in _REPORTS:
        return frozenset()
    return frozenset(family for family, suffixes in _PRODUCTS.items() if name.suffix in suffixes) or _NATIVE


def may_be_of(product: str, source: str) -> bool:
    """Whether a product may be made of a source, by their recorded names."""
    return root_of(product) == root_of(source) and family_of_source(source) in families_of_product(product)


@dataclass(frozen=True, slots=True)
class SourceState:
    """A state of the source: a fingerprint of the `whole` of what differs from the start of the turn and may go into a
    product, and of that what is `compiled`, file by file; `new` are those of these that the turn did not find."""

    whole: str
    compiled: frozenset[tuple[str, FileState]] = frozenset()
    new: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ledger: EpochLedger, facts: ProjectFacts) -> SourceState:
        """The present state of a ledger."""
        told = {path: state for path, state in ledger.differences.items() if may_go_in(path, facts)}
        compiled = frozenset((path, state) for path, state in told.items() if family_of_source(path) is not None)
        began_absent = {path for path, state in ledger.start if state[0] is None}
        return cls(fingerprint(told), compiled, frozenset(path for path, _ in compiled if path in began_absent))


UNCHANGED = SourceState(fingerprint({}))
"""The source as the turn found it."""
