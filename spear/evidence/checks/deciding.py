"""Which file decides what a check runs: the script itself, the makefile, the manifest, the tests a runner collects.

A check that a file of this turn's alone decides is the turn's own: where the project has checks, it is none of them
(spec 3.3, 3.5).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from spear.evidence.checks.invocation import Finding, Invocation
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckKind, Scope
from spear.evidence.names import names

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""What make follows, the first that is there."""
_NODE = ("package.json",)
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(MAKE_NAMES, MAKEFILES),
    "ninja": ("build.ninja",),
    "ctest": ("CTestTestfile.cmake",),
    "cmake": ("build.ninja", "Makefile"),
    "meson": ("meson.build",),
    "cargo": ("Cargo.toml",),
    "go": ("go.mod",),
    "tox": ("tox.ini", "tox.toml", "setup.cfg", "pyproject.toml"),
    "nox": ("noxfile.py",),
    "mvn": ("pom.xml",),
    "mvnw": ("pom.xml",),
    "gradle": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    "gradlew": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "scons": ("SConstruct",),
    "mix": ("mix.exs",),
    "dune": ("dune-project",),
    "zig": ("build.zig",),
    "swift": ("Package.swift",),
}
MANIFESTS = frozenset(name for given in (_NODE, *_MANIFESTS.values()) for name in given)
"""The names of all files that decide what a tool runs."""
_SOURCE_OF_BUILD = re.compile(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(?P<source>.+)$", re.MULTILINE)
COLLECTORS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("pytest", "py.test", "unittest", "nosetests", "trial"), names(".py")),
    **dict.fromkeys(
        ("jest", "vitest", "mocha", "ava", "node", "node --test", "tap", "jasmine"),
        names(".js .mjs .cjs .ts .mts .cts .jsx .tsx"),
    ),
    "prove": names(".t .pl"),
    "rspec": names(".rb"),
    "bats": names(".bats"),
    "phpunit": names(".php"),
}
"""Runners that collect tests by themselves, and the suffixes of what they collect."""


_FILE_FLAGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(MAKE_NAMES, ("-f", "--file", "--makefile")),
    "ninja": ("-f",),
    "cargo": ("--manifest-path",),
    "just": ("-f", "--justfile"),
    "rake": ("-f", "--rakefile"),
    "task": ("-t", "--taskfile"),
    "scons": ("-f",),
}
"""The options by which tools are told what to read."""


def decided_by(finding: Finding, invocation: Invocation, facts: ProjectFacts) -> tuple[str, ...]:
    """The files, workspace-relative, that decide what the check runs; none where nothing of the tree alone does."""
    started = facts.place(invocation.program, invocation.cwd) if "/" in invocation.program else None
    if started is not None and facts.exists(started) and not facts.is_built(started) and facts.made_here(started):
        return (started,)
    if finding.scope is Scope.PROGRAM:
        return tuple(path for path in finding.paths if facts.exists(path) and not facts.is_built(path))
    if finding.tool in COLLECTORS and CheckKind.TEST in finding.kinds:
        return facts.only_new_tests(COLLECTORS[finding.tool])
    manifests = _NODE if finding.tool.startswith("package script ") else _MANIFESTS.get(finding.tool)
    if manifests is None or finding.cwd is None:
        return ()
    given = _given_files(invocation, finding.cwd, facts)
    if given:
        own = tuple(path for path in given if facts.made_here(path))
        return own or given
    directory = finding.cwd
    while True:
        places = (posixpath.join(directory, name) for name in manifests)
        first = next((place for place in places if facts.exists(place)), None)
        if first is not None or directory in ("", "/"):
            return () if first is None else (_origin(first, facts),)
        directory = posixpath.dirname(directory)


def _origin(manifest: str, facts: ProjectFacts) -> str:
    """What a manifest that CMake generated was generated from; the manifest itself where this turn wrote it by hand."""
    if facts.made_here(manifest):
        return manifest
    cache = facts.read(posixpath.join(facts.root, posixpath.dirname(manifest), "CMakeCache.txt"))
    found = _SOURCE_OF_BUILD.search(cache) if cache else None
    lists = _recorded(posixpath.join(found["source"], "CMakeLists.txt"), "", facts) if found else None
    return lists or manifest


def _given_files(tool: Invocation, cwd: str, facts: ProjectFacts) -> tuple[str, ...]:
    """All the files it is told to read, from the directory it works in, that lie in a root of the session."""
    flags, words = _FILE_FLAGS.get(tool.name, ()), tool.args
    found: list[str] = []
    for index, word in enumerate(words):
        for flag in flags:
            if word == flag and index + 1 < len(words):
                found.append(words[index + 1] or "")
            elif word and len(word) > len(flag) and word.startswith(f"{flag}=" if flag.startswith("--") else flag):
                found.append(word[len(flag) :].removeprefix("="))
    return tuple(path for name in found if (path := _recorded(name, cwd, facts)) is not None)


def _recorded(word: str, cwd: str, facts: ProjectFacts) -> str | None:
    return facts.shown(posixpath.join(facts.root, cwd, word))
