"""A runner's own summary, and the small pieces every family reads one with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts as the runner printed them. `total` counts what was selected; `passed` excludes what was skipped.

    `at` is where the summary stands in the output. `failed` may be 1 for "some" where the runner gives no count.
    """

    runner: str
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    total: int = 0
    at: int = 0

    @property
    def bad(self) -> bool:
        """Whether anything failed."""
        return self.failed + self.errors > 0

    @property
    def nothing(self) -> bool:
        """Whether no test ran to its end: none selected, or all skipped."""
        return not self.bad and self.passed == 0


def counts(text: str, words: Mapping[str, str]) -> dict[str, int]:
    """`3 passed, 1 failed` → {"passed": 3, "failed": 1}, by a map from the runner's words to ours."""
    found: dict[str, int] = {}
    for number, word in re.findall(r"([\d,]+)\s+([A-Za-z]+)", text):
        name = words.get(word.lower())
        if name is not None:
            found[name] = found.get(name, 0) + int(number.replace(",", ""))
    return found


def of_counts(runner: str, found: Mapping[str, int], at: int) -> Summary:
    """A summary whose total is what was counted, unless it was given."""
    passed, failed = found.get("passed", 0), found.get("failed", 0)
    errors, skipped = found.get("errors", 0), found.get("skipped", 0)
    total = found.get("total", passed + failed + errors + skipped)
    if "passed" not in found and "total" in found:
        passed = max(0, total - failed - errors - skipped)
    return Summary(runner, passed, failed, errors, skipped, total, at)


def number(text: str | None) -> int:
    """A count with thousands separators, 0 for nothing."""
    return int(text.replace(",", "")) if text else 0


def added(summaries: Iterable[Summary]) -> Iterator[Summary]:
    """One summary for a whole output (packages, crates, modules each print one); nothing for none."""
    found = list(summaries)
    if found:
        yield Summary(
            found[0].runner,
            sum(item.passed for item in found),
            sum(item.failed for item in found),
            sum(item.errors for item in found),
            sum(item.skipped for item in found),
            sum(item.total for item in found),
            found[-1].at,
        )
