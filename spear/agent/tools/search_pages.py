"""One page of search results: what is on it, how many there are in all, and where the next one starts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from spear.agent.tools.search_engine import Row

BUDGET = 50_000
_WIDTH = 500


@dataclass(frozen=True, slots=True)
class Page:
    """Results `offset` to `offset + limit - 1`, counted from 0."""

    offset: int
    limit: int


class Pager:
    """Takes all results in order, keeps those of the page, counts the rest. `what` names one unit of counting; `budget`
    is the size in characters at which a page ends."""

    def __init__(self, page: Page, what: str, context: int = 0, budget: int = BUDGET) -> None:
        self.total = 0
        self._budget = budget
        self.at_least = False
        self._page, self._what, self._context = page, what, context
        self._lines: list[str] = []
        self._size = 0
        self._shown = 0
        self._files: set[str] = set()
        self._matches = 0
        self._before: deque[Row] = deque(maxlen=context)
        self._last: tuple[str, int] = ("", -1)
        self._after_until = -1

    @property
    def full(self) -> bool:
        """Whether nothing that comes can be on the page any more."""
        return self.total >= self._page.offset + self._page.limit or (self._shown > 0 and self._size > self._budget)

    def settle(self, totals: Iterable[tuple[str, int]]) -> None:
        """The real totals, path by path, where the rows beyond the page were not looked at."""
        self.total = 0
        for shown, lines in totals:
            self._files.add(shown)
            self.total += lines

    def line(self, text: str, matches: int = 0) -> None:
        """A result that is one line; `matches` in it are added up."""
        if self._on_page():
            self._add(text)
            self._shown += 1
        self.total += 1
        self._matches += matches

    def row(self, shown: str, row: Row) -> None:
        """A matching line, or a line of context."""
        if self._before and self._last_path() != shown:
            self._before.clear()
        if not row.is_match:
            if shown == self._last[0] and row.line <= self._after_until:
                self._emit(shown, row)
            else:
                self._before.append(_renamed(row, shown))
            return
        self._files.add(shown)
        if self._on_page():
            for earlier in self._before:
                if row.line - earlier.line <= self._context:
                    self._emit(shown, earlier)
            self._emit(shown, row)
            self._after_until = row.line + self._context
            self._shown += 1
        else:
            self._after_until = -1
        self._before.clear()
        self.total += 1

    def text(self) -> str:
        """The page and one line that says how much there is and how to go on."""
        return "\n".join([*self._lines, self._footer()])

    def _footer(self) -> str:
        total = f"at least {self.total}" if self.at_least else f"{self.total}"
        what = _plural(self._what, self.total)
        if self._files:
            what += f" in {len(self._files)} {_plural('file', len(self._files))}"
        elif self._matches:
            what += f", {self._matches} match{'es' * (self._matches != 1)}"
        start = self._page.offset
        if not self._shown:
            return f"[offset {start} is past the end: {total} {what}]"
        end = start + self._shown
        if end < self.total or self.at_least:
            return f"[{start + 1}-{end} of {total} {what}; continue with offset={end}]"
        return f"[{start + 1}-{end} of {total} {what}]" if start else f"[{total} {what}]"

    def _on_page(self) -> bool:
        if self._shown and self._size > self._budget:
            return False
        return self._page.offset <= self.total < self._page.offset + self._page.limit

    def _last_path(self) -> str:
        return self._before[-1].path

    def _emit(self, shown: str, row: Row) -> None:
        path, line = self._last
        if path != shown:
            self._add(shown)
        elif self._context and row.line > line + 1:
            self._add("  --")
        mark = ":" if row.is_match else "-"
        self._add(f"  {row.line}{mark}{_clipped(row.text)}")
        self._last = (shown, row.line)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else noun + "s"


def _renamed(row: Row, shown: str) -> Row:
    return Row(shown, row.line, row.text, row.is_match)


def _clipped(text: str) -> str:
    return text if len(text) <= _WIDTH else text[:_WIDTH] + "…"
