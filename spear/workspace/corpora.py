"""`spear-corpus` and `/corpus`: the registry of trees, one implementation (spec 4.1)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spear.workspace.build_output import CACHE_DIRECTORIES
from spear.workspace.projects import ProjectEntry, Registry, add_project, load_registry, remove_project

LARGEST_COMPONENT = 20_000
"""Files of one corpus that `scan` proposes: a third of what an index takes at most."""

_SMALLEST_COMPONENT = 500
_DEEPEST = 4
_LISTS = frozenset(name for name, known in ProjectEntry.model_fields.items() if "tuple" in str(known.annotation))
_SWITCHES = frozenset({"autoindex", "include_build", "shared"})
_USAGE = 2
HELP = """\
usage: spear-corpus list [--json]
       spear-corpus add NAME PATH [KEY=VALUE …]     lists are given one item a KEY=VALUE
       spear-corpus rm NAME                         the tree itself is not touched
       spear-corpus scan [DIR] [--add] [--max N]    propose entries for a tree of several components"""


@dataclass(frozen=True, slots=True)
class CorpusAnswer:
    """What a command says; `status` is an exit status."""

    text: str
    status: int = 0


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a tree that makes a corpus of its own. `files` is counted without `exclude`."""

    name: str
    path: Path
    files: int
    exclude: tuple[str, ...] = ()

    def entry(self) -> dict[str, Any]:
        """The registry entry."""
        return {"path": str(self.path), **({"exclude": list(self.exclude)} if self.exclude else {})}


@dataclass(slots=True)
class _Counted:
    """A directory with the files below it; `children` are those that hold any."""

    path: Path
    own: int = 0
    total: int = 0
    children: list[_Counted] = field(default_factory=list)


class CorpusCommands:
    """The commands over one registry file. `cwd` is where relative paths start, `corpus_root` is SPEAR_CORPUS_ROOT."""

    def __init__(self, file: Path, cwd: Path, corpus_root: Path | None = None) -> None:
        self._file = file
        self._cwd = cwd
        self._corpus_root = corpus_root

    def answer(self, words: Sequence[str]) -> CorpusAnswer:
        """Answer a command line without its name. Raises ConfigurationError for a registry that cannot be read."""
        match list(words) or ["list"]:
            case ["list"]:
                return self._list()
            case ["list", "--json"]:
                return CorpusAnswer(json.dumps(self._rows(), ensure_ascii=False, indent=2))
            case ["add", name, path, *keys] if not name.startswith("-"):
                return self._add(name, path, keys)
            case ["rm", name]:
                return self._remove(name)
            case ["scan", *rest]:
                return self._scan(rest)
            case ["help" | "--help" | "-h"]:
                return CorpusAnswer(HELP)
            case _:
                return CorpusAnswer(HELP, _USAGE)

    def _registry(self) -> Registry:
        return load_registry(self._file, self._corpus_root)

    def _rows(self) -> list[dict[str, Any]]:
        registry = self._registry()
        here = registry.detect(self._cwd)
        rows: list[dict[str, Any]] = [
            {
                "name": project.name,
                "path": str(project.root),
                "here": project is here,
                **project.declared.model_dump(mode="json", exclude_defaults=True),
            }
            for project in registry.projects.values()
        ]
        rows += [{"name": problem.entry, "problem": problem.line()} for problem in registry.problems]
        return rows

    def _list(self) -> CorpusAnswer:
        registry = self._registry()
        here = registry.detect(self._cwd)
        width = max((len(name) for name in registry.projects), default=0)
        lines = []
        for project in registry.projects.values():
            kind = f"  ({project.declared.kind})" if project.declared.kind else ""
            lines.append(f"{'*' if project is here else ' '} {project.name:<{width}}  {project.root}{kind}")
        lines += [f"! {problem.line()}" for problem in registry.problems]
        lines += [f"! {notice}" for notice in registry.notices]
        return CorpusAnswer("\n".join(lines) or f"no corpus is registered in {self._file}; spear-corpus add NAME PATH")

    def _add(self, name: str, path: str, keys: Sequence[str]) -> CorpusAnswer:
        entry: dict[str, Any] = {}
        for key in keys:
            given, equals, value = key.partition("=")
            if not equals:
                return CorpusAnswer(f"{key} is not KEY=VALUE", _USAGE)
            if given in _LISTS and given != "public":
                entry.setdefault(given, []).append(value)
            else:
                entry[given] = _switch(given, value)
        return self._register(name, path, entry)

    def _register(self, name: str, path: str, keys: dict[str, Any]) -> CorpusAnswer:
        try:
            place = (self._cwd / Path(path).expanduser()).resolve()
            there = place.is_dir()
        except (OSError, ValueError, RuntimeError):
            there = False
        if not there:
            return CorpusAnswer(f"{path} is not a directory", _USAGE)
        problems = add_project(self._file, name, {"path": str(place), **keys})
        if problems:
            return CorpusAnswer("\n".join(problem.line() for problem in problems), _USAGE)
        return CorpusAnswer(f"{name} is registered: {place}")

    def _remove(self, name: str) -> CorpusAnswer:
        if remove_project(self._file, name):
            return CorpusAnswer(f"{name} is not registered any more; its tree and its knowledge are untouched")
        known = ", ".join(self._registry().projects) or "none"
        return CorpusAnswer(f"there is no corpus {name}; registered: {known}", _USAGE)

    def _scan(self, words: Sequence[str]) -> CorpusAnswer:
        add, largest, place = False, LARGEST_COMPONENT, "."
        left = list(words)
        while left:
            word = left.pop(0)
            if word == "--add":
                add = True
            elif word == "--max" and left and left[0].isascii() and left[0].isdigit() and int(left[0]) > 0:
                largest = int(left.pop(0))
            elif word.startswith("-"):
                return CorpusAnswer(HELP, _USAGE)
            else:
                place = word
        directory = (self._cwd / place).resolve()
        if not directory.is_dir():
            return CorpusAnswer(f"{place} is not a directory", _USAGE)
        components = scan(directory, largest)
        if not add:
            entries = {component.name: component.entry() for component in components}
            lines = [f"{component.files:>9} files  {component.name}  {component.path}" for component in components]
            lines += [
                "",
                json.dumps(entries, ensure_ascii=False, indent=2),
                "",
                "nothing was registered; --add does it",
            ]
            return CorpusAnswer("\n".join(lines))
        answers = [
            self._register(c.name, str(c.path), {k: v for k, v in c.entry().items() if k != "path"}) for c in components
        ]
        return CorpusAnswer("\n".join(a.text for a in answers), max((a.status for a in answers), default=0))


def scan(directory: Path, largest: int = LARGEST_COMPONENT) -> list[Component]:
    """Split a tree into corpora of at most about `largest` files each; one corpus when the whole is not larger.

    Subtrees that are worth it become components; what is left of a split directory is one more, which leaves them out.
    """
    counted = _count(directory)
    found = _split(counted, largest, _named(directory.name), _DEEPEST)
    taken: dict[str, int] = {}
    named: list[Component] = []
    for component in found:
        number = taken.get(component.name, 0) + 1
        taken[component.name] = number
        name = component.name if number == 1 else f"{component.name}-{number}"
        named.append(Component(name, component.path, component.files, component.exclude))
    return named


def _split(counted: _Counted, largest: int, name: str, depth: int) -> list[Component]:
    if counted.total <= largest or depth == 0:
        return [Component(name, counted.path, counted.total)]
    worth = max(1, min(_SMALLEST_COMPONENT, largest // 4))
    big = [child for child in counted.children if child.total >= worth]
    if not big:
        return [Component(name, counted.path, counted.total)]
    rest = counted.total - sum(child.total for child in big)
    parts = [
        part for child in big for part in _split(child, largest, f"{name}-{_named(child.path.name)}"[:64], depth - 1)
    ]
    if rest:
        left_out = tuple(f"./{child.path.name}" for child in big)
        parts.append(Component(name, counted.path, rest, left_out))
    return parts


def _count(directory: Path) -> _Counted:
    """Count regular files below a directory; caches, version control and links are passed over."""
    root = _Counted(directory)
    nodes = {str(directory): root}
    for place, directories, files in os.walk(directory):
        node = nodes[place]
        directories[:] = sorted(name for name in directories if name not in CACHE_DIRECTORIES)
        for name in directories:
            child = _Counted(node.path / name)
            nodes[f"{place.rstrip('/')}/{name}"] = child
            node.children.append(child)
        node.own = len(files)
    for node in reversed(list(nodes.values())):
        node.total = node.own + sum(child.total for child in node.children)
    return root


def _named(text: str) -> str:
    """A registry name from the name of a directory."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.") or "corpus"


def _switch(key: str, value: str) -> Any:
    if key in _SWITCHES or key == "public":
        return {"true": True, "false": False}.get(value.lower(), value)
    return value
