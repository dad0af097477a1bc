"""Which tools of a script follow what this turn wrote for them (spec 3.3)."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from spear.evidence.builders import sources_of
from spear.evidence.checks.candidates import CheckCandidate
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.compiled import COMPILED, touches_files
from spear.evidence.elsewhere import from_its_root
from spear.evidence.facts import ProjectFacts
from spear.evidence.following import Followed, own_recipes
from spear.evidence.kinds import CheckKind, Scope
from spear.evidence.recipes import takes_in_unknown
from spear.evidence.setting import Setting
from spear.evidence.setting_up import own_instructions, running, sets_up
from spear.evidence.tree import Path, leaves
from spear.evidence.writing import absolute_place
from spear.shell.syntax import Script

_READ_RECIPES = MAKE_NAMES | {"ninja"}


@dataclass(frozen=True, slots=True)
class Follower:
    """A tool that follows files of this turn's, absolute; `recipes` is what they have it run, None where that cannot be
    read as commands. `takes_in` says that it takes in files nobody can name."""

    path: Path
    files: tuple[str, ...]
    recipes: tuple[Followed, ...] | None = None
    takes_in: bool = False


def followers_in(
    script: Script, candidates: Collection[CheckCandidate], makers: set[Path], facts: ProjectFacts, setting: Setting
) -> Iterator[Follower]:
    """The tools of a script that follow what this turn wrote, where the root they work in has a way of its own."""
    read: set[Path] = set()
    decided: dict[Path, tuple[str, ...]] = {}
    for candidate in candidates:
        seen = from_its_root(script, candidate, facts, setting)
        if not seen.facts.shown_before():
            read.add(candidate.path)
            continue
        tool, recipes, takes_in = seen.candidate.finding.tool, None, False
        files = tuple(posixpath.join(facts.root, file) for file in seen.own_files())
        if tool.startswith("package script ") and not files:
            told = map(seen.facts.recorded, filter(seen.facts.told_here, seen.candidate.finding.decided_by))
            files = tuple(posixpath.join(facts.root, file) for file in told)
        if tool in _READ_RECIPES or tool.startswith("package script "):
            takes_in = tool in MAKE_NAMES and any(takes_in_unknown(facts.read(file) or "") for file in files)
            if files and (cwd := seen.candidate.finding.cwd) is not None:
                base = posixpath.normpath(posixpath.join(seen.facts.root, cwd))
                recipes = own_recipes(tool, files, candidate.simple, base, setting.environment or {}, facts)
        else:
            decided[candidate.path] = files
            files = _own_sources(candidate, candidates, facts, setting)
        if files:
            read.add(candidate.path)
            yield Follower(candidate.path, files, recipes, takes_in)
    read |= makers - {c.path for c in candidates if CheckKind.RUN in c.kinds}  # these run what they are given
    for leaf in leaves(script):
        if leaf.path not in read and leaf.simple.nested is None and sets_up(leaf.simple, facts, setting):
            found = {*own_instructions(leaf.simple, facts, setting), *running(decided.get(leaf.path, ()), facts)}
            if found and facts.shown_before():
                yield Follower(leaf.path, tuple(sorted(found)))


def _own_sources(
    candidate: CheckCandidate, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting
) -> tuple[str, ...]:
    """The absolute paths of this turn's sources that a built program of the tree, which is run, was made of; none where
    these neither touch files nor run programs."""
    if candidate.finding.scope is not Scope.PROGRAM:
        return ()
    given: list[str] = []
    for path in filter(facts.is_built, candidate.finding.paths):
        stem = path.rpartition(".")[0] if "." in posixpath.basename(path) else path
        given += (stem + suffix for suffix in COMPILED)
    program = absolute_place(candidate.simple.argv[0].value, candidate.simple, facts, setting)
    for other in candidates:
        if any(program == absolute_place(name, other.simple, facts, setting) for name in other.finding.makes):
            given += sources_of(other, facts, setting)
    own = (source for source in dict.fromkeys(given) if facts.made_here(source) and not facts.is_built(source))
    found = tuple(posixpath.join(facts.root, source) for source in own)
    return found if any(touches_files(facts.read(source) or "") for source in found) else ()
