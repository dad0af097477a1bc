"""Which built programs a check launches: itself, and by the recipes, package scripts and shell scripts it follows
(spec 3.3).

Read as far as it can be. What is not seen here may be launched all the same.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from spear.evidence.checks.candidates import CheckCandidate, recognise
from spear.evidence.checks.makefiles import NAMES as MAKE_NAMES
from spear.evidence.checks.programs import SHELLS
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.facts import ProjectFacts
from spear.evidence.following import Followed, is_for_a_shell, package_scripts, parsed
from spear.evidence.kinds import CheckKind, Scope
from spear.evidence.recipes import MakeText

_DEEPEST = 4
_MOST_INCLUDED = 20


def launched(seen: SeenCheck) -> frozenset[str]:
    """The built programs a check launches, by their recorded names, and those it hands to what it launches."""
    return frozenset(map(seen.facts.recorded, _launched(seen.candidate, seen.facts, 0)))


def _launched(candidate: CheckCandidate, facts: ProjectFacts, depth: int) -> Iterator[str]:
    finding = candidate.finding
    if finding.scope is Scope.PROGRAM and candidate.kinds & {CheckKind.TEST, CheckKind.RUN}:
        words = (word.value for word in candidate.simple.argv)
        given = (place for word in words if word and (place := facts.place(word, finding.cwd)))
        yield from (path for path in (*finding.paths, *given) if facts.is_built(path))
    if depth >= _DEEPEST or finding.cwd is None:
        return
    base = posixpath.normpath(posixpath.join(facts.root, finding.cwd))
    followed = _followed(candidate, base, facts)
    if followed is None:
        return
    start = facts.place(followed.directory, "")
    for inner in recognise(followed.script, facts, start=followed.directory if start is None else start):
        yield from _launched(inner, facts, depth + 1)


def _followed(candidate: CheckCandidate, base: str, facts: ProjectFacts) -> Followed | None:
    """What the check has a shell do, from an absolute directory."""
    finding, words = candidate.finding, [word.value for word in candidate.simple.argv]
    files = [posixpath.join(facts.root, path) for path in finding.decided_by]
    text = facts.read(files[0]) if files else None
    if text is None:
        return None
    if finding.tool in MAKE_NAMES:
        return parsed(_make_text(text, base, words, facts).recipes_of(finding.selectors), base, facts)
    if finding.tool.startswith("package script "):
        name = finding.tool.removeprefix("package script ")
        commands = package_scripts(text, name, [word.raw for word in candidate.simple.argv])
        return None if commands is None else parsed(commands, base, facts)
    shells = candidate.simple.name in SHELLS or text.startswith("#!") or files[0].endswith(".sh")
    if finding.scope is not Scope.PROGRAM or not shells or not is_for_a_shell(text):
        return None
    return parsed(text, base, facts, (files[0], *finding.selectors))


def _make_text(text: str, base: str, words: list[str | None], facts: ProjectFacts) -> MakeText:
    """A makefile with the files it includes by name, and the variables it is given."""
    given = {name: value for name, equals, value in (word.partition("=") for word in words if word) if equals}
    for name in MakeText(text, given).includes()[:_MOST_INCLUDED]:
        text += "\n" + (facts.read(posixpath.normpath(posixpath.join(base, name))) or "")
    return MakeText(text, given)
