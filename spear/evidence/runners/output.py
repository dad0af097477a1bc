"""What a command's output says of it: summaries, help texts, runners that could not start (spec 3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from spear.evidence.runners import javascript, managed, native, python
from spear.evidence.runners.summary import Summary

_READERS: tuple[Callable[[str], Iterator[Summary]], ...] = (
    python.pytest,
    python.unittest,
    javascript.jest,
    javascript.vitest,
    javascript.mocha,
    javascript.node,
    javascript.others,
    native.cargo,
    native.go,
    native.ctest,
    native.frameworks,
    native.tap,
    managed.jvm,
    managed.dotnet,
    managed.junit,
    managed.ruby,
    managed.php,
    managed.others,
    managed.nothing,
)

READ_LIMIT = 400_000
"""Characters of output read for summaries; the end is what is kept of a longer one."""


def read_summaries(output: str) -> tuple[Summary, ...]:
    """Every runner's summary in an output, in the order they stand. Where two runners read the same place (node's
    TAP, Automake over TAP), the more particular one is kept."""
    text = output[-READ_LIMIT:].replace("\r\n", "\n")
    found = sorted((item for reader in _READERS for item in reader(text)), key=lambda item: item.at)
    particular = {item.runner for item in found} - {"tap"}
    if particular & {"node --test", "automake", "prove", "exunit"}:
        found = [item for item in found if item.runner != "tap"]
    return tuple(found)


def together(summaries: tuple[Summary, ...]) -> Summary | None:
    """One summary for several, None for none."""
    if not summaries:
        return None
    return Summary(
        runner=summaries[-1].runner,
        passed=sum(item.passed for item in summaries),
        failed=sum(item.failed for item in summaries),
        errors=sum(item.errors for item in summaries),
        skipped=sum(item.skipped for item in summaries),
        total=sum(item.total for item in summaries),
        at=summaries[-1].at,
    )


_NUMBER = re.compile(
    r"\b(\d{1,7})\s*(?:/\s*\d+\s*)?(?:tests?|specs?|examples?|checks?|assertions?|passed|passing|pass|ok|successful|succeeded)\b"
    r"|\b(?:passed|ok|pass|tests?|total)\s*[:=]\s*(\d{1,7})\b",
    re.IGNORECASE,
)


def numbers_seen(output: str) -> tuple[int, ...]:
    """Counts of tests an output speaks of in any form, for claims that name one. At most 64."""
    found = {int(match[1] or match[2]) for match in _NUMBER.finditer(output[-READ_LIMIT:])}
    return tuple(sorted(found))[:64]


_HELP_START = re.compile(
    r"\A\s*(sphinx v[\d.]+\s*\n\s*)?(usage\b|please use|available (targets|commands|recipes)|targets:|make targets)",
    re.IGNORECASE,
)


def prints_help(output: str) -> bool:
    """Whether an output is a help text from its first line on (`make[1]:` lines aside)."""
    lines = [line for line in output.split("\n") if not re.match(r"make(\[\d+\])?: (Entering|Leaving)", line)]
    return _HELP_START.search("\n".join(lines)) is not None


_NOT_STARTED: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^make(?:\[\d+\])?: \*\*\* \[[^\]]*\] Error 127$",
        r"^(?:bash|sh): (?:line )?\d+: cd: .*: (?:No such file or directory|Not a directory)$",
        r"^.*No module named '?(?:pytest|unittest2|tox|nox|mypy|ruff|flake8|pylint|black|coverage|build|hatch)'?$",
        r"^make(?:\[\d+\])?: \*\*\* No rule to make target .*(?<!needed by)\.  ?Stop\.$",
        r"^make(?:\[\d+\])?: \*\*\* No targets specified and no makefile found\.  Stop\.$",
        r"^make: .*: No such file or directory$",
        r"^npm (?:ERR!|error) Missing script: ",
        r"^.*Missing script: \"",
        r"^error: no such (?:command|subcommand): ",
        r"^ERROR: (?:file or directory not found: |usage: )",
        r"^No test specified|^Error: no test specified",
        r"^ninja: error: loading 'build\.ninja': No such file or directory$",
        r"^error: could not find `Cargo\.toml`",
        r"^go: go\.mod file not found",
    )
)


_BUILD_FAILED: Mapping[str, re.Pattern[str]] = {
    "make": re.compile(r"^\S*make(?:\[\d+\])?: \*\*\* \[[^\]]*\] Error (?!127)\d+", re.MULTILINE),
    "ninja": re.compile(r"^ninja: build stopped: (?:subcommand failed|error)", re.MULTILINE),
    "cmake": re.compile(
        r"^ninja: build stopped: subcommand failed|^\S*make(?:\[\d+\])?: \*\*\* \[[^\]]*\] Error \d+", re.MULTILINE
    ),
    "cargo": re.compile(r"^error: could not compile `|^error\[E\d{4}\]: |^error: test failed, to rerun", re.MULTILINE),
    "mvn": re.compile(r"^\[INFO\] BUILD FAILURE$", re.MULTILINE),
    "mvnw": re.compile(r"^\[INFO\] BUILD FAILURE$", re.MULTILINE),
    "gradle": re.compile(r"^(?:FAILURE: Build failed with an exception\.|BUILD FAILED in )", re.MULTILINE),
    "gradlew": re.compile(r"^(?:FAILURE: Build failed with an exception\.|BUILD FAILED in )", re.MULTILINE),
    "dotnet": re.compile(r"^Build FAILED\.$", re.MULTILINE),
    "tsc": re.compile(r"^\S+\(\d+,\d+\): error TS\d+: ", re.MULTILINE),
    "compiler": re.compile(r"^[^:\n]+:\d+:\d+: (?:fatal )?error: ", re.MULTILINE),
}


def says_it_failed(tool: str, output: str) -> bool:
    """Whether a build tool's own closing words say that it failed. Nothing it prints is ever taken for a pass."""
    pattern = _BUILD_FAILED.get(tool)
    return pattern is not None and pattern.search(output[-READ_LIMIT:]) is not None


_CRASHED = re.compile(
    r"^Traceback \(most recent call last\):$|^(?:\w+\.)*AssertionError\b|: Assertion [`'].*' failed\.$|^panic: "
    r"|^thread '.*' panicked"
    r"|^[ \t]*(?:\S+: )?FAIL(?:ED|URE)?\b(?![ \t]*[:=]?[ \t]*0\b)",
    re.MULTILINE,
)
_COUNTED_FAILED = re.compile(
    r"\b[1-9]\d*[ \t]+(?:\w+[ \t]+)?(?:failed|failures?|failing)\b|^not ok\b"
    r"|\bsome (?:\w+ )?(?:tests?|checks?) failed\b"
    r"|\bfail(?:ed|ures?)[ \t]*[:=][ \t]*[1-9]",
    re.MULTILINE | re.IGNORECASE,
)


def reports_failure(output: str, *, tests: bool) -> bool:
    """Whether what a program without a runner's summary printed speaks of a failure, its exit status aside: a runner
    somebody wrote by hand and that forgets to say so. What only ran may count failures of its own (`tests`)."""
    tail = output[-READ_LIMIT:]
    return _CRASHED.search(tail) is not None or (tests and _COUNTED_FAILED.search(tail) is not None)


def could_not_start(output: str) -> bool:
    """Whether the output says that the check never began: no such command, module, target, script or project."""
    tail = output[-20_000:]
    for pattern in _NOT_STARTED:
        for match in pattern.finditer(tail):
            if "needed by" not in match[0]:
                return True
    return False
