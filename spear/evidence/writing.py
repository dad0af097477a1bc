"""What a command that is no build may write: its destinations, and what the text it was given says (spec 3.3)."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from spear.evidence.apart import only_compiles
from spear.evidence.checks.programs import SHELLS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.compiled import RUNS_PROGRAMS
from spear.evidence.facts import ProjectFacts
from spear.evidence.families import families_of_product
from spear.evidence.names import names
from spear.evidence.products import is_builds_place
from spear.evidence.setting import Setting, is_scratch
from spear.evidence.speaking import Telling, told_by
from spear.evidence.taking_in import is_told_a_program
from spear.evidence.tree import Leaf, Path, in_sequence
from spear.shell.destinations import Destination
from spear.shell.syntax import Simple
from spear.shell.tools.call import WriteKind

NO_CONTENT = frozenset({WriteKind.DELETE, WriteKind.MKDIR, WriteKind.MODE, WriteKind.FORMAT})
"""Kinds of writes that put nothing into a product."""
INTERPRETERS = names("perl ruby node deno bun php lua luajit Rscript julia tclsh guile racket ed ex vi vim")
INLINE = re.compile(r"-|-\w*[ceEpm]|--eval|--print")
"""Options of interpreters behind which their program stands."""
_ANOTHER_TREE = re.compile(r"--(?:work-tree|git-dir)\b")
_PUTS_FILES = re.compile(
    r"\b(?:sendfile(?:64)?|copy_file_range|symlink(?:at)?|linkat|renameat2?|rename|creat(?:64)?)\b"
)
_OPENS_FILES = re.compile(r"\b(?:f?open(?:64|at(?:64)?)?|freopen(?:64)?)\b|basic_(?:of|f)stream|basic_filebuf")
"""How a compiled program opens files, by names it may make up."""
_SOURCE_NAME = re.compile(r"[\w./+-]+\.(?:c|cc|cpp|cxx|h|hh|hpp|s|S|o|rs|go|f90)\b")


@dataclass(frozen=True, slots=True)
class Writer:
    """A command of a script that is no build. `unread` says that it may write more than `destinations`; `telling` is
    what it was given to run, None where that is not known. `compiles` says that it makes only what its sources make, so
    that what stands apart from the project is not planted."""

    path: Path
    in_sequence: bool
    destinations: tuple[Destination, ...]
    unread: bool = False
    telling: Telling | None = None
    compiles: bool = False

    def may_have_written(self, path: str, facts: ProjectFacts, setting: Setting) -> bool:
        """Whether it may have written a recorded path."""
        if any(_covers(destination, path, facts, setting) for destination in self.destinations):
            return True
        if not self.unread:
            return False
        patches = any(given.operator in ("git", "patch") for given in self.destinations)
        unknown = any(not given.certain for given in self.destinations)
        if self.telling is None or (not self.telling.code and unknown and not patches):
            return True
        return self.telling.speaks_of(path)

    def may_be_alone_with(self, path: str) -> bool:
        """Whether it wrote a product where nothing in the script builds, whatever its text says. What tools remember
        for themselves, bytecode and reports, is made of no source and stands for none."""
        return self.unread and bool(families_of_product(path))


def told_writer(
    place: Path, text: str | None, facts: ProjectFacts, *, compiled: bool = False, compiles: bool = False
) -> Writer:
    """What follows instructions of this turn's, and may do anything their text says; `compiled` and `compiles` as in
    `Telling` and `Writer`."""
    telling = None if text is None else Telling(text, facts, code=True, compiled=compiled)
    return Writer(place, False, (), True, telling, compiles=compiles and text is not None and only_compiles(text))


def place_of(word: str | None, simple: Simple, facts: ProjectFacts, setting: Setting) -> str:
    """The name records have for what a word of the command names, "" where it lies in no root."""
    return facts.shown(absolute_place(word, simple, facts, setting)) or ""


def absolute_place(word: str | None, simple: Simple, facts: ProjectFacts, setting: Setting) -> str:
    """The absolute path a word of the command names."""
    return posixpath.normpath(posixpath.join(facts.root, setting.start, simple.cwd or "", word or ""))


def writer_of(
    leaf: Leaf, found: tuple[Destination, ...], opaque: bool, facts: ProjectFacts, setting: Setting
) -> Iterator[Writer]:
    """What a command writes, with its destinations as `found`; nothing where it writes nothing."""
    simple = leaf.simple
    given = tuple(d for d in found if d.kind not in NO_CONTENT)
    if simple.name == "cmake" and (told := _by_cmake(leaf, facts, setting)) is not None:
        yield told
        return
    if simple.name == "git" and not _puts_in_what_it_had_not(simple, setting):
        given, opaque = tuple(d for d in given if d.operator != "git"), False
    unread = simple.nested is None and (opaque or any(not d.certain for d in given))
    if given or unread:
        telling = _told(simple, facts, setting) if unread else None
        yield Writer(leaf.path, in_sequence(leaf), given, unread, telling)


def _puts_in_what_it_had_not(git: Simple, setting: Setting) -> bool:
    """Whether git writes what was never in the tree's own places: a patch, or files of another tree or repository."""
    words = [word.value or "" for word in git.argv[1:]]
    told = {name for name, _ in git.assignments} | set(setting.environment or {})
    return (
        any(word in ("apply", "am") for word in words[:2])
        or any(_ANOTHER_TREE.match(word) for word in words)
        or bool(told & {"GIT_WORK_TREE", "GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"})
    )


def _by_cmake(leaf: Leaf, facts: ProjectFacts, setting: Setting) -> Writer | None:
    """What CMake does that is no configuring of the project: a script of this turn's, or told another program."""
    words = [word.value or "" for word in leaf.simple.argv[1:]]
    script = next((following for word, following in pairwise([*words, ""]) if word == "-P"), "")
    if script and facts.made_here(place_of(script, leaf.simple, facts, setting)):
        text = told_by([absolute_place(script, leaf.simple, facts, setting)], facts)
        return replace(told_writer(leaf.path, text, facts), in_sequence=in_sequence(leaf))
    if is_told_a_program(leaf.simple, lambda word: place_of(word, leaf.simple, facts, setting), facts):
        return replace(told_writer(leaf.path, None, facts), in_sequence=in_sequence(leaf))
    return None


def _told(simple: Simple, facts: ProjectFacts, setting: Setting) -> Telling | None:
    """What a command is given to run (its words, its here-document, the file it interprets)."""
    program = simple.argv[0].value if simple.argv else None
    words = [word.value or "" for word in simple.argv[1:]]
    if program is None or any(word.value is None for word in simple.argv):
        return None
    parts, name = [*words, simple.heredoc or ""], simple.name or ""
    if name in ("git", "patch"):
        patched = _patched(simple, parts, facts, setting)
        return None if patched is None else Telling(patched, facts, code=False)
    interprets = is_interpreter(name) or name in INTERPRETERS | SHELLS | {"source", "."}
    inline = any(INLINE.fullmatch(word) for word in words) or simple.heredoc is not None
    file = None
    if interprets and not inline:
        file = next((word for word in words if not word.startswith("-")), None)
        if file is None:
            return None  # it reads its standard input
    elif "/" in program:
        place = absolute_place(program, simple, facts, setting)
        if is_scratch(place, facts):
            return _told_to_a_stranger(place, parts, facts)
        if simple.argv[0].glob and is_builds_place(posixpath.dirname(facts.shown(place) or "")):
            return Telling("", facts, code=False)  # programs that were built, one after the other
        file = program if facts.shown(place) else None
    if file is not None:
        text = told_by([absolute_place(file, simple, facts, setting)], facts)
        if text is None:
            return None
        parts.append(text)
    told = "\n".join(parts)
    if facts.root and facts.aliases:
        told = told.replace(facts.root, facts.aliases[0])  # where the workspace lies says nothing of what is done
    return Telling(told, facts, code=interprets or file is not None or simple.heredoc is not None)


def _told_to_a_stranger(program: str, words: list[str], facts: ProjectFacts) -> Telling | None:
    """What a program of the scratch directories says of files, which may be no text: one that can run others or open
    files may do anything, and the names of its sources say nothing."""
    text = facts.read(program)
    able = (RUNS_PROGRAMS, _PUTS_FILES, _OPENS_FILES)
    if text is None or ("\0" in text and any(means.search(text) for means in able)):
        return None
    is_text = "\0" not in text
    return Telling("\n".join([*words, text if is_text else _SOURCE_NAME.sub("", text)]), facts, code=is_text)


def _patched(simple: Simple, parts: list[str], facts: ProjectFacts, setting: Setting) -> str | None:
    """What a patch that is applied says, None where a part of it cannot be read or it comes through a pipe."""
    given = [redirect.target.value or "" for redirect in simple.redirects if redirect.operator == "<"]
    given += [word.value or "" for word in simple.argv[1:] if word.value and not word.value.startswith("-")]
    places = (absolute_place(name, simple, facts, setting) for name in given)
    texts = [text for place in places if (text := facts.read(place)) is not None]
    known = bool(texts) or simple.heredoc is not None
    return "\n".join([*parts, *texts]) if known else None


def _covers(destination: Destination, path: str, facts: ProjectFacts, setting: Setting) -> bool:
    if destination.path is None:
        return False
    given = posixpath.join(facts.root, setting.start, destination.path)
    place = _recorded(given, facts)
    if destination.glob and fnmatch.fnmatchcase(path, place):
        return True
    if path == place or (destination.tree and _lies_in(path, place)):
        return True
    into = (_recorded(posixpath.join(given, name), facts) for name in destination.into)
    return any(path == name or _lies_in(path, name) for name in into)


def _recorded(path: str, facts: ProjectFacts) -> str:
    """The name records have for an absolute path, itself where it lies in no root: `/workspaces` holds other roots."""
    shown = facts.shown(path)
    return posixpath.normpath(path) if shown is None else shown


def _lies_in(path: str, place: str) -> bool:
    """Whether a product lies beneath a place; "" is the primary root, which holds no other."""
    return path.startswith(f"{place}/") if place else not path.startswith("/")
