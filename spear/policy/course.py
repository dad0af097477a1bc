"""What a command has done to the tree by the time it comes to each of its destinations (spec 2.6).

`rm a; mkdir a; echo > a/b` is judged against a directory `a`, not against the file that stood there before. Whatever is
believed here in error (a part that did not run, `false && rm a`) only changes what is said beforehand: what the command
really wrote is judged once more when it has ended.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from spear.policy.places import TreeFacts


class Course:
    """The tree as one command sees it on its way. `removed` are the paths the command removes at some point of it."""

    def __init__(self, facts: TreeFacts, removed: Iterable[str] = ()) -> None:
        self._facts = facts
        self._removed = frozenset(removed)
        self._gone: set[str] = set()
        self._directories: set[str] = set()
        self._own: set[str] = set()

    def made(self, path: str) -> None:
        """The command makes `path` itself: it may remove it again."""
        self._own.add(path)

    def is_own(self, path: str) -> bool:
        """Whether the command itself has made `path`."""
        return path in self._own

    def removes(self, path: str) -> None:
        """What was at `path`, and below it, is gone from here on."""
        self._gone.add(path)
        self._directories = {kept for kept in self._directories if not _at_or_below(kept, path)}

    def makes_directory(self, path: str) -> None:
        """`path` is a directory from here on, and so is all that leads to it."""
        while path.strip("/"):
            self._directories.add(path)
            path = posixpath.dirname(path)

    def is_gone(self, path: str) -> bool:
        """Whether what the tree holds at `path`, or above it, has been removed by the command."""
        return any(_at_or_below(path, gone) for gone in self._gone)

    def is_directory(self, path: str) -> bool | None:
        """Whether `path` is a directory by now; None where unknown."""
        if path in self._directories:
            return True
        return False if self.is_gone(path) else self._facts.is_directory(path)

    def is_passing(self, path: str) -> bool:
        """Whether `path` is there only while the command runs: it is not yet, and the command removes it again."""
        return path in self._removed and self._facts.exists(path) is False


def _at_or_below(path: str, above: str) -> bool:
    return path == above or path.startswith(above + "/")
