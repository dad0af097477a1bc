"""Whether, in a command that both changes source and checks, the change can be read to have come first (spec 3.2)."""

from __future__ import annotations

from spear.evidence.checks.candidates import CheckCandidate, read_invocation, recognise
from spear.evidence.checks.registry import LOOKS, identify
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import PROVING, CheckKind, Scope
from spear.evidence.names import names
from spear.evidence.status import is_harmless
from spear.evidence.tree import Leaf, Path, in_sequence, leaves, same_pipeline, settled_before
from spear.shell.syntax import Script

_READERS = LOOKS | names(
    "grep head tail wc diff sort uniq cut tr column less more pwd which type date whoami env sleep git-diff jq rg"
)


def changes_come_first(script: Script, candidate: CheckCandidate, facts: ProjectFacts, start: str) -> bool:
    """Whether every command that may have changed source stands, in sequence, before the check, and one does.

    A check itself may have changed source; when nothing else in the script may have, and no script of the tree is run
    in it, the order cannot be read.
    """
    found = list(leaves(script))
    check = next((leaf for leaf in found if leaf.path == candidate.path), None)
    writers = [leaf for leaf in found if _may_change(leaf, facts, start)]
    if not writers:
        scripts = _scripts_run(script, facts, start)
        writers = [leaf for leaf in found if leaf.path in scripts and leaf is not check]
    if check is None or not writers or not in_sequence(check):
        return False
    return all(settled_before(leaf, check) and not same_pipeline(leaf, check) for leaf in writers)


def own_output(script: Script, candidate: CheckCandidate, facts: ProjectFacts, start: str) -> frozenset[str]:
    """The files of the workspace that hold what the check prints: `make test > log`, `make test | tee log`."""
    found = list(leaves(script))
    check = next((leaf for leaf in found if leaf.path == candidate.path), None)
    if check is None:
        return frozenset()
    stages = [leaf for leaf in found if leaf is check or same_pipeline(leaf, check)]
    words = [(redirect.target, leaf.simple.cwd) for leaf in stages for redirect in leaf.simple.redirects]
    words += [(word, leaf.simple.cwd) for leaf in stages if leaf.simple.name == "tee" for word in leaf.simple.argv[1:]]
    cwds = ((word.value, None if cwd is None else facts.place(cwd or ".", start)) for word, cwd in words)
    return frozenset(place for value, cwd in cwds if value and (place := facts.place(value, cwd)))


def may_be_put_back(
    script: Script, candidate: CheckCandidate, facts: ProjectFacts, start: str, *, rewrote: bool, dropped: bool
) -> bool:
    """Whether the check may have run on source that the command itself put back (`rewrote`), or that did not stay
    (`dropped`): another part of the script may have changed it, and not, in sequence, before the check and for good."""
    if not (rewrote or dropped):
        return False
    found = list(leaves(script))
    check = next((leaf for leaf in found if leaf.path == candidate.path), None)
    others = [leaf for leaf in found if check is not None and leaf is not check and not same_pipeline(leaf, check)]
    writers = [leaf for leaf in others if _may_change(leaf, facts, start)]
    if dropped and writers:
        return True
    return any(check is not None and not (settled_before(leaf, check) and in_sequence(check)) for leaf in writers)


def _scripts_run(script: Script, facts: ProjectFacts, start: str) -> frozenset[Path]:
    """Where scripts of the tree are run that are no tests, and programs this script has compiled of loose files."""
    return frozenset(
        candidate.path
        for candidate in recognise(script, facts, start=start)
        if candidate.finding.scope is Scope.PROGRAM
        and candidate.kinds == {CheckKind.RUN}
        and not (candidate.finding.paths and all(map(facts.is_built, candidate.finding.paths)))
    )


def _may_change(leaf: Leaf, facts: ProjectFacts, start: str) -> bool:
    simple = leaf.simple
    if any(redirect.writes and redirect.target.value != "/dev/null" for redirect in simple.redirects):
        return True
    if simple.nested is not None or is_harmless(simple):
        return False
    if simple.name in _READERS:
        return simple.name == "find" and any(word.value in ("-delete", "-exec") for word in simple.argv)
    invocation = read_invocation(simple, facts, start)
    finding = identify(invocation, facts) if invocation is not None else None
    if finding is None or finding.writes:
        return True
    return not finding.kinds & (PROVING | {CheckKind.CLEAN, CheckKind.INSPECT})
