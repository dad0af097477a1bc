"""Commands the operator has forbidden: found at command positions of the parsed tree (spec 2.1, 2.6).

A rule is the first words of one simple command. Only what can be read is found; a command whose words cannot be known,
or that a program runs out of what it reads itself, is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spear.agent.host import Refusal
from spear.policy.permission import Permission
from spear.policy.places import Root, locate
from spear.shell.destinations import commands
from spear.shell.options import read_options
from spear.shell.state import join
from spear.shell.syntax import Script, Simple, SyntaxProblem, Word

DENIED = "denied_by_rule"
"""The code of every refusal of this module."""

_VALUED: Mapping[str, str] = {
    "git": "-C -c --git-dir --work-tree --namespace --config-env",
    "make": "-C --directory -f --file --makefile -I --include-dir -o --old-file --assume-old -W --what-if --new-file",
}
"""Options that take the next word, for programs whose command often stands behind them."""


@dataclass(frozen=True, slots=True)
class DenyRule:
    """One rule, with the number `/permissions` lists it by."""

    number: int
    permission: Permission


def denial(script: Script, rules: Sequence[DenyRule], cwd: str, roots: tuple[Root, ...], tool: str) -> Refusal | None:
    """The refusal by the first rule that a command of `script` falls under, None when there is none.

    `cwd` is where the script starts, relative to the primary root (the first of `roots`).
    """
    for simple in commands(script) if rules else ():
        for rule in rules:
            if _falls_under(simple, rule.permission.words, cwd, roots):
                return _refusal(rule, tool)
    return None


def rule_words(script: Script | SyntaxProblem) -> tuple[str, ...]:
    """The words of a text that is one simple command, every word known; empty for every other text."""
    if isinstance(script, SyntaxProblem) or len(script.statements) != 1:
        return ()
    simple = script.statements[0]
    if not isinstance(simple, Simple) or simple.assignments or simple.redirects or simple.substitutions:
        return ()
    words = tuple(known for word in simple.words if (known := _known(word)) is not None)
    return words if len(words) == len(simple.words) else ()


def _refusal(rule: DenyRule, tool: str) -> Refusal:
    words = " ".join(rule.permission.words)
    return Refusal(
        DENIED,
        tool,
        f"`{words}`",
        f"rule {rule.number} of the operator forbids it in every mode: {rule.permission.shown()}",
        f"go on without it; only the operator lifts the rule: /permissions revoke {rule.number} in the chat",
    )


def _falls_under(simple: Simple, rule: tuple[str, ...], cwd: str, roots: tuple[Root, ...]) -> bool:
    if simple.function:
        return False  # its body is looked at as this call runs it
    for words in (simple.argv, simple.words):
        if words and _is_program(words[0], rule[0], simple, cwd, roots):
            rest = rule[1:]
            if any(line[: len(rest)] == rest for line in _lines(words, rule)):
                return True
    return False


def _lines(words: Sequence[Word], rule: tuple[str, ...]) -> Iterator[tuple[str | None, ...]]:
    """The words behind a program's name: as they are and, where the rule names no option, without the options."""
    yield tuple(_known(word) for word in words[1:])
    if any(word.startswith("-") for word in rule[1:]):
        return
    name = rule[0].rsplit("/", 1)[-1]
    operands = read_options(words[1:], _VALUED.get(name, "")).operands
    line = tuple(_known(word) for word in operands)
    if name == "make":  # `make -j 4 V=1 deploy`
        line = tuple(word for word in line if word is None or not (word.isdigit() or "=" in word))
    yield line


def _known(word: Word) -> str | None:
    return None if word.glob else word.value


def _is_program(word: Word, named: str, simple: Simple, cwd: str, roots: tuple[Root, ...]) -> bool:
    """Whether a word names the program of a rule: by its base name, or where the rule has a path by that path."""
    said = _known(word)
    if said is None:
        return False
    if "/" not in named:
        return said.rsplit("/", 1)[-1] == named
    path = join(simple.cwd, said) if "/" in said else None
    return path is not None and locate(path, cwd, roots) == locate(named, "", roots)
