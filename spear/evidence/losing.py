"""Whether recipes and scripts that a check follows throw away the status of what they run in a loop (spec 3.3).

`for t in tests/*; do ./$t; done` ends as its last test did, whatever came before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from spear.evidence.checks.programs import SHELLS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.kinds import CheckKind
from spear.evidence.launching import followed_by
from spear.evidence.names import names
from spear.evidence.tree import leaves
from spear.evidence.weakened import is_test_file
from spear.shell.syntax import Compound, CompoundKind, Node, Script, Simple, Word
from spear.shell.words import is_pattern

_RUN_THROUGH = frozenset({CompoundKind.LOOP, CompoundKind.BRACE, CompoundKind.SUBSHELL})
_INTERPRETERS = SHELLS | names("node deno bun perl ruby lua php Rscript tclsh guile")
_A_TOOL = re.compile(r"\"?\$\{?[A-Z_]+\}?\"?")
"""A variable that tools are named in: `$CC`, `$PYTHON`."""

_IsTested = Callable[[str], bool]


def loses_statuses(seen: SeenCheck) -> bool:
    """Whether a check of tests, or a run, goes through programs in a loop that does not end at the first failure and
    asks none of them how it ended. What cannot be read is taken to ask, and so is what a loop compiles, sets up or
    writes to a file that it looks at."""
    if not seen.candidate.kinds & {CheckKind.TEST, CheckKind.RUN}:
        return False
    facts = seen.facts

    def is_tested(directory: str) -> _IsTested:
        def at(name: str) -> bool:
            place = facts.shown(f"{directory}/{name}")
            return place is not None and (facts.is_built(place) or is_test_file(place))

        return at

    return any(
        _loses(followed.script, is_tested(followed.directory), errexit=fails_at_once)
        for followed, fails_at_once in followed_by(seen)
    )


def _loses(script: Script, is_tested: _IsTested, *, errexit: bool) -> bool:
    for node in script.statements:
        match node:
            case Simple():
                errexit = errexit or _ends_at_failures(node)
            case Compound(kind=CompoundKind.FUNCTION):
                pass  # runs where it is called
            case Compound(kind=CompoundKind.LOOP):
                # The last part is the body: what stands before it is its condition, or the body for another word.
                if not errexit and _runs_unasked(node.parts[-1], is_tested, once=len(node.parts) == 1):
                    return True
            case Compound() if any(_loses(part, is_tested, errexit=errexit) for part in node.parts):
                return True
    return False


def _runs_unasked(body: Script, is_tested: _IsTested, *, once: bool) -> bool:
    """Whether the body of a loop, or of one in it, runs a program as a statement of its own, and asks for no status.
    `once`: where its word is known, there is only one."""
    if any("$?" in word.raw or "PIPESTATUS" in word.raw for word in _words(body)):
        return False
    for node in body.statements:
        if isinstance(node, Compound):
            if node.kind is CompoundKind.CASE:
                return False  # by the status, perhaps
            if node.kind in _RUN_THROUGH and _runs_unasked(node.parts[-1], is_tested, once=False):
                return True
        elif _runs_program(node, is_tested, once=once) and not _is_looked_at(node, body):
            return True
    return False


def _words(script: Script) -> Iterator[Word]:
    for leaf in leaves(script):
        yield from leaf.simple.words
        yield from (value for _, value in leaf.simple.assignments if value is not None)


def _runs_program(node: Node, is_tested: _IsTested, *, once: bool) -> bool:
    """Whether a statement is a plain command that runs a program of a name the loop gives, or what is to be tested."""
    if not isinstance(node, Simple) or not node.argv:
        return False
    program, *given = node.argv
    if _A_TOOL.fullmatch(program.raw) or program.value in _INTERPRETERS or is_interpreter(program.value or ""):
        script = next((word for word in given if not word.raw.startswith("-")), None)
        return script is not None and "$" in script.raw and not (once and _is_one(script))
    return program.value is None or (is_tested(program.value) and not (once and _is_one(program)))


def _is_one(word: Word) -> bool:
    """Whether a word that a loop gives is known, and stands for one file."""
    return "$" in word.raw and word.value is not None and not is_pattern(word.value)


def _is_looked_at(node: Node, body: Script) -> bool:
    """Whether what a command prints goes to a file that another one of the body names: `./app > got; cmp got want`."""
    redirects = node.redirects if isinstance(node, Simple) else ()
    written = [redirect.target.raw.strip("\"'") for redirect in redirects if redirect.writes]
    others = [word.raw for leaf in leaves(body) if leaf.simple is not node for word in leaf.simple.words]
    return any(name in other for name in written for other in others)


def _ends_at_failures(simple: Simple) -> bool:
    """`set -e`, `trap 'exit 1' ERR`."""
    words = [word.value or "" for word in simple.argv[1:]]
    short = any(word[:1] == "-" and word[:2] != "--" and "e" in word[1:] for word in words)
    return (simple.name == "set" and (short or "errexit" in words)) or (simple.name == "trap" and "ERR" in words)
