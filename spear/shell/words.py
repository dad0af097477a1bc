"""Expansion of words as far as it can be known without running anything.

A word becomes runs of text, each with what the shell still may do to it; then braces are expanded, then unquoted
expansions are split. What cannot be known makes the value None; it is never guessed.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from typing import Any

from spear.shell.braces import expand_braces
from spear.shell.quoting import ansi_c, double_quoted
from spear.shell.runs import Kind, Run
from spear.shell.state import Known, ShellState
from spear.shell.syntax import Word

Json = dict[str, Any]
PIPE_NAME = "/dev/fd/63"
"""What a process substitution looks like to the command that is given it: a descriptor, never a file."""


_LONGEST_VALUE = 1 << 16
_MOST_EXPANDED = 1 << 22
"""Characters of one variable, and of all expanded in one script, beyond which a value counts as unknown."""


class Expander:
    """Expands the words of one script.

    `substitute` records a command substitution and gives what it prints, None when unknown; `collect` records those
    hidden in anything else and says whether there were any.
    """

    def __init__(
        self,
        source: bytes,
        substitute: Callable[[Json, ShellState], str | None],
        collect: Callable[[Json, ShellState], bool],
    ) -> None:
        self._source = source
        self._substitute = substitute
        self._collect = collect
        self._room = _MOST_EXPANDED

    def raw(self, node: Json) -> str:
        """The source text of a node."""
        return self._source[node["Pos"]["Offset"] : node["End"]["Offset"]].decode("utf-8", "replace")

    def words(self, node: Json, state: ShellState) -> list[Word]:
        """The words that one word of the source becomes (a command's arguments)."""
        raw = self.raw(node)
        every = _every_positional(node, state)
        if every is not None:
            return every
        alternatives = expand_braces(self._runs(node.get("Parts") or (), state, node=node))
        found: list[Word] = []
        for runs in alternatives:
            found.extend(_fields(runs, raw, state.variables.get("IFS")))
        return found

    def value(self, node: Json | None, state: ShellState) -> Known | None:
        """The value of a word that is neither split nor brace-expanded (an assignment, a here-string)."""
        if node is None:
            return Known("")
        runs = self._runs(node.get("Parts") or (), state, node=node)
        if any(run.kind is Kind.UNKNOWN for run in runs):
            return None
        return Known("".join(run.text for run in runs), any(run.kind is Kind.PATTERN for run in runs))

    def _runs(self, parts: Sequence[Json], state: ShellState, *, node: Json | None = None) -> list[Run]:
        runs: list[Run] = []
        for index, part in enumerate(parts):
            runs.extend(self._part(part, state, first=index == 0 and node is not None))
        return runs

    def _part(self, part: Json, state: ShellState, *, first: bool) -> list[Run]:
        match part["Type"]:
            case "Lit":
                return _literal(part.get("Value", ""), state, first=first)
            case "SglQuoted":
                text = part.get("Value", "")
                return [Run(ansi_c(text) if part.get("Dollar") else text, Kind.QUOTED)]
            case "DblQuoted":
                return self._inside_quotes(part.get("Parts") or (), state)
            case "ParamExp":
                hidden = self._collect(part, state)
                return [_unquoted(None if hidden else self._parameter(part, state))]
            case "CmdSubst":
                text = self._substitute(part, state)
                return [Run("", Kind.UNKNOWN) if text is None else Run(text, Kind.EXPANDED)]
            case "ProcSubst":
                self._collect(part, state)
                return [Run(PIPE_NAME, Kind.QUOTED)]
            case "ExtGlob":
                return [Run("*", Kind.LITERAL)]
            case _:
                self._collect(part, state)
                return [Run("", Kind.UNKNOWN)]

    def _inside_quotes(self, parts: Sequence[Json], state: ShellState) -> list[Run]:
        runs = [Run("", Kind.QUOTED)]
        for part in parts:
            if part["Type"] == "Lit":
                runs.append(Run(double_quoted(part.get("Value", "")), Kind.QUOTED))
                continue
            for run in self._part(part, state, first=False):
                runs.append(Run(run.text, Kind.QUOTED) if run.kind is Kind.EXPANDED else run)
        return runs

    def _parameter(self, part: Json, state: ShellState) -> Known | None:
        if part.keys() & {"Excl", "Length", "Width", "Slice", "Repl", "Names"} or "Param" not in part:
            return None
        if "Index" in part and part["Param"]["Value"] != "BASH_SOURCE":
            return None
        known = state.lookup(part["Param"]["Value"])
        self._room -= 0 if known is None else len(known.text)
        if known is not None and (len(known.text) > _LONGEST_VALUE or self._room < 0):
            return None  # `a=$a$a`, often enough, is more than anybody can hold
        change = part.get("Exp")
        if change is None or known is None:
            return known
        operand = self.value(change.get("Word"), state)
        changed = _changed(known, change["Op"], operand)
        if change["Op"] in (":=", "=") and not known.text:
            state.variables[part["Param"]["Value"]] = changed
        return changed


def _every_positional(node: Json, state: ShellState) -> list[Word] | None:
    """`"$@"`, alone in its word, where the arguments of a function are known."""
    parts = list(node.get("Parts") or ())
    if len(parts) == 1 and parts[0]["Type"] == "DblQuoted":
        parts = list(parts[0].get("Parts") or ())
    if len(parts) != 1 or parts[0]["Type"] != "ParamExp" or state.positional is None:
        return None
    if parts[0].get("Param", {}).get("Value") not in ("@", "*") or parts[0].keys() & {"Exp", "Slice", "Length"}:
        return None
    return [Word(None, "$@") if known is None else Word(known.text, "$@", known.pattern) for known in state.positional]


def _literal(text: str, state: ShellState, *, first: bool) -> list[Run]:
    runs: list[Run] = []
    if first and text.startswith("~"):
        name, slash, rest = text[1:].partition("/")
        home = state.variables.get("HOME") if not name else None
        if name == "+":
            home = state.lookup("PWD")
        runs.append(Run("", Kind.UNKNOWN) if home is None else Run(home.text, Kind.QUOTED))
        text = slash + rest
    while "\\" in text:
        plain, _, rest = text.partition("\\")
        if plain:
            runs.append(Run(plain, Kind.LITERAL))
        if rest[:1] != "\n":
            runs.append(Run(rest[:1], Kind.QUOTED))
        text = rest[1:]
    if text:
        runs.append(Run(text, Kind.LITERAL))
    return runs


def _unquoted(known: Known | None) -> Run:
    if known is None:
        return Run("", Kind.UNKNOWN)
    return Run(known.text, Kind.PATTERN if known.pattern else Kind.EXPANDED)


def _changed(known: Known, operator: str, operand: Known | None) -> Known | None:
    if operator in (":-", ":=") and not known.text:
        return operand
    if operator in (":+", "+") and known.text:
        return operand
    if operator == ":+":
        return known
    if operator in (":-", ":=", ":?", "-", "=", "?"):
        return known if known.text else None
    if operand is None or known.pattern:
        return None
    text, pattern = known.text, operand.text
    match operator:
        case "%" | "%%":
            places = range(len(text), -1, -1) if operator == "%" else range(len(text) + 1)
            return next((Known(text[:at]) for at in places if fnmatch.fnmatchcase(text[at:], pattern)), known)
        case "#" | "##":
            places = range(len(text) + 1) if operator == "#" else range(len(text), -1, -1)
            return next((Known(text[at:]) for at in places if fnmatch.fnmatchcase(text[:at], pattern)), known)
        case _:
            return None


def _fields(runs: Sequence[Run], raw: str, separators: Known | None) -> list[Word]:
    """One alternative, split where unquoted expansions contain separators."""
    if any(run.kind is Kind.UNKNOWN for run in runs):
        return [Word(None, raw)]
    if not any(run.kind is Kind.EXPANDED for run in runs):
        return [_word(runs, raw)]
    if separators is None:
        return [Word(None, raw)]
    found: list[list[Run]] = []
    current: list[Run] | None = None
    for run in runs:
        if run.kind is not Kind.EXPANDED:
            current = [*(current or []), run]
            continue
        pieces = _split(run.text, separators.text)
        for number, piece in enumerate(pieces):
            if number and current is not None:
                found.append(current)
                current = None
            if piece:
                current = [*(current or []), Run(piece, Kind.EXPANDED)]
    if current is not None:
        found.append(current)
    return [_word(field, raw) for field in found]


def _split(text: str, separators: str) -> list[str]:
    for separator in separators:
        text = text.replace(separator, "\0")
    return text.split("\0")


def _word(runs: Sequence[Run], raw: str) -> Word:
    glob = any(
        run.kind is Kind.PATTERN or (run.kind in (Kind.LITERAL, Kind.EXPANDED) and is_pattern(run.text)) for run in runs
    )
    text = "".join(run.text for run in runs)
    return Word(text, raw, glob and is_pattern(text))


def is_pattern(text: str) -> bool:
    """Whether a shell would take `text` for a pattern: `*`, `?` or a bracket that closes."""
    return "*" in text or "?" in text or ("[" in text and "]" in text[text.index("[") + 2 :])
