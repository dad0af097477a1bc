"""What the checks of a command were heard to say: its output without what the command itself put there (spec 3.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.evidence.facts import ProjectFacts
from spear.evidence.tree import Enclosing, Leaf, Path, leaves
from spear.shell.syntax import Script, Simple

MOST_HEARD = 1 << 16
"""Characters of one output that are kept, head and tail."""

_SAYING = frozenset({"echo", "printf"})
_SHOWING = frozenset({"cat", "head", "tail", "less", "more", "sed", "awk", "grep", "egrep", "rg", "jq", "tac", "nl"})
_DEVICES = frozenset({"/dev/stdout", "/dev/stderr", "/dev/tty"})


def heard(script: Script, output: str, facts: ProjectFacts, start: str = "") -> str:
    """The output that the checks of a script printed, as far as it can be told: no words that `echo` was given, and
    nothing at all where a file that the script did not write, or what git knows of one, was printed as well."""
    everything = tuple(leaves(script))
    if any(_shows(leaf.simple, everything, facts, start) for leaf in everything):
        return ""
    said = {line for leaf in everything for line in _said(leaf)}
    lines = output.splitlines()
    kept = "\n".join(line for line in lines if line.strip() not in said) if said else output
    return bounded(kept)


def bounded(text: str) -> str:
    """Head and tail of a long output."""
    half = MOST_HEARD // 2
    return text if len(text) <= MOST_HEARD else f"{text[:half]}\n{text[-half:]}"


def built_in_sight(script: Script, path: Path, output: str) -> bool:
    """Whether all that a build printed was seen, and it built something: what goes to a file, through a filter or past
    the last lines that were asked for, nobody saw, and a build that finds nothing to do warns of nothing."""
    everything = tuple(leaves(script))
    leaf = next((leaf for leaf in everything if leaf.path == path), None)
    lines = [line for line in output.splitlines() if line.strip()]
    if leaf is None or _is_silenced(leaf.simple) or (lines and all(_NOTHING_TO_DO.search(line) for line in lines)):
        return False
    return all(_passes_on(after.simple, len(lines)) for after in everything if _is_after(after, leaf))


_NOTHING_TO_DO = re.compile(r"Nothing to be done|is up to date|no work to do|^(?:make|ninja)(?:\[\d+\])?: ")


def _is_after(later: Leaf, leaf: Leaf) -> bool:
    """Whether a command stands in a later stage of a pipeline around another."""
    for kind, path in leaf.inside:
        own, other = leaf.path[len(path) :], later.path[len(path) :]
        if kind is Enclosing.PIPELINE and later.path[: len(path)] == path and own and other and other[0] > own[0]:
            return True
    return False


def _passes_on(simple: Simple, lines: int) -> bool:
    """Whether a filter let all of these lines through."""
    if simple.name in ("head", "tail"):
        words = " ".join(word.value or word.raw for word in simple.argv[1:])
        count = re.search(r"(?:^|\s)-(?:n\s*|-lines=)?(\d+)(?!\S)", words)
        return lines < (int(count[1]) if count else 10)
    return simple.name in ("cat", "tee")


def _is_silenced(simple: Simple) -> bool:
    """Whether what a command prints goes to a file or to nowhere."""
    return any(redirect.writes and (redirect.target.value or "") not in _DEVICES for redirect in simple.redirects)


def _said(leaf: Leaf) -> Iterator[str]:
    """The lines a command is told to print word for word, where they do not go to another command or a file."""
    simple = leaf.simple
    if simple.name not in _SAYING or simple.redirects or _is_piped(leaf):
        return
    words = [word.value for word in simple.argv[1:]]
    if None in words:
        return
    text = " ".join(word for word in words if word is not None and word not in ("-n", "-e", "-en", "-ne", "--"))
    for line in text.replace("\\n", "\n").splitlines():
        if line.strip():
            yield line.strip()


def _is_piped(leaf: Leaf) -> bool:
    return any(kind is Enclosing.PIPELINE for kind, _ in leaf.inside)


def _shows(simple: Simple, everything: tuple[Leaf, ...], facts: ProjectFacts, start: str) -> bool:
    """Whether a command prints what stands in a file that was there before the script."""
    words = [word.value or word.raw for word in simple.argv[1:]]
    if simple.redirects and _is_silenced(simple):
        return False
    if simple.name == "git":
        return any(word in ("diff", "show", "log", "grep", "blame") for word in words[:3])
    if simple.name not in _SHOWING:
        return simple.name in ("cat",) and simple.heredoc is not None
    if simple.heredoc is not None:
        return True
    written = {
        redirect.target.value for leaf in everything for redirect in leaf.simple.redirects if redirect.writes
    } | {word.value for leaf in everything if leaf.simple.name == "tee" for word in leaf.simple.argv[1:]}
    return any(
        word not in written and (place := facts.place(word, start)) is not None and facts.exists(place)
        for word in words
        if not word.startswith("-")
    )
