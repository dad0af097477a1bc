"""One program as it is started, and what a table says of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind, Scope


@dataclass(frozen=True, slots=True)
class Invocation:
    """A program with its arguments; an argument that cannot be known without running is None.

    `name` is the program's base name without `.exe`; `cwd` is workspace-relative ("" the root), None when unknown;
    `stdin` is a here-document's text; `text` is the command as written.
    """

    name: str
    program: str
    args: tuple[str | None, ...]
    cwd: str | None
    text: str
    stdin: str | None = None
    made: frozenset[str] = field(default_factory=frozenset)

    def of(self, words: tuple[str | None, ...]) -> Invocation | None:
        """The same place running another command line, None when its program is not known."""
        if not words or words[0] is None:
            return None
        return replace(self, name=base_name(words[0]), program=words[0], args=words[1:])

    @property
    def known(self) -> tuple[str, ...]:
        """The arguments that are known."""
        return tuple(arg for arg in self.args if arg is not None)


def base_name(program: str) -> str:
    """`/usr/bin/cc.exe` → `cc`."""
    return program.rsplit("/", 1)[-1].removesuffix(".exe").removesuffix(".cmd")


@dataclass(frozen=True, slots=True)
class Finding:
    """What an invocation is. `void` says why it can prove nothing however it ends; `writes` says that changing the
    source is what it is for (a formatter, `--fix`); `cwd` is where it really works (`make -C`). `makes` are the files a
    compiler writes, as written; `decided_by` the files of the tree that decide what it runs.
    """

    tool: str
    kinds: frozenset[CheckKind]
    scope: Scope = Scope.PROJECT
    selectors: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    cwd: str | None = ""
    void: CheckCode | None = None
    writes: bool = False
    makes: tuple[str, ...] = ()
    decided_by: tuple[str, ...] = ()

    @property
    def reads_workspace(self) -> bool:
        """Whether everything it was given to read lies in the workspace."""
        return bool(self.paths) and len(self.paths) == len(self.selectors)

    def is_own(self, facts: ProjectFacts) -> bool:
        """Whether this turn itself wrote all that decides what it runs."""
        return bool(self.decided_by) and all(facts.made_here(path) for path in self.decided_by)


_LETTERS = {
    "b": CheckKind.BUILD,
    "t": CheckKind.TEST,
    "l": CheckKind.LINT,
    "r": CheckKind.RUN,
    "c": CheckKind.CLEAN,
    "i": CheckKind.INSPECT,
}


def kinds(letters: str) -> frozenset[CheckKind]:
    """Kinds by their first letters: `kinds("bt")` is build and test."""
    return frozenset(_LETTERS[letter] for letter in letters)
