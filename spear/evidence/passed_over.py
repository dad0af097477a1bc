"""Changed sources that nothing which runs can have read: a tree that lists what it compiles does not list them (3.4).

A new source that was never told to the makefile, a header that nothing includes, a module that no `mod` declares: the
build and the tests pass, and say nothing of it. A source counts as read wherever it may be.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from spear.evidence.facts import ProjectFacts
from spear.evidence.families import SOURCES, Family, is_header
from spear.evidence.names import names
from spear.evidence.recipes import filled_in
from spear.evidence.tree import leaves
from spear.shell.syntax import Script

_UNITS = names(".c .cc .cpp .cxx .c++ .mm .f .f90 .f95 .for .cu .s .asm")
"""What a compiler is given by name."""
_TAKEN_IN_BY_OTHERS = names(".inc .def")
"""Headers by their suffix that other languages have as well: recipes, PHP, linkers."""
_COMPILED = SOURCES[Family.RULES]
_RUST = names(".rs .toml")
_BUILD_FILES = names(".mk .mak .cmake .am .ac .in .build .ninja .bzl .bazel .gn .gni .gyp .gypi .pro .pri .bp")
_BUILD_NAMES = names(
    "makefile gnumakefile cmakelists.txt build workspace sconstruct sconscript wscript jamfile jamroot"
)
_LISTS = names(
    ".txt .lst .list .rsp .spec .json .toml .yml .yaml .xml .cfg .ini .gradle .kts .mod .modules .vcxproj .zig .nix"
) | {""}
_SCRIPTS = names(".sh .bash .zsh .py .pl .rb .lua .tcl .js .mjs .cjs .ts .php .awk .go .rs .bat .ps1 .bats .t .exp")
_MOST_TEXTS = 4_000
_ASSIGNING = _SCRIPTS | names(".mk .mak .am .in") | {""}
"""Where variables are set as make and shells do."""
_WORD = re.compile(r"\w[\w+-]*(?:\.[\w+]+)*")
_MODULE = re.compile(r"\bmod\s+(?:r#)?(\w+)")
_COMMENT = re.compile(r"//[^\n]*")
_FINDS = re.compile(
    r"\b(?:wildcard|(?i:r?i?glob\w*)|aux_source_directory|listdir|scandir|iterdir|walk|read_dir|readdir\w*|automod"
    r"|find|ls)\b|\$\(shell"
)
_ANY_SUFFIX = re.compile(r"\*\.[\[{*?]|\bcc?\s[^\n]*/\*(?=[\s\"']|$)", re.MULTILINE)
_OBJECTS = names(".o .obj .lo")
_SAYS_WHAT_IT_IS = _BUILD_FILES | _LISTS | _SCRIPTS | _COMPILED | _OBJECTS | names(".a .so .d .md .rst .html")
_PLACE = re.compile(r"[\w.-][\w./-]*\.\w+")
_CARGO_FINDS = names("main lib build")


def passed_over(changed: Iterable[str], script: Script, facts: ProjectFacts) -> tuple[str, ...]:
    """Of the changed files of a root, relative to it, the sources that are there and that a command and what it goes
    through cannot have read."""
    there = [PurePosixPath(path) for path in changed if facts.exists(path)]
    units = [path for path in there if path.suffix in _UNITS or _is_header(path)]
    modules = [path for path in there if path.suffix == ".rs" and _is_a_module(path, facts)]
    if not units and not modules:
        return ()
    told = "\n".join(_told(script))
    unread = [*_unlisted(units, told, facts), *_undeclared(modules, told, facts)]
    return tuple(sorted(str(path) for path in unread))


def _told(script: Script) -> Iterator[str]:
    for leaf in leaves(script):
        yield from (word.raw for word in leaf.simple.words)
        yield leaf.simple.heredoc or ""


def _unlisted(units: list[PurePosixPath], told: str, facts: ProjectFacts) -> list[PurePosixPath]:
    """The sources and headers that neither build files nor scripts nor sources name, in a tree whose build files list
    others and find none by pattern."""
    suffixes = {path.suffix for path in units}
    left, lists = _without(units, _named(told)), False
    if not left or _finds(told, suffixes):
        return []
    texts = facts.texts(_BUILD_FILES | _LISTS | _SCRIPTS)
    for path, text in _with_named(_first(texts), told, facts):
        if path is None or _may_find(path, text, suffixes):
            return []
        words = _named(filled_in(text) if path.suffix in _ASSIGNING else text)
        left = _without(left, words)
        if not left:
            return []
        lists = lists or any(PurePosixPath(word).suffix in _UNITS | _OBJECTS for word in words)
    if not lists:
        return []
    for path, text in _first(facts.texts(_COMPILED)):
        words = _words(text)
        left = [unit for unit in left if unit.name not in words]
        if path is None or not left:
            return []
    return left


def _without(units: list[PurePosixPath], words: set[str]) -> list[PurePosixPath]:
    """The sources that words do not name; objects and programs are called like what they are made of."""
    return [path for path in units if path.name not in words and (_is_header(path) or path.stem not in words)]


def _is_header(path: PurePosixPath) -> bool:
    return path.suffix not in _TAKEN_IN_BY_OTHERS and is_header(str(path))


def _first(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[PurePosixPath | None, str]]:
    """The texts there are, and a None where there are too many to look through."""
    for number, (path, text) in enumerate(texts):
        yield (PurePosixPath(path) if number < _MOST_TEXTS else None), text


def _with_named(
    texts: Iterable[tuple[PurePosixPath | None, str]], told: str, facts: ProjectFacts
) -> Iterator[tuple[PurePosixPath | None, str]]:
    """Texts, and behind them the files that a command or build files among them name whose suffix says nothing:
    `make -f Makefile.unix`, `include common.rules`."""
    named = set(_PLACE.findall(told))
    for path, text in texts:
        yield path, text
        if path is not None and _is_build_file(path):
            named |= {posixpath.normpath(path.parent / word) for word in _PLACE.findall(text)}
    for place in sorted(named):
        if PurePosixPath(place).suffix in _SAYS_WHAT_IT_IS or place.startswith("../") or not facts.exists(place):
            continue
        if (said := facts.read(posixpath.join(facts.root, place))) is not None and "\0" not in said:
            yield PurePosixPath(f"{place}.mk"), said  # read as what it is for


def _is_build_file(path: PurePosixPath) -> bool:
    return path.suffix in _BUILD_FILES or path.name.lower() in _BUILD_NAMES


def _may_find(path: PurePosixPath, text: str, suffixes: set[str]) -> bool:
    """Whether a build file or a script may find sources with these suffixes that it does not name."""
    if _is_build_file(path):
        return _FINDS.search(text) is not None or _finds(text, suffixes)
    return (path.suffix in _SCRIPTS or text.startswith("#!")) and _finds(text, suffixes)


def _finds(text: str, suffixes: set[str]) -> bool:
    """Whether a script looks for files with one of these suffixes, or puts their names together."""
    ends = rf"(?:{'|'.join(map(re.escape, sorted(suffixes)))})(?!\w)"
    if _ANY_SUFFIX.search(text) or re.search(rf"[*\]}})]{ends}", text):
        return True
    return _FINDS.search(text) is not None and re.search(ends, text) is not None


def _undeclared(modules: list[PurePosixPath], told: str, facts: ProjectFacts) -> list[PurePosixPath]:
    """The modules of Rust that no `mod` declares and nothing names."""
    if not modules:
        return []
    texts = [told, *(text for _, text in facts.texts(_RUST))]
    if any(_FINDS.search(text) and ".rs" in text for text in texts):
        return []
    declared = {name for text in texts for name in _MODULE.findall(_COMMENT.sub("", text))}
    named = {word for text in texts for word in _words(text)}
    return [path for path in modules if _module(path) not in declared and path.name not in named]


def _is_a_module(path: PurePosixPath, facts: ProjectFacts) -> bool:
    """Whether a file is one that Cargo does not find by itself."""
    if "src" not in path.parts or path.parts[-2:-1] == ("bin",) or path.stem in _CARGO_FINDS:
        return False
    return any(facts.exists(posixpath.normpath(above / "Cargo.toml")) for above in path.parents)


def _module(path: PurePosixPath) -> str:
    return path.parent.name if path.name == "mod.rs" else path.stem


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _named(text: str) -> set[str]:
    """The words of a text, and the stems of those that name files: objects and programs are called like sources."""
    words = _words(text)
    return words | {word.partition(".")[0] for word in words}
