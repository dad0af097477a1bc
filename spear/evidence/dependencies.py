"""What a makefile knows of dependencies, and what it would have to know: which files take a header in (spec 3.3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import PurePosixPath

from spear.evidence.families import is_header
from spear.evidence.recipes import UNKNOWN, MakeText

_FINDS_THEM = re.compile(
    r"(?<![\w-])-(?:MM?D|MM?)(?![\w-])|\bmakedepend\b|\bmkdep\b|^-?s?include\b.*(?:\.(?:d|dep|deps|P|Po|Plo)\b|\$[({]\w*DEP)",
    re.MULTILINE,
)
"""How a makefile has its compilers find out what depends on what."""
_INCLUDES = re.compile(r"^ *(?:-|s)?include\s.*$", re.MULTILINE)
_LOOKS_ELSEWHERE = re.compile(r"\b(?:VPATH|vpath)\b")
_MAKES = re.compile(r"\bmake\b")
_TAKES_MORE = re.compile(r"\*|`|\$|(?<!\S)-L")
"""How a recipe may take in what it does not name."""
_OBJECT_NAMED = re.compile(r"(?<!-o )(?<!\S)([\w./+-]+\.(?:o|lo|a|la|so|obj|lib))(?!\S)")
_SCRIPT_NAMED = re.compile(r"(?<!\S)([\w./+-]+\.(?:py|sh|bash|pl|rb|lua|tcl|awk|js|mjs|sed))(?!\S)")
_FEW = 2
"""Fewer names say nothing of what a target is made of."""
_MAY_FIND = re.compile(
    r"\$[({]MAKE[)}]|\bmake\s+-C|\$\(shell\b|\bfind\b|\bwildcard\s+[^)]*\*(?![.\w])|\*\s|^-?s?include\b", re.MULTILINE
)
"""How a makefile may come to files it does not name."""
_TAKES_IN = re.compile(
    r"""^\s*[#.%]?\s*(?:include|import|incbin|cimport)\s*["'<]([^"'>\n]+)["'>]""", re.MULTILINE | re.IGNORECASE
)


class Knowledge:
    """What a makefile says of what its targets depend on. `place` is the directory it works in, as paths are given."""

    def __init__(self, text: str, make: MakeText, place: str) -> None:
        self._text = text
        self._make = make
        self._place = place
        self._said = make.said()
        self._finds_them = _FINDS_THEM.search(text) is not None

    def reaches(self, product: str, targets: Collection[str]) -> bool:
        """Whether making these targets (none: its first) looks at a product, as far as can be read."""
        reached = self._make.reached(targets)
        return product in {posixpath.normpath(posixpath.join(self._place, name)) for name in reached}

    def may_reach(self, product: str, targets: Collection[str]) -> bool:
        """Whether it does, or looks at what cannot be read."""
        return UNKNOWN in self._make.reached(targets) or self.reaches(product, targets)

    def parts_without(self, product: str, source: str) -> tuple[str, ...] | None:
        """What else a product is made of, where this makefile says how it is made, and that no source of that name goes
        into it; None where it does not, or a header may go into anything."""
        path = PurePosixPath(source)
        inside = posixpath.relpath(product, self._place or ".")
        reached = self._make.reached((inside,))
        own = self._make.recipe(inside)
        if is_header(source) or UNKNOWN in reached or not own or _MAKES.search(own) is not None:
            return None  # another makefile may say it
        parts = {PurePosixPath(name) for name in reached}
        if any(part.name == path.name or (part.stem == path.stem and part.suffix in (".o", ".lo")) for part in parts):
            return None
        recipes = self._make.recipes_of((inside,))
        if self._speaks_of(recipes, source, objects=True) or _TAKES_MORE.search(recipes) is not None:
            return None
        called = {part.name for part in parts}
        if any(posixpath.basename(name) not in called for name in _OBJECT_NAMED.findall(recipes)):
            return None  # it is made of what it does not depend on
        return tuple(posixpath.normpath(posixpath.join(self._place, name)) for name in reached - {inside})

    def scripts(self, product: str | None = None) -> tuple[str, ...]:
        """The scripts that the recipes for a product run, or all of them, as far as they are named."""
        inside = (posixpath.relpath(product, self._place or "."),) if product is not None else ()
        recipes = self._make.recipes_of(inside) if inside else self._make.recipes()
        return tuple(posixpath.normpath(posixpath.join(self._place, name)) for name in _SCRIPT_NAMED.findall(recipes))

    def knows(self, source: str) -> bool:
        """Whether a source is among what it says anything depends on: by its name, by a pattern, by the object made of
        it, or because compilers tell it."""
        taken_in = is_header(source)
        said = _INCLUDES.sub("", self._said)  # to read a makefile in is not to depend on it
        return self._speaks_of(said, source, objects=not taken_in) or (taken_in and self._finds_them)

    def follows(self, product: str, source: str, takers: Callable[[str], frozenset[str]]) -> bool:
        """Whether a product is made anew for a source: where all it is made anew for can be read, the source, or the
        object of its name, is among that, and a header is, or none of that takes it in (`takers`)."""
        made_of = self._make.made_of(posixpath.relpath(product, self._place or "."))
        if UNKNOWN in made_of or len(made_of) < _FEW or any("(" in name for name in made_of):
            return True
        path, parts = PurePosixPath(source), {posixpath.basename(name) for name in made_of}
        if not is_header(source):
            return not parts.isdisjoint((path.name, f"{path.stem}.o", f"{path.stem}.lo"))
        return self._finds_them or path.name in parts or parts.isdisjoint(map(posixpath.basename, takers(source)))

    def passes_over(self, source: str) -> bool:
        """Whether nothing it says or does is about a source: no name, no pattern, nothing that finds files, no other
        makefile that may."""
        text = f"{self._text}\n{self._said}"
        return not self._speaks_of(text, source, objects=True) and _MAY_FIND.search(text) is None

    def _speaks_of(self, text: str, source: str, *, objects: bool) -> bool:
        """Whether a part of it names a source, a pattern for it, or its object."""
        path = PurePosixPath(source)
        name, stem, suffix = map(re.escape, (path.name, path.stem, path.suffix))
        said = [rf"(?<![\w.-]){name}(?![\w.-])"]
        if objects and suffix:
            said += [rf"(?<![\w.]){suffix}(?:\.o|\.lo|)\s*:", rf"(?<![\w.-]){stem}\.l?o(?!\w)"]
        if any(re.search(each, text) is not None for each in said):
            return True
        inside = posixpath.relpath(source, self._place or ".")
        patterns = re.finditer(rf"(?P<directory>[^\s:=|]*/)?[*%]{suffix}(?![\w.-])", text) if suffix else ()
        return any(_stands_for(match["directory"] or "", inside, text) for match in patterns)


def _stands_for(directory: str, path: str, text: str) -> bool:
    """Whether a pattern for files in a directory may stand for a path. One without a directory may for any, and so may
    one whose directory is not known, or where make is told to look for files elsewhere."""
    if not directory or re.search(r"[$*%?\[({]", directory) or _LOOKS_ELSEWHERE.search(text):
        return True
    return posixpath.normpath(path).startswith(f"{posixpath.normpath(directory)}/")


def includers(source: str, texts: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The files among `texts` that take a file in, themselves or by others, told by base names."""
    taken_in: dict[str, set[str]] = {}
    for path, text in texts:
        for match in _TAKES_IN.finditer(text):
            taken_in.setdefault(posixpath.basename(match[1]), set()).add(path)
    found: set[str] = set()
    waiting = [posixpath.basename(source)]
    while waiting:
        new = taken_in.pop(waiting.pop(), set()) - found
        found |= new
        waiting += map(posixpath.basename, new)
    return frozenset(found)
