"""How many assertions of a Python test can still fail it, read from its syntax (spec 3.3)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def assertions_that_count(text: str) -> int | None:
    """Assertions that are reached and whose failure is not caught; None for a text that is no Python."""
    try:
        tree = ast.parse(text)
        return sum(1 for _ in _reached(tree.body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _reached(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from _of(statement)
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return


def _of(statement: ast.stmt) -> Iterator[ast.AST]:
    match statement:
        case ast.Assert():
            yield statement
        case ast.Expr(value=value) if _asserts(value):
            yield statement
        case ast.If(test=ast.Constant(value=value), body=body, orelse=orelse):
            yield from _reached(body if value else orelse)
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            yield from _within([item.context_expr for item in items], body)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            caught = any(_swallows(handler) for handler in handlers)
            yield from _reached([*([] if caught else body), *orelse, *finalbody])
        case _:
            yield from _reached(getattr(statement, "body", ()))
            yield from _reached(getattr(statement, "orelse", ()))


def _within(contexts: Sequence[ast.expr], body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    yield from (context for context in contexts if _asserts(context))
    if not any("suppress(" in ast.unparse(context) for context in contexts):
        yield from _reached(body)


def _asserts(node: ast.expr) -> bool:
    """`self.assertEqual(…)`, `pytest.raises(…)`, `pytest.fail(…)`, `mock.assert_called()`."""
    inner = node.value if isinstance(node, ast.Await) else node
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute):
        return False
    return inner.func.attr.startswith(("assert", "fail")) or inner.func.attr in ("raises", "warns")


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failed assertion ends in this handler and goes no further."""
    caught = ast.unparse(handler.type) if handler.type is not None else "BaseException"
    names = {"AssertionError", "Exception", "BaseException"}
    raises = any(isinstance(node, ast.Raise) or _is_failing(node) for node in ast.walk(handler))
    return bool(names & set(caught.strip("()").replace(" ", "").split(","))) and not raises


def _is_failing(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("fail", "exit")
