"""Syntax of what is about to be written: formats that must parse, and problems an edit adds."""

from __future__ import annotations

import json
import re
import symtable
import tomllib
import warnings
from collections.abc import Callable
from pathlib import PurePosixPath

_Check = Callable[[str], str]


def _json(text: str) -> str:
    try:
        json.loads(text)
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:
        return str(error)
    return ""


def _toml(text: str) -> str:
    try:
        tomllib.loads(text)
    except RecursionError:
        return "nested too deeply"
    except tomllib.TOMLDecodeError as error:
        return str(error)
    return ""


def _yaml(text: str) -> str:
    try:
        import yaml
    except ImportError:
        return ""
    try:
        for _ in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
    except RecursionError:
        return "nested too deeply"
    except yaml.YAMLError as error:
        return " ".join(str(error).split())
    return ""


def _python(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Parses as ast.parse does, in half the time: no tree of Python objects is built.
            symtable.symtable(text, "<content>", "exec")
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return ""


_GATED: dict[str, tuple[str, _Check]] = {
    ".json": ("JSON", _json),
    ".toml": ("TOML", _toml),
    ".yaml": ("YAML", _yaml),
    ".yml": ("YAML", _yaml),
}
_REPORTED: dict[str, tuple[str, _Check]] = {
    ".py": ("Python", _python),
    ".pyi": ("Python", _python),
    ".pyw": ("Python", _python),
    **_GATED,
}
_COMMENTED_JSON = (
    "tsconfig",
    "jsconfig",
    "devcontainer",
    "settings.",
    "launch.",
    "tasks.",
    "keybindings.",
    "extensions.",
)
_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def _json_with_comments(text: str) -> str:
    bare = _COMMENT_OR_STRING.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)
    return _json(re.sub(r",(?=\s*[}\]])", "", bare))


def _checker(table: dict[str, tuple[str, _Check]], path: str) -> tuple[str, _Check] | None:
    name = PurePosixPath(path.lower())
    if name.suffix == ".jsonc" or (name.suffix == ".json" and name.name.startswith(_COMMENTED_JSON)):
        return "JSON", _json_with_comments
    return table.get(name.suffix)


def unparsable(path: str, text: str) -> str:
    """Why a JSON, TOML or YAML file with this content would not parse, "" where it would or where nothing is known."""
    found = _checker(_GATED, path)
    if found is None:
        return ""
    problem = found[1](text)
    return f"{found[0]} does not parse: {problem}" if problem else ""


def new_problem(path: str, before: str | None, after: str) -> str:
    """The syntax error that `after` has and `before` (None: no file) had not, "" when there is none."""
    found = _checker(_REPORTED, path)
    if found is None:
        return ""
    language, check = found
    problem = check(after)
    if not problem or (before is not None and _same(check(before), problem)):
        return ""
    return f"syntax error ({language}): {problem}"


def _same(earlier: str, problem: str) -> bool:
    """Whether two problems are one, moved to another place."""
    return re.sub(r"\d+", "", earlier) == re.sub(r"\d+", "", problem)
