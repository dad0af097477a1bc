"""Whether what a program was given to run may have it write a path: by what its text says (spec 3.3).

A text that nobody can read the paths of (`eval`, pieces of names put together, lists of files) is taken to say it.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection

from spear.evidence.facts import ProjectFacts
from spear.evidence.roots import root_of, within_root

_BYTECODE = re.compile(r"\.py[co]$")
_SPEAKS_OF_BYTECODE = re.compile(r"pycache|\.pyc|py_compile|compileall|marshal|importlib|cfile|loader")
_HIDES_PATHS = re.compile(
    r"\b(?:exec|eval|compile|__import__|importlib|base64|b64\w*|fromhex|unhexlify|chr|fromCharCode|ctypes|subprocess"
    r"|system|popen|spawn\w*|argv|environ|stdin|getattr|decode"
    r"|pickle|marshal|struct|urlopen|zipfile|tarfile|extractall|reversed?|pack|unpack)\b|\[::"
)

_LISTS_FILES = re.compile(r"\b(?:glob|iglob|rglob|walk|iterdir|scandir|listdir|readdir\w*|globSync|Glob)\b")
_EVERYWHERE = frozenset({"", ".", "..", "/", "*", "**", "**/*", "/workspace"})
_WORD = re.compile(r"[\w./+-]+")
_MOST_FILES = 20


def told_by(files: Collection[str], facts: ProjectFacts) -> str | None:
    """What files say, by their absolute paths, and what this turn's own files that they name say, and so on; None
    where one of the first cannot be read, or there are too many."""
    texts: dict[str, str] = {}
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        text = facts.read(file)
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
            shown = facts.shown(place)
            if shown and facts.made_here(shown):
                found.add(place)
    return found


def speaks_of(text: str, path: str, facts: ProjectFacts, *, code: bool) -> bool:
    """Whether a text names a recorded path, or, where it is `code`, may make its name up or find it."""
    if _BYTECODE.search(path):
        return code and _SPEAKS_OF_BYTECODE.search(text) is not None
    if re.search(rf"(?<!\w){re.escape(posixpath.basename(path))}(?!\w)", text):
        return True
    return code and (
        _HIDES_PATHS.search(text) is not None
        or _holds_piece(text, within_root(path))
        or (_LISTS_FILES.search(text) is not None and _reaches(text, path, facts))
    )


def _reaches(text: str, path: str, facts: ProjectFacts) -> bool:
    """Whether one of the text's quoted words, taken for a pattern or a directory, leads to the path."""
    said = {found[2].strip() for found in re.finditer(r"([\"'])([^\"'\n]*)\1", text)}
    absolute = {word: facts.shown(word) for word in said if word.startswith("/")}
    root, path, name = root_of(path), within_root(path), posixpath.basename(path)
    elsewhere = {word for word, shown in absolute.items() if shown is not None and root_of(shown) != root}
    places = {word if (shown := absolute.get(word)) is None else within_root(shown) for word in said - elsewhere}
    return (
        any(
            word.rstrip("/") in _EVERYWHERE
            or fnmatch.fnmatchcase(path, word.removeprefix("./"))
            or fnmatch.fnmatchcase(name, word)
            or path.startswith(f"{word.strip('./')}/")
            for word in places
        )
        or not said
    )


def _holds_piece(text: str, path: str) -> bool:
    """Whether one of the text's quoted words is a piece of the path."""
    pieces = (found[2].strip(" /.") for found in re.finditer(r"([\"'])([^\"'\n]{3,})\1", text))
    return any(len(piece) > 2 and piece in path for piece in pieces)
