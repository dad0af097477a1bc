"""Programs a turn builds beside the project: of a source of its own, in a place the project builds nothing (spec 3.3).

`cc -o example/hello example/hello.c` makes no product of the project's. What its build files name, what lies where
builds write, and what lies in the top directory, whose scripts may start anything, is never one of these.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from spear.evidence.facts import ProjectFacts
from spear.evidence.products import is_builds_place
from spear.evidence.roots import root_of, within_root

COMPILED = (
    ".c", ".cc", ".cpp", ".cxx", ".C", ".m", ".mm", ".s", ".S", ".rs", ".go", ".zig", ".d", ".nim", ".f", ".f90", ".cu",
    ".java", ".kt", ".hs", ".ml", ".swift", ".pas", ".adb",
)  # fmt: skip
"""Suffixes of sources that compilers make programs of."""
_BUILD_FILES = (
    "Makefile", "makefile", "GNUmakefile", "Makefile.am", "Makefile.in", "CMakeLists.txt", "CTestTestfile.cmake",
    "meson.build", "SConstruct", "SConscript", "wscript", "BUILD", "BUILD.bazel", "BUILD.gn", "build.ninja",
    "configure.ac", "package.json", "binding.gyp", "Cargo.toml", "build.rs", "build.zig", "justfile", "Justfile",
    "Taskfile.yml", "Rakefile", "tox.ini", "noxfile.py", "pyproject.toml", "setup.py", "dune", "go.mod", "Jamfile",
)  # fmt: skip
_COPIES = re.compile(r"\b(?:cp|mv|ln|install|dd|rsync|objcopy|tar|unzip|base64|xxd|curl|wget)\b|(?<![<-])>|\btee\b")


def stands_apart(path: str, facts: ProjectFacts) -> bool:
    """Whether a product, by its recorded name, is a program or object of a source this turn put beside it, and of
    nothing the project builds or runs."""
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    if there is None:
        return False
    directory, _, name = within_root(path).rpartition("/")
    stem = name.rpartition(".")[0] or name
    if not directory or is_builds_place(directory):
        return False
    sources = [source for suffix in COMPILED if there.exists(source := posixpath.join(directory, stem + suffix))]
    if not sources or not all(there.made_here(source) for source in sources):
        return False
    said = re.compile(rf"(?<!\w){re.escape(stem)}(?!\w)")
    return not any(said.search(text) for text in _build_files(directory, there))


def only_compiles(text: str) -> bool:
    """Whether what a makefile of this turn says brings nothing in from elsewhere: no copy, no redirection."""
    return _COPIES.search(text) is None


def _build_files(directory: str, facts: ProjectFacts) -> Iterator[str]:
    """What the project's own build files say from a directory up to the top of its root."""
    while True:
        for name in _BUILD_FILES:
            place = posixpath.join(directory, name)
            if facts.exists(place) and not facts.made_here(place):
                yield facts.read(posixpath.join(facts.root, place)) or ""
        if not directory:
            return
        directory = posixpath.dirname(directory)
