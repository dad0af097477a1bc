"""The shape of a shell script, as every rule of the house reads it. No text is split anywhere else.

A script is a tree of nodes. Leaves are `Simple` commands whose words are literal where they can be known without
running anything and `None` where they cannot. Positions are byte offsets into the script text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `value` is the text after quote removal and expansion of what is statically known, else None.

    `raw` is the source text. `glob` says that an unquoted `* ? [` is in it (then `value` holds the pattern).
    """

    value: str | None
    raw: str
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection that names a file (descriptor duplications and here-documents are not listed).

    `operator` is as written (`>`, `>>`, `>|`, `&>`, `&>>`, `<>`, `<`), `descriptor` what stands before it (`2`), "" for
    nothing.
    """

    operator: str
    target: Word
    start: int
    end: int
    descriptor: str = ""

    @property
    def writes(self) -> bool:
        """Whether the file is opened for writing."""
        return self.operator != "<"


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command.

    `words` is the command as written after assignments; `argv` is what really runs after wrappers (`env`, `command`,
    `timeout`, `nice`, `nohup`, `time`, `xvfb-run`, `stdbuf`, `setsid`, `exec`…) are taken off, empty for a bare
    assignment or redirection; `wrappers` names those taken off, outermost first. `cwd` is the directory the command
    runs in, relative to the script's start ("" is the start), or None once it cannot be known (`cd "$x"`).
    `nested` is where a wrapper hands on a script: `sh -c`, `eval`, a here-document to a shell.
    `substitutions` are scripts run while its words are expanded: `$()`, backticks, `<()`, `>()`.
    `heredoc` is the text of a here-document or here-string, None when there is none or it cannot be known.
    `function` says that the name is a function the script defined; `nested` is then its body as this call runs it.
    """

    words: tuple[Word, ...]
    argv: tuple[Word, ...]
    wrappers: tuple[str, ...]
    assignments: tuple[tuple[str, Word | None], ...]
    redirects: tuple[Redirect, ...]
    cwd: str | None
    start: int
    end: int
    nested: Script | None = None
    substitutions: tuple[Script, ...] = ()
    heredoc: str | None = None
    function: bool = False

    @property
    def name(self) -> str | None:
        """The base name of the program that runs, None when unknown or absent."""
        if not self.argv or self.argv[0].value is None:
            return None
        return self.argv[0].value.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages joined by `|` or `|&` (one stage is no Pipeline unless negated)."""

    stages: tuple[Node, ...]
    negated: bool = False


class Connector(StrEnum):
    """`&&` or `||`."""

    AND = "&&"
    OR = "||"


@dataclass(frozen=True, slots=True)
class AndOr:
    """`left && right` or `left || right`; chains nest to the left, as the shell reads them."""

    left: Node
    connector: Connector
    right: Node


@dataclass(frozen=True, slots=True)
class Background:
    """A node sent to the background with `&` (or a coproc)."""

    body: Node


class CompoundKind(StrEnum):
    """Compound commands."""

    SUBSHELL = "subshell"
    BRACE = "brace"
    IF = "if"
    LOOP = "loop"
    CASE = "case"
    FUNCTION = "function"
    TEST = "test"
    ARITHMETIC = "arithmetic"


@dataclass(frozen=True, slots=True)
class Compound:
    """A compound command: its parts in source order (conditions, bodies), and redirections on the whole of it.

    `name` is a function's name; a function's body does not run where it is defined. `calls` of a defined function are
    ordinary `Simple` nodes with that name, whose `nested` is the body as this call runs it. A loop over known words
    has its body once a word. `cwd` is the directory the redirections are opened in, as in `Simple`.
    """

    kind: CompoundKind
    parts: tuple[Script, ...]
    redirects: tuple[Redirect, ...] = ()
    name: str = ""
    substitutions: tuple[Script, ...] = ()
    cwd: str | None = ""


Node: TypeAlias = "Simple | Pipeline | AndOr | Background | Compound"


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in order."""

    statements: tuple[Node, ...]


Arguments: TypeAlias = tuple[str | None, ...] | None
"""What a script sees as `$0`, `$1`…, each None where it is not known; None where nothing is."""

Environment: TypeAlias = tuple[tuple[str, str | None], ...] | None
"""All the variables a script starts with beside those every shell has, a value None where it is not known; None where
others may be set."""


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a text is not run: as the shell would say it, with 1-based line and column (0 when not about a place)."""

    message: str
    line: int = 0
    column: int = 0
