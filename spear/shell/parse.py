"""The one way from the text of a command to its tree (spec 2.6).

A text is read once; every rule of the house then reads the tree. Results are kept by text inside the parser object,
so that policy, evidence and display ask for the same text at no cost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from spear.shell.build import Builder, unreadable
from spear.shell.plain import plain_tree
from spear.shell.screen import screen
from spear.shell.shfmt import find_shfmt, read_grammar, shell_accepts
from spear.shell.state import Known, ShellState
from spear.shell.syntax import Arguments, Environment, Script, SyntaxProblem

MAX_COMMANDS = 500
"""Most simple commands in one script."""

SANDBOX_VARIABLES: Mapping[str, str] = {"HOME": "/home/sandbox", "TMPDIR": "/tmp", "IFS": " \t\n"}  # noqa: S108
"""What is known of every sandboxed shell before its first line."""

Grammar = tuple[bytes, dict[str, Any]]


class ShellParser:
    """Parses scripts; safe to share between threads.

    `variables` are known values at the start of every script. The most recent `kept` texts are remembered.
    """

    def __init__(
        self, variables: Mapping[str, str] = SANDBOX_VARIABLES, *, binary: Path | None = None, kept: int = 256
    ) -> None:
        self._variables = {name: Known(value) for name, value in variables.items()}
        self._binary = binary or find_shfmt()
        self._kept = kept
        self._scripts: OrderedDict[tuple[str, Arguments, Environment], Script | SyntaxProblem] = OrderedDict()
        self._lock = Lock()

    def parse(self, text: str, arguments: Arguments = None, environment: Environment = None) -> Script | SyntaxProblem:
        """The tree of `text`, or why it is not run. Never raises for any text; about 3 ms the first time.

        `arguments` are what the text sees as `$0`, `$1`…, each None where it is not known; None where nothing is.
        `environment` are all the variables it starts with, None where others may be set.
        """
        key = (text, arguments, environment)
        with self._lock:
            if key in self._scripts:
                self._scripts.move_to_end(key)
                return self._scripts[key]
        result = self._read(text, arguments, environment)
        with self._lock:
            self._scripts[key] = result
            while len(self._scripts) > self._kept:
                self._scripts.popitem(last=False)
        return result

    def _read(self, text: str, arguments: Arguments, environment: Environment) -> Script | SyntaxProblem:
        problem = screen(text)
        if problem is not None:
            return problem
        tree = self._tree(text)
        if isinstance(tree, SyntaxProblem):
            return unreadable(text) if tree.line and shell_accepts(text) else tree
        if _commands(tree) > MAX_COMMANDS:
            return SyntaxProblem(f"the script has more than {MAX_COMMANDS} commands; split it or put it into a file")
        builder = Builder(text.encode("utf-8"), self._inner)
        known = [None if word is None else Known(word) for word in arguments or ()]
        named = {"0": known[0], "BASH_SOURCE": known[0]} if known else {}
        set_before = {name: None if value is None else Known(value) for name, value in environment or ()}
        state = ShellState(
            variables={**self._variables, **set_before, **named},
            positional=tuple(known[1:]) if known else None,
            complete=environment is not None,
        )
        try:
            return builder.script(tree.get("Stmts"), state)
        except RecursionError:
            return SyntaxProblem("the script is too deeply nested to be analysed")

    def _tree(self, text: str) -> dict[str, Any] | SyntaxProblem:
        return plain_tree(text) or read_grammar(self._binary, text)

    def _inner(self, text: str) -> Grammar | None:
        """A script found inside a script; None when it cannot be read."""
        if screen(text) is not None:
            return None
        tree = self._tree(text)
        if isinstance(tree, SyntaxProblem) or _commands(tree) > MAX_COMMANDS:
            return None
        return text.encode("utf-8"), tree


def parse(text: str) -> Script | SyntaxProblem:
    """Parse one script with a parser of its own: for a single question. Keep a `ShellParser` to ask many."""
    return ShellParser().parse(text)


def _commands(tree: Any) -> int:
    count, waiting = 0, [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            count += node.get("Type") in ("CallExpr", "DeclClause")
            waiting.extend(value for value in node.values() if isinstance(value, dict | list))
    return count
