"""Which changed files a check can speak of: documentation and data need one that reads them (spec 3.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from spear.evidence.facts import ProjectFacts
from spear.evidence.families import SOURCES
from spear.evidence.kinds import SUBSTANTIAL, CheckKind, Scope
from spear.evidence.records import CheckResult
from spear.evidence.roots import root_of


class Material(StrEnum):
    """What a set of changed files is made of; SOURCE as soon as one of them is."""

    SOURCE = "source"
    DATA = "data"
    DOCUMENTATION = "documentation"


_DOCUMENT_SUFFIXES = frozenset(
    {".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".txt", ".tex", ".org", ".texi", ".pod"}
)
_DOCUMENT_STEMS = frozenset(
    {"readme", "changelog", "changes", "license", "licence", "copying", "authors", "notice", "news", "contributing"}
)
_DOCUMENT_DIRECTORIES = frozenset({"doc", "docs", "documentation", "man", "manual", "notes", "licenses", "legal"})
_SOURCE_NAMES = frozenset({"cmakelists.txt", "requirements.txt", "constraints.txt", "robots.txt"})
_DATA_SUFFIXES = frozenset(
    {".json", ".jsonl", ".yaml", ".yml", ".csv", ".tsv", ".xml", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".ico"}
    | {".ini", ".cfg", ".conf", ".toml", ".env", ".properties", ".dat", ".bin", ".parquet", ".po"}
)
_BUILD_NAMES = frozenset(
    {"package.json", "tsconfig.json", "pyproject.toml", "cargo.toml", "setup.cfg", "pom.xml", "tox.ini", "build.xml"}
)

_COMPILED = frozenset(suffix for suffixes in SOURCES.values() for suffix in suffixes)


def material(paths: Sequence[str]) -> Material:
    """What the paths are: SOURCE if any is source or says how it is built, else DATA if any is data."""
    kinds = {_material_of(path) for path in paths}
    return next((kind for kind in Material if kind in kinds), Material.SOURCE)


def _material_of(path: str) -> Material:
    name = PurePosixPath(path.lower())
    if name.name in _SOURCE_NAMES or name.name in _BUILD_NAMES:
        return Material.SOURCE
    if name.suffix == ".txt" and len(name.parts) > 1 and _may_be_taken_in(name):
        return Material.DATA
    if name.suffix in _DOCUMENT_SUFFIXES or (name.stem in _DOCUMENT_STEMS and not name.suffix):
        return Material.DOCUMENTATION
    return Material.DATA if name.suffix in _DATA_SUFFIXES else Material.SOURCE


def _may_be_taken_in(name: PurePosixPath) -> bool:
    """Whether a text is none of documentation, by its name and the directories it lies in."""
    return name.stem not in _DOCUMENT_STEMS and _DOCUMENT_DIRECTORIES.isdisjoint(name.parts[:-1])


def texts_taken_in(facts: ProjectFacts) -> tuple[str, ...]:
    """The `.txt` files that this turn changed and that a build file, a script or a source of the tree names, by their
    recorded names: who builds or tests the project reads them."""
    told = [PurePosixPath(path) for path in facts.told(frozenset({".txt"}))]
    return tuple(facts.recorded(str(path)) for path in told if _may_be_taken_in(path) and _is_named(path.name, facts))


def _is_named(name: str, facts: ProjectFacts) -> bool:
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return facts.named_before(name) or any(named.search(text) for _, text in facts.texts(_COMPILED))


def is_prose(path: str) -> bool:
    """Whether a file is written for readers alone. A `.txt` may be taken in by a program."""
    return _material_of(path) is Material.DOCUMENTATION and not path.lower().endswith(".txt")


def covers(check: CheckResult, changed: Sequence[str]) -> bool:
    """Whether the check can speak of these changed files at all, or of those of them that lie in its root.

    Documentation is read by a documentation build, or by a check that names the file; data by anything that builds,
    tests or runs the project, or by a check that names it; source by every check but an INSPECT.
    """
    if not set(check.kinds) - {CheckKind.INSPECT, CheckKind.CLEAN}:
        return False
    changed = [path for path in changed if root_of(path) == check.root]
    if not changed:
        return False
    named = any(path in changed or any(_beneath(file, path) for file in changed) for path in check.paths)
    match material(changed):
        case Material.DOCUMENTATION:
            return check.scope is Scope.DOCUMENTATION or named
        case Material.DATA:
            return named or (check.scope is not Scope.LOOSE and bool(set(check.kinds) & SUBSTANTIAL))
        case Material.SOURCE:
            return check.scope is not Scope.DOCUMENTATION


def _beneath(path: str, directory: str) -> bool:
    return directory not in ("", ".") and path.startswith(directory.rstrip("/") + "/")
