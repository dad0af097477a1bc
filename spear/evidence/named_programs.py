"""Which built files tests and scripts name: as a path, in pieces that are joined, by the package they are the main file
of (spec 3.3).

Read as far as it can be. A text that runs or loads programs may come to others all the same.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from spear.evidence.facts import ProjectFacts

_STRING = re.compile(r"""["'`]((?:\.{0,2}/)?[\w.+-]+(?:/[\w.+-]+)+)["'`\s]""")
_LITERAL = re.compile(r"""(["'`])([^"'`\n]{1,200})\1""")
_PACKAGE = re.compile(r"""(?:\brequire\s*\(|\bimport\s*\(?|\bfrom)\s*(["'`])([\w.@/-]+)\1""")
_RUNS = re.compile(
    r"\b(?:subprocess|popen|os\.system|system|pexpect|ptyprocess|plumbum|invoke|exec(?:v\w*|l\w*|File|Sync|FileSync)?"
    r"|execa|spawn\w*|child_process|cdll|LoadLibrary|dlopen|ctypes|cffi|koffi|Command::new|exec\.Command"
    r"|ProcessBuilder|Open3|proc_open|shell_exec)\b",
    re.IGNORECASE,
)
_IMPLIED = ("", ".js", ".mjs", ".cjs", "/index.js")
_ENTRIES = ("main", "module", "exports", "browser", "bin")


def runs_programs(text: str) -> bool:
    """Whether a test or a script says of itself that it runs programs, or loads libraries."""
    return _RUNS.search(text) is not None


def named_programs(texts: Collection[tuple[str, str]], facts: ProjectFacts) -> frozenset[str]:
    """The built files that these texts, each with the path it lies at, name: from there, from the top, or in pieces."""
    found = {named for path, text in texts for named in _by_path(path, text, facts)}
    pieces = [_pieces(text) for _, text in texts]
    known = frozenset[str]().union(*pieces)

    def is_put_together(product: str) -> bool:
        path = PurePosixPath(product)
        if path.name not in known and path.stem not in known:
            return False
        return any(_holds_pieces(each, path) for each in pieces)

    return frozenset(found.union(facts.built(is_put_together) if known else ()))


def _by_path(path: str, text: str, facts: ProjectFacts) -> Iterator[str]:
    """What a text names in one string."""
    directory = posixpath.dirname(path)
    for match in _STRING.finditer(text):
        for base in ("", directory):
            if place := facts.place(match[1], base):
                yield from (place + suffix for suffix in _IMPLIED if facts.is_built(place + suffix))
    for match in _PACKAGE.finditer(text):
        yield from _of_package(match[2], directory, facts)


def _of_package(word: str, directory: str, facts: ProjectFacts) -> Iterator[str]:
    """The built files that a package of the tree, named by its directory or by its name, says it starts with."""
    place = facts.place(word, directory) if word.startswith(".") else ""
    if place is None:
        return
    try:
        manifest = json.loads(facts.read(posixpath.join(facts.root, place, "package.json")) or "{}")
    except (ValueError, RecursionError):
        return
    if not isinstance(manifest, dict) or not (word.startswith(".") or manifest.get("name") == word):
        return
    for entry in _ENTRIES:
        for file in _files_in(manifest.get(entry)):
            if (named := facts.place(file, place)) and facts.is_built(named):
                yield named


def _files_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _files_in(inner)


def _pieces(text: str) -> frozenset[str]:
    """The pieces of paths that the strings of a text hold."""
    return frozenset(piece for match in _LITERAL.finditer(text) for piece in match[2].split("/") if piece)


def _holds_pieces(pieces: frozenset[str], path: PurePosixPath) -> bool:
    """Whether a path can be put together of pieces: its name, its suffix aside, and the directory it lies in."""
    called = path.name in pieces or (path.suffix and path.stem in pieces)
    return bool(called) and (path.parent.name in pieces if path.parent.name else path.name in pieces)
