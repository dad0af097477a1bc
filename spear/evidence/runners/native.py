"""cargo test, nextest, go test, ctest, meson test, GoogleTest, Catch2, Bazel, swift test, TAP and prove."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.evidence.runners.summary import Summary, added, counts, of_counts

_CARGO = re.compile(
    r"^test result: (?P<result>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored; "
    r"\d+ measured; (?P<filtered>\d+) filtered out",
    re.MULTILINE,
)
_NEXTEST = re.compile(r"^\s*Summary \[[^\]]*\]\s+(?P<total>\d+)(?:/\d+)? tests? run: (?P<counts>.*)$", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(?P<result>ok|FAIL|\?)[ \t]+(?P<package>\S+)[ \t]+(?P<rest>.*)$", re.MULTILINE)
_GO_TEST = re.compile(r"^\s*--- (?P<result>PASS|FAIL|SKIP): ", re.MULTILINE)
_CTEST = re.compile(
    r"^(?P<percent>\d+)% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)", re.MULTILINE
)
_CTEST_NONE = re.compile(r"^No tests were found!!!", re.MULTILINE)
_MESON = re.compile(
    r"^Ok:\s+(?P<ok>\d+)\s*\n(?:Expected Fail:\s+(?P<expected>\d+)\s*\n)?(?:Fail|Unexpected Fail):\s+(?P<fail>\d+)\s*\n"
    r"(?:Unexpected Pass:\s+(?P<unexpected>\d+)\s*\n)?(?:Skipped:\s+(?P<skipped>\d+)\s*\n)?"
    r"(?:Timeout:\s+(?P<timeout>\d+))?",
    re.MULTILINE,
)
_GTEST = re.compile(r"^\[==========\] (?P<total>\d+) tests? from \d+ test (?:suites?|cases?) ran\.", re.MULTILINE)
_GTEST_PASSED = re.compile(r"^\[  PASSED  \] (?P<passed>\d+) tests?", re.MULTILINE)
_GTEST_FAILED = re.compile(r"^\[  FAILED  \] (?P<failed>\d+) tests?, listed below", re.MULTILINE)
_CATCH = re.compile(r"^All tests passed \(\d+ assertions? in (?P<total>\d+) test cases?\)", re.MULTILINE)
_CATCH_BAD = re.compile(
    r"^test cases:\s+(?P<total>\d+)\s*\|(?:\s*(?P<passed>\d+) passed\s*\|)?\s*(?P<failed>\d+) failed", re.MULTILINE
)
_BAZEL = re.compile(r"^Executed \d+ out of (?P<total>\d+) tests?: (?P<rest>.*)$", re.MULTILINE)
_SWIFT = re.compile(
    r"^\s*Executed (?P<total>\d+) tests?, with (?:(?P<skipped>\d+) tests? skipped and )?(?P<failed>\d+) failures?",
    re.MULTILINE,
)
_TAP_PLAN = re.compile(r"^1\.\.(?P<total>\d+)", re.MULTILINE)
_TAP_LINE = re.compile(r"^(?P<result>ok|not ok)\b(?: (?P<number>\d+))?(?P<rest>[^\n]*)$", re.MULTILINE)
_PROVE = re.compile(r"^Files=\d+, Tests=(?P<total>\d+),.*\nResult: (?P<result>PASS|FAIL|NOTESTS)", re.MULTILINE)
_AUTOMAKE = re.compile(
    r"^# TOTAL:\s+(?P<total>\d+)\n# PASS:\s+(?P<passed>\d+)\n# SKIP:\s+(?P<skipped>\d+)\n# XFAIL:\s+(?P<xfail>\d+)\n"
    r"# FAIL:\s+(?P<failed>\d+)\n# XPASS:\s+(?P<xpass>\d+)\n# ERROR:\s+(?P<errors>\d+)",
    re.MULTILINE,
)


def cargo(text: str) -> Iterator[Summary]:
    """One line a test binary; together they are the run. nextest prints one line."""
    yield from added(
        Summary(
            "cargo test",
            passed=int(match["passed"]),
            failed=int(match["failed"]) or int(match["result"] == "FAILED"),
            skipped=int(match["ignored"]) + int(match["filtered"]),
            total=int(match["passed"]) + int(match["failed"]) + int(match["ignored"]),
            at=match.start(),
        )
        for match in _CARGO.finditer(text)
    )
    for match in _NEXTEST.finditer(text):
        words = {"passed": "passed", "failed": "failed", "skipped": "skipped"}
        yield of_counts("cargo nextest", {"passed": 0} | counts(match["counts"], words), match.start())


def go(text: str) -> Iterator[Summary]:
    """`ok pkg 0.01s`, `FAIL pkg`, `? pkg [no test files]`; tests are counted where `-v` lists them."""
    packages = [match for match in _GO_PACKAGE.finditer(text) if _is_go(match)]
    if not packages:
        return
    listed = [match["result"] for match in _GO_TEST.finditer(text)]
    ran = [
        m
        for m in packages
        if m["result"] == "ok" and "no tests to run" not in m["rest"] and "no test files" not in m["rest"]
    ]
    failed = sum(match["result"] == "FAIL" for match in packages)
    passed = listed.count("PASS") or len(ran)
    yield Summary(
        "go test",
        passed=passed if ran or failed else 0,
        failed=max(failed, listed.count("FAIL")),
        skipped=listed.count("SKIP"),
        total=len(listed) or passed + failed,
        at=packages[-1].start(),
    )


def _is_go(match: re.Match[str]) -> bool:
    rest = match["rest"]
    if match["result"] == "?":
        return "[no test files]" in rest
    timed = re.match(r"(\(cached\)|[\d.]+s)", rest) is not None
    return match["result"] in ("ok", "FAIL") and (timed or rest.startswith(("[build failed]", "[setup failed]")))


def ctest(text: str) -> Iterator[Summary]:
    """`100% tests passed, 0 tests failed out of 3`, Meson's table, Automake's `# TOTAL:` block."""
    for match in _CTEST.finditer(text):
        total, failed = int(match["total"]), int(match["failed"])
        yield Summary("ctest", passed=total - failed, failed=failed, total=total, at=match.start())
    for match in _CTEST_NONE.finditer(text):
        yield Summary("ctest", at=match.start())
    for match in _MESON.finditer(text):
        found = {
            "passed": int(match["ok"]),
            "failed": int(match["fail"]) + int(match["unexpected"] or 0) + int(match["timeout"] or 0),
            "skipped": int(match["skipped"] or 0) + int(match["expected"] or 0),
        }
        yield of_counts("meson test", found, match.start())
    for match in _AUTOMAKE.finditer(text):
        found = {
            "passed": int(match["passed"]),
            "failed": int(match["failed"]) + int(match["xpass"]),
            "errors": int(match["errors"]),
            "skipped": int(match["skipped"]) + int(match["xfail"]),
        }
        yield of_counts("automake", found, match.start())


def frameworks(text: str) -> Iterator[Summary]:
    """GoogleTest, Catch2, Bazel and swift test."""
    for match in _GTEST.finditer(text):
        passed = _GTEST_PASSED.search(text, match.end())
        failed = _GTEST_FAILED.search(text, match.end())
        found = {
            "passed": int(passed["passed"]) if passed else 0,
            "failed": int(failed["failed"]) if failed else 0,
            "total": int(match["total"]),
        }
        yield of_counts("gtest", found, match.start())
    for match in _CATCH.finditer(text):
        yield Summary("catch2", passed=int(match["total"]), total=int(match["total"]), at=match.start())
    for match in _CATCH_BAD.finditer(text):
        found = {"total": int(match["total"]), "failed": int(match["failed"])}
        yield of_counts("catch2", found, match.start())
    for match in _BAZEL.finditer(text):
        failing = sum(int(count) for count in re.findall(r"(\d+) fails?", match["rest"]))
        yield of_counts("bazel test", {"total": int(match["total"]), "failed": failing}, match.start())
    swift = [match for match in _SWIFT.finditer(text)]
    for match in swift[-1:]:
        found = {"total": int(match["total"]), "failed": int(match["failed"]), "skipped": int(match["skipped"] or 0)}
        yield of_counts("swift test", found, match.start())


def tap(text: str) -> Iterator[Summary]:
    """TAP with its plan, and prove's two closing lines."""
    plan = _TAP_PLAN.search(text)
    lines = list(_TAP_LINE.finditer(text)) if plan is not None else []
    if plan is not None and (lines or plan["total"] == "0"):
        total = int(plan["total"])
        directive = [re.search(r"#\s*(skip|todo)", match["rest"], re.IGNORECASE) is not None for match in lines]
        skipped = sum(directive)
        failed = sum(m["result"] == "not ok" and not excused for m, excused in zip(lines, directive, strict=True))
        missing = max(0, total - len(lines))
        passed = max(0, len(lines) - failed - skipped)
        yield Summary("tap", passed, failed + missing, 0, skipped, total, plan.start())
    for match in _PROVE.finditer(text):
        total = int(match["total"])
        bad = match["result"] == "FAIL"
        yield Summary("prove", 0 if bad else total, int(bad), 0, 0, total, match.start())
