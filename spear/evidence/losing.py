"""Whether recipes and scripts that a check follows throw away the status of what they run in a loop (spec 3.3).

`for t in tests/*; do ./$t; done` ends as its last test did, whatever came before.
"""

from __future__ import annotations

from spear.evidence.checks.programs import SHELLS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.kinds import CheckKind
from spear.evidence.launching import followed_by
from spear.evidence.names import names
from spear.evidence.tree import leaves
from spear.shell.syntax import Compound, CompoundKind, Node, Script, Simple

_RUN_THROUGH = frozenset({CompoundKind.LOOP, CompoundKind.BRACE, CompoundKind.SUBSHELL})
_INTERPRETERS = SHELLS | names("node deno bun perl ruby lua php Rscript tclsh guile")


def loses_statuses(seen: SeenCheck) -> bool:
    """Whether a check of tests, or a run, goes through programs in a loop that does not end at the first failure and
    asks none of them how it ended. What cannot be read is taken to ask."""
    if not seen.candidate.kinds & {CheckKind.TEST, CheckKind.RUN}:
        return False
    return any(_loses(script, errexit=fails_at_once) for script, fails_at_once in followed_by(seen))


def _loses(script: Script, *, errexit: bool) -> bool:
    for node in script.statements:
        match node:
            case Simple():
                errexit = errexit or _sets_errexit(node)
            case Compound(kind=CompoundKind.FUNCTION):
                pass  # runs where it is called
            case Compound(kind=CompoundKind.LOOP) if not errexit and any(map(_runs_unasked, node.parts)):
                return True
            case Compound() if any(_loses(part, errexit=errexit) for part in node.parts):
                return True
    return False


def _runs_unasked(body: Script) -> bool:
    """Whether the body of a loop, or of one in it, runs a program as a statement of its own, and asks for no status."""
    inside = tuple(leaves(body))
    words = [word for leaf in inside for word in (*leaf.simple.words, *(value for _, value in leaf.simple.assignments))]
    if any(word is not None and ("$?" in word.raw or "PIPESTATUS" in word.raw) for word in words):
        return False
    loops = (node for node in body.statements if isinstance(node, Compound) and node.kind in _RUN_THROUGH)
    return any(map(_runs_program, body.statements)) or any(_runs_unasked(part) for node in loops for part in node.parts)


def _runs_program(node: Node) -> bool:
    """Whether a statement is a plain command that runs a program of a name the loop gives, or of the tree."""
    if not isinstance(node, Simple) or not node.argv:
        return False
    name = node.argv[0].value
    if name is None or "/" in name:
        return True
    return (name in _INTERPRETERS or is_interpreter(name)) and any("$" in word.raw for word in node.argv[1:])


def _sets_errexit(simple: Simple) -> bool:
    words = [word.value or "" for word in simple.argv[1:]]
    short = any(word[:1] == "-" and word[:2] != "--" and "e" in word[1:] for word in words)
    return simple.name == "set" and (short or "errexit" in words)
