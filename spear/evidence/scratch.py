"""What a script does in the scratch directories, where nothing leaves a trace in the workspace (spec 3.3)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from spear.evidence.facts import ProjectFacts
from spear.evidence.setting import Setting, is_scratch
from spear.evidence.tree import Path, in_sequence, leaves
from spear.shell.destinations import effects
from spear.shell.syntax import Script, Simple
from spear.shell.tools.call import WriteKind


def names_scratch(script: Script, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether any command of a script names a place of the scratch directories, or works in one."""
    return any(is_scratch(path, facts) for leaf in leaves(script) for path in scratch_words(leaf.simple, setting))


def scratch_words(simple: Simple, setting: Setting) -> Iterator[str]:
    """The absolute paths a command names or works in, options' values included."""
    words = [word.value or "" for word in (*simple.argv, *(redirect.target for redirect in simple.redirects))]
    yield from (part for word in words for part in (word, word.partition("=")[2]) if part.startswith("/"))
    where = posixpath.join(setting.start, simple.cwd or "")
    if where.startswith("/"):
        yield where
        yield from (posixpath.join(where, word) for word in words[:1] if "/" in word)


def scratch_removals(script: Script, facts: ProjectFacts, setting: Setting) -> tuple[tuple[str, Path], ...]:
    """The places of the scratch directories a script removes, in sequence, and where in the script."""
    base = posixpath.join(facts.root, setting.start)
    return tuple(
        (posixpath.normpath(posixpath.join(base, given.path)), leaf.path)
        for leaf in leaves(script)
        if leaf.simple.name == "rm" and in_sequence(leaf)
        for given in effects(Script((replace(leaf.simple, nested=None, substitutions=()),))).destinations
        if given.kind is WriteKind.DELETE and given.path is not None
    )
