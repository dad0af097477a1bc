"""pytest, unittest (and Django, which prints as it does), behave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.evidence.runners.summary import Summary, counts, of_counts

_PYTEST_WORDS = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "errors",
    "errors": "errors",
    "skipped": "skipped",
    "xfailed": "skipped",
    "deselected": "skipped",
}
_PYTEST_COUNT = r"\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)"
_PYTEST = re.compile(
    rf"^(?:=+ )?(?P<counts>(?:{_PYTEST_COUNT})(?:, {_PYTEST_COUNT})*) in [\d.]+s(?: \([\d:]+\))?(?: =+)?\s*$",
    re.MULTILINE,
)
_PYTEST_NONE = re.compile(
    r"^(?:=+ )?(?:no tests (?:ran|collected)\b.*|\d+(?:/\d+)? tests? collected\b.*) in [\d.]+s.*$", re.MULTILINE
)
_PYTEST_ERROR = re.compile(r"^!+ Interrupted: (?P<errors>\d+) errors? during collection !+$", re.MULTILINE)
_UNITTEST = re.compile(
    r"^Ran (?P<total>\d+) tests? in [\d.]+s\s+(?P<result>OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[^)]*)\))?",
    re.MULTILINE,
)


def pytest(text: str) -> Iterator[Summary]:
    """`=== 3 passed, 1 skipped in 0.10s ===`, with and without the bars; `no tests ran`, `3 tests collected`;
    collection errors."""
    for match in _PYTEST.finditer(text):
        yield of_counts("pytest", counts(match["counts"], _PYTEST_WORDS), match.start())
    for match in _PYTEST_NONE.finditer(text):
        yield Summary("pytest", at=match.start())
    for match in _PYTEST_ERROR.finditer(text):
        yield Summary("pytest", errors=int(match["errors"]), total=int(match["errors"]), at=match.start())


def unittest(text: str) -> Iterator[Summary]:
    """`Ran 3 tests in 0.001s` and the line that follows it."""
    for match in _UNITTEST.finditer(text):
        inner = dict(re.findall(r"([a-z ]+)=(\d+)", match["counts"] or ""))
        found = {name.strip(): int(value) for name, value in inner.items()}
        failed = found.get("failures", 0) + found.get("unexpected successes", 0)
        errors = found.get("errors", 0)
        if match["result"] == "FAILED" and not failed + errors:
            failed = 1
        skipped = found.get("skipped", 0) + found.get("expected failures", 0)
        total = int(match["total"])
        passed = max(0, total - failed - errors - skipped)
        yield Summary("unittest", passed, failed, errors, skipped, total, match.start())
