"""What a build that passed has built: in which place, of what source, whether that is everything (spec 3.2, 3.3)."""

from __future__ import annotations

import posixpath
import shlex

from spear.evidence.built_before import finds_dependencies
from spear.evidence.checks.deciding import MAKEFILES
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckKind, CheckStatus, Scope
from spear.evidence.names import names
from spear.evidence.products import PassedBuild
from spear.evidence.records import CheckResult

_EVERYTHING = names("all build default everything world compile test tests check install")
"""Targets that stand for all there is, or all that its tests need."""
_ELSEWHERE = MAKE_NAMES | names("cmake ninja samu meson")
"""Builders that work where they were set up, and not where their source is."""
_PROFILES = {"dev": "debug", "test": "debug", "bench": "release"}
"""Cargo's profiles that write where another does."""


def is_passed_build(result: CheckResult) -> bool:
    """Whether a check was a build, and passed."""
    return result.status is CheckStatus.PASSED and CheckKind.BUILD in result.kinds


def build_of(build: CheckResult, facts: ProjectFacts) -> PassedBuild:
    """What is kept of a build that passed. Of other roots it is all of them, and nobody looks into their makefiles."""
    makefiles = MAKEFILES if not build.root and build.tool in MAKE_NAMES else ()
    texts = (facts.read(posixpath.join(facts.root, build.cwd, name)) for name in makefiles)
    here = build.root or build.cwd
    written = here if build.root else _written(build, facts)
    whole = build.scope is Scope.PROJECT and all(name in _EVERYTHING for name in build.selectors)
    return PassedBuild(
        here if written is None else written,
        build.root if build.tool in _ELSEWHERE else here,
        build.selectors,
        whole and written is not None,
        finds_dependencies(build.tool, build.scope, next(filter(None, texts), None)),
    )


def _written(build: CheckResult, facts: ProjectFacts) -> str | None:
    """Where a builder writes all the programs there are, None where it does not: `cargo check` writes none, each
    profile has a directory of its own, and `go build` writes what it is told to."""
    words = _words(build.command)
    match build.tool:
        case "cargo":
            return _written_by_cargo(words, build.cwd, facts)
        case "go":
            output = words[words.index("-o") + 1] if "-o" in words[:-1] else None
            return None if output is None else facts.place(output, build.cwd)
    return build.cwd


def _written_by_cargo(words: list[str], cwd: str, facts: ProjectFacts) -> str | None:
    if {"check", "c", "clippy", "doc"} & set(words):
        return None
    if {"test", "t"} & set(words) and not any(path.startswith("tests/") for path, _ in facts.texts(names(".rs"))):
        return None  # only tests that run programs have them built
    profile = "release" if {"--release", "-r", "bench"} & set(words) else "debug"
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name = following if word == "--profile" else word.removeprefix("--profile=")
        if word.startswith("--profile"):
            profile = _PROFILES.get(name, name)
    directory = cwd
    while directory and not facts.exists(posixpath.join(directory, "target")):
        directory = posixpath.dirname(directory)
    return posixpath.join(directory, "target", profile)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
