"""One numbering of a script's simple commands, shared by recognition and by the reading of statuses.

A path names a simple command by the way to it: the number of the statement in its script, the stage of a pipeline,
0 and 1 for the sides of `&&` and `||`, the part of a compound and its statement; within a simple command 0 is the
script it hands on (`sh -c`, the body of a function it calls) and 1… are its substitutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

from spear.shell.syntax import AndOr, Background, Compound, CompoundKind, Connector, Node, Pipeline, Script, Simple

Path: TypeAlias = tuple[int, ...]


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
    """A simple command and its path. `inside` are the pipelines, background jobs and compounds around it, outermost
    first, each with its own path. One that hands on a script stands for what follows it, and is no check itself.
    """

    path: Path
    simple: Simple
    inside: tuple[tuple[Enclosing, Path], ...] = ()


def leaves(script: Script) -> Iterator[Leaf]:
    """Every simple command that may run, in source order; a function's body where it is called."""
    yield from _script(script, (), ())


def _script(script: Script, path: Path, inside: Inside) -> Iterator[Leaf]:
    for index, statement in enumerate(script.statements):
        yield from _leaves(statement, (*path, index), inside)


def _leaves(node: Node, path: Path, inside: Inside) -> Iterator[Leaf]:
    match node:
        case Simple():
            yield from _simple(node, path, inside)
        case Pipeline():
            within = (*inside, (Enclosing.PIPELINE, path))
            for index, stage in enumerate(node.stages):
                yield from _leaves(stage, (*path, index), within)
        case AndOr():
            yield from _leaves(node.left, (*path, 0), inside)
            within = inside if node.connector is Connector.AND else (*inside, (Enclosing.CONDITIONAL, path))
            yield from _leaves(node.right, (*path, 1), within)
        case Background():
            yield from _leaves(node.body, (*path, 0), (*inside, (Enclosing.BACKGROUND, path)))
        case Compound():
            if node.kind is CompoundKind.FUNCTION:
                return
            within = (*inside, (_OF_COMPOUND.get(node.kind, Enclosing.GROUP), path))
            for index, part in enumerate((*node.parts, *node.substitutions)):
                yield from _script(part, (*path, index), within)
        case _:
            assert_never(node)


def _simple(simple: Simple, path: Path, inside: Inside) -> Iterator[Leaf]:
    yield Leaf(path, simple, inside)
    within = (*inside, (Enclosing.HANDED_ON, path))
    if simple.nested is not None:
        yield from _script(simple.nested, (*path, 0), within)
    for index, substitution in enumerate(simple.substitutions, start=1):
        yield from _script(substitution, (*path, index), within)


_OUT_OF_SEQUENCE = frozenset({Enclosing.BACKGROUND, Enclosing.LOOP, Enclosing.CONDITIONAL})


def in_sequence(leaf: Leaf) -> bool:
    """Whether it runs once, in its place: not in the background, a loop or a branch."""
    return not any(kind in _OUT_OF_SEQUENCE for kind, _ in leaf.inside)


def settled_before(writer: Leaf, check: Leaf) -> bool:
    """Whether all a command may do is done when a check that stands in sequence begins: it stands before it, in a loop
    or a branch of its own at most, and not in the background."""
    return writer.path < check.path and not any(kind is Enclosing.BACKGROUND for kind, _ in writer.inside)


def same_pipeline(one: Leaf, other: Leaf) -> bool:
    """Stages of one pipeline run at the same time."""
    pipelines = {path for kind, path in one.inside if kind is Enclosing.PIPELINE}
    return any(kind is Enclosing.PIPELINE and path in pipelines for kind, path in other.inside)


def programs(script: Script) -> tuple[str, ...]:
    """The programs a script would start, in source order, as written: the `argv0s` of its record."""
    named = (leaf.simple.argv[0] for leaf in leaves(script) if leaf.simple.argv and not leaf.simple.function)
    return tuple(word.value if word.value is not None else word.raw for word in named)


def has_background(script: Script) -> bool:
    """Whether any part of a script is sent to the background."""
    return any(kind is Enclosing.BACKGROUND for leaf in leaves(script) for kind, _ in leaf.inside)
