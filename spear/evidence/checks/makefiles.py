"""make and its kin: what a target is for, by its name and by what the makefile says of it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.diverting import made_idle
from spear.evidence.facts import Makefile, ProjectFacts
from spear.evidence.kinds import CheckCode, CheckKind, Scope
from spear.evidence.names import names

NAMES = frozenset({"make", "gmake", "bmake", "mingw32-make", "remake"})

_VALUED = names("-C -f -I -o -W -E --directory --file --makefile --include-dir --old-file --what-if --eval")
_NUMBERED = frozenset({"-j", "-l", "--jobs", "--load-average"})
_DRY_LONG = names("--dry-run --just-print --recon --question --touch --print-data-base")
_DRY_SHORT = frozenset("nqtp")
_HELP = frozenset({"--help", "--version", "-h", "-v"})
_BY_NAME: tuple[tuple[str, str], ...] = (
    (r"help|usage|list|targets|info|show|version|print|menuconfig|.*config|configure|setup|deps|tags|env", "i"),
    (r"clean|distclean|mrproper|clobber|realclean|maintainer-clean", "c"),
    (
        r"test|tests|check|checks|selftest|unittest|unittests|spec|specs|verify|ci|coverage|cov|e2e|integration|smoke",
        "t",
    ),
    (r"unit|units|pytest|ctest|jest|vitest|mocha|bats|runtest|runtests|testall|doctest", "t"),
    (r"regress|regression|installcheck|distcheck|tck|bench-test|fuzz|validate", "t"),
    (r"lint|linter|style|typecheck|type-check|types|mypy|ruff|flake8|pylint|clippy|vet|tidy|analyze|checkstyle", "l"),
    (r"eslint|shellcheck|pyright|cppcheck|format-check|fmt-check|check-format|check-fmt|check-style|lint-.*", "l"),
    (r"run|demo|start|exec|example|examples|bench|benchmark|simulate|sim|qemu", "r"),
    (r"format|fmt|fix|install|uninstall|deploy|publish|release|upload|push|pull|serve|watch|dev|init|bootstrap", ""),
)
_DOCUMENTATION = re.compile(r"(html|dirhtml|singlehtml|latex|latexpdf|pdf|epub|man|docs?|doc-.*|docs-.*|linkcheck)")


def kinds_of_target(target: str) -> frozenset[CheckKind]:
    """What a target (or a script) of that name is for; BUILD when the name says nothing else."""
    name = target.lower().rsplit("/", 1)[-1]
    for pattern, letters in _BY_NAME:
        if re.fullmatch(pattern, name):
            return kinds(letters)
    parts = re.split(r"[-_.:]", name)
    for part in (parts[0], parts[-1]):
        for pattern, letters in _BY_NAME:
            if letters in ("t", "c", "l", "r", "i") and re.fullmatch(pattern, part):
                return kinds(letters)
    return kinds("b")


@dataclass(frozen=True, slots=True)
class _MakeLine:
    targets: tuple[str, ...]
    directory: str | None
    file: str | None
    void: CheckCode | None
    settings: tuple[str, ...]


def _read(args: tuple[str | None, ...]) -> _MakeLine:
    targets: list[str] = []
    settings: list[str] = []
    directory, file, void = "", None, None
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg is None:
            targets.append("?")
        elif arg in _VALUED or arg in _NUMBERED:
            if arg in _NUMBERED and not (rest and rest[0] is not None and re.fullmatch(r"[\d.]+", rest[0])):
                continue
            value = (rest.pop(0) if rest else "") or "?"
            if arg in ("-C", "--directory"):
                directory = posixpath.join(directory, value)
            elif arg in ("-f", "--file", "--makefile"):
                file = value
        elif arg.startswith("--"):
            void = void or _void_long(arg)
            if arg.startswith("--directory="):
                directory = posixpath.join(directory, arg.partition("=")[2])
        elif arg.startswith("-C"):
            directory = posixpath.join(directory, arg[2:])
        elif arg.startswith("-") and len(arg) > 1:
            void = void or _void_short(arg)
        elif "=" in arg:
            settings.append(arg)
        else:
            targets.append(arg)
    return _MakeLine(tuple(targets), directory, file, void, tuple(settings))


def _void_long(arg: str) -> CheckCode | None:
    if arg in _HELP:
        return CheckCode.LISTING
    if arg == "--ignore-errors":
        return CheckCode.STATUS_LOST
    return CheckCode.DRY_RUN if arg in _DRY_LONG else None


def _void_short(arg: str) -> CheckCode | None:
    if arg in _HELP:
        return CheckCode.LISTING
    letters = set(re.split(r"[fjlIoWE]", arg[1:], maxsplit=1)[0])
    if letters & _DRY_SHORT:
        return CheckCode.DRY_RUN
    return CheckCode.STATUS_LOST if "i" in letters else None


def read_make(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """What `make …` is. With a makefile at hand, a target that only prints or does nothing is told from one that
    works, and a test target that builds first is a build as well."""
    line = _read(invocation.args)
    directory = line.directory or ""
    cwd = facts.place(directory, invocation.cwd) if directory else invocation.cwd
    makefile = facts.makefiles.get(cwd, Makefile()) if cwd is not None and line.file is None else Makefile()
    targets = line.targets or ((makefile.default,) if makefile.default else ())
    found: set[CheckKind] = set()
    void = line.void or _void_settings(line.settings)
    scope = Scope.PROJECT
    for target in targets:
        of_target = set(kinds_of_target(target))
        if _DOCUMENTATION.fullmatch(target.rsplit("/", 1)[-1]):
            scope = Scope.DOCUMENTATION
        if makefile.links(target) or (cwd is not None and facts.is_built(posixpath.join(cwd, target))):
            of_target = {CheckKind.BUILD}  # a program of whatever name, which this does not run
        elif makefile.builds(target) and of_target & {CheckKind.TEST, CheckKind.RUN}:
            of_target.add(CheckKind.BUILD)
        found |= of_target
    if not targets:
        found = set(kinds("b"))
    if found <= {CheckKind.INSPECT} and found:
        void = void or CheckCode.PRINTS_HELP
    elif targets:
        void = void or _void_rules(makefile, targets)
    if not found and void is None:
        return Finding("make", frozenset(), cwd=cwd, writes=True, selectors=line.targets)
    return Finding("make", frozenset(found), scope, line.targets, (), cwd, void)


def _void_settings(settings: tuple[str, ...]) -> CheckCode | None:
    """`make test SHELL=true` runs no recipe, `make test PYTEST=true` something else in it."""
    values = dict(setting.split("=", 1) for setting in settings)
    if any(made_idle(name, value) for name, value in values.items()):
        return CheckCode.NOT_ITSELF
    shell = values.get("SHELL", "sh").split(" ")[0]
    runs_nothing = not shell.endswith("sh") or "n" in values.get("MAKEFLAGS", "").split(" ")[0].lstrip("-")
    return CheckCode.DRY_RUN if runs_nothing else None


def _void_rules(makefile: Makefile, targets: tuple[str, ...]) -> CheckCode | None:
    if all(makefile.prints_only(target) for target in targets):
        return CheckCode.PRINTS_HELP
    if all(makefile.ignores_errors(target) for target in targets):
        return CheckCode.STATUS_LOST
    tests = [target for target in targets if CheckKind.TEST in kinds_of_target(target)]
    if tests and all(makefile.is_empty(target) for target in tests):
        return CheckCode.NOTHING_TESTED
    return None
