"""Which makefiles and the like a configuring tool or a build wrote, so that they are nobody's own check (spec 3.3).

`cmake -B build` writes a makefile where none was; `make -C build test` then runs the project's checks, and not what
this turn made up. A file that anything else in the script may have written stays the turn's own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from dataclasses import replace

from spear.evidence.checks.candidates import recognise
from spear.evidence.checks.deciding import MANIFESTS
from spear.evidence.facts import ProjectFacts
from spear.evidence.names import names
from spear.evidence.planting import generates, plantings
from spear.evidence.products import ProductWrite
from spear.evidence.setting import Setting
from spear.shell.syntax import Script

_OF_AUTOTOOLS = names(
    "configure Makefile.in config.h.in aclocal.m4 ltmain.sh compile missing depcomp install-sh test-driver ar-lib"
    " ylwrap config.guess config.sub config.status libtool"
)
"""What `autoreconf -i` puts into the source, and `configure` and its makefiles run."""


def generated(
    script: Script, facts: ProjectFacts, setting: Setting, written: Collection[str], delivered: Collection[str] = ()
) -> frozenset[str]:
    """Of the files this script wrote, by their recorded names, those that decide checks and that a tool generated:
    undelivered ones, and what autotools put there, `delivered` or not. Costs nothing where it wrote none."""
    found = frozenset(path for path in written if posixpath.basename(path) in MANIFESTS)
    found |= frozenset(path for path in (*written, *delivered) if posixpath.basename(path) in _OF_AUTOTOOLS)
    while found:
        seen = _without(facts, found)
        candidates = recognise(script, seen, start=setting.start)
        if not generates(script, candidates, seen, setting):
            return frozenset()
        writes = tuple(ProductWrite(path, "") for path in sorted(found))
        planted = {planting.path for planting in plantings(script, candidates, seen, setting, writes)}
        if not planted:
            return found
        found -= planted  # and what one of these decides may have written another
    return frozenset()


def _without(facts: ProjectFacts, generated: frozenset[str]) -> ProjectFacts:
    """The facts of a tree in which these files are not the turn's own."""

    def made_here(path: str) -> bool:
        return facts.recorded(path) not in generated and facts.made_here(path)

    def elsewhere(root: str) -> ProjectFacts | None:
        there = facts.elsewhere(root)
        return None if there is None else _without(there, generated)

    return replace(facts, made_here=made_here, elsewhere=elsewhere)
