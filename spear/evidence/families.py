"""Families of compiled sources: which sources become what, by their names (spec 3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePosixPath

from spear.evidence.names import names
from spear.evidence.roots import root_of, within_root


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
_HEADERS = names(".h .hh .hpp .hxx .h++ .inl .ipp .tpp .tcc .inc .def .cuh .pxd")
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
_OBJECT = re.compile(r".+\.(?:o|obj|lo|a|la|so|dylib|ko|elf|exe)|.+\.so\.[0-9.]+|(?:.*/)?a\.out")
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


def is_header(path: str) -> bool:
    """Whether a file is one that others take in."""
    return PurePosixPath(path).suffix in _HEADERS


def family_of(path: str) -> Family:
    """The family of what is compiled; what no compiler reads gets into products by rules, which make sources of it."""
    return family_of_source(path) or Family.RULES


def families_of_product(path: str) -> frozenset[Family]:
    """What a product may be made of, by its name: a program may be called anything."""
    name = PurePosixPath(path.lower())
    is_cached = any(part.startswith(".") and part not in _HIDDEN for part in name.parts) or "__pycache__" in name.parts
    if is_cached or name.suffix in _REPORTS:
        return frozenset()
    return frozenset(family for family, suffixes in _PRODUCTS.items() if name.suffix in suffixes) or _NATIVE


def may_be_of(product: str, source: str) -> bool:
    """Whether a product may be made of a source, by their recorded names."""
    return root_of(product) == root_of(source) and family_of(source) in families_of_product(product)


def is_object(path: str) -> bool:
    """Whether a product is native code by its name."""
    return _OBJECT.fullmatch(path) is not None


def may_be_native(path: str) -> bool:
    """Whether it may be: a program has no suffix."""
    return is_object(path) or not PurePosixPath(path).suffix
