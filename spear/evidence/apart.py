"""Programs a turn builds beside the project (spec 3.3).

`cc -o example/hello example/hello.c` makes no product of the project's. What its build files and scripts name, and what
is called like a file of its own, is never one of these.
"""

from __future__ import annotations

import posixpath
import re

from spear.evidence.checks.deciding import MANIFESTS
from spear.evidence.compiled import COMPILED
from spear.evidence.facts import ProjectFacts
from spear.evidence.products import is_builds_place
from spear.evidence.roots import root_of, within_root

_REPORTS = re.compile(r"\d?>>?\s*(?:/dev/null\b|&\d|[\w./-]+\.(?:txt|log|out|diff|actual)\b)")
_COPIES = re.compile(r"\b(?:cp|mv|ln|install|dd|rsync|objcopy|tar|unzip|base64|xxd|curl|wget)\b|(?<![<-])>|\btee\b")


def stands_apart(path: str, facts: ProjectFacts) -> bool:
    """Whether a product, by its recorded name, is nothing the project builds or runs: a program that no build file
    or script names and no file of the project is called like, or what this turn's source beside it is compiled to."""
    there = facts.elsewhere(root_of(path)) if root_of(path) else facts
    if there is None:
        return False
    directory, _, name = within_root(path).rpartition("/")
    stem, _, suffix = name.rpartition(".")
    if name in MANIFESTS:
        return False
    if not stem or suffix in ("out", "exe"):  # a program, which nobody loads by a name of its own making
        return not any(there.named_before(word) for word in ({name, stem} if suffix == "exe" else {name}))
    if not directory or is_builds_place(directory):
        return False
    sources = [source for other in COMPILED if there.exists(source := posixpath.join(directory, stem + other))]
    if not sources or not all(there.made_here(source) for source in sources):
        return False
    return not there.named_before(stem)


def only_compiles(text: str) -> bool:
    """Whether what a makefile of this turn says brings nothing in from elsewhere: it copies nothing and redirects, if
    anything, what is printed into a report."""
    return _COPIES.search(_REPORTS.sub("", text)) is None
