"""Which commands of a script may have written a product other than by building it (spec 3.2, 3.3).

Builds, tests and what sets a project up may write products; everything else plants them: a copy, a redirection, a
program given on the command line. Where a script does both, its destinations tell who wrote what; a program whose
writes cannot be read is taken for the writer unless its text speaks of nothing like that path.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from spear.evidence.apart import only_compiles, stands_apart
from spear.evidence.checks.candidates import CheckCandidate
from spear.evidence.checks.invocation import Finding
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.checks.programs import SHELLS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.elsewhere import doubt_of, from_its_root
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import PROVING, CheckKind, Scope
from spear.evidence.names import names
from spear.evidence.products import ProductWrite
from spear.evidence.roots import root_of
from spear.evidence.setting import Setting, is_scratch
from spear.evidence.speaking import speaks_of, told_by
from spear.evidence.taking_in import brings_in, is_told_a_program
from spear.evidence.tree import Leaf, Path, in_sequence, leaves, same_pipeline
from spear.shell.destinations import Destination, effects
from spear.shell.syntax import Script, Simple
from spear.shell.tools.call import WriteKind

_SETS_UP = names(
    "cmake meson ninja configure autoreconf autoconf automake autoheader aclocal libtoolize autogen.sh qmake scons waf"
    " npm npx pnpm yarn bun corepack node-gyp pip pip3 pipx uv uvx poetry pdm pipenv hatch rye tox nox virtualenv"
    " conda mamba micromamba cargo rustup go mvn mvnw gradle gradlew sbt dotnet nuget bundle bundler gem composer mix"
    " rebar3 stack cabal opam dune swift zig flutter dart luarocks cpanm ccache bazel bazelisk buck2 protoc buf flatc"
    " thrift bison yacc flex lex moc uic rcc cython swig"
)
"""Tools that fetch, configure, generate or build, whatever their subcommand."""

_READS_SOURCE_ELSEWHERE = names("cmake meson configure")
_MODULES_THAT_SET_UP = names("venv pip ensurepip virtualenv build")
_NO_CONTENT = frozenset({WriteKind.DELETE, WriteKind.MKDIR, WriteKind.MODE, WriteKind.FORMAT})
_INTERPRETERS = names("perl ruby node deno bun php lua luajit Rscript julia tclsh guile racket ed ex vi vim")
_INLINE = re.compile(r"-|-\w*[ceEpm]|--eval|--print")


@dataclass(frozen=True, slots=True)
class _Writer:
    """A command of the script that is no build. `unread` says that it may write more than `destinations`; `text` is
    what it was given to run, None where that is not known, and `code` whether that is a program. `compiles` says that
    it makes only what its sources make, so that what stands apart from the project is not planted."""

    path: Path
    in_sequence: bool
    destinations: tuple[Destination, ...]
    unread: bool = False
    text: str | None = ""
    code: bool = False
    compiles: bool = False


@dataclass(frozen=True, slots=True)
class Planting:
    """A product something else than a build wrote. `writer` is its place in the script, () where it is not known."""

    path: str
    writer: Path
    in_sequence: bool

    def is_after(self, check: Path) -> bool:
        """Whether it happened, in sequence, after the check."""
        return self.in_sequence and self.writer > check


def plantings(
    script: Script,
    candidates: Collection[CheckCandidate],
    facts: ProjectFacts,
    setting: Setting,
    writes: Collection[ProductWrite],
) -> tuple[Planting, ...]:
    """The products among `writes` that something else than a build may have written. Costs nothing without writes."""
    present = [write.path for write in writes if write.sha256 is not None]
    if not present:
        return ()
    makers = {c.path for c in candidates if _builds(c, facts, setting)}
    makers |= {leaf.path for leaf in leaves(script) if _is_program_elsewhere(leaf.simple, facts, setting)}
    own = _own_makes(script, candidates, facts, setting)
    makers -= own.keys()
    doubtful = {c.path for c in candidates if c.path in makers and doubt_of(script, c, facts, setting) is not None}
    writers = [_Writer(path, False, (), unread=True, text=None) for path in sorted(doubtful)]
    for path, files in own.items():
        writers.append(_make_writer(path, told_by([posixpath.join(facts.root, file) for file in files], facts)))
    writers += _writers(script, makers, facts, setting)
    return tuple(
        Planting(path, writer.path, writer.in_sequence)
        for path in present
        for writer in writers
        if _may_have_written(writer, path, facts, setting) and not (writer.compiles and stands_apart(path, facts))
    )


def generates(script: Script, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a script configures or builds anything, and so may write what checks are run by."""
    return any(_sets_up(leaf.simple, facts, setting) for leaf in leaves(script)) or any(
        _builds(candidate, facts, setting) for candidate in candidates
    )


def scratch_writes(
    script: Script, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting
) -> tuple[Planting, ...]:
    """Places of the scratch directories, absolute, that something else than a build or a compiler of workspace files
    writes to. Nothing is read of a script that names none."""
    if not names_scratch(script, facts, setting):
        return ()
    compiles = {c.path for c in candidates if c.finding.scope is Scope.LOOSE and _sources(c, facts, setting)}
    makers = {c.path for c in candidates if _builds(c, facts, setting)} | compiles
    return tuple(
        Planting(place, writer.path, writer.in_sequence)
        for writer in _writers(script, makers, facts, setting)
        for given in writer.destinations
        for place in _written_places(given, posixpath.join(facts.root, setting.start))
        if is_scratch(place, facts)
    )


def _written_places(given: Destination, base: str) -> Iterator[str]:
    """The absolute paths a destination may mean; one that ends with a slash stands for everything beneath."""
    if given.path is None:
        return
    place = posixpath.normpath(posixpath.join(base, given.path))
    yield f"{place}/" if given.tree else place
    yield from (posixpath.join(place, name) for name in given.into)


def names_scratch(script: Script, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether any command of a script names a place of the scratch directories, or works in one."""
    return any(is_scratch(path, facts) for leaf in leaves(script) for path in scratch_words(leaf.simple, setting))


def scratch_words(simple: Simple, setting: Setting) -> Iterator[str]:
    """The absolute paths a command names or works in, options' values included."""
    words = [word.value or "" for word in (*simple.argv, *(redirect.target for redirect in simple.redirects))]
    yield from (part for word in words for part in (word, word.partition("=")[2]) if part.startswith("/"))
    where = posixpath.join(setting.start, simple.cwd or "")
    if where.startswith("/"):
        yield where
        yield from (posixpath.join(where, word) for word in words[:1] if "/" in word)


def scratch_removals(script: Script, facts: ProjectFacts, setting: Setting) -> tuple[tuple[str, Path], ...]:
    """The places of the scratch directories a script removes, in sequence, and where in the script."""
    base = posixpath.join(facts.root, setting.start)
    return tuple(
        (posixpath.normpath(posixpath.join(base, given.path)), leaf.path)
        for leaf in leaves(script)
        if leaf.simple.name == "rm" and in_sequence(leaf)
        for given in effects(Script((replace(leaf.simple, nested=None, substitutions=()),))).destinations
        if given.kind is WriteKind.DELETE and given.path is not None
    )


def _builds(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a check makes products the way the project does. Compiling loose files does not, nor does a script of
    this turn's, where the project has a way of its own."""
    finding = candidate.finding
    if not candidate.kinds & (PROVING | {CheckKind.CLEAN}) or finding.tool == "python -c":
        return False
    loose = finding.scope is Scope.LOOSE and bool(finding.makes)
    if loose:
        sources = _sources(candidate, facts, setting)
        places = [*sources, *(_place(name, candidate.simple, facts, setting) for name in finding.makes)]
        roots = {root_of(place) for place in places}
        if not sources or len(roots) > 1:
            return False
        if _is_named_after(finding, sources) and not brings_in(
            candidate.simple, lambda word: _place(word, candidate.simple, facts, setting)
        ):
            made = places[len(sources) :]
            if not any(map(facts.made_here, sources)) or all(stands_apart(place, facts) for place in made):
                return True
        if roots != {""}:
            return False  # what other roots have for their checks is not asked
    return not ((loose or finding.is_own(facts)) and facts.shown_before())


def _sources(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> tuple[str, ...]:
    """What a compiler is given to read, by its recorded names; () unless all of it lies in the session's roots."""
    finding = candidate.finding
    if finding.reads_workspace:
        return finding.paths
    places = tuple(_place(word, candidate.simple, facts, setting) for word in finding.selectors)
    return places if all(places) else ()


def _is_program_elsewhere(simple: Simple, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a command runs a program or script of another root that this turn did not write: what it makes there is
    built, as what one of the workspace makes."""
    words = [word.value for word in simple.argv]
    if not words or words[0] is None or simple.nested is not None:
        return False
    file: str | None = words[0] if "/" in words[0] else None
    name = simple.name or ""
    if file is None and (is_interpreter(name) or name in _INTERPRETERS | SHELLS):
        inline = simple.heredoc is not None or any(word is None or _INLINE.fullmatch(word) for word in words[1:])
        file = None if inline else next((word for word in words[1:] if word and not word.startswith("-")), None)
    place = _place(file, simple, facts, setting) if file is not None else ""
    return bool(root_of(place)) and not facts.made_here(place)


def _own_makes(
    script: Script, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting
) -> dict[Path, tuple[str, ...]]:
    """The makefiles of this turn that a make was given, by its place, where its root has a way of its own."""
    found: dict[Path, tuple[str, ...]] = {}
    for candidate in candidates:
        if candidate.finding.tool in MAKE_NAMES:
            seen = from_its_root(script, candidate, facts, setting)
            if (files := seen.own_files()) and seen.facts.shown_before():
                found[candidate.path] = files
    return found


def _make_writer(place: Path, text: str | None) -> _Writer:
    """A make with a makefile of this turn's, which may do anything its text says."""
    return _Writer(place, False, (), True, text, code=True, compiles=text is not None and only_compiles(text))


def _is_named_after(finding: Finding, paths: Collection[str]) -> bool:
    """Whether what a compiler makes has the name of what it was compiled from: `build/ring.o` of `src/ring.c`."""
    sources = {PurePosixPath(path).stem for path in paths}
    return all(PurePosixPath(name).stem in sources for name in finding.makes)


def _writers(script: Script, makers: set[Path], facts: ProjectFacts, setting: Setting) -> Iterator[_Writer]:
    found_leaves = list(leaves(script))
    building = [leaf for leaf in found_leaves if leaf.path in makers]
    read: set[Destination] = set()
    for leaf in found_leaves:
        found = effects(Script((replace(leaf.simple, nested=None, substitutions=()),)))
        read |= set(found.destinations)
        shows = leaf.simple.name == "tee" and any(same_pipeline(leaf, maker) for maker in building)
        if not shows and leaf.path not in makers and not _sets_up(leaf.simple, facts, setting):
            yield from _writer(leaf, found.destinations, bool(found.opaque), facts, setting)
    rest = tuple(d for d in effects(script).destinations if d not in read and d.kind not in _NO_CONTENT)
    if rest:
        yield _Writer((), False, rest)


def _writer(
    leaf: Leaf, found: tuple[Destination, ...], opaque: bool, facts: ProjectFacts, setting: Setting
) -> Iterator[_Writer]:
    simple = leaf.simple
    given = tuple(d for d in found if d.kind not in _NO_CONTENT)
    if simple.name == "cmake" and (told := _by_cmake(leaf, facts, setting)) is not None:
        yield told
        return
    if simple.name == "git" and not any(word.value in ("apply", "am") for word in simple.argv[1:3]):
        given, opaque = tuple(d for d in given if d.operator != "git"), False  # what git puts there, it had
    unread = simple.nested is None and (opaque or any(not d.certain for d in given))
    if given or unread:
        text, code = _told(simple, facts, setting) if unread else ("", False)
        yield _Writer(leaf.path, in_sequence(leaf), given, unread, text, code)


def _by_cmake(leaf: Leaf, facts: ProjectFacts, setting: Setting) -> _Writer | None:
    """What CMake does that is no configuring of the project: a script of this turn's, or told another program."""
    words = [word.value or "" for word in leaf.simple.argv[1:]]
    script = next((following for word, following in pairwise([*words, ""]) if word == "-P"), "")
    if script and facts.made_here(_place(script, leaf.simple, facts, setting)):
        file = posixpath.normpath(posixpath.join(facts.root, setting.start, leaf.simple.cwd or "", script))
        return _Writer(leaf.path, in_sequence(leaf), (), unread=True, text=told_by([file], facts), code=True)
    if _is_told_a_program(leaf.simple, facts, setting):
        return _Writer(leaf.path, in_sequence(leaf), (), unread=True, text=None)
    return None


def _sets_up(simple: Simple, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a command fetches, configures or builds, from the workspace or a registry."""
    if not simple.argv or any(redirect.writes for redirect in simple.redirects):
        return False
    name, words = simple.name or "", [word.value for word in simple.argv[1:]]
    module = next((b for a, b in pairwise(words) if a == "-m"), None)
    if name not in _SETS_UP and not (is_interpreter(name) and module in _MODULES_THAT_SET_UP):
        return False
    if "/" in (simple.argv[0].value or "") and facts.made_here(_place(simple.argv[0].value, simple, facts, setting)):
        return False
    if name in _READS_SOURCE_ELSEWHERE:
        return not {"-P", "-E"} & set(words) and not _is_told_a_program(simple, facts, setting)
    return not any(word is None or is_scratch(word.partition("=")[2] or word, facts) for word in words)


def _is_told_a_program(simple: Simple, facts: ProjectFacts, setting: Setting) -> bool:
    return is_told_a_program(simple, lambda word: _place(word, simple, facts, setting), facts)


def _place(word: str | None, simple: Simple, facts: ProjectFacts, setting: Setting) -> str:
    """The name records have for what a word of the command names, "" where it lies in no root."""
    return facts.shown(posixpath.join(facts.root, setting.start, simple.cwd or "", word or "")) or ""


def _told(simple: Simple, facts: ProjectFacts, setting: Setting) -> tuple[str | None, bool]:
    """What a command is given to run (its words, its here-document, the file it interprets), and whether it is code."""
    program = simple.argv[0].value if simple.argv else None
    words = [word.value or "" for word in simple.argv[1:]]
    if program is None or any(word.value is None for word in simple.argv):
        return None, True
    parts, name = [*words, simple.heredoc or ""], simple.name or ""
    if name in ("git", "patch"):
        return _patched(simple, parts, facts, setting), False
    interprets = is_interpreter(name) or name in _INTERPRETERS | SHELLS | {"source", "."}
    inline = any(_INLINE.fullmatch(word) for word in words) or simple.heredoc is not None
    file = None
    if interprets and not inline:
        file = next((word for word in words if not word.startswith("-")), None)
        if file is None:
            return None, True  # it reads its standard input
    elif "/" in program and _place(program, simple, facts, setting):
        file = program
    if file is not None:
        text = told_by([posixpath.normpath(posixpath.join(facts.root, setting.start, simple.cwd or "", file))], facts)
        if text is None:
            return None, True
        parts.append(text)
    told = "\n".join(parts)
    if facts.root and facts.aliases:
        told = told.replace(facts.root, facts.aliases[0])  # where the workspace lies says nothing of what is done
    return told, interprets or file is not None or simple.heredoc is not None


def _patched(simple: Simple, parts: list[str], facts: ProjectFacts, setting: Setting) -> str | None:
    """What a patch that is applied says, None where a part of it cannot be read or it comes through a pipe."""
    base = posixpath.join(facts.root, setting.start, simple.cwd or "")
    given = [redirect.target.value or "" for redirect in simple.redirects if redirect.operator == "<"]
    given += [word.value or "" for word in simple.argv[1:] if word.value and not word.value.startswith("-")]
    texts = [text for name in given if (text := facts.read(posixpath.normpath(posixpath.join(base, name)))) is not None]
    known = bool(texts) or simple.heredoc is not None
    return "\n".join([*parts, *texts]) if known else None


def _may_have_written(writer: _Writer, path: str, facts: ProjectFacts, setting: Setting) -> bool:
    if any(_covers(destination, path, facts, setting) for destination in writer.destinations):
        return True
    if not writer.unread:
        return False
    patches = any(given.operator in ("git", "patch") for given in writer.destinations)
    unknown = any(not given.certain for given in writer.destinations)
    if writer.text is None or (not writer.code and unknown and not patches):
        return True
    return speaks_of(writer.text, path, facts, code=writer.code)


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
