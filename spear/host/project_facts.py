"""Reads from the tree what recognition of checks may lean on: makefiles, package.json scripts, which files exist."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Protocol

from spear.evidence.checks.deciding import MAKEFILES
from spear.evidence.completion import KINDS_OF_VALIDATION
from spear.evidence.facts import Makefile, ProjectFacts, read_makefile
from spear.evidence.kinds import CheckKind
from spear.evidence.probes import PROBED_FILES, ProjectFiles, offered_once_configured, probe
from spear.evidence.roots import root_of, within_root
from spear.sandbox.plan import FIRST_ROOT
from spear.sandbox.sealed import HOME
from spear.sandbox.toolchains import host_path
from spear.shell.syntax import Arguments, Environment, Script, SyntaxProblem
from spear.workspace import presence

_LARGEST = 1 << 20
_PROBE_DEPTH = 4
_PROBE_NAMES = 20_000
_NOT_PROBED = frozenset({".git", "node_modules", "target", "build", "dist", ".venv", "venv", "__pycache__", ".tox"})


Parse = Callable[[str, Arguments, Environment], Script | SyntaxProblem]
"""How the text of a script is read, with its arguments and variables."""


class _Lazy(Mapping[str, Any]):
    """A mapping over directories that reads a directory's file when it is asked for, once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, Any] = {}

    def _read(self, directory: str) -> Any:
        raise NotImplementedError

    def __getitem__(self, directory: str) -> Any:
        if directory not in self._known:
            self._known[directory] = self._read(directory)
        if self._known[directory] is None:
            raise KeyError(directory)
        return self._known[directory]

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in self._known.items() if value is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Makefiles(_Lazy):
    def _read(self, directory: str) -> Makefile | None:
        for name in MAKEFILES:
            text = read_text(self._root / directory / name)
            if text is not None:
                return read_makefile(text)
        return None


class _Scripts(_Lazy):
    def _read(self, directory: str) -> Mapping[str, str] | None:
        text = read_text(self._root / directory / "package.json")
        if text is None:
            return None
        try:
            document = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            return None
        scripts = document.get("scripts") if isinstance(document, dict) else None
        if not isinstance(scripts, dict):
            return None
        return {str(k): v for k, v in scripts.items() if isinstance(v, str)}


def read_text(path: Path) -> str | None:
    """A small regular text file, None when it is absent, not regular, unreadable or larger than a mebibyte."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not os.path.isfile(f"/proc/self/fd/{descriptor}") or status.st_size > _LARGEST:  # noqa: PTH113 - a descriptor
            return None
        return stream.read().decode("utf-8", "replace")


class TurnFacts(Protocol):
    """What this turn has made of the tree."""

    def made_here(self, path: str) -> bool:
        """Whether this turn wrote a file that was not there before."""
        ...

    def made_matching(self, pattern: str) -> bool:
        """Whether this turn wrote a new file that a pattern stands for."""
        ...

    def told_here(self, path: str) -> bool:
        """Whether this turn created a file or changed what it says."""
        ...

    def text_before(self, path: str) -> str | None:
        """What a check's own file that this turn changed said before."""
        ...

    def told(self, suffixes: frozenset[str], root: str = "") -> Iterator[str]:
        """The files of a root with these suffixes that this turn created or changed."""
        ...

    def only_new_tests(self, suffixes: frozenset[str], root: str = "") -> tuple[str, ...]:
        """The tests of a root with these suffixes, where this turn wrote all there are."""
        ...

    def named_before(self, word: str, root: str = "") -> bool:
        """Whether a build file or script of a root that was there before this turn names a word."""
        ...

    def is_built(self, path: str) -> bool:
        """Whether a path is what a build makes."""
        ...

    def built(self, matches: Callable[[str], bool], root: str = "") -> Iterator[str]:
        """What builds have made in a root, whose path relative to it matches."""
        ...

    def tests_beside(self, suffixes: frozenset[str], given: tuple[str, ...], root: str = "") -> bool:
        """Whether a root holds tests with these suffixes beside those given, by files and directories in it."""
        ...

    def texts(self, suffixes: frozenset[str], root: str = "") -> Iterator[tuple[str, str]]:
        """The small delivered files of a root with these suffixes, relative to it, and what they say."""
        ...


def facts_of(
    root: Path,
    declared: Mapping[str, Mapping[str, frozenset[CheckKind]]],
    on_host: Callable[[Path], Path],
    turn: TurnFacts,
    parse: Parse,
    others: Mapping[str, Path] = MappingProxyType({}),
) -> ProjectFacts:
    """The facts of a tree as it is now. Files are read when a command makes them matter, and not before.

    `declared` are the commands that are declared for each root, by its name ("" the primary one), and what they show;
    `on_host` says where a path that commands see lies; `turn` what this turn has made; `others` are the session's other
    roots by name.
    """
    shown = {FIRST_ROOT: root, **{f"/workspaces/{name}": place for name, place in others.items()}}

    def elsewhere(name: str) -> ProjectFacts | None:
        said = declared.get(PurePosixPath(name).name, {})
        return _facts_in(name, shown, said, on_host, turn, parse) if name in shown else None

    return replace(_facts_in(FIRST_ROOT, shown, declared.get("", {}), on_host, turn, parse), elsewhere=elsewhere)


def _facts_in(
    name: str,
    shown: Mapping[str, Path],
    declared: Mapping[str, frozenset[CheckKind]],
    on_host: Callable[[Path], Path],
    turn: TurnFacts,
    parse: Parse,
) -> ProjectFacts:
    """The facts of one of the roots, `shown` by their names, with paths relative to it."""
    root = shown[name]

    def recorded(path: str) -> str:
        if path.startswith("/"):
            return path.removeprefix(f"{FIRST_ROOT}/")
        return path if name == FIRST_ROOT else f"{name}/{path}"

    def made_here(path: str) -> bool:
        return turn.made_here(recorded(path))

    def only_new_tests(suffixes: frozenset[str]) -> tuple[str, ...]:
        return tuple(map(within_root, turn.only_new_tests(suffixes, root_of(recorded("")))))

    return ProjectFacts(
        declared=declared,
        makefiles=_Makefiles(root),
        scripts=_Scripts(root),
        exists=lambda relative: presence.exists(root / relative),
        is_executable=lambda relative: os.access(root / relative, os.X_OK),
        root=str(root),
        aliases=(name,),
        other_roots={place: other for other, path in shown.items() if other != name for place in (str(path), other)},
        usual_path=frozenset(host_path().split(os.pathsep)),
        made_here=made_here,
        at_home=lambda relative: os.path.lexists(on_host(Path(HOME)) / relative),
        builds_here=lambda directory: _is_set_up_from(_on_disk(Path(directory), shown, on_host), root, name),
        leads_out=lambda relative: _leads_out(root, relative),
        is_built=lambda path: turn.is_built(recorded(path)),
        read=lambda path: read_text(_on_disk(Path(path), shown, on_host)),
        parse=parse,
        only_new_tests=only_new_tests,
        named_before=lambda word: turn.named_before(word, root_of(recorded(""))),
        shown_before=lambda: shown_before(root, declared, made_here),
        recorded=recorded,
        made_matching=lambda pattern: turn.made_matching(recorded(pattern)),
        told_here=lambda path: turn.told_here(recorded(path)),
        text_before=lambda path: turn.text_before(recorded(path)),
        told=lambda suffixes: turn.told(suffixes, root_of(recorded(""))),
        built=lambda matches: turn.built(matches, root_of(recorded(""))),
        tests_beside=lambda suffixes, given: turn.tests_beside(suffixes, given, root_of(recorded(""))),
        texts=lambda suffixes: turn.texts(suffixes, root_of(recorded(""))),
    )


def _on_disk(path: Path, shown: Mapping[str, Path], on_host: Callable[[Path], Path]) -> Path:
    """Where an absolute path of commands lies: roots are theirs under two names, the rest as `on_host` says."""
    for alias, place in shown.items():
        if path.is_relative_to(alias):
            return place / path.relative_to(alias)
    return path if any(path.is_relative_to(place) for place in shown.values()) else on_host(path)


def _leads_out(root: Path, relative: str) -> bool:
    """Whether a path lies outside the root once its links are followed."""
    try:
        return not (root / relative).resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return False


def shown_before(
    root: Path, declared: Mapping[str, frozenset[CheckKind]], made_here: Callable[[str], bool]
) -> frozenset[CheckKind]:
    """What the project's own checks show: declared ones, and those its files call for, this turn's new files aside."""
    found = {kind for kinds in declared.values() for kind in kinds}
    files = project_files(root, made_here)
    for kind in {*probe(files), *offered_once_configured(files)}:
        found |= KINDS_OF_VALIDATION[kind]
    return frozenset(found)


_SET_UP = re.compile(
    r"^(?:CMAKE_HOME_DIRECTORY:INTERNAL|(?:abs_top_)?srcdir|ac_pwd)='?(?P<source>[^'\n]+)", re.MULTILINE
)
_SAYS_ITS_SOURCE = ("CMakeCache.txt", "config.log")


def _is_set_up_from(directory: Path, root: Path, name: str) -> bool:
    """Whether a build directory says of itself that its source is beneath the root (CMake, autotools)."""
    for record in _SAYS_ITS_SOURCE:
        for match in _SET_UP.finditer(read_text(directory / record) or ""):
            source = Path(match["source"])
            if source.is_absolute() and any(source.is_relative_to(place) for place in (root, Path(name))):
                return True
    return False


def builds_with(root: Path, name: str, other: Path) -> bool:
    """Whether a build file at the top of a root names another root: by its shown name, its place, or the way there."""
    said = (name, str(other), os.path.relpath(other, root))
    texts = (read_text(root / file) or "" for file in PROBED_FILES)
    return any(re.search(rf"(?<![\w./-]){re.escape(way)}(?![\w-])", text) for text in texts for way in said)


def project_files(root: Path, without: Callable[[str], bool] = lambda _path: False) -> ProjectFiles:
    """What a probe for the project's own validation may look at: names down to a bounded depth, a few contents; files
    `without` speaks of are left out."""
    present = [name for name in PROBED_FILES if not without(name)]
    contents = {name: text for name in present if (text := read_text(root / name)) is not None}
    names: set[str] = set()
    for directory, below, files in os.walk(root):
        relative = os.path.relpath(directory, root)
        depth = 0 if relative == "." else relative.count("/") + 1
        below[:] = [] if depth >= _PROBE_DEPTH else sorted(name for name in below if name not in _NOT_PROBED)
        here = (name if relative == "." else f"{relative}/{name}" for name in files)
        names |= {name for name in here if not without(name)}
        if len(names) > _PROBE_NAMES:
            break
    return ProjectFiles(contents, frozenset(names), lambda program: shutil.which(program) is not None)
