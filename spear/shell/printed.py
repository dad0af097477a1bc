"""What a command prints, where that can be known without running it: `echo`, `printf`, `cat` of a here-document.

Needed for text piped into a shell or into xargs, and for the few substitutions whose value is plain.
"""

from __future__ import annotations

import posixpath
import re

from spear.shell.quoting import ansi_c
from spear.shell.syntax import Compound, Node, Pipeline, Script, Simple, Word

_CONVERSION = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?[sdbq])")


def printed(node: Node) -> str | None:
    """The standard output of `node`, None when it cannot be known."""
    match node:
        case Simple():
            return _simple(node)
        case Compound(parts=(Script(statements=(only,)),), redirects=()):
            return printed(only)
        case Pipeline(stages=(_, last), negated=False) if isinstance(last, Simple) and last.name == "tee":
            return printed(node.stages[0])
        case _:
            return None


def printed_names(node: Node) -> tuple[Word, ...] | None:
    """The file names a listing command prints, one an item: what xargs would be given."""
    if not isinstance(node, Simple) or node.redirects:
        return None
    operands = [word for word in node.argv[1:] if not (word.value or "").startswith("-")]
    if node.name == "ls":
        return tuple(operands) or (Word("*", "*", glob=True),)
    if node.name == "find":
        return (found_names(node.argv[1:]),)
    text = _simple(node)
    if text is None:
        return None
    return tuple(Word(item, item) for item in re.split(r"[\s\0]+", text) if item)


_FIND_VALUED = frozenset({"-name", "-iname", "-type", "-maxdepth", "-mindepth", "-fprint", "-fprint0", "-fls"})
_FIND_PLAIN = frozenset({"-delete", "-print", "-print0", "-ls", "-depth", "-d", "-H", "-L", "-P", "-xdev", "-mount"})
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def found_names(words: tuple[Word, ...]) -> Word:
    """The names `find` passes on, as one pattern word: its starting point and its `-name`.

    Unknown when any other test narrows them further than a pattern can say.
    """
    nobody_knows = Word(None, "{}")
    values = [word.value for word in words]
    starts: list[str] = []
    index, name = 0, "*"
    while index < len(values):
        value = values[index]
        index += 1
        if value is None:
            return nobody_knows
        if value in _FIND_RUNS:
            while index < len(values) and values[index] not in (";", "+"):
                index += 1
            index += 1
        elif value in _FIND_VALUED or value == "-fprintf":
            given = values[index] if index < len(values) else None
            if value in ("-name", "-iname"):
                if given is None:
                    return nobody_knows
                name = given
            index += 2 if value == "-fprintf" else 1
        elif not value.startswith(("-", "(", ")", "!", ",")):
            starts.append(value)
        elif value not in _FIND_PLAIN:
            return nobody_knows
    if len(starts) > 1:
        return nobody_knows
    start = starts[0] if starts else "."
    return Word(f"{start.rstrip('/') or '/'}/**/{name}", "{}", glob=True)


def substituted(script: Script) -> str | None:
    """The value of `$(script)`, without its final newlines."""
    if len(script.statements) != 1:
        return None
    only = script.statements[0]
    if isinstance(only, Simple) and not only.redirects:
        operands = [word.value for word in only.argv[1:] if word.value != "--"]
        if only.name in ("dirname", "basename") and len(operands) == 1 and operands[0] and operands[0][0] != "-":
            path = operands[0].rstrip("/") or "/"
            return (posixpath.dirname(path) or ".") if only.name == "dirname" else posixpath.basename(path)
    text = printed(only)
    return None if text is None else text.rstrip("\n")


def _simple(node: Simple) -> str | None:
    if any(redirect.writes for redirect in node.redirects):
        return None
    arguments = [word.value for word in node.argv[1:]]
    values = [value for value in arguments if value is not None]
    if len(values) != len(arguments) or any(word.glob for word in node.argv):
        return None
    match node.name:
        case "echo":
            return _echo(values)
        case "printf":
            return _printf(values)
        case "cat" if not values or values == ["-"]:
            return node.heredoc
        case _:
            return None


def _echo(values: list[str]) -> str:
    newline, escapes = "\n", False
    while values and re.fullmatch(r"-[neE]+", values[0]):
        newline = "" if "n" in values[0] else newline
        escapes = "e" in values[0] or escapes
        values = values[1:]
    text = " ".join(values)
    return (ansi_c(text) if escapes else text) + newline


def _printf(values: list[str]) -> str | None:
    if not values or values[0].startswith("-"):
        return None
    template, rest = values[0], values[1:]
    count = sum(match[0] != "%%" for match in _CONVERSION.finditer(template))
    if "%" in _CONVERSION.sub("", template):
        return None
    text = ""
    for turn in range(max(1, -(-len(rest) // count) if count else 1)):
        items = iter(rest[turn * count : (turn + 1) * count])
        text += _CONVERSION.sub(lambda match, items=items: "%" if match[0] == "%%" else next(items, ""), template)  # type: ignore[misc]
    return _printf_escapes(text)


def _printf_escapes(text: str) -> str:
    """Escapes of a format; `\\0` separates items for `xargs -0`, so it is kept."""
    return "\0".join(ansi_c(piece) for piece in re.split(r"\\0(?![0-7])", text))
