"""What a workspace's tree says to the command policy: looked up when asked, never beforehand (spec 2.6)."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from spear.policy.places import TreeFacts, by_convention
from spear.workspace import presence

_MOST_EXPANDED = 1000


def tree_facts(primary: Path, is_output: Callable[[str], bool] = by_convention) -> TreeFacts:
    """The facts of the tree at `primary`. `is_output` says that a path is a build output, a cache or ignored."""

    def is_directory(path: str) -> bool:
        return presence.is_directory(primary / path)

    def exists(path: str) -> bool | None:
        return None if path.startswith("/") else os.path.lexists(primary / path)

    def expand(pattern: str) -> tuple[str, ...] | None:
        if pattern.startswith("/") or "**" in pattern:
            return None  # elsewhere; or a walk of the whole tree, which only running the command is worth
        found = islice(glob.iglob(pattern, root_dir=primary), _MOST_EXPANDED)  # noqa: PTH207 - skips dot files, as shells do
        return tuple(found)

    return TreeFacts(is_directory, expand, is_output, exists)
