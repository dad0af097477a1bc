"""Python: pytest, unittest, tox, nox, linters, `python -m`, code on the command line, environment runners."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Mapping
from dataclasses import replace

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.checks.programs import read_program
from spear.evidence.checks.tool import Tool
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, Scope
from spear.evidence.names import names

_LIST = CheckCode.LISTING
_PYTEST = Tool(
    default="t",
    voids={
        "--collect-only": _LIST,
        "--co": _LIST,
        "--collectonly": _LIST,
        "--fixtures": _LIST,
        "--markers": _LIST,
        "--setup-plan": CheckCode.DRY_RUN,
        "--setup-only": CheckCode.DRY_RUN,
    },
    valued=names("-k -m -p -c -o -n -W -r --tb --ignore --deselect --maxfail --rootdir --cov --timeout --durations")
    | names("--junitxml --junit-xml --basetemp --confcutdir --cov-report --capture --color --numprocesses --dist"),
    selecting=names("-k -m --deselect --ignore --lf --last-failed --ff --sw --stepwise"),
    words_select=True,
)
_FIXER = frozenset({"--fix", "--fix-only", "--unsafe-fixes", "-i", "--in-place", "--write-changes"})

TOOLS: Mapping[str, Tool] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    "unittest": Tool(
        {"discover": "t", "*": "t"},
        default="t",
        valued=names("-s -p -t -k --start-directory --pattern --top-level-directory"),
        selecting=names("-k -s -p --start-directory --pattern"),
        words_select=True,
    ),
    "tox": Tool(
        {"run": "t", "r": "t", "list": "i", "l": "i", "config": "i", "p": "t", "run-parallel": "t"},
        default="t",
        voids={"-l": _LIST, "-a": _LIST, "--listenvs": _LIST, "--notest": CheckCode.TESTS_SKIPPED_BY_FLAG},
        valued=names("-e -c -p --workdir --root"),
        selecting=frozenset({"-e"}),
    ),
    "nox": Tool(
        default="t",
        voids={"-l": _LIST, "--list-sessions": _LIST, "--install-only": CheckCode.DRY_RUN},
        valued=names("-s -e -f -k -p -t --session --sessions --noxfile --tags"),
        selecting=names("-s -e -k -t --session --sessions --tags"),
    ),
    "nosetests": Tool(default="t", voids={"--collect-only": _LIST}, words_select=True),
    "trial": Tool(default="t", words_select=True),
    "behave": Tool(default="t", words_select=True, voids={"-d": CheckCode.DRY_RUN}),
    "doctest": Tool(default="t", words_select=True, scope=Scope.SELECTION),
    "ruff": Tool(
        {"check": "l", "format": "l"},
        words_select=False,
        writes=_FIXER | {"format"},
        keeps=frozenset({"--check", "--diff"}),
    ),
    "black": Tool(default="l", writes=frozenset({""}), keeps=frozenset({"--check", "--diff"})),
    "isort": Tool(default="l", writes=frozenset({""}), keeps=names("--check --check-only --diff -c")),
    "autopep8": Tool(default="l", writes=_FIXER),
    "flake8": Tool(default="l"),
    "pylint": Tool(default="l"),
    "mypy": Tool(default="l", valued=names("-p -m -c --config-file")),
    "dmypy": Tool({"run": "l", "check": "l"}),
    "pyright": Tool(default="l"),
    "basedpyright": Tool(default="l"),
    "ty": Tool({"check": "l"}),
    "pyre": Tool({"check": "l"}, default="l"),
    "bandit": Tool(default="l"),
    "pydocstyle": Tool(default="l"),
    "vulture": Tool(default="l"),
    "lint-imports": Tool(default="l"),
    "build": Tool(default="b"),
    "flit": Tool({"build": "b"}),
    "py_compile": Tool(default="b", scope=Scope.LOOSE),
    "compileall": Tool(default="b", scope=Scope.LOOSE),
    "json.tool": Tool(default="l"),
    "tabnanny": Tool(default="l"),
}

_MODULES = frozenset(TOOLS) | {"coverage", "hatch", "poetry", "pdm", "sphinx", "mkdocs", "pre_commit"}
_ALIASES = {"sphinx": "sphinx-build", "pre_commit": "pre-commit"}
INTERPRETERS = frozenset({"python", "python2", "python3", "pypy", "pypy3", "ipython"})
_VALUED = frozenset({"-W", "-X"})


def is_interpreter(name: str) -> bool:
    """`python`, `python3.12`, `pypy3`…"""
    stem = name.rstrip("0123456789.")
    return name in INTERPRETERS or stem in ("python", "pypy")


def read_python(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    """`python -m tool`, `python file.py`, `python -c code`, `python - <<code`."""
    args = list(invocation.args)
    while args:
        arg = args[0]
        if arg is None:
            return None
        if arg == "-m":
            return _module(invocation, tuple(args[1:]), facts)
        if arg == "-c":
            return _inline(invocation, args[1] if len(args) > 1 else None, facts)
        if arg in _VALUED:
            args = args[2:]
        elif arg in ("--version", "-V", "--help", "-h"):
            return Finding("python", kinds("i"), cwd=invocation.cwd, void=CheckCode.LISTING)
        elif arg == "-" or not arg.startswith("-"):
            break
        else:
            args = args[1:]
    if not args or args[0] == "-":
        return _inline(invocation, invocation.stdin, facts)
    return _file(invocation, tuple(args), facts)


def _module(invocation: Invocation, words: tuple[str | None, ...], facts: ProjectFacts) -> Finding | Invocation | None:
    module = words[0] if words else None
    if module is None:
        return None
    if module in _MODULES:
        return invocation.of((_ALIASES.get(module, module), *words[1:]))
    path = module.replace(".", "/")
    for candidate in (f"{path}.py", f"{path}/__main__.py", f"src/{path}.py", f"src/{path}/__main__.py"):
        place = facts.place(candidate, invocation.cwd)
        if place is not None and facts.exists(place):
            return read_program(replace(invocation, args=words[1:]), place, facts)
    return None


def _file(invocation: Invocation, words: tuple[str | None, ...], facts: ProjectFacts) -> Finding | None:
    place = facts.place(words[0] or "", invocation.cwd)
    if place is None or not facts.exists(place):
        return None
    name = posixpath.basename(place)
    rest = tuple(word for word in words[1:] if word is not None)
    if name in ("manage.py", "runtests.py") and rest[:1] == ("test",):
        return Finding(
            "manage.py", kinds("t"), Scope.SELECTION if rest[1:] else Scope.PROJECT, rest[1:], (), invocation.cwd
        )
    if name == "manage.py" and rest[:1] == ("check",):
        return Finding("manage.py", kinds("l"), cwd=invocation.cwd)
    if name == "setup.py" and rest:
        found = {
            "test": "t",
            "build": "b",
            "build_ext": "b",
            "bdist_wheel": "b",
            "sdist": "b",
            "check": "l",
            "clean": "c",
        }
        return Finding("setup.py", kinds(found.get(rest[0], "i")), cwd=invocation.cwd)
    return read_program(replace(invocation, args=words[1:]), place, facts)


def _inline(invocation: Invocation, code: str | None, facts: ProjectFacts) -> Finding | None:
    """Code given on the command line runs something of the tree when it imports or opens a module of it."""
    if code is None:
        return None
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for module in sorted(modules):
        path = module.replace(".", "/")
        for candidate in (f"{path}.py", f"{path}/__init__.py", f"src/{path}.py", f"src/{path}/__init__.py"):
            place = facts.place(candidate, invocation.cwd)
            if place is not None and facts.exists(place):
                return Finding("python -c", kinds("r"), Scope.PROGRAM, (code,), (place,), invocation.cwd)
    return None


_RUNNERS: Mapping[str, tuple[str, ...]] = {
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "pipenv": ("run",),
    "rye": ("run",),
    "hatch": ("run",),
    "pixi": ("run",),
    "conda": ("run",),
    "micromamba": ("run",),
    "uvx": (),
    "pipx": ("run",),
}
_RUNNER_VALUED = names(
    "--with --python -p --project --directory --extra --group --env-file --package --index -n --name -e --env"
)
RUNNERS = frozenset(_RUNNERS)


def read_runner(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    """`uv run pytest`, `poetry run …`, `hatch test`: what they hand on to."""
    words = _after_options(invocation.args)
    steps = _RUNNERS[invocation.name]
    if steps:
        first = words[0] if words else None
        if invocation.name in ("hatch", "rye") and first in ("test", "build", "lint", "fmt"):
            return Finding(
                invocation.name,
                kinds({"test": "t", "build": "b", "lint": "l"}.get(first, "")),
                cwd=invocation.cwd,
                writes=first == "fmt",
            )
        if first in ("build",):
            return Finding(invocation.name, kinds("b"), cwd=invocation.cwd)
        if first not in steps:
            return None
        words = _after_options(words[1:])
    if words and words[0] is not None and ":" in words[0] and invocation.name == "hatch":
        words = (words[0].rsplit(":", 1)[-1], *words[1:])
    if words and words[0] is not None and words[0].endswith(".py"):
        words = ("python", *words)
    if words[:1] == ("-m",):
        words = ("python", *words)
    return invocation.of(words)


def _after_options(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    while words and words[0] is not None and words[0].startswith("-"):
        if words[0] == "--":
            return words[1:]
        if words[0] == "-m":
            return words
        words = words[2:] if words[0] in _RUNNER_VALUED else words[1:]
    return words


def read_coverage(invocation: Invocation, _facts: ProjectFacts) -> Finding | Invocation | None:
    """`coverage run [options] (-m module | file)` is what it runs."""
    args = invocation.args
    if not args or args[0] != "run":
        return None
    rest = args[1:]
    while rest and rest[0] is not None and rest[0].startswith("-") and rest[0] != "-m":
        rest = rest[2:] if rest[0] in ("--source", "--omit", "--include", "--rcfile", "--data-file") else rest[1:]
    return invocation.of(("python", *rest)) if rest else None
