"""awk: files a program prints into and commands it runs, read from its strings."""

from __future__ import annotations

import re

from spear.shell.options import Options, read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import Call, Reading, Table, WriteKind, Writes, literal

_VALUED = "-F --field-separator -v --assign -f --file -i --include -e --source -E --exec -o -l"
_OUTPUT = re.compile(r"\bprintf?\b(?P<rest>[^\n;}]*)")
_STRING = r"\"(?P<text>(?:[^\"\\]|\\.)*)\""
_SYSTEM = re.compile(r"\bsystem\s*\(\s*" + _STRING + r"\s*\)")
_GETLINE = re.compile(_STRING + r"\s*\|&?\s*getline")
_REDIRECTION = re.compile(r">>?\s*" + _STRING + r"\s*$")
_PIPE = re.compile(r"\|&?\s*" + _STRING + r"\s*$")
_ANY_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"")


def awk_options(words: tuple[Word, ...]) -> Options:
    """awk's command line, up to its program."""
    return read_options(words, _VALUED, stop_early=True)


def awk_program(words: tuple[Word, ...]) -> str | None:
    """The program on the command line, None when it is in a file or cannot be known."""
    options = awk_options(words)
    sources = options.values("-e", "--source")
    if options.has("-f", "--file", "-E", "--exec", "-l"):
        return None
    programs = sources or options.operands[:1]
    texts = [word.value for word in programs if word.value is not None]
    return "\n".join(texts) if len(texts) == len(programs) else None


def awk_commands(words: tuple[Word, ...]) -> tuple[str | None, ...]:
    """The shell commands the program runs; None for one made at run time."""
    program = awk_program(words)
    if program is None:
        return ()
    found: list[str | None] = [match["text"] for match in _SYSTEM.finditer(program)]
    found += [match["text"] for match in _GETLINE.finditer(program)]
    for statement in _OUTPUT.finditer(program):
        match = _PIPE.search(statement["rest"].rstrip())
        if match:
            found.append(match["text"])
    found = [None if text is None else _plain(text) for text in found]
    bare = _ANY_STRING.sub('""', program)
    computed = len(re.findall(r"\bsystem\s*\(", bare)) - len(_SYSTEM.findall(program))
    return (*found, *([None] * max(0, computed)))


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def _awk(call: Call) -> Reading:
    options = awk_options(call.words)
    program = awk_program(call.words)
    found = Writes()
    opaque = program is None or None in awk_commands(call.words)
    for statement in _OUTPUT.finditer(program or ""):
        rest = statement["rest"].rstrip()
        match = _REDIRECTION.search(rest)
        if match:
            name = _plain(match["text"])
            found.add([literal(name)] if not name.startswith("/dev/") else [])
        elif re.search(r"(?<![=!<>])>(?!=)|\|", _ANY_STRING.sub('""', _without_parentheses(rest))):
            opaque = opaque or _PIPE.search(rest) is None
    if any(word.value == "inplace" for word in options.values("-i", "--include")):
        found.add(options.operands[1:], WriteKind.EDIT)
    return found.reading(opaque=opaque)


def _without_parentheses(text: str) -> str:
    """Comparisons inside parentheses are no redirections."""
    while True:
        shorter = re.sub(r"\([^()]*\)", "", text)
        if shorter == text:
            return text
        text = shorter


TABLE: Table = {name: _awk for name in ("awk", "gawk", "mawk", "nawk", "original-awk")}
