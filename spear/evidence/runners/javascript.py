"""jest, vitest, mocha, node --test (its own form and TAP), Playwright, AVA, bun, deno."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.evidence.runners.summary import Summary, counts, of_counts

_WORDS = {
    "passed": "passed",
    "passing": "passed",
    "pass": "passed",
    "failed": "failed",
    "failing": "failed",
    "fail": "failed",
    "flaky": "passed",
    "skipped": "skipped",
    "pending": "skipped",
    "todo": "skipped",
    "total": "total",
    "ignored": "skipped",
}
_JEST = re.compile(r"^Tests:\s+(?P<counts>.*\btotal)\s*$", re.MULTILINE)
_SUITES = re.compile(
    r"^(?:Test Suites:\s+|\s*Test Files\s+)(?P<failed>\d+) failed\b[^\n]*\n(?!\s*Tests:?\s+\d+ failed)", re.MULTILINE
)
"""Suites that broke before any of their tests ran: no test of theirs failed."""
_VITEST_ERRORS = re.compile(r"^\s*Errors\s+(?P<failed>\d+) errors?\b", re.MULTILINE)
_JEST_NONE = re.compile(r"^No tests found", re.MULTILINE)
_VITEST = re.compile(r"^\s*Tests\s+(?P<counts>\d+ \w+(?: \| \d+ \w+)*) \((?P<total>\d+)\)", re.MULTILINE)
_VITEST_NONE = re.compile(r"^\s*No test files found", re.MULTILINE)
_MOCHA = re.compile(r"^  (?P<passing>\d+) passing \([^)]*\)(?P<rest>(?:\n  \d+ (?:pending|failing))*)", re.MULTILINE)
_NODE = re.compile(
    r"^(?:ℹ|#) tests (?P<total>\d+)\n(?:(?:ℹ|#) suites \d+\n)?(?:ℹ|#) pass (?P<passed>\d+)\n(?:ℹ"
    r"|#) fail (?P<failed>\d+)\n"
    r"(?:ℹ|#) cancelled (?P<cancelled>\d+)\n(?:ℹ|#) skipped (?P<skipped>\d+)\n(?:ℹ|#) todo (?P<todo>\d+)",
    re.MULTILINE,
)
_BUN = re.compile(r"^\s*(?P<passed>\d+) pass\n(?:\s*(?P<skipped>\d+) skip\n)?\s*(?P<failed>\d+) fail$", re.MULTILINE)
_DENO = re.compile(
    r"^(?:ok|FAILED) \| (?P<counts>\d+ passed(?: \(\d+ steps?\))? \| \d+ failed(?: \| \d+ ignored)?)", re.MULTILINE
)
_PLAYWRIGHT = re.compile(r"^(?P<counts>(?:  \d+ (?:passed|failed|flaky|skipped|did not run)[^\n]*\n?)+)", re.MULTILINE)


def jest(text: str) -> Iterator[Summary]:
    """`Tests:       1 failed, 2 passed, 3 total`."""
    for match in _JEST.finditer(text):
        yield of_counts("jest", {"passed": 0} | counts(match["counts"], _WORDS), match.start())
    for match in _JEST_NONE.finditer(text):
        yield Summary("jest", at=match.start())
    for match in _SUITES.finditer(text):
        if match[0].startswith("Test Suites"):
            yield Summary("jest", errors=int(match["failed"]), at=match.start())


def vitest(text: str) -> Iterator[Summary]:
    """`      Tests  1 failed | 2 passed (3)`."""
    for match in _VITEST.finditer(text):
        found = {"passed": 0} | counts(match["counts"], _WORDS) | {"total": int(match["total"])}
        yield of_counts("vitest", found, match.start())
    broken = (match for match in _SUITES.finditer(text) if not match[0].startswith("Test Suites"))
    for match in (*broken, *_VITEST_ERRORS.finditer(text)):
        yield Summary("vitest", errors=int(match["failed"]), at=match.start())
    for match in _VITEST_NONE.finditer(text):
        yield Summary("vitest", at=match.start())


def mocha(text: str) -> Iterator[Summary]:
    """`  3 passing (12ms)` and the pending and failing lines under it."""
    for match in _MOCHA.finditer(text):
        found = {"passed": int(match["passing"])} | counts(match["rest"], _WORDS)
        yield of_counts("mocha", found, match.start())


def node(text: str) -> Iterator[Summary]:
    """The block that ends a `node --test` run, in its spec and TAP reporters."""
    for match in _NODE.finditer(text):
        yield Summary(
            "node --test",
            passed=int(match["passed"]),
            failed=int(match["failed"]),
            errors=int(match["cancelled"]),
            skipped=int(match["skipped"]) + int(match["todo"]),
            total=int(match["total"]),
            at=match.start(),
        )


def others(text: str) -> Iterator[Summary]:
    """bun, deno and Playwright."""
    for match in _BUN.finditer(text):
        passed, failed, skipped = int(match["passed"]), int(match["failed"]), int(match["skipped"] or 0)
        yield Summary("bun test", passed, failed, 0, skipped, passed + failed + skipped, match.start())
    for match in _DENO.finditer(text):
        yield of_counts("deno test", counts(match["counts"], _WORDS), match.start())
    for match in _PLAYWRIGHT.finditer(text):
        yield of_counts("playwright", counts(match["counts"], _WORDS), match.start())
