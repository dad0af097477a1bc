"""Whether what a program was given to run may have it write a path: by what its text says (spec 3.3).

A text that nobody can read the paths of (`eval`, pieces of names put together, lists of files) is taken to say it.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from spear.evidence.compiled import RUNS_PROGRAMS
from spear.evidence.facts import ProjectFacts
from spear.evidence.roots import root_of, within_root

_BYTECODE = re.compile(r"\.py[co]$")
_SPEAKS_OF_BYTECODE = re.compile(r"pycache|\.pyc|py_compile|compileall|marshal|importlib|cfile|loader")
_HIDES_PATHS = re.compile(
    r"\b(?:exec|eval|compile|__import__|importlib|base64|b64\w*|fromhex|unhexlify|chr|fromCharCode|ctypes|subprocess"
    r"|system|popen|spawn\w*|argv|environ|stdin|getattr|decode"
    r"|pickle|marshal|struct|urlopen|zipfile|tarfile|extractall|reversed?|pack|unpack)\b|\[::|<\S*\*\S*>"
)

_LISTS_FILES = re.compile(r"\b(?:glob|iglob|rglob|walk|iterdir|scandir|listdir|readdir\w*|globSync|Glob)\b")
_EVERYWHERE = frozenset({"", ".", "..", "/", "*", "**", "**/*", "/workspace"})
_WORD = re.compile(r"[\w./+-]+")
_QUOTED = re.compile(r"([\"'])([^\"'\n]*)\1")
_PIECE = re.compile(r"([\"'])([^\"'\n]{3,})\1")
_PATTERN = re.compile(r"[*?\[]")
_MOST_FILES = 20
_MOST_PATTERNS = 100
_IMPLIED = (".py", ".js", ".mjs", ".cjs", ".ts", "/CMakeLists.txt", "/meson.build", "/__main__.py", "/index.js")
"""What a text may leave out where it names what is to run."""


def told_by(files: Collection[str], facts: ProjectFacts) -> str | None:
    """What files say, by their absolute paths, and what this turn's own files that they name say, and so on; None
    where one of the first cannot be read, or there are too many."""
    texts: dict[str, str] = {}
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        text = None if facts.changed_now(facts.shown(file) or "") else facts.read(file)
        if text is None or "\0" in text:
            if file in files:
                return None
            continue  # a program, or no file after all
        texts[file] = text
        if len(texts) > _MOST_FILES:
            return None
        waiting += [named for named in _own_files_named(text, posixpath.dirname(file), facts) if named not in texts]
    return "\n".join(texts.values())


def _own_files_named(text: str, directory: str, facts: ProjectFacts) -> set[str]:
    """The absolute paths of this turn's files that a text names, from its directory or from the top of the root."""
    found = set()
    for word in set(_WORD.findall(text)):
        for base in (directory, facts.root):
            place = posixpath.normpath(posixpath.join(base, word))
            for named in (place, *(place + suffix for suffix in _IMPLIED)):
                shown = facts.shown(named)
                if shown and facts.made_here(shown):
                    found.add(named)
    return found


class Telling:
    """What a program was given to run: `text` with everything it says, whether that is `code`, and of a `compiled`
    language, whose words mean other things. What it says of files is read once, and then asked for every path."""

    def __init__(self, text: str, facts: ProjectFacts, *, code: bool, compiled: bool = False) -> None:
        self.text = text
        self.code = code
        self._facts = facts
        self._hiding = RUNS_PROGRAMS if compiled else _HIDES_PATHS

    def speaks_of(self, path: str) -> bool:
        """Whether it names a recorded path, or, where it is code, may make its name up or find it."""
        if _BYTECODE.search(path):
            return self.code and _SPEAKS_OF_BYTECODE.search(self.text) is not None
        if _holds_word(self.text, posixpath.basename(path)):
            return True
        return self.code and (self._hides or self._holds_piece_of(within_root(path)) or self._lists(path))

    @cached_property
    def _hides(self) -> bool:
        return self._hiding.search(self.text) is not None

    @cached_property
    def _pieces(self) -> frozenset[str]:
        pieces = (found[2].strip(" /.") for found in _PIECE.finditer(self.text))
        return frozenset(piece for piece in pieces if len(piece) > 2)

    def _holds_piece_of(self, path: str) -> bool:
        """Whether one of its quoted words is a piece of the path."""
        return any(piece in path for piece in self._pieces)

    def _lists(self, path: str) -> bool:
        """Whether it lists files, and one of its quoted words, taken for a pattern or a directory, leads there."""
        return self._lists_files and any(
            self._listed[root].leads_to(within_root(path)) for root in ("*", root_of(path)) if root in self._listed
        )

    @cached_property
    def _lists_files(self) -> bool:
        return _LISTS_FILES.search(self.text) is not None

    @cached_property
    def _listed(self) -> Mapping[str, _Listed]:
        """The places its quoted words name, by their root; "*" for those that name none. Without any it may be
        everywhere."""
        said = {found[2].strip() for found in _QUOTED.finditer(self.text)} or {""}
        words: dict[str, set[str]] = {"*": set()}
        for word in said:
            shown = self._facts.shown(word) if word.startswith("/") else None
            if shown is None:
                words["*"].add(word)
            else:
                words.setdefault(root_of(shown), set()).add(within_root(shown))
        return {root: _Listed(found) for root, found in words.items()}


class _Listed:
    """Words that stand for places of one root: directories, files or patterns."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = frozenset(word.removeprefix("./") for word in words)
        self._directories = frozenset(word.strip("./") for word in words)
        patterns = [fnmatch.translate(word) for word in sorted(self._words) if _PATTERN.search(word)]
        self._everywhere = len(patterns) > _MOST_PATTERNS or any(word.rstrip("/") in _EVERYWHERE for word in words)
        self._patterns = re.compile("|".join(patterns)) if patterns else None

    def leads_to(self, path: str) -> bool:
        """Whether one of them is the path, by itself or by its name, matches it, or is a directory above it."""
        name = posixpath.basename(path)
        if self._everywhere or path in self._words or name in self._words:
            return True
        if any(str(above) in self._directories for above in PurePosixPath(path).parents):
            return True
        return self._patterns is not None and any(self._patterns.match(said) is not None for said in (path, name))


def _holds_word(text: str, word: str) -> bool:
    """Whether a text holds a word that no letter or digit goes on from."""
    at = text.find(word)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in around):
            return True
        at = text.find(word, at + 1)
    return False
