"""From the grammar's JSON tree to the house's tree of `syntax`, following `cd`, variables and functions on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from spear.shell.effects import apply_builtin, forget_changes
from spear.shell.handed_on import CARRYING_VARIABLES, HandedOn, StandardInput, handed_on
from spear.shell.printed import printed, printed_names
from spear.shell.reading import Reader
from spear.shell.state import Known, ShellState, join
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
from spear.shell.wrappers import unwrap

Json = dict[str, Any]
ReadScript = Callable[[str], "tuple[bytes, Json] | None"]
MAX_NESTING = 8
"""How deep scripts within scripts and calls of functions are followed; deeper ones count as unknown."""

_SURE = frozenset(
    {"cd", "pushd", "popd", "mkdir", "export", "set", "true", ":", "echo", "printf", "local", "rm", "touch"}
)
_LEAVING = frozenset({"exit", "return", "continue", "break", "die", "exec"})
_LOOP_ITEMS = 16
_BUDGET = 4000


class Builder:
    """Builds one script. `read` parses the text of a script found inside it; `budget` bounds unrolled work."""

    def __init__(self, source: bytes, read: ReadScript, depth: int = 0, budget: list[int] | None = None) -> None:
        self._source = source
        self._read = read
        self._depth = depth
        self._budget = [_BUDGET] if budget is None else budget
        self._reader = Reader(source, self._scoped)

    def script(self, statements: Sequence[Json] | None, state: ShellState) -> Script:
        """Statements in order, in the shell `state`, which they change."""
        return Script(tuple(self._statement(statement, state) for statement in statements or ()))

    # -- statements ----------------------------------------------------------------------------------------------

    def _statement(self, statement: Json, state: ShellState, given: StandardInput | None = None) -> Node:
        command = statement.get("Cmd")
        kept = state.copy() if statement.get("Background") else None
        node = self._redirected(statement, command, state, given or StandardInput())
        if statement.get("Negated"):
            node = replace(node, negated=True) if isinstance(node, Pipeline) else Pipeline((node,), negated=True)
        if kept is not None:
            state.become(kept)
            node = Background(node)
        return node

    def _redirected(self, statement: Json, command: Json | None, state: ShellState, given: StandardInput) -> Node:
        if command is None or command["Type"] in ("CallExpr", "DeclClause"):
            return self._simple(statement, command, state, given)
        here = state.cwd
        with self._reader.recording() as substitutions:
            redirects, _, fed = self._reader.redirects(statement, state, given)
        node = self._compound(command, state, fed)
        if not redirects and not substitutions:
            return node
        if isinstance(node, Compound) and node.kind is not CompoundKind.FUNCTION:
            return replace(
                node,
                redirects=(*node.redirects, *redirects),
                substitutions=(*node.substitutions, *substitutions),
                cwd=here,
            )
        return Compound(CompoundKind.BRACE, (Script((node,)),), redirects, substitutions=tuple(substitutions), cwd=here)

    def _compound(self, command: Json, state: ShellState, given: StandardInput) -> Node:
        match command["Type"]:
            case "BinaryCmd" if command["Op"] in ("|", "|&"):
                return self._pipeline(command, state, given)
            case "BinaryCmd":
                return self._chain(command, state)
            case "Subshell" | "Block" as name:
                kind, shell = (CompoundKind.BRACE, state) if name == "Block" else (CompoundKind.SUBSHELL, state.copy())
                return Compound(kind, (self.script(command.get("Stmts"), shell),))
            case "IfClause":
                return Compound(CompoundKind.IF, tuple(self._branches(command, state)))
            case "WhileClause":
                return self._repeated(command, state)
            case "ForClause":
                return self._for(command, state)
            case "CaseClause":
                return self._case(command, state)
            case "FuncDecl":
                return self._function(command, state)
            case "CoprocClause":
                return Background(self._statement(command["Stmt"], state.copy()))
            case "TimeClause":
                return self._timed(command, state)
            case other:
                kind = CompoundKind.TEST if other == "TestClause" else CompoundKind.ARITHMETIC
                forget_changes(command, state)
                return Compound(kind, (), substitutions=self._reader.inside(command, state))

    def _pipeline(self, command: Json, state: ShellState, given: StandardInput) -> Node:
        stages: list[Node] = []
        for statement in _stages(command):
            node = self._statement(statement, state.copy(), given)
            stages.append(node)
            given = StandardInput(printed(node), printed_names(node), connected=True)
        return Pipeline(tuple(stages))

    def _chain(self, command: Json, state: ShellState) -> Node:
        """`a && b || c`: each part sees what the parts before it are known to have done."""
        first, rest = _links(command)
        before = state.copy()
        node = self._statement(first, state)
        sure = _is_sure(node)
        for connector, statement in rest:
            if connector is Connector.AND:
                last = state.copy()
                right = self._statement(statement, state)
            else:
                other = before.copy()
                if not (isinstance(node, Simple) and node.name == "cd"):
                    other.either(state)
                last = state.copy()
                right = self._statement(statement, other)
                if not _leaves(right):
                    state.either(other)
            before = last
            sure = sure and _is_sure(right)
            node = AndOr(node, connector, right)
        if not sure and rest and rest[0][0] is Connector.AND:
            forget_changes([statement for connector, statement in rest if connector is Connector.AND], state)
        return node

    def _branches(self, command: Json, state: ShellState) -> Iterator[Script]:
        """Conditions and bodies of an `if`, merged into what is true whichever ran."""
        ends: list[ShellState] = []
        current: Json | None = command
        while current is not None:
            if current.get("Cond"):
                yield self.script(current["Cond"], state)
            branch = state.copy()
            yield self.script(current.get("Then"), branch)
            ends.append(branch)
            if not current.get("Cond"):
                break
            current = current.get("Else")
        else:
            ends.append(state.copy())
        state.become(ends[0])
        for end in ends[1:]:
            state.either(end)

    def _repeated(self, command: Json, state: ShellState) -> Node:
        forget_changes([command.get("Cond"), command.get("Do")], state)
        condition = self.script(command.get("Cond"), state)
        body = self.script(command.get("Do"), state.copy())
        return Compound(CompoundKind.LOOP, (condition, body))

    def _for(self, command: Json, state: ShellState) -> Node:
        loop, body = command["Loop"], command.get("Do")
        before = state.copy()
        if loop["Type"] != "WordIter":
            substitutions = self._reader.inside(loop, state)
            forget_changes([loop, body], state)
            return Compound(CompoundKind.LOOP, (self.script(body, state.copy()),), substitutions=substitutions)
        with self._reader.recording() as found:
            items = [word for item in loop.get("Items") or () for word in self._reader.words(item, state)]
        if len(items) == 1 and items[0].value is None and len(found) == 1 and items[0].raw[:1] in ("$", "`"):
            (listing,) = found[0].statements if len(found[0].statements) == 1 else (None,)
            items = list((listing and printed_names(listing)) or items)
        name = loop["Name"]["Value"]
        known = items and len(items) <= _LOOP_ITEMS and self._spend(len(items)) and "InPos" in loop
        if not known or any(item.value is None for item in items):
            forget_changes(body, state)
            items = [Word(None, "")]
        bodies = []
        for item in items:
            state.variables[name] = None if item.value is None else Known(item.value, item.glob)
            bodies.append(self.script(body, state))
        if any(item.glob or item.value is None for item in items):
            state.either(before)
        return Compound(CompoundKind.LOOP, tuple(bodies), substitutions=tuple(found))

    def _case(self, command: Json, state: ShellState) -> Node:
        substitutions = self._reader.inside(
            [command.get("Word"), [i.get("Patterns") for i in command.get("Items") or ()]], state
        )
        bodies, ends = [], [state.copy()]
        for item in command.get("Items") or ():
            branch = state.copy()
            bodies.append(self.script(item.get("Stmts"), branch))
            ends.append(branch)
        for end in ends:
            state.either(end)
        return Compound(CompoundKind.CASE, tuple(bodies), substitutions=substitutions)

    def _function(self, command: Json, state: ShellState) -> Node:
        name = (command.get("Name") or {}).get("Value") or ""
        if name:
            state.functions[name] = command["Body"]
        unknown = ShellState(cwd=None)
        body = self._statement(command["Body"], unknown)
        return Compound(CompoundKind.FUNCTION, (Script((body,)),), name=name)

    def _timed(self, command: Json, state: ShellState) -> Node:
        if not command.get("Stmt"):
            return Compound(CompoundKind.BRACE, ())
        node = self._statement(command["Stmt"], state)
        return replace(node, wrappers=("time", *node.wrappers)) if isinstance(node, Simple) else node

    # -- simple commands -----------------------------------------------------------------------------------------

    def _simple(self, statement: Json, command: Json | None, state: ShellState, given: StandardInput) -> Node:
        words: list[Word] = []
        assignments: list[tuple[str, Word | None]] = []
        with self._reader.recording() as found:
            if command is not None and command["Type"] == "DeclClause":
                words.append(Word(command["Variant"]["Value"], command["Variant"]["Value"]))
                words.extend(self._reader.declared(command, state, assignments))
            elif command is not None:
                lasting = state if not command.get("Args") else state.copy()
                self._reader.assign(command.get("Assigns") or (), lasting, assignments)
                for argument in command.get("Args") or ():
                    words.extend(self._reader.words(argument, state))
            redirects, heredoc, fed = self._reader.redirects(statement, state, given)
        start, end = statement["Pos"]["Offset"], statement["End"]["Offset"]
        shape = Simple(
            words=tuple(words),
            argv=(),
            wrappers=(),
            assignments=tuple(assignments),
            redirects=redirects,
            cwd=state.cwd,
            start=start,
            end=end,
            substitutions=tuple(found),
            heredoc=heredoc,
        )
        return self._finish(shape, state, fed)

    def _finish(self, shape: Simple, state: ShellState, given: StandardInput) -> Simple:
        """Take wrappers off, follow what the command hands on, and apply what it does to this shell."""
        bare = unwrap(shape.words)
        inherited = tuple((name, word) for name, word in bare.assignments)
        cwd = state.cwd if bare.directory is None else join(state.cwd, bare.directory.value)
        simple = replace(
            shape,
            argv=bare.argv,
            wrappers=bare.names,
            assignments=(*shape.assignments, *inherited),
            cwd=cwd,
        )
        body = state.functions.get(simple.name or "") if not simple.wrappers else None
        if body is not None:
            called = self._call(body, simple.argv[1:], state) or Script((_unknown(simple),))
            return replace(simple, nested=called, function=True)
        nested = self._nested(simple, state, given)
        if not bare.names or bare.names == ("builtin",) or bare.names == ("command",):
            apply_builtin(simple.argv, state)
        return replace(simple, nested=nested)

    def _nested(self, simple: Simple, state: ShellState, given: StandardInput) -> Script | None:
        inside = state.copy()
        inside.cwd = simple.cwd
        carried = [
            HandedOn(word.value)
            for name, word in simple.assignments
            if word is not None and CARRYING_VARIABLES.fullmatch(name)
        ]
        carried.extend(handed_on(simple.argv, given))
        statements: list[Node] = []
        for item in carried:
            script = self._carried(item, simple, state if item.here else inside.copy())
            if script is None:
                statements.append(_unknown(simple))
            else:
                statements.extend(script.statements)
        return Script(tuple(statements)) if carried else None

    def _carried(self, item: HandedOn, simple: Simple, state: ShellState) -> Script | None:
        if item.positional is not None:
            state.positional = tuple(
                None if word.value is None else Known(word.value, word.glob) for word in item.positional
            )
        if self._depth >= MAX_NESTING or not self._spend(1):
            return None
        if item.words is not None:
            inner = Builder(self._source, self._read, self._depth + 1, self._budget)
            shape = replace(simple, words=item.words, assignments=(), redirects=(), substitutions=(), nested=None)
            return Script((inner._finish(shape, state, StandardInput()),))
        if item.text is None:
            return None
        read = self._read(item.text)
        if read is None:
            return None
        source, tree = read
        inner = Builder(source, self._read, self._depth + 1, self._budget)
        return inner.script(tree.get("Stmts"), state)

    def _call(self, body: Json, arguments: Sequence[Word], state: ShellState) -> Script | None:
        if self._depth >= MAX_NESTING or not self._spend(1):
            return None
        kept = state.positional
        state.positional = tuple(None if word.value is None else Known(word.value, word.glob) for word in arguments)
        self._depth += 1
        node = self._statement(body, state)
        self._depth -= 1
        state.positional = kept
        return Script((node,))

    def _scoped(self, statements: Sequence[Json] | None, state: ShellState) -> Script:
        inner = Builder(self._source, self._read, self._depth, self._budget)
        return inner.script(statements, state.copy())

    def _spend(self, amount: int) -> bool:
        self._budget[0] -= amount
        return self._budget[0] > 0


def _stages(command: Json) -> list[Json]:
    """The statements joined by one chain of pipes; a redirected or negated inner pipeline stays whole."""
    stages = [command["Y"]]
    left = command["X"]
    while (
        left.get("Cmd", {}).get("Type") == "BinaryCmd"
        and left["Cmd"]["Op"] in ("|", "|&")
        and not left.get("Redirs")
        and not left.get("Negated")
    ):
        stages.append(left["Cmd"]["Y"])
        left = left["Cmd"]["X"]
    return [left, *reversed(stages)]


def _links(command: Json) -> tuple[Json, list[tuple[Connector, Json]]]:
    """A chain of `&&` and `||` from its first statement on."""
    rest = [(Connector(command["Op"]), command["Y"])]
    left = command["X"]
    while (
        left.get("Cmd", {}).get("Type") == "BinaryCmd"
        and left["Cmd"]["Op"] in ("&&", "||")
        and not left.get("Redirs")
        and not left.get("Negated")
    ):
        rest.append((Connector(left["Cmd"]["Op"]), left["Cmd"]["Y"]))
        left = left["Cmd"]["X"]
    return left, rest[::-1]


def _is_sure(node: Node) -> bool:
    """Whether a command is taken to succeed, so that what follows `&&` counts as done afterwards."""
    return isinstance(node, Simple) and (not node.argv or node.name in _SURE)


def _leaves(node: Node) -> bool:
    """Whether control does not come back from `node`: `|| exit 1`, `|| { echo no; return; }`."""
    match node:
        case Simple():
            return node.name in _LEAVING
        case Compound(kind=CompoundKind.BRACE, parts=(Script(statements=statements),)):
            return bool(statements) and _leaves(statements[-1])
        case _:
            return False


def _unknown(simple: Simple) -> Simple:
    nothing = Word(None, "")
    return replace(simple, words=(nothing,), argv=(nothing,), assignments=(), redirects=(), substitutions=())


def unreadable(text: str) -> Script:
    """A script the shell accepts and the grammar does not: one command that nobody can name."""
    nothing = Word(None, text)
    return Script((Simple((nothing,), (nothing,), (), (), (), None, 0, len(text.encode("utf-8"))),))
