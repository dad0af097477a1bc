"""What the real status of each command of a script was, as far as its structure and its end can tell (spec 3.3).

The script's exit status is known, and the statuses of the last pipeline's stages. They are carried backwards through
the tree to every simple command; where the structure loses them, the reason is kept instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from spear.evidence.kinds import CheckCode
from spear.evidence.leaving import ends_here, ends_in_failure, may_leave
from spear.evidence.names import names
from spear.evidence.printed_status import Printed, printed_status
from spear.evidence.tree import Path
from spear.evidence.tree import leaves as tree_leaves
from spear.shell.syntax import AndOr, Background, Compound, CompoundKind, Connector, Node, Pipeline, Script, Simple


@dataclass(frozen=True, slots=True)
class Known:
    """Ended with this status; None for one that is not 0 and otherwise unknown."""

    code: int | None
    printed: bool = False

    @property
    def passed(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Lost:
    """The status cannot be known, for this reason."""

    why: CheckCode = CheckCode.STATUS_LOST


@dataclass(frozen=True, slots=True)
class OneFailed:
    """One command of a group failed with this status, and what came after it in the group did not run."""

    code: int | None
    group: Path


Standing: TypeAlias = Known | Lost | OneFailed


@dataclass(frozen=True, slots=True)
class _Options:
    errexit: bool = False
    pipefail: bool = False


@dataclass(frozen=True, slots=True)
class _Reader:
    output: str

    def script(
        self, script: Script, path: Path, end: Standing, pipes: tuple[int, ...], options: _Options
    ) -> Iterator[tuple[Path, Standing]]:
        """Carry a script's own status back to its statements."""
        statements = _until_exit(script.statements)
        last = len(statements) - 1
        leaves = next((index for index, node in enumerate(statements[:-1]) if may_leave(node)), last)
        for index, statement in enumerate(statements):
            options = _options_after(statement, options)
            if index == last:
                given, own = self._last(statements, path, end, options), pipes
            else:
                given, own = self._earlier(statements, index, path, end, options), ()
            if index > leaves and isinstance(given, Known) and given.passed:
                given, own = Lost(CheckCode.MAY_NOT_HAVE_RUN), ()
            stage = printed_status(statements, index, self.output) or _exit_of_stage(statements, index, end)
            if stage is not None and stage.stage is not None and isinstance(statement, Pipeline):
                yield from self._one_stage(statement, (*path, index), stage.stage, Known(stage.code, True))
                continue
            if stage is not None and not (index == last and isinstance(given, Known)):
                given = Known(stage.code, True)
            yield from self.node(statement, (*path, index), given, own, options)
        for index in range(len(statements), len(script.statements)):
            not_run = Lost(CheckCode.DID_NOT_RUN)
            yield from self.node(script.statements[index], (*path, index), not_run, (), options)

    def _last(self, statements: tuple[Node, ...], path: Path, end: Standing, options: _Options) -> Standing:
        if not options.errexit or not isinstance(end, Known) or end.passed:
            return end
        earlier = [node for node in statements[:-1] if _stops_on_failure(node) and not is_harmless(node)]
        return OneFailed(end.code, path) if earlier else end

    def _earlier(
        self, statements: tuple[Node, ...], index: int, path: Path, end: Standing, options: _Options
    ) -> Standing:
        statement = statements[index]
        carried = _exit_carries(statements, index)
        if carried:
            return end
        guarded = (
            isinstance(statement, AndOr) and statement.connector is Connector.OR and ends_in_failure(statement.right)
        )
        stops = (options.errexit and _stops_on_failure(statement)) or guarded
        if not stops or not isinstance(end, Known):
            return end if isinstance(end, Lost) else Lost()
        if end.passed:
            return end
        return OneFailed(end.code, path)

    def node(
        self, node: Node, path: Path, given: Standing, pipes: tuple[int, ...], options: _Options
    ) -> Iterator[tuple[Path, Standing]]:
        """Carry a node's status back to the simple commands in it."""
        match node:
            case Simple():
                yield from self._simple(node, path, given, options)
            case Pipeline():
                yield from self._pipeline(node, path, given, pipes, options)
            case AndOr():
                left, right, right_pipes = _sides(node, path, given, pipes)
                yield from self.node(node.left, (*path, 0), left, (), options)
                yield from self.node(node.right, (*path, 1), right, right_pipes, options)
            case Background():
                yield from self.node(node.body, (*path, 0), Lost(CheckCode.BACKGROUND), (), options)
            case Compound():
                yield from self._compound(node, path, given, pipes, options)
            case _:
                assert_never(node)

    def _simple(
        self, simple: Simple, path: Path, given: Standing, options: _Options
    ) -> Iterator[tuple[Path, Standing]]:
        if {"nohup", "setsid", "disown"} & set(simple.wrappers):
            given = Lost(CheckCode.BACKGROUND)
        yield path, given
        if simple.nested is not None:
            inner_options = options if simple.function else _options_of_shell(simple)
            yield from self.script(simple.nested, (*path, 0), _carried(simple, given), (), inner_options)
        assigns = not simple.words and len(simple.substitutions) == 1
        for index, substitution in enumerate(simple.substitutions, start=1):
            inner = given if assigns else given if _never(given) else Lost()
            yield from self.script(substitution, (*path, index), inner, (), _Options())

    def _pipeline(
        self, node: Pipeline, path: Path, given: Standing, pipes: tuple[int, ...], options: _Options
    ) -> Iterator[tuple[Path, Standing]]:
        for index, standing in enumerate(_stages(node, path, given, pipes, options)):
            yield from self.node(node.stages[index], (*path, index), standing, (), options)

    def _one_stage(self, node: Pipeline, path: Path, stage: int, known: Known) -> Iterator[tuple[Path, Standing]]:
        for index, inner in enumerate(node.stages):
            standing: Standing = known if index == stage and not node.negated else Lost()
            yield from self.node(inner, (*path, index), standing, (), _Options())

    def _compound(
        self, node: Compound, path: Path, given: Standing, pipes: tuple[int, ...], options: _Options
    ) -> Iterator[tuple[Path, Standing]]:
        if node.kind is CompoundKind.FUNCTION:
            return
        for index, part in enumerate(node.parts):
            standing: Standing = given if _never(given) else Lost()
            inner: tuple[int, ...] = ()
            if node.kind in (CompoundKind.SUBSHELL, CompoundKind.BRACE):
                standing = given
                inner = pipes if node.kind is CompoundKind.BRACE else ()
            elif node.kind is CompoundKind.IF and index == 0:
                standing = _condition(node, given)
            yield from self.script(part, (*path, index), standing, inner, options)
        for index, part in enumerate(node.substitutions, start=len(node.parts)):
            yield from self.script(part, (*path, index), Lost(), (), _Options())


def standings(
    script: Script, exit_code: int | None, pipe_status: tuple[int, ...], output: str = ""
) -> Mapping[Path, Standing]:
    """The standing of every simple command of a script that ended with `exit_code`.

    `pipe_status` has one entry a stage of the last pipeline the shell ran itself; `output` is read only for statuses
    the script printed (`make; echo "exit: $?"`). An exit code of None (it did not end by itself) leaves all unknown.
    """
    end: Standing = Lost(CheckCode.STOPPED) if exit_code is None else Known(exit_code)
    if exit_code == 0 and any(_traps_the_end(leaf.simple) for leaf in tree_leaves(script)):
        end = Lost()
    pairs = _Reader(output).script(script, (), end, pipe_status, _Options())
    return dict(pairs)


def _stages(node: Pipeline, path: Path, given: Standing, pipes: tuple[int, ...], options: _Options) -> list[Standing]:
    count = len(node.stages)
    if node.negated:
        return [given if _never(given) else Lost(CheckCode.NEGATED)] * count
    if len(pipes) == count and count > 1 and isinstance(given, Known):
        return [Known(code) for code in pipes]
    if not isinstance(given, Known):
        return [given] * count
    if options.pipefail:
        return [given] * count if given.passed else [OneFailed(given.code, path)] * count
    return [*[Lost()] * (count - 1), given]


def _sides(
    node: AndOr, path: Path, given: Standing, pipes: tuple[int, ...]
) -> tuple[Standing, Standing, tuple[int, ...]]:
    if not isinstance(given, Known):
        return given, given, ()
    if node.connector is Connector.AND:
        if given.passed:
            return given, given, pipes
        stages = _stage_count(node.right)
        if len(pipes) > 1 and len(pipes) == stages != _stage_count(node.left):
            return Known(0), given, pipes
        if is_harmless(node.left):
            return Known(0), given, pipes if len(pipes) == stages else ()
        return OneFailed(given.code, path), OneFailed(given.code, path), ()
    if not given.passed:
        return Known(None), given, ()
    if _always_fails(node.right):
        return given, Lost(CheckCode.DID_NOT_RUN), ()
    return Lost(), Lost(), ()


def _stage_count(node: Node) -> int:
    return len(node.stages) if isinstance(node, Pipeline) else 1


def _condition(node: Compound, given: Standing) -> Standing:
    """`if check; then …; else exit 1; fi` tells the condition's status when it ended with 0."""
    if not isinstance(given, Known) or len(node.parts) < 2:
        return given if _never(given) else Lost()
    otherwise = len(node.parts) == 3 and _script_fails(node.parts[2])
    return given if otherwise and given.passed else Lost()


def _never(given: Standing) -> bool:
    return isinstance(given, Lost) and given.why is not CheckCode.STATUS_LOST


def _until_exit(statements: tuple[Node, ...]) -> tuple[Node, ...]:
    for index, statement in enumerate(statements):
        if isinstance(statement, Simple) and ends_here(statement):
            return statements[: index + 1]
    return statements


def _exit_carries(statements: tuple[Node, ...], index: int) -> bool:
    """Whether the script ends with this statement's status: `make; exit $?`, `make; rc=$?; …; exit $rc`."""
    end = statements[-1]
    if not isinstance(end, Simple) or end.name not in ("exit", "return"):
        return False
    raw = end.argv[1].raw.strip('"') if len(end.argv) > 1 else "$?"
    following = statements[index + 1]
    if raw == "$?":
        return following is end
    name = raw.removeprefix("$").strip("{}")
    saves = [
        node for node in statements if isinstance(node, Simple) and any(key == name for key, _ in node.assignments)
    ]
    if len(saves) != 1 or saves[0] is not following or not raw.startswith("$"):
        return False
    return any(key == name and word is not None and word.raw.strip('"') == "$?" for key, word in saves[0].assignments)


def _exit_of_stage(statements: tuple[Node, ...], index: int, end: Standing) -> Printed | None:
    """`make | tail; exit ${PIPESTATUS[0]}`: the script's end is that stage's status."""
    if index + 2 != len(statements) or not isinstance(end, Known) or end.code is None:
        return None
    last = statements[-1]
    if not isinstance(last, Simple) or last.name not in ("exit", "return") or len(last.argv) != 2:
        return None
    stage = re.fullmatch(r"\"?\$\{PIPESTATUS\[(\d)\]\}\"?", last.argv[1].raw)
    return Printed(end.code, int(stage[1])) if stage else None


_CARRIES = names("sh bash dash ash ksh mksh zsh rbash eval env flock su xargs")
_NONE_IS_FINE = frozenset({"-r", "--no-run-if-empty", "-I", "-i"})


def _carried(simple: Simple, given: Standing) -> Standing:
    """What a command's own status says of what it hands on: `find -exec` and code of another language keep theirs,
    `xargs -r` may have run nothing."""
    if simple.function or not isinstance(given, Known):
        return given
    if simple.name not in _CARRIES:
        return Lost()
    words = {(word.value or "")[:2] if (word.value or "")[:2] == "-I" else word.value for word in simple.argv[1:]}
    nothing = simple.name == "xargs" and given.passed and bool(words & _NONE_IS_FINE)
    return Lost(CheckCode.MAY_NOT_HAVE_RUN) if nothing else given


def _traps_the_end(simple: Simple) -> bool:
    """A trap that ends the script with a status of its own, or keeps commands from running."""
    if simple.name != "trap" or len(simple.argv) < 3:
        return False
    signals = {(word.value or "EXIT").upper().removeprefix("SIG") for word in simple.argv[2:]}
    if "DEBUG" in signals:
        return True
    if not signals & {"EXIT", "0", "ERR"}:
        return False
    return simple.nested is None or any(ends_here(leaf.simple) for leaf in tree_leaves(simple.nested))


_HARMLESS = names(
    "cd pushd popd export unset set shopt source . echo printf true : mkdir umask ulimit alias declare local readonly"
)


def is_harmless(node: Node) -> bool:
    """Whether a node is only preparation that is not expected to fail (`cd`, `export`, `echo`, an assignment)."""
    match node:
        case Simple():
            return not node.argv or node.name in _HARMLESS
        case AndOr():
            return is_harmless(node.left) and is_harmless(node.right)
        case Pipeline() | Background() | Compound():
            return False
        case _:
            assert_never(node)


def _stops_on_failure(node: Node) -> bool:
    """Whether `set -e` ends the script when the node's status is not 0."""
    return isinstance(node, Simple | Compound) or (isinstance(node, Pipeline) and not node.negated)


def _always_fails(node: Node) -> bool:
    if isinstance(node, Compound) and node.kind in (CompoundKind.BRACE, CompoundKind.SUBSHELL):
        return bool(node.parts) and _script_fails(node.parts[0])
    return ends_in_failure(node) or (isinstance(node, Simple) and node.name == "false")


def _script_fails(script: Script) -> bool:
    return bool(script.statements) and _always_fails(script.statements[-1])


def _options_after(statement: Node, options: _Options) -> _Options:
    if not isinstance(statement, Simple) or statement.name != "set":
        return options
    words = [word.value or "" for word in statement.argv[1:]]
    return _apply(words, options)


def _options_of_shell(simple: Simple) -> _Options:
    words = [word.value or "" for word in simple.argv[1:]]
    cut = next((index for index, word in enumerate(words) if word.startswith("-") and "c" in word), len(words))
    return _apply(words[: cut + 1], _Options())


def _apply(words: list[str], options: _Options) -> _Options:
    for index, word in enumerate(words):
        if len(word) < 2 or word[0] not in "+-" or word.startswith("--"):
            continue
        on = word[0] == "-"
        if "e" in word[1:]:
            options = replace(options, errexit=on)
        if "o" in word[1:] and index + 1 < len(words):
            if words[index + 1] == "pipefail":
                options = replace(options, pipefail=on)
            if words[index + 1] == "errexit":
                options = replace(options, errexit=on)
    return options
