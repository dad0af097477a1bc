"""One numbering of a script's simple commands, shared by recognition and by the reading of statuses.

A path names a simple command by the way to it: the number of the statement in its script, the stage of a pipeline,
0 and 1 for the sides of `&&` and `||`, the part of a compound and its statement; within a simple command 0 is the
script it hands on (`sh -c`, a called function's body) and 1… are its substitutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

from spear.shell.syntax import AndOr, Background, Compound, CompoundKind, Connector, Node, Pipeline, Script, Simple

Path: TypeAlias = tuple[int, ...]
Functions: TypeAlias = Mapping[str, Script]


class Enclosing(StrEnum):
    """What can stand around a command and matter for the order it runs in."""

    PIPELINE = "pipeline"
    BACKGROUND = "background"
    CONDITIONAL = "conditional"
    LOOP = "loop"
    GROUP = "group"
    HANDED_ON = "handed_on"


Inside: TypeAlias = tuple[tuple[Enclosing, Path], ...]
_OF_COMPOUND: Mapping[CompoundKind, Enclosing] = {
    CompoundKind.IF: Enclosing.CONDITIONAL,
    CompoundKind.CASE: Enclosing.CONDITIONAL,
    CompoundKind.LOOP: Enclosing.LOOP,
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A simple command and its path. `calls_function` says that it stands for the body that follows it; `inside`
    are the pipelines, background jobs and compounds around it, outermost first, each with its own path.
    """

    path: Path
    simple: Simple
    calls_function: bool = False
    inside: tuple[tuple[Enclosing, Path], ...] = ()


def functions_of(script: Script) -> dict[str, Script]:
    """The functions a script defines anywhere in it, by name."""
    found: dict[str, Script] = {}
    for node in _nodes(script):
        if isinstance(node, Compound) and node.kind is CompoundKind.FUNCTION and node.parts:
            found[node.name] = node.parts[0]
    return found


def _nodes(script: Script) -> Iterator[Node]:
    pending: list[Node] = list(reversed(script.statements))
    while pending:
        node = pending.pop()
        yield node
        match node:
            case Pipeline():
                pending.extend(reversed(node.stages))
            case AndOr():
                pending.extend((node.right, node.left))
            case Background():
                pending.append(node.body)
            case Compound():
                pending.extend(statement for part in reversed(node.parts) for statement in reversed(part.statements))
            case Simple():
                pass
            case _:
                assert_never(node)


def leaves(script: Script) -> Iterator[Leaf]:
    """Every simple command that may run, in source order; a function's body where it is called."""
    yield from _script(script, (), functions_of(script), ())


def _script(script: Script, path: Path, functions: Functions, inside: Inside) -> Iterator[Leaf]:
    for index, statement in enumerate(script.statements):
        yield from _leaves(statement, (*path, index), functions, inside)


def _leaves(node: Node, path: Path, functions: Functions, inside: Inside) -> Iterator[Leaf]:
    match node:
        case Simple():
            yield from _simple(node, path, functions, inside)
        case Pipeline():
            within = (*inside, (Enclosing.PIPELINE, path))
            for index, stage in enumerate(node.stages):
                yield from _leaves(stage, (*path, index), functions, within)
        case AndOr():
            yield from _leaves(node.left, (*path, 0), functions, inside)
            within = inside if node.connector is Connector.AND else (*inside, (Enclosing.CONDITIONAL, path))
            yield from _leaves(node.right, (*path, 1), functions, within)
        case Background():
            yield from _leaves(node.body, (*path, 0), functions, (*inside, (Enclosing.BACKGROUND, path)))
        case Compound():
            if node.kind is CompoundKind.FUNCTION:
                return
            within = (*inside, (_OF_COMPOUND.get(node.kind, Enclosing.GROUP), path))
            for index, part in enumerate((*node.parts, *node.substitutions)):
                yield from _script(part, (*path, index), functions, within)
        case _:
            assert_never(node)


def _simple(simple: Simple, path: Path, functions: Functions, inside: Inside) -> Iterator[Leaf]:
    body = functions.get(simple.name or "")
    yield Leaf(path, simple, body is not None, inside)
    within = (*inside, (Enclosing.HANDED_ON, path))
    if body is not None:
        yield from _script(body, (*path, 0), without(functions, simple.name or ""), within)
    elif simple.nested is not None:
        yield from _script(simple.nested, (*path, 0), functions, within)
    for index, substitution in enumerate(simple.substitutions, start=1):
        yield from _script(substitution, (*path, index), functions, within)


def without(functions: Functions, name: str) -> Functions:
    """The functions that may still be entered from within a call of `name`."""
    return {other: body for other, body in functions.items() if other != name}
