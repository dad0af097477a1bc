"""Whether recipes and scripts that a check follows throw away the status of a test they run (spec 3.3).

`for t in tests/*; do ./$t; done` ends as its last test did, `./a; ./b` as the second. Such a script may have been asked
all the same: by `|| exit 1`, `|| failed=1`, `$?`, `set -e`, or by a file that is looked at afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from spear.evidence.checks.candidates import recognise
from spear.evidence.checks.programs import SHELLS
from spear.evidence.checks.python import is_interpreter
from spear.evidence.elsewhere import SeenCheck
from spear.evidence.facts import ProjectFacts
from spear.evidence.following import Followed
from spear.evidence.kinds import CheckKind
from spear.evidence.launching import followed_by
from spear.evidence.names import names
from spear.evidence.runners.output import reports_failure
from spear.evidence.tree import Path, leaves
from spear.evidence.weakened import is_test_file
from spear.shell.syntax import (
    AndOr,
    Background,
    Compound,
    CompoundKind,
    Connector,
    Node,
    Pipeline,
    Script,
    Simple,
    Word,
)
from spear.shell.words import is_pattern

_INTERPRETERS = SHELLS | names("node deno bun perl ruby lua php Rscript tclsh guile")
_A_TOOL = re.compile(r"\"?\$\{?[A-Z_]+\}?\"?")
"""A variable that tools are named in: `$CC`, `$PYTHON`."""
_SAYS = names("echo printf true : cat tail head ls pwd date sleep tput wait cd sort uniq wc")
"""Commands after which a script goes on as if nothing had happened."""
_PASSES_ON = names("tee cat head tail sort uniq sed tr cut ts nl less more column fold")
_FINDS = names("find fd")


def loses_statuses(seen: SeenCheck) -> bool:
    """Whether a check of tests, or a run, goes through tests whose end nothing asks for, or through programs in a loop
    that goes on whatever they say. What cannot be read is taken to ask."""
    if not seen.candidate.kinds & {CheckKind.TEST, CheckKind.RUN}:
        return False
    return any(_loses(followed, seen, errexit=fails_at_once) for followed, fails_at_once in followed_by(seen))


def _loses(followed: Followed, seen: SeenCheck, *, errexit: bool) -> bool:
    reader = _Reader(followed, seen.facts, is_test=CheckKind.TEST in seen.candidate.kinds)
    place = _Place(asked=True, errexit=errexit, within=followed.script)
    if followed.recipes:
        return any(reader.node(line, (index,), place) for index, line in enumerate(followed.script.statements))
    return reader.script(followed.script, (), place)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a command stands: whether the end of what holds it is `asked` for, whether its shell ends at a failure,
    what shell it runs `within`, and whether a loop runs it, over words of which there is `one`."""

    asked: bool
    errexit: bool
    within: Script
    loop: bool = False
    one: bool = False

    @property
    def heard(self) -> bool:
        """Whether a failure here does not go by."""
        return self.asked or self.errexit

    def condition(self, *, asked: bool) -> _Place:
        """Where `set -e` has no say."""
        return replace(self, asked=asked, errexit=False)


class _Reader:
    """Looks through one script. `is_test`: what the script is run for."""

    def __init__(self, followed: Followed, facts: ProjectFacts, *, is_test: bool) -> None:
        start = facts.place(followed.directory, "")
        found = recognise(followed.script, facts, start=followed.directory if start is None else start)
        self._tests = {candidate.path for candidate in found if CheckKind.TEST in candidate.kinds}
        self._directory, self._facts, self._is_test = followed.directory, facts, is_test
        self._words = [(leaf.simple, word.raw) for leaf in leaves(followed.script) for word in leaf.simple.words]

    def script(self, script: Script, path: Path, place: _Place) -> bool:
        """Whether statements lose the end of a test."""
        for index, (node, after) in enumerate(zip_longest(script.statements, script.statements[1:])):
            if isinstance(node, Simple) and _ends_at_failures(node):
                place = replace(place, errexit=True)
            asked = place.asked if after is None else _asks(after)
            if self.node(node, (*path, index), replace(place, asked=asked)):
                return True
        return False

    def node(self, node: Node, path: Path, place: _Place) -> bool:
        """Whether a statement loses the end of a test in it."""
        match node:
            case Simple():
                return self._simple(node, path, place)
            case Pipeline():
                return self._pipeline(node, path, place)
            case AndOr():
                asked = _acts(node.right, place.within)
                if node.connector is Connector.AND:
                    asked = asked or place.asked
                left = place.condition(asked=asked)
                return self.node(node.left, (*path, 0), left) or self.node(node.right, (*path, 1), place)
            case Compound():
                return self._compound(node, path, place)
            case Background():
                return False  # a server, or waited for

    def _simple(self, node: Simple, path: Path, place: _Place) -> bool:
        if node.nested is not None and node.name in _FINDS:
            return self._is_test and _runs_what_it_finds(node.nested) and not any(word.raw == "+" for word in node.argv)
        if node.nested is not None:
            inner = place if node.function else replace(place, errexit=False, within=node.nested)
            return self.script(node.nested, (*path, 0), inner)
        return not place.heard and self._is_tested(node, path, place) and not self._is_looked_at(node)

    def _pipeline(self, node: Pipeline, path: Path, place: _Place) -> bool:
        for index, stage in enumerate(node.stages):
            after = node.stages[index + 1 :]
            hidden = any(isinstance(later, Simple) and later.name in _PASSES_ON for later in after)
            kept = place.asked if not after else not hidden or self._is_kept(after)
            inner = replace(place, asked=kept, errexit=place.errexit and not after, within=Script((stage,)))
            if self.node(stage, (*path, index), inner):
                return True
        return False

    def _compound(self, node: Compound, path: Path, place: _Place) -> bool:
        parts = list(enumerate(node.parts))
        match node.kind:
            case CompoundKind.FUNCTION | CompoundKind.TEST | CompoundKind.ARITHMETIC:
                return False  # a function runs where it is called
            case CompoundKind.SUBSHELL:
                return any(self.script(p, (*path, i), replace(place, within=p)) for i, p in parts)
            case CompoundKind.LOOP:
                # The last part is the body: what stands before it is its condition, or the body for another word.
                one = len(parts) == 1
                inner = replace(place, asked=place.asked and one and _is_for_one(parts[0][1]), loop=True, one=one)
                return any(self.script(part, (*path, index), inner) for index, part in parts[-1:])
            case CompoundKind.IF:
                bodies = [part for index, part in parts if index % 2 or index == len(parts) - 1]
                asked = any(_acts(part, place.within) for part in bodies)
                conditions = [(i, part) for i, part in parts if not i % 2 and i < len(parts) - 1]
                if any(self.script(p, (*path, i), place.condition(asked=asked)) for i, p in conditions):
                    return True
                return any(self.script(p, (*path, i), place) for i, p in parts if p in bodies)
            case _:
                return any(self.script(part, (*path, index), place) for index, part in parts)

    def _is_tested(self, node: Simple, path: Path, place: _Place) -> bool:
        """Whether a plain command runs a test, or in a loop a program of a name the loop gives or of the tree's own."""
        if path in self._tests:
            return True
        if not node.argv:
            return False
        program = _program(node.argv)
        if program is not node.argv[0] and (not place.loop or "$" not in program.raw):
            return program.value is not None and is_test_file(self._shown(program.value) or "")
        if place.loop:
            return not (place.one and _is_one(program)) and (program.value is None or self._is_own(program.value))
        prints = any(redirect.writes for redirect in node.redirects)
        return self._is_test and not prints and program.value is not None and self._is_own(program.value)

    def _shown(self, name: str) -> str | None:
        return self._facts.shown(f"{self._directory}/{name}")

    def _is_own(self, name: str) -> bool:
        place = self._shown(name)
        return place is not None and (self._facts.is_built(place) or is_test_file(place))

    def _is_looked_at(self, node: Simple) -> bool:
        """Whether what a command prints goes to a file that another one names: `./app > got; cmp got want`."""
        written = [redirect.target.raw.strip("\"'") for redirect in node.redirects if redirect.writes]
        return self._is_named_by_others(written, node)

    def _is_kept(self, stages: Iterable[Node]) -> bool:
        """Whether what `tee` writes is looked at."""
        return any(
            self._is_named_by_others([word.raw.strip("\"'") for word in stage.argv[1:] if word.raw[:1] != "-"], stage)
            for stage in stages
            if isinstance(stage, Simple) and stage.name == "tee"
        )

    def _is_named_by_others(self, files: Iterable[str], node: Simple) -> bool:
        return any(name in raw for name in files for simple, raw in self._words if simple is not node)


def _program(argv: Sequence[Word]) -> Word:
    """The program of a command, or what its interpreter runs."""
    program, *given = argv
    if _A_TOOL.fullmatch(program.raw) or program.value in _INTERPRETERS or is_interpreter(program.value or ""):
        return next((word for word in given if not word.raw.startswith("-")), program)
    return program


def _runs_what_it_finds(script: Script) -> bool:
    """Whether what is found is run: `find -exec {} \\;`, which ends well whatever that says."""
    return any(leaf.simple.argv and _program(leaf.simple.argv).raw == "{}" for leaf in leaves(script))


def _words(node: Node) -> Iterator[Word]:
    for leaf in leaves(Script((node,))):
        yield from leaf.simple.words
        yield from (value for _, value in leaf.simple.assignments if value is not None)


def _asks(node: Node) -> bool:
    """Whether a statement begins with a look at how the one before it ended. `echo $?` only says it."""
    if isinstance(node, Compound) and node.kind in (CompoundKind.CASE, CompoundKind.ARITHMETIC, CompoundKind.TEST):
        return True
    if isinstance(node, Simple) and node.name in _SAYS:
        return False
    if isinstance(node, Simple) and node.name in ("exit", "return") and len(node.argv) == 1:
        return True
    return any("$?" in word.raw or "PIPESTATUS" in word.raw for word in _words(node))


def _acts(node: Node | Script, within: Script) -> bool:
    """Whether something is done about an end, other than to say so in words that nobody reads as a failure. A variable
    counts that its shell asks for later."""
    script = node if isinstance(node, Script) else Script((node,))
    if any(isinstance(each, Compound) and each.kind is CompoundKind.ARITHMETIC for each in _nodes(script)):
        return True
    return any(_acts_itself(leaf.simple, within) for leaf in leaves(script))


def _acts_itself(simple: Simple, within: Script) -> bool:
    if not simple.argv:
        return any(_is_asked_for(name, within) for name, _ in simple.assignments)
    if simple.name in ("echo", "printf"):
        said = " ".join(word.raw.strip("\"'") for word in simple.argv[1:] if word.raw[:1] != "-")
        return reports_failure(said, tests=True)
    return simple.name not in _SAYS and simple.nested is None


def _is_asked_for(variable: str, within: Script) -> bool:
    if any(isinstance(node, Compound) and node.kind in _ASKING for node in _nodes(within)):
        return True  # `[[ $failed = 1 ]]`, whose words are not kept
    named = re.compile(rf"\$\{{?#?{re.escape(variable)}\b")
    return any(named.search(word.raw) is not None for node in within.statements for word in _words(node))


_ASKING = frozenset({CompoundKind.TEST, CompoundKind.ARITHMETIC, CompoundKind.CASE})


def _nodes(script: Script) -> Iterator[Node]:
    """Every node of a script, the bodies of called functions too."""
    waiting: list[Node] = list(script.statements)
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case Simple():
                waiting += node.nested.statements if node.nested is not None else ()
            case Pipeline():
                waiting += node.stages
            case AndOr():
                waiting += (node.left, node.right)
            case Background():
                waiting.append(node.body)
            case Compound():
                waiting += (each for part in node.parts for each in part.statements)


def _is_one(word: Word) -> bool:
    """Whether a word that a loop gives is known, and stands for one file."""
    return "$" in word.raw and word.value is not None and not is_pattern(word.value)


def _is_for_one(body: Script) -> bool:
    """Whether the body of a loop over one word is known to run once: what it names is known, and no pattern."""
    named = [word for node in body.statements for word in _words(node) if "$" in word.raw]
    return bool(named) and all(_is_one(word) for word in named)


def _ends_at_failures(simple: Simple) -> bool:
    """`set -e`, `trap 'exit 1' ERR`."""
    words = [word.value or "" for word in simple.argv[1:]]
    short = any(word[:1] == "-" and word[:2] != "--" and "e" in word[1:] for word in words)
    return (simple.name == "set" and (short or "errexit" in words)) or (simple.name == "trap" and "ERR" in words)
