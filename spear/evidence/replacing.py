"""What a conftest puts in the place of the code under test, read from its syntax (spec 3.3)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

_SETTERS = frozenset({"setattr", "monkeypatch.setattr", "mp.setattr", "mocker.patch.object", "patch.object"})
_PATCHERS = frozenset({"patch", "mock.patch", "mocker.patch", "monkeypatch.setattr", "mp.setattr"})


def replaced_by(text: str) -> frozenset[str]:
    """The dotted names it replaces for every test: as it is loaded, in a hook, in a fixture every test uses. A module
    put in the place of another is named alone. Nothing is read from a text that is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    imports = dict(_imports(tree))
    return frozenset(name for node in _for_every_test(tree) for name in _replaced(node, imports))


def defines(path: str, text: str, dotted: str) -> bool:
    """Whether the module at `path`, of this text, is the one a dotted name speaks of, and defines what it names."""
    names = _module_names(path)
    if dotted in names:
        return True
    module, _, attribute = dotted.rpartition(".")
    return (
        module in names and re.search(rf"^(?:async\s+def|def|class)\s+{re.escape(attribute)}\b", text, re.M) is not None
    )


def _module_names(path: str) -> frozenset[str]:
    """Every dotted name a module of that path can be imported by: `src/pkg/calc.py` is `pkg.calc` from `src`."""
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[:-1] if parts and parts[-1] == "__init__" else parts
    return frozenset(".".join(parts[index:]) for index in range(len(parts)))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    (alias.asname or alias.name.split(".")[0]),
                    (alias.name if alias.asname else alias.name.split(".")[0]),
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _for_every_test(tree: ast.Module) -> Iterator[ast.AST]:
    """What happens whichever test runs: not in a fixture a test has to ask for."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            "fixture" in (said := ast.unparse(decorator)) and "autouse" not in said
            for decorator in statement.decorator_list
        ):
            continue
        yield from ast.walk(statement)


def _replaced(node: ast.AST, imports: dict[str, str]) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            yield from (name for target in targets if (name := _target(target, imports)))
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if _dotted(function, {}) in _PATCHERS:
            yield name
        case ast.Call(func=function, args=[owner, ast.Constant(value=str(name)), *_]):
            if _dotted(function, {}).removeprefix("unittest.").removeprefix("mock.") in _SETTERS:
                yield f"{_dotted(owner, imports)}.{name}"
        case _:
            pass


def _target(node: ast.expr, imports: dict[str, str]) -> str:
    """The dotted name an assignment replaces: `calc.add = …`, `calc.add.__code__ = …`, `sys.modules["calc"] = …`."""
    match node:
        case ast.Attribute(value=value, attr="__code__" | "__wrapped__" | "__call__"):
            return _dotted(value, imports)
        case ast.Attribute(value=ast.Name(id=name)) if name not in imports:
            return ""
        case ast.Attribute():
            return _dotted(node, imports)
        case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
            said = _dotted(owner, imports)
            if said == "sys.modules":
                return name
            if said.endswith(".__dict__"):
                return f"{said.removesuffix('.__dict__')}.{name}"
            if isinstance(owner, ast.Call) and _dotted(owner.func, {}) == "vars" and owner.args:
                return f"{_dotted(owner.args[0], imports)}.{name}"
            return ""
        case _:
            return ""


def _dotted(node: ast.expr, imports: dict[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return imports.get(name, name)
        case ast.Attribute(value=value, attr=attribute):
            return f"{_dotted(value, imports)}.{attribute}"
        case _:
            return ""
