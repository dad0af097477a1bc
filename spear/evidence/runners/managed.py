"""Maven, Gradle, sbt, dotnet, JUnit XML, RSpec, minitest, PHPUnit, ExUnit, EUnit, Hspec and their like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spear.evidence.runners.summary import Summary, added, counts, of_counts

_SUREFIRE = re.compile(
    r"^(?:\[\w+\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+)"
    r"(?:, Skipped: (?P<skipped>\d+))?\s*$",
    re.MULTILINE,
)
_MAVEN_NONE = re.compile(r"^\[INFO\] (?:No tests to run|Tests are skipped)\.", re.MULTILINE)
_GRADLE = re.compile(
    r"^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?", re.MULTILINE
)
_SBT = re.compile(
    r"^\[\w+\] (?P<result>Passed|Failed|Error): Total (?P<total>\d+), "
    r"Failed (?P<failed>\d+), Errors (?P<errors>\d+), Passed (?P<passed>\d+)",
    re.MULTILINE,
)
_DOTNET = re.compile(
    r"(?:Passed|Failed|Skipped)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+), "
    r"Skipped:\s+(?P<skipped>\d+), Total:\s+(?P<total>\d+)"
)
_JUNIT = re.compile(r"<testsuites?\b[^>]*>")
_RSPEC = re.compile(
    r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<pending>\d+) pending)?"
    r"(?:, (?P<errors>\d+) errors?[^\n]*)?",
    re.MULTILINE,
)
_MINITEST = re.compile(
    r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors"
    r"(?:, \d+ pendings)?(?:, (?P<skipped>\d+) (?:skips|omissions))?",
    re.MULTILINE,
)
_PHPUNIT_OK = re.compile(r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)", re.MULTILINE)
_PHPUNIT_BAD = re.compile(r"^Tests: (?P<total>\d+), Assertions: \d+(?P<rest>.*)\.", re.MULTILINE)
_PHPUNIT_NONE = re.compile(r"^No tests executed!", re.MULTILINE)
_EXUNIT = re.compile(
    r"^(?:\d+ doctests?, )?(?P<total>\d+) tests?, (?P<failed>\d+) failures?(?:, (?P<excluded>\d+) excluded)?"
    r"(?:, (?P<skipped>\d+) skipped)?\s*$",
    re.MULTILINE,
)
_EUNIT = re.compile(
    r"^\s*(?:All (?P<all>\d+) tests passed\."
    r"|Failed: (?P<failed>\d+)\.\s+Skipped: (?P<skipped>\d+)\.\s+Passed: (?P<passed>\d+)\.)",
    re.MULTILINE,
)
_BUSTED = re.compile(r"^(?P<counts>\d+ successe?s? / \d+ failures? / \d+ errors? / \d+ pending)", re.MULTILINE)


def jvm(text: str) -> Iterator[Summary]:
    """Surefire's closing lines (one a module), Gradle's, sbt's."""
    yield from added(_surefire(text))
    for match in _MAVEN_NONE.finditer(text):
        yield Summary("maven surefire", at=match.start())
    for match in _GRADLE.finditer(text):
        found = {
            "total": int(match["total"]),
            "failed": int(match["failed"] or 0),
            "skipped": int(match["skipped"] or 0),
        }
        yield of_counts("gradle", found, match.start())
    for match in _SBT.finditer(text):
        yield of_counts(
            "sbt", {name: int(match[name]) for name in ("total", "failed", "errors", "passed")}, match.start()
        )


def _surefire(text: str) -> Iterator[Summary]:
    for match in _SUREFIRE.finditer(text):
        found = {name: int(match[name] or 0) for name in ("total", "failed", "errors", "skipped")}
        yield of_counts("maven surefire", found, match.start())


def dotnet(text: str) -> Iterator[Summary]:
    """`Passed!  - Failed: 0, Passed: 3, Skipped: 0, Total: 3`, one an assembly."""
    yield from added(
        of_counts("dotnet test", {name: int(m[name]) for name in ("failed", "passed", "skipped", "total")}, m.start())
        for m in _DOTNET.finditer(text)
    )


def junit(text: str) -> Iterator[Summary]:
    """The attributes of a JUnit XML report's outermost element, read as text (nothing is expanded)."""
    match = _JUNIT.search(text)
    if match is None:
        return
    attributes = dict(re.findall(r"""(\w+)=["'](\d+)["']""", match[0]))
    if "tests" not in attributes:
        return
    names = {"tests": "total", "failures": "failed", "errors": "errors", "skipped": "skipped", "disabled": "skipped"}
    found: dict[str, int] = {}
    for name, value in attributes.items():
        if name in names:
            found[names[name]] = found.get(names[name], 0) + int(value)
    yield of_counts("junit", found, match.start())


def ruby(text: str) -> Iterator[Summary]:
    """RSpec (pending ones excluded), minitest and test-unit."""
    for match in _RSPEC.finditer(text):
        found = {
            "total": int(match["total"]),
            "failed": int(match["failed"]),
            "skipped": int(match["pending"] or 0),
            "errors": int(match["errors"] or 0),
        }
        yield of_counts("rspec", found, match.start())
    for match in _MINITEST.finditer(text):
        found = {name: int(match[name] or 0) for name in ("total", "failed", "errors", "skipped")}
        yield of_counts("minitest", found, match.start())


def php(text: str) -> Iterator[Summary]:
    """PHPUnit's last line, good and bad."""
    for match in _PHPUNIT_OK.finditer(text):
        yield Summary("phpunit", passed=int(match["total"]), total=int(match["total"]), at=match.start())
    for match in _PHPUNIT_BAD.finditer(text):
        rest = dict(re.findall(r"(\w+): (\d+)", match["rest"]))
        found = {
            "total": int(match["total"]),
            "failed": int(rest.get("Failures", 0)),
            "errors": int(rest.get("Errors", 0)),
            "skipped": int(rest.get("Skipped", 0)) + int(rest.get("Incomplete", 0)),
        }
        yield of_counts("phpunit", found, match.start())
    for match in _PHPUNIT_NONE.finditer(text):
        yield Summary("phpunit", at=match.start())


_NOTHING = re.compile(
    r"^(?:No tests defined\.|No test matches the given testcase filter\b.*|No test is available in\b.*"
    r"|(?:\[info\] )?No tests? (?:to run|were executed)\b.*|There (?:are|were) no tests to run\b.*)",
    re.MULTILINE,
)


def nothing(text: str) -> Iterator[Summary]:
    """What Meson, dotnet, sbt, mix and rebar3 say where there are no tests."""
    for match in _NOTHING.finditer(text):
        yield Summary("none", at=match.start())


def others(text: str) -> Iterator[Summary]:
    """ExUnit (bats closes its pretty output the same way), EUnit and busted."""
    for match in _EXUNIT.finditer(text):
        skipped = int(match["excluded"] or 0) + int(match["skipped"] or 0)
        found = {"total": int(match["total"]), "failed": int(match["failed"]), "skipped": skipped}
        yield of_counts("exunit", found, match.start())
    for match in _EUNIT.finditer(text):
        passed = int(match["all"] or match["passed"] or 0)
        yield Summary("eunit", passed, int(match["failed"] or 0), 0, int(match["skipped"] or 0), passed, match.start())
    for match in _BUSTED.finditer(text):
        words = {
            "success": "passed",
            "successes": "passed",
            "failure": "failed",
            "failures": "failed",
            "error": "errors",
            "errors": "errors",
        }
        yield of_counts("busted", {"passed": 0} | counts(match["counts"].replace("/", ","), words), match.start())
