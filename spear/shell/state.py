"""What is known about a shell while its script is read from top to bottom: directory, variables, functions."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from spear.shell.screen import START_DIRECTORY


@dataclass(frozen=True, slots=True)
class Known:
    """A variable's value. `pattern` says that it is one of the names a glob pattern stands for."""

    text: str
    pattern: bool = False


_NAME = re.compile(r"[A-Za-z_]\w*")
_SHELLS_OWN = re.compile(
    r"PATH|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|S?RANDOM|SECONDS|EPOCH\w+|LINENO"
    r"|E?UID|PPID|GROUPS|BASH\w*|FUNCNAME|PIPESTATUS|COLUMNS|LINES|REPLY|OPT\w+|DIRSTACK|SHLVL|XDG_\w+|PS\d|_"
)
"""Variables that a shell, or whoever starts it, always sets."""


@dataclass(slots=True)
class ShellState:
    """The mutable state of one (sub)shell. A variable that is absent or None has a value nobody can know here.

    Where all of them are known (`complete`), one that is absent is not set.
    `cwd` is relative to the start ("" is the start), absolute once an absolute path was entered, None when unknown.
    """

    cwd: str | None = ""
    variables: dict[str, Known | None] = field(default_factory=dict)
    functions: dict[str, dict[str, Any]] = field(default_factory=dict)
    positional: tuple[Known | None, ...] | None = None
    previous: str | None = None
    stack: list[str | None] = field(default_factory=list)
    complete: bool = False

    def copy(self) -> ShellState:
        """An independent copy, as a subshell has it."""
        return ShellState(
            self.cwd, dict(self.variables), dict(self.functions), self.positional, self.previous, list(self.stack),
            self.complete,
        )  # fmt: skip

    def become(self, other: ShellState) -> None:
        """Take over everything `other` knows."""
        self.cwd, self.variables, self.functions = other.cwd, other.variables, other.functions
        self.positional, self.previous, self.stack = other.positional, other.previous, other.stack
        self.complete = other.complete

    def either(self, other: ShellState) -> None:
        """Keep only what is the same here and in `other`: one of the two is what the shell will be in."""
        if self.cwd != other.cwd:
            self.cwd = None
        if self.positional != other.positional:
            self.positional = None
        for name in self.variables.keys() | other.variables.keys():
            if self.lookup(name) != other.lookup(name):
                self.variables[name] = None
        self.complete = self.complete and other.complete
        for name, body in other.functions.items():
            self.functions.setdefault(name, body)

    def lookup(self, name: str) -> Known | None:
        """The value of a variable, None when it cannot be known."""
        if name == "PWD":
            return None if self.cwd is None else Known(shown_directory(self.cwd))
        if name == "OLDPWD":
            return None if self.previous is None else Known(shown_directory(self.previous))
        if name.isdigit() and int(name) and self.positional is not None:
            return self.positional[int(name) - 1] if int(name) <= len(self.positional) else Known("")
        if name not in self.variables and self.complete and _NAME.fullmatch(name) and not _SHELLS_OWN.fullmatch(name):
            return Known("")
        return self.variables.get(name)

    def enter(self, directory: str | None) -> None:
        """`cd directory`; None enters a directory nobody can know."""
        self.previous, self.cwd = self.cwd, join(self.cwd, directory)


def shown_directory(cwd: str) -> str:
    """How `$PWD` reads in a word's value."""
    if cwd.startswith("/"):
        return cwd
    return posixpath.join(START_DIRECTORY, cwd) if cwd else START_DIRECTORY


def join(cwd: str | None, path: str | None) -> str | None:
    """`path` as seen from `cwd`, lexically: relative to the start or absolute, "" for the start itself."""
    if path is None:
        return None
    if path == START_DIRECTORY or path.startswith(START_DIRECTORY + "/"):
        return _tidy(path[len(START_DIRECTORY) + 1 :])
    if START_DIRECTORY in path:
        return None
    for alias, target in (("/proc/self/cwd", cwd), ("/proc/self/root", "/")):
        if path == alias or path.startswith(alias + "/"):
            return join(target, path[len(alias) + 1 :] or ".")
    if path.startswith("/"):
        return _tidy(path)
    return None if cwd is None else _tidy(posixpath.join(cwd, path))


def _tidy(path: str) -> str:
    if not path:
        return ""
    tidy = posixpath.normpath(path)
    return "" if tidy == "." else "/" + tidy.lstrip("/") if tidy.startswith("//") else tidy
