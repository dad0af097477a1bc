"""Reading the words, assignments, redirections and substitutions of one script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from spear.shell.effects import assign
from spear.shell.handed_on import StandardInput
from spear.shell.printed import substituted
from spear.shell.quoting import here_document
from spear.shell.state import ShellState, join, shown_directory
from spear.shell.syntax import AndOr, Connector, Node, Redirect, Script, Simple, Word
from spear.shell.words import Expander

Json = dict[str, Any]

_DUPLICATIONS = frozenset({">&", "<&"})
_FILES = frozenset({">", ">>", ">|", "&>", "&>>", "<>", "<", ">&"})


class Reader:
    """Reads the pieces of statements. `build` makes the script of a substitution, in a shell of its own.

    Substitutions met on the way are recorded for whoever opened `recording()` last.
    """

    def __init__(self, source: bytes, build: Callable[[Sequence[Json] | None, ShellState], Script]) -> None:
        self._build = build
        self._substitutions: list[Script] = []
        self._expander = Expander(source, self._substitute, self._collect)

    @contextmanager
    def recording(self) -> Iterator[list[Script]]:
        """Substitutions read inside the block, in order."""
        outer, self._substitutions = self._substitutions, []
        try:
            yield self._substitutions
        finally:
            self._substitutions = outer

    def raw(self, node: Json) -> str:
        """The source text of a node."""
        return self._expander.raw(node)

    def words(self, node: Json, state: ShellState) -> list[Word]:
        """The words one word of the source becomes."""
        return self._expander.words(node, state)

    def declared(self, command: Json, state: ShellState, assignments: list[tuple[str, Word | None]]) -> Iterator[Word]:
        for item in command.get("Args") or ():
            if item.get("Name") and not item.get("Naked"):
                yield Word(self.raw(item), self.raw(item))
                self.assign([item], state, assignments)
            elif item.get("Naked") and item.get("Name"):
                yield Word(item["Name"]["Value"], item["Name"]["Value"])
            elif item.get("Value"):
                yield from self._expander.words(item["Value"], state)

    def assign(self, items: Sequence[Json], state: ShellState, assignments: list[tuple[str, Word | None]]) -> None:
        for item in items:
            name = item["Name"]["Value"]
            if "Array" in item or "Index" in item:
                self._substitutions.extend(self.inside(item, state))
                assign(name, None, state)
                assignments.append((name, None))
                continue
            value = self._expander.value(item.get("Value"), state)
            assign(name, value, state, append=bool(item.get("Append")))
            raw = self.raw(item["Value"]) if item.get("Value") else ""
            assignments.append((name, Word(None if value is None else value.text, raw)))

    def redirects(
        self, statement: Json, state: ShellState, given: StandardInput
    ) -> tuple[tuple[Redirect, ...], str | None, StandardInput]:
        found: list[Redirect] = []
        heredoc: str | None = None
        for item in statement.get("Redirs") or ():
            operator, word = item["Op"], item["Word"]
            if operator in ("<<", "<<-"):
                heredoc = self._here_document(item, state)
                given = StandardInput(heredoc, connected=True)
                continue
            if operator == "<<<":
                value = self._expander.value(word, state)
                heredoc = None if value is None else value.text + "\n"
                given = StandardInput(heredoc, connected=True)
                continue
            targets = self._expander.words(word, state)
            if any(part["Type"] == "ProcSubst" for part in word.get("Parts") or ()):
                given = StandardInput(connected=True) if operator == "<" else given
                continue
            target = targets[0] if len(targets) == 1 else Word(None, self.raw(word))
            if operator in _DUPLICATIONS and (_is_descriptor(target) or operator == "<&"):
                continue
            if operator == "<":
                given = StandardInput(connected=True)
            if operator in _FILES:
                descriptor = (item.get("N") or {}).get("Value", "")
                found.append(Redirect(operator, target, item["Pos"]["Offset"], item["End"]["Offset"], descriptor))
        return tuple(found), heredoc, given

    def _here_document(self, item: Json, state: ShellState) -> str | None:
        quoted = any(part["Type"] != "Lit" or "\\" in part.get("Value", "") for part in item["Word"].get("Parts") or ())
        body = item.get("Hdoc") or {}
        pieces: list[str] = []
        for part in body.get("Parts") or ():
            if part["Type"] == "Lit":
                pieces.append(part.get("Value", "") if quoted else here_document(part.get("Value", "")))
                continue
            value = self._expander.value({"Parts": [part], "Pos": part["Pos"], "End": part["End"]}, state)
            pieces.append("\0" if value is None else value.text)
        text = "".join(pieces)
        if item["Op"] == "<<-":
            text = "\n".join(line.lstrip("\t") for line in text.split("\n"))
        return None if "\0" in text else text

    def _substitute(self, part: Json, state: ShellState) -> str | None:
        """A command substitution met while a word is expanded: recorded, and its text where that is plain."""
        script = self._build(part.get("Stmts"), state)
        self._substitutions.append(script)
        made = _directory_printed(script) or _name_made(script, state) or _real_path(script)
        return made or substituted(script)

    def inside(self, tree: Any, state: ShellState) -> tuple[Script, ...]:
        """Every substitution anywhere in `tree`, outermost only."""
        with self.recording() as found:
            self._collect(tree, state)
        return tuple(found)

    def _collect(self, tree: Any, state: ShellState) -> bool:
        """Record the substitutions in `tree`; whether there were any."""
        waiting, before = [tree], len(self._substitutions)
        while waiting:
            node = waiting.pop()
            if isinstance(node, list):
                waiting.extend(reversed(node))
            elif isinstance(node, dict):
                if node.get("Type") in ("CmdSubst", "ProcSubst"):
                    self._substitutions.append(self._build(node.get("Stmts"), state))
                else:
                    waiting.extend(reversed([value for value in node.values() if isinstance(value, dict | list)]))
        return len(self._substitutions) > before


def _directory_printed(script: Script) -> str | None:
    """What `$(pwd)` and `$(cd DIRECTORY && pwd)` stand for."""
    last: Node | None = script.statements[-1] if script.statements else None
    before = list(script.statements[:-1])
    while isinstance(last, AndOr) and last.connector is Connector.AND:
        before.append(last.left)
        last = last.right
    enters = all(isinstance(node, Simple) and node.name == "cd" for node in before)
    if not enters or not isinstance(last, Simple) or last.redirects or last.cwd is None:
        return None
    words = [word.value for word in last.argv]
    return shown_directory(last.cwd) if words[:1] == ["pwd"] and set(words[1:]) <= {"-L", "-P"} else None


def _name_made(script: Script, state: ShellState) -> str | None:
    """The place of what a bare `$(mktemp)` makes, whose last letters nobody knows."""
    only = script.statements[0] if len(script.statements) == 1 else None
    place = state.lookup("TMPDIR")
    if not isinstance(only, Simple) or place is None or not place.text.startswith("/"):
        return None
    words = [word.value for word in only.argv]
    is_bare = words[:1] == ["mktemp"] and set(words[1:]) <= {"-d", "-q", "-dq", "--directory", "--quiet"}
    return f"{place.text}/tmp.XXXXXXXXXX" if is_bare else None  # noqa: S108 - a name for what mktemp names


def _real_path(script: Script) -> str | None:
    """What `$(realpath PATH)` and `$(readlink -f PATH)` stand for, where no link leads elsewhere."""
    only = script.statements[0] if len(script.statements) == 1 else None
    if not isinstance(only, Simple) or only.name not in ("realpath", "readlink") or only.cwd is None:
        return None
    words = [word.value for word in only.argv[1:] if word.value != "--"]
    options = {word for word in words if word and word.startswith("-")}
    paths = [word for word in words if word not in options]
    resolves = only.name == "realpath" or bool(options & {"-f", "-e", "-m"})
    if not resolves or not options <= {"-f", "-e", "-m", "-q", "-s"} or len(paths) != 1 or not paths[0]:
        return None
    place = join(only.cwd, paths[0])
    return None if place is None else shown_directory(place)


def _is_descriptor(word: Word) -> bool:
    text = (word.value or "").removesuffix("-")
    return word.value == "-" or text.isdigit()
