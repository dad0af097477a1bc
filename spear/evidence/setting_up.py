"""Tools that fetch, configure, generate or build, and the files of this turn's they are given to run (spec 3.3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from itertools import pairwise

from spear.evidence.checks.deciding import MANIFESTS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.compiled import COMPILED, touches_files
from spear.evidence.facts import ProjectFacts
from spear.evidence.names import names
from spear.evidence.setting import Setting, is_scratch
from spear.evidence.speaking import told_by
from spear.evidence.taking_in import is_told_a_program
from spear.evidence.writing import absolute_place, place_of
from spear.shell.syntax import Simple

_TRANSLATE = names("ccache protoc buf flatc thrift bison yacc flex lex moc uic rcc cython swig")
"""Those that translate what they are given, and run none of it."""
_SETS_UP = _TRANSLATE | names(
    "cmake meson ninja configure autoreconf autoconf automake autoheader aclocal libtoolize autogen.sh qmake scons waf"
    " npm npx pnpm yarn bun corepack node-gyp pip pip3 pipx uv uvx poetry pdm pipenv hatch rye tox nox virtualenv"
    " conda mamba micromamba cargo rustup go mvn mvnw gradle gradlew sbt dotnet nuget bundle bundler gem composer mix"
    " rebar3 stack cabal opam dune swift zig flutter dart luarocks cpanm bazel bazelisk buck2"
)
"""Tools that set up whatever their subcommand."""
_READS_SOURCE_ELSEWHERE = names("cmake meson configure")
_MODULES_THAT_SET_UP = names("venv pip ensurepip virtualenv build")
_READ_WITH = {"Cargo.toml": ("build.rs", "src/main.rs", "src/lib.rs"), "go.mod": ("main.go",)}
"""What a manifest's tool runs of its directory without being told."""
_NEVER = re.compile(r"(?!)")
_RUNS = {
    "CMakeLists.txt": re.compile(
        r"\b(?:file|execute_process|exec_program|configure_file|write_file|try_run|include|cmake_language"
        r"|ExternalProject_\w+|FetchContent_\w+|add_custom_(?:command|target))\s*\(",
        re.IGNORECASE,
    ),
    "meson.build": re.compile(
        r"\b(?:run_command|custom_target|configure_file|run_target|generator|vcs_tag|add_\w+_script)\b"
    ),
    "Cargo.toml": _NEVER,
    "go.mod": _NEVER,
    "package.json": re.compile(r'"(?:pre|post)?(?:install|prepare|prepack|pack|publish|dependencies)"'),
}
"""What has a tool run something more than compilers, in those of its files that may have none of it."""
_ENTRIES = (*sorted(MANIFESTS), "CMakeLists.txt", "main.go", "setup.py", "conanfile.py")
"""Files that are run where a tool is given their directory."""


def sets_up(simple: Simple, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a command fetches, configures or builds, from the workspace or a registry."""
    if not simple.argv or any(redirect.writes for redirect in simple.redirects):
        return False
    name, words = simple.name or "", [word.value for word in simple.argv[1:]]
    module = next((b for a, b in pairwise(words) if a == "-m"), None)
    if name not in _SETS_UP and not (is_interpreter(name) and module in _MODULES_THAT_SET_UP):
        return False
    program = simple.argv[0].value or ""
    if "/" in program and facts.made_here(place_of(program, simple, facts, setting)):
        return False
    if name in _READS_SOURCE_ELSEWHERE:
        told = is_told_a_program(simple, lambda word: place_of(word, simple, facts, setting), facts)
        return not {"-P", "-E"} & set(words) and not told
    return not any(word is None or is_scratch(word.partition("=")[2] or word, facts) for word in words)


def own_instructions(simple: Simple, facts: ProjectFacts, setting: Setting) -> tuple[str, ...]:
    """The absolute paths of this turn's files that a tool which sets up is given to run: by their names, or by that of
    their directory (`go run plant.go`, `cmake -S own`, `uv run plant.py`)."""
    if simple.name in _TRANSLATE:
        return ()
    words = [word.value or "" for word in simple.argv[1:]]
    given = {part for word in words for part in (word, word.partition("=")[2], word[2:] if word[:1] == "-" else "")}
    found: set[str] = set()
    for word in (*given - {""}, "."):
        place = absolute_place(word, simple, facts, setting)
        found |= {
            file for file in (place, *(posixpath.join(place, entry) for entry in _ENTRIES)) if _is_own(file, facts)
        }
    return running(found, facts)


def running(files: Iterable[str], facts: ProjectFacts) -> tuple[str, ...]:
    """Of this turn's files a tool is given, by their absolute paths, those that have it run something, and what it runs
    with them without being told."""
    found: set[str] = set()
    for file in files:
        directory, name = posixpath.split(file)
        found |= {
            other for entry in _READ_WITH.get(name, ()) if _is_own(other := posixpath.join(directory, entry), facts)
        }
        runs = _RUNS.get(name)
        if name.endswith(COMPILED) and not touches_files(facts.read(file) or ""):
            continue
        if runs is None or runs.search(told_by([file], facts) or "") is not None:
            found.add(file)
    return tuple(sorted(found))


def _is_own(file: str, facts: ProjectFacts) -> bool:
    return facts.made_here(facts.shown(file) or "")
