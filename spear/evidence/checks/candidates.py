"""Every check in a script, with its place in the tree, read from its structure (spec 3.3)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from spear.evidence.checks.deciding import decided_by
from spear.evidence.checks.invocation import Finding, Invocation, base_name
from spear.evidence.checks.registry import identify
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind
from spear.evidence.tree import Path, leaves
from spear.shell.syntax import Script, Simple


@dataclass(frozen=True, slots=True)
class CheckCandidate:
    """One simple command that is, or looks like, a check. `path` is its place (see `spear.evidence.tree`)."""

    path: Path
    command: str
    finding: Finding
    simple: Simple

    @property
    def kinds(self) -> frozenset[CheckKind]:
        """What it is for."""
        return self.finding.kinds


def recognise(script: Script, facts: ProjectFacts, *, start: str = "") -> tuple[CheckCandidate, ...]:
    """The checks of a script that starts in the workspace-relative directory `start`, in the order they stand."""
    return tuple(_candidates(script, facts, start))


def _candidates(script: Script, facts: ProjectFacts, start: str) -> Iterator[CheckCandidate]:
    made: frozenset[str] = frozenset()
    for leaf in leaves(script):
        if leaf.simple.nested is not None:
            continue
        invocation = read_invocation(leaf.simple, facts, start, made)
        if invocation is None:
            continue
        finding = identify(invocation, facts) or _declared_there(leaf.simple, invocation, facts, start)
        if finding is None:
            continue
        finding = _with_environment(finding, leaf.simple)
        finding = replace(finding, decided_by=decided_by(finding, invocation, facts))
        made |= set(finding.makes)
        yield CheckCandidate(leaf.path, invocation.text, finding, leaf.simple)


def read_invocation(
    simple: Simple, facts: ProjectFacts, start: str, made: frozenset[str] = frozenset()
) -> Invocation | None:
    """The program a simple command runs, None when it runs none that is known."""
    if not simple.argv or simple.argv[0].value is None:
        return None
    program = simple.argv[0].value
    cwd = None if simple.cwd is None else facts.place(simple.cwd or ".", start)
    return Invocation(
        name=base_name(program),
        program=program,
        args=tuple(word.value for word in simple.argv[1:]),
        cwd=cwd,
        text=" ".join(word.raw for word in simple.argv),
        stdin=simple.heredoc,
        made=made,
    )


def _declared_there(simple: Simple, invocation: Invocation, facts: ProjectFacts, start: str) -> Finding | None:
    """What another root declares a command to be that works in it and that no table knows."""
    if simple.cwd is None or not facts.other_roots:
        return None
    where = posixpath.normpath(posixpath.join(facts.root, start, simple.cwd))
    there = facts.elsewhere(facts.other_root(where) or "")
    if there is None or not there.declared:
        return None
    found = identify(replace(invocation, cwd=there.place(where, "")), there)
    return None if found is None else replace(found, cwd=None, paths=())


_DRY: Mapping[str, str] = {"MAKEFLAGS": "n", "GNUMAKEFLAGS": "n"}


def _with_environment(finding: Finding, simple: Simple) -> Finding:
    """A variable set for the one command that voids it: `MAKEFLAGS=-n make test`, `PYTEST_ADDOPTS=--collect-only`."""
    for name, word in simple.assignments:
        value = word.value if word is not None else ""
        if value is None:
            continue
        flags = value.split()
        if name in _DRY and any(
            "n" in flag.lstrip("-") for flag in flags if "=" not in flag and not flag.startswith("--")
        ):
            return replace(finding, void=finding.void or CheckCode.DRY_RUN)
        if name == "PYTEST_ADDOPTS" and {"--collect-only", "--collectonly", "--co"} & {
            flag.strip("'\"") for flag in flags
        }:
            return replace(finding, void=finding.void or CheckCode.LISTING)
    return finding
