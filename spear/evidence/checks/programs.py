"""Programs and scripts of the tree: run by path or through their interpreter, named by what their name says."""

from __future__ import annotations

import posixpath
import re

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind, Scope
from spear.evidence.names import names

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
INTERPRETERS = frozenset(
    {"node", "deno", "bun", "ruby", "perl", "php", "lua", "luajit", "Rscript", "julia", "elixir"}
) | {
    "escript",
    "ocaml",
    "runghc",
    "runhaskell",
    "groovy",
    "scala",
    "tclsh",
    "racket",
    "guile",
    "java",
    "tsx",
    "ts-node",
}
_TEST = names("test tests check checks selftest spec specs verify ci unittest unittests runtests testsuite regress e2e")
_LINT = names("lint linter format fmt typecheck style")
_BUILD = names("build compile make rebuild")
_CLEAN = frozenset({"clean", "distclean"})
_VOIDING = frozenset(
    {"--help", "-h", "--version", "--list", "--list-tests", "--dry-run", "--gtest_list_tests", "--usage"}
)


def kinds_of_name(path: str) -> frozenset[CheckKind]:
    """What a program of that path is for, by its base name and then by the directory it lies in."""
    base = path.rsplit("/", 1)[-1].lower()
    parts = {part for part in re.split(r"[-_.]", base) if part}
    for words, letters in ((_TEST, "tr"), (_LINT, "lr"), (_CLEAN, "c"), (_BUILD, "b")):
        if parts & words:
            return kinds(letters)
    directories = {part for part in path.lower().split("/")[:-1]}
    return kinds("tr") if directories & {"test", "tests", "spec"} else kinds("r")


def read_program(invocation: Invocation, place: str, facts: ProjectFacts) -> Finding:
    """A program of the tree at `place`, with its arguments as its selection."""
    void = CheckCode.LISTING if _VOIDING & set(invocation.known) else None
    if void is None and place.endswith(".py") and _only_defines_tests(facts.read(posixpath.join(facts.root, place))):
        void = CheckCode.NOTHING_TESTED
    return Finding(place, kinds_of_name(place), Scope.PROGRAM, invocation.known, (place,), invocation.cwd, void)


def _only_defines_tests(text: str | None) -> bool:
    """Whether a Python file defines tests for a runner to collect, and calls nothing itself."""
    if text is None or re.search(r"^(?:async )?def test_", text, re.MULTILINE) is None:
        return False
    return re.search(r"__main__|^[\w.]+\(|^(?:for|while|with|if|try)\b", text, re.MULTILINE) is None


def read_path(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """A command word that is a path: a program of the tree, or one this very script has just compiled."""
    if invocation.program in invocation.made:
        return Finding(
            invocation.program, kinds_of_name(invocation.name), Scope.PROGRAM, invocation.known, (), invocation.cwd
        )
    place = facts.place(invocation.program, invocation.cwd)
    if place is None or not facts.exists(place):
        return None
    return read_program(invocation, place, facts)


def read_interpreter(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    """`bash tests/run.sh`, `perl t/basic.t`: the script it is given."""
    rest = invocation.args
    while rest and rest[0] is not None and rest[0].startswith("-"):
        if rest[0] in ("-n", "--syntax-check") and invocation.name in SHELLS:
            return Finding(invocation.name, kinds("l"), Scope.SELECTION, invocation.known, cwd=invocation.cwd)
        if rest[0] in ("-c", "-e", "-n", "--version", "--help", "-v", "-V"):
            return None
        rest = (
            rest[2:] if rest[0] in ("-I", "-r", "-o", "-O", "--rcfile", "-cp", "-classpath", "--require") else rest[1:]
        )
    if not rest or rest[0] is None:
        return None
    place = facts.place(rest[0], invocation.cwd)
    if place is None or not facts.exists(place):
        return None
    handed = invocation.of(rest)
    return read_program(handed, place, facts) if handed else None
