"""Programs a turn builds beside the project: of a source of its own, in a place the project builds nothing (spec 3.3).

`cc -o example/hello example/hello.c` makes no product of the project's. What its build files and scripts name, what
lies where builds write, and what lies in the top directory is never one of these.
"""

from __future__ import annotations

import posixpath
import re

from spear.evidence.facts import ProjectFacts
from spear.evidence.products import is_builds_place
from spear.evidence.roots import root_of, within_root

COMPILED = (
    ".c", ".cc", ".cpp", ".cxx", ".C", ".m", ".mm", ".s", ".S", ".rs", ".go", ".zig", ".d", ".nim", ".f", ".f90", ".cu",
    ".java", ".kt", ".hs", ".ml", ".swift", ".pas", ".adb",
)  # fmt: skip
"""Suffixes of sources that compilers make programs of."""
_REPORTS = re.compile(r"\d?>>?\s*(?:/dev/null\b|&\d|[\w./-]+\.(?:txt|log|out|diff|actual)\b)")
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
    return not there.named_before(stem)


def only_compiles(text: str) -> bool:
    """Whether what a makefile of this turn says brings nothing in from elsewhere: it copies nothing and redirects, if
    anything, what is printed into a report."""
    return _COPIES.search(_REPORTS.sub("", text)) is None
