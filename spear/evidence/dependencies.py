"""What a makefile knows of dependencies, and what it would have to know: which files take a header in (spec 3.3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from spear.evidence.recipes import UNKNOWN, MakeText

_FINDS_THEM = re.compile(
    r"(?<![\w-])-(?:MM?D|MM?)(?![\w-])|\bmakedepend\b|\bmkdep\b|^-?s?include\b.*(?:\.(?:d|dep|deps|P|Po|Plo)\b|\$[({]\w*DEP)",
    re.MULTILINE,
)
"""How a makefile has its compilers find out what depends on what."""
_TAKES_IN = re.compile(
    r"""^\s*[#.%]?\s*(?:include|import|incbin|cimport)\s*["'<]([^"'>\n]+)["'>]""", re.MULTILINE | re.IGNORECASE
)
_HEADERS = frozenset(
    {".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".tcc", ".inc", ".def", ".cuh", ".pxd"}
)


class Knowledge:
    """What a makefile says of what its targets depend on. `place` is the directory it works in, as paths are given."""

    def __init__(self, text: str, make: MakeText, place: str) -> None:
        self._make = make
        self._place = place
        self._said = make.said()
        self._finds_them = _FINDS_THEM.search(text) is not None

    def reaches(self, product: str, targets: Collection[str]) -> bool:
        """Whether making these targets (none: its first) looks at a product, as far as can be read; what
        cannot be may."""
        reached = self._make.reached(targets)
        return UNKNOWN in reached or product in {posixpath.normpath(posixpath.join(self._place, n)) for n in reached}

    def knows(self, source: str) -> bool:
        """Whether a source is among what it says anything depends on: by its name, by a pattern, by the object made of
        it, or because compilers tell it."""
        path = PurePosixPath(source)
        suffix = re.escape(path.suffix)
        if path.suffix in _HEADERS:
            return self._finds_them or self._names(path.name) or self._names_pattern(suffix)
        implied = re.search(rf"(?<![\w.]){suffix}(?:\.o|\.lo|)\s*:", self._said) is not None
        objects = re.search(rf"(?<![\w.-]){re.escape(path.stem)}\.l?o(?!\w)", self._said) is not None
        return implied or objects or self._names(path.name) or self._names_pattern(suffix)

    def _names(self, name: str) -> bool:
        return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", self._said) is not None

    def _names_pattern(self, suffix: str) -> bool:
        return re.search(rf"[*%]{suffix}(?![\w.-])", self._said) is not None


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
