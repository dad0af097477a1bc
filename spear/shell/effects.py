"""What a builtin does to the shell it runs in: directory, variables, and what a stretch of script may touch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from spear.shell.state import Known, ShellState
from spear.shell.syntax import Word

_NAME = re.compile(r"[A-Za-z_]\w*")
_SETTERS = frozenset({"read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "local", "eval", "wait"})
_MOVERS = frozenset({"cd", "pushd", "popd", "eval", "chdir"})


def apply_builtin(argv: Sequence[Word], state: ShellState) -> None:
    """Change `state` as running `argv` in the current shell would."""
    if not argv:
        return
    match argv[0].value:
        case "cd" | "chdir":
            _change_directory(_operands(argv), state)
        case "pushd":
            state.stack.append(state.cwd)
            _change_directory(_operands(argv), state)
        case "popd":
            state.cwd = state.stack.pop() if state.stack else None
        case "source" | ".":
            state.complete = False
            for name in state.variables.keys() - {"HOME", "IFS", "TMPDIR"}:
                state.variables[name] = None
        case "shift":
            _shift(argv, state)
        case "set":
            _set(argv[1:], state)
        case name if name in _SETTERS:
            state.complete = state.complete and name != "eval"
            for word in argv[1:]:
                if word.value is not None and _NAME.fullmatch(word.value):
                    state.variables[word.value] = None


def _shift(argv: Sequence[Word], state: ShellState) -> None:
    count = argv[1].value if len(argv) > 1 else "1"
    known = state.positional is not None and count is not None and count.isdigit()
    state.positional = state.positional[int(count) :] if known and state.positional and count else None


def _set(words: Sequence[Word], state: ShellState) -> None:
    """`set -e` leaves the arguments as they are, `set -- a b` gives new ones."""
    rest, ended = list(words), False
    while rest and not ended and rest[0].value is not None and re.fullmatch(r"[-+]\w*|--", rest[0].value):
        option = rest.pop(0).value or ""
        ended = option in ("--", "-")
        if re.fullmatch(r"[-+]\w*o", option) and rest:
            rest.pop(0)
    if rest or ended:
        known = all(word.value is not None for word in rest)
        state.positional = tuple(Known(word.value or "", word.glob) for word in rest) if known else None


def _operands(argv: Sequence[Word]) -> list[Word]:
    return [word for word in argv[1:] if not re.fullmatch(r"-[LPe@n]+|--", word.value or "x")]


def _change_directory(operands: Sequence[Word], state: ShellState) -> None:
    if not operands:
        home = state.variables.get("HOME")
        state.enter(None if home is None else home.text)
        return
    target = operands[0]
    if target.value == "-":
        state.cwd, state.previous = state.previous, state.cwd
    elif len(operands) > 1 or target.glob or not target.value:
        state.enter(None if target.value is None or target.glob or len(operands) > 1 else ".")
    elif state.lookup("CDPATH") is not None and not target.value.startswith((".", "/", "\ufdd0")):
        state.enter(None)
    else:
        state.enter(target.value)


def forget_changes(tree: Any, state: ShellState) -> None:
    """Forget what running `tree` (a stretch of the grammar's tree) any number of times may have changed."""
    names, moves = set[str](), False
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
            continue
        if not isinstance(node, dict):
            continue
        waiting.extend(value for value in node.values() if isinstance(value, dict | list))
        names.update(_assigned(node))
        words = _leading_words(node)
        if words and words[0] in _MOVERS:
            moves = True
        if words and words[0] in ("shift", "set", "eval", "source", "."):
            state.positional = None
        if words and words[0] in ("eval", "source", "."):
            state.complete = False
        if words and words[0] in _SETTERS:
            names.update(words[1:])
    for name in names:
        state.variables[name] = None
    if moves:
        state.cwd = None


def _assigned(node: dict[str, Any]) -> list[str]:
    found = []
    for assign in [*(node.get("Assigns") or ()), *((node.get("Args") or ()) if "Variant" in node else ())]:
        name = (assign.get("Name") or {}).get("Value") if isinstance(assign, dict) else None
        if isinstance(name, str):
            found.append(name)
    if node.get("Type") == "WordIter":
        found.append(node["Name"]["Value"])
    if node.get("Type") in ("BinaryArithm", "UnaryArithm"):
        parts = (node.get("X") or {}).get("Parts") or ()
        found.extend(part["Value"] for part in parts if part.get("Type") == "Lit" and part.get("Value"))
    return found


def _leading_words(node: dict[str, Any]) -> list[str]:
    if node.get("Type") != "CallExpr":
        return []
    words = []
    for argument in node.get("Args") or ():
        parts = list(argument.get("Parts") or ())
        words.append(parts[0].get("Value", "") if len(parts) == 1 and parts[0].get("Type") == "Lit" else "")
    return words


def assign(name: str, value: Known | None, state: ShellState, *, append: bool = False) -> None:
    """`name=value` or `name+=value`."""
    if append:
        before = state.lookup(name)
        known = before is not None and value is not None
        value = Known(before.text + value.text) if known and before and value else None
    state.variables[name] = value
