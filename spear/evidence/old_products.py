"""The products of a tree that are older than the source: what the host's own validation does without (spec 3.5)."""

from __future__ import annotations

import fnmatch
from pathlib import PurePosixPath

from spear.evidence.derivation import derived_from
from spear.evidence.facts import ProjectFacts
from spear.evidence.families import SOURCES, Family, family_of, is_object, may_be_native
from spear.evidence.products import Products


def may_be_old(products: Products, facts: ProjectFacts) -> tuple[str, ...]:
    """The native objects and programs of a tree that are older than source they may be made of, what rules have made of
    older scripts and data, and the archives that may hold objects of source that was removed."""
    sources = [path for path in products.moved if family_of(path) is Family.RULES]
    holds_removed = bool(objects_of_removed(products, facts))
    derived = {source: derived_from(source, facts) for source in sources}

    def is_derived(path: str) -> bool:
        recorded = facts.recorded(path)
        return any(
            any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns) and products.precedes(recorded, source)
            for source, patterns in derived.items()
        )

    def is_older(path: str) -> bool:
        recorded = facts.recorded(path)
        older = any(products.is_older(recorded, source) for source in sources)
        stale = older or (holds_removed and path.endswith(".a"))
        return is_derived(path) or (stale and may_be_native(path))

    found = facts.built(is_older) if sources else ()
    return tuple(path for path in found if is_derived(path) or is_native(path, facts))


def objects_of_removed(products: Products, facts: ProjectFacts) -> tuple[str, ...]:
    """The objects of a tree whose source the turn has removed: nothing makes them any more, and an archive that is
    added to still holds them."""
    gone = {PurePosixPath(path).stem for path, state in products.state.compiled if state[0] is None}
    if not gone:
        return ()
    sources = {PurePosixPath(path).stem for path, _ in facts.texts(SOURCES[Family.RULES])}
    return tuple(facts.built(lambda path: path.endswith(".o") and PurePosixPath(path).stem in gone - sources))


def is_native(path: str, facts: ProjectFacts) -> bool:
    """Whether a product is a native object or program."""
    return is_object(path) or (facts.read(f"{facts.root}/{path}") or "").startswith("\x7fELF")
