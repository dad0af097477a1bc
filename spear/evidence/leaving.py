"""Where a script may end before its last line, so that what follows need not have run (spec 3.3)."""

from __future__ import annotations

from typing import assert_never

from spear.shell.syntax import AndOr, Background, Compound, CompoundKind, Connector, Node, Pipeline, Simple


def ends_here(simple: Simple) -> bool:
    """Whether nothing after this command runs: `exit`, `return`, `exec prog`, `set -n`."""
    if simple.name in ("exit", "return") or ("exec" in simple.wrappers and bool(simple.argv)):
        return True
    if simple.name != "set":
        return False
    words = [word.value or "" for word in simple.argv[1:]]
    return "noexec" in words or any(w[:1] == "-" and w[:2] != "--" and "n" in w[1:] for w in words)


def may_leave(node: Node) -> bool:
    """Whether a node can end the script it stands in with success, or with a status that is not known.

    `x || exit 1` cannot: a script that ended with 0 went past it.
    """
    match node:
        case Simple():
            if node.nested is not None and (node.function or node.name == "eval"):
                return any(_leaves_shell(inner) for inner in node.nested.statements)
            return ends_here(node) and not ends_in_failure(node, bare=False)
        case AndOr():
            guarded = node.connector is Connector.OR and ends_in_failure(node.right)
            return may_leave(node.left) or (not guarded and may_leave(node.right))
        case Compound():
            if node.kind in (CompoundKind.SUBSHELL, CompoundKind.FUNCTION):
                return False
            return any(may_leave(inner) for part in node.parts for inner in part.statements)
        case Pipeline() | Background():
            return False
        case _:
            assert_never(node)


def ends_in_failure(node: Node, *, bare: bool = True) -> bool:
    """Whether a node always ends the script with a failure. `bare`: an `exit` without a status does, as after `||`."""
    if isinstance(node, Compound) and node.kind is CompoundKind.BRACE and node.parts and node.parts[0].statements:
        return ends_in_failure(node.parts[0].statements[-1], bare=bare)
    if not isinstance(node, Simple) or node.name not in ("exit", "return"):
        return False
    return bare if len(node.argv) < 2 else node.argv[1].value not in (None, "0")


def _leaves_shell(node: Node) -> bool:
    """As `may_leave` for the body of a function, out of which `return` leads no further than its call."""
    if isinstance(node, Simple) and node.name == "return":
        return False
    if isinstance(node, Compound) and node.kind not in (CompoundKind.FUNCTION, CompoundKind.SUBSHELL):
        return any(_leaves_shell(inner) for part in node.parts for inner in part.statements)
    if isinstance(node, AndOr):
        guarded = node.connector is Connector.OR and ends_in_failure(node.right)
        return _leaves_shell(node.left) or (not guarded and _leaves_shell(node.right))
    return may_leave(node)
