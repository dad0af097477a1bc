"""What a search asks and yields, whoever performs it: ripgrep, or the built-in engine that gives the same results."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_LINE_BREAK = re.compile(r"\n|(?<!\\)(?:\\\\)*\\n")


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. `everything` looks into hidden and ignored files too; `name_glob` (the last component of a
    glob) lets an engine skip files early and is checked again by the caller."""

    pattern: str
    literal: bool = False
    ignore_case: bool = False
    everything: bool = False
    context: int = 0
    name_glob: str = ""

    @property
    def multiline(self) -> bool:
        """Whether the pattern asks for line breaks."""
        return "\n" in self.pattern if self.literal else bool(_LINE_BREAK.search(self.pattern))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file: a match, or context around one. `path` is relative to the directory searched."""

    path: str
    line: int
    text: str
    is_match: bool


@dataclass(frozen=True, slots=True)
class Spot:
    """Where: a directory, and the one file in it when a file was named ("" for all of it)."""

    directory: Path
    file: str = ""


class SearchFailed(Exception):
    """The search could not be made; the text says why."""


class BadPattern(SearchFailed):
    """The pattern is not a regular expression; the text says why."""


class Deadline:
    """The moment a search must end (seconds from now); `passed` stays true once seen."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._stop: Callable[[], None] | None = None
        self.reached = False

    def passed(self) -> bool:
        """Whether it is time to stop with what there is."""
        self.reached = self.reached or time.monotonic() > self._end
        return self.reached

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return 0.0 if self.reached else max(self._end - time.monotonic(), 0.0)

    def end(self) -> None:
        """Make it time now; what `stopping` was given is called, from this thread."""
        self.reached = True
        if self._stop is not None:
            self._stop()

    def stopping(self, stop: Callable[[], None]) -> None:
        """Call `stop` when it is ended, or now where it was."""
        self._stop = stop
        if self.reached:
            stop()


class Engine(Protocol):
    """What is `ordered` comes in path order, component by component, and so do rows. No symbolic link is followed."""

    def rows(self, spot: Spot, query: Query, deadline: Deadline) -> Iterator[Row]:
        """Matching lines in order, with their context. Raises BadPattern."""
        ...

    def counts(
        self,
        spot: Spot,
        query: Query,
        deadline: Deadline,
        *,
        of_lines: bool = False,
        ordered: bool = True,
        beside: bool = False,
    ) -> Iterator[tuple[str, int]]:
        """Files with a match and how many matches (or matching lines) each has. `beside` another search that is
        waited for, it takes only what that one leaves. Raises BadPattern."""
        ...

    def files(self, spot: Spot, everything: bool, deadline: Deadline, name_glob: str = "") -> Iterator[str]:
        """Files a search would look into (all of them with `everything`) whose names match `name_glob`, unordered."""
        ...
