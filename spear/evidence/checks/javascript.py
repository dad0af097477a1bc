"""JavaScript and TypeScript: package scripts, test runners, bundlers, linters, `npx`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.checks.makefiles import kinds_of_target
from spear.evidence.checks.programs import read_interpreter
from spear.evidence.checks.tool import Tool
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, Scope
from spear.evidence.names import names

_LIST = CheckCode.LISTING
_SELECT = names("-t --testNamePattern --testPathPattern --grep -g --findRelatedTests --related --project --onlyChanged")
_VALUED = _SELECT | names("-c --config --reporter --reporters --workers --maxWorkers --timeout -R --require -r")

TOOLS: Mapping[str, Tool] = {
    "jest": Tool(
        default="t",
        voids={"--listTests": _LIST, "--showConfig": _LIST},
        valued=_VALUED,
        selecting=_SELECT,
        words_select=True,
    ),
    "vitest": Tool(
        {"run": "t", "list": "i", "related": "t", "bench": "r", "watch": "t", "*": "t"},
        default="t",
        valued=_VALUED,
        selecting=_SELECT,
        words_select=True,
    ),
    "mocha": Tool(default="t", valued=_VALUED, selecting=_SELECT, words_select=True),
    "ava": Tool(default="t", valued=_VALUED, words_select=True),
    "tap": Tool(default="t", words_select=True),
    "jasmine": Tool(default="t", words_select=True),
    "karma": Tool({"start": "t", "run": "t"}),
    "cypress": Tool({"run": "t"}, valued=frozenset({"--spec"}), selecting=frozenset({"--spec"})),
    "playwright": Tool({"test": "t"}, valued=_VALUED, selecting=_SELECT, words_select=True),
    "tsc": Tool(
        default="bl",
        voids={"--init": _LIST, "--showConfig": _LIST, "-v": _LIST, "--listFilesOnly": _LIST},
        valued=frozenset({"-p", "--project", "--outDir"}),
    ),
    "vue-tsc": Tool(default="bl"),
    "vite": Tool({"build": "b"}, words_select=True),
    "webpack": Tool({"serve": "", "watch": "", "*": "b"}, default="b"),
    "rollup": Tool(default="b"),
    "esbuild": Tool(default="b"),
    "parcel": Tool({"build": "b"}),
    "next": Tool({"build": "b", "lint": "l"}),
    "nuxt": Tool({"build": "b"}),
    "ng": Tool({"build": "b", "test": "t", "lint": "l"}),
    "turbo": Tool({"run": "", "build": "b", "test": "t", "lint": "l"}, many=True),
    "nx": Tool({"build": "b", "test": "t", "lint": "l", "run-many": ""}),
    "eslint": Tool(
        default="l", writes=frozenset({"--fix"}), keeps=frozenset({"--fix-dry-run"}), valued=frozenset({"-c", "--ext"})
    ),
    "oxlint": Tool(default="l", writes=frozenset({"--fix"})),
    "biome": Tool({"check": "l", "lint": "l", "ci": "l", "format": "l"}, writes=frozenset({"--write", "--apply"})),
    "prettier": Tool(default="", writes=frozenset({"--write", "-w"}), voids={"--help": _LIST}),
    "stylelint": Tool(default="l", writes=frozenset({"--fix"})),
    "deno": Tool(
        {"test": "t", "check": "bl", "lint": "l", "fmt": "l", "run": "", "bench": "r", "compile": "b"},
        writes=frozenset({"fmt"}),
        keeps=frozenset({"--check"}),
    ),
}

MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
EXECUTORS = frozenset({"npx", "bunx", "pnpx", "c8", "nyc", "dotenv", "cross-env"})
_EXECUTE = frozenset({"exec", "dlx", "x"})
_OWN_COMMANDS = names(
    "install i ci add remove update audit outdated list ls view info init publish login pack link config cache"
)
_VALUED_HERE = names("-w --workspace --filter -F --prefix -C --dir --cwd -p --package")
_IN_MANY = names("-r --recursive -ws --workspaces -w --workspace --filter -F")
"""Options with which packages beside this one run their scripts."""
_DIRECTORY = frozenset({"--prefix", "-C", "--dir", "--cwd"})


def read_manager(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    """`npm test`, `pnpm run lint -- x`, `yarn jest`, `bun test`: the script or the program they stand for."""
    words, cwd, dry = _own(invocation, facts)
    if not words or words[0] is None:
        return None
    first, rest = words[0], words[1:]
    scripts = facts.scripts.get(cwd or "", {})
    if invocation.name == "bun" and first == "test":
        return Finding("bun test", kinds("t"), selectors=tuple(word for word in rest if word), cwd=cwd)
    if first in _EXECUTE:
        return invocation.of(tuple(word for word in rest if word != "--"))
    if first in ("run", "run-script", "rum"):
        if not rest or rest[0] is None:
            return None
        first, rest = rest[0], rest[1:]
    elif first in ("t", "tst"):
        first = "test"
    elif first in ("build", "clean", "lint") and invocation.name == "npm":
        return None
    elif first not in ("test", "start") and first not in scripts:
        return None if first in _OWN_COMMANDS or invocation.name == "npm" else invocation.of(words)
    return _script(invocation, first, tuple(word or "?" for word in rest if word != "--"), cwd, scripts, dry=dry)


def _script(
    invocation: Invocation, name: str, rest: tuple[str, ...], cwd: str | None, scripts: Mapping[str, str], *, dry: bool
) -> Finding | None:
    found = kinds_of_target(name)
    body = scripts.get(name, "")
    void = CheckCode.DRY_RUN if dry else None
    if re.fullmatch(r"\s*(echo\b[^;&|]*|true|:|exit 0)\s*", body):
        void = CheckCode.PRINTS_HELP
    elif re.search(r"\|\|\s*(true|:|exit 0)\s*$", body):
        void = CheckCode.STATUS_LOST
    given = {word.partition("=")[0] for word in invocation.args if word}
    if "--if-present" in given and name not in scripts and not given & _IN_MANY:
        void = CheckCode.DID_NOT_RUN
    if {"--help", "--listTests", "--version"} & set(rest):
        void = CheckCode.LISTING
    if not found:
        return Finding(f"{invocation.name} {name}", found, cwd=cwd, writes=True)
    scope = Scope.SELECTION if any(not word.startswith("-") for word in rest) else Scope.PROJECT
    return Finding(f"package script {name}", found, scope, rest, (), cwd, void)


def _own(invocation: Invocation, facts: ProjectFacts) -> tuple[tuple[str | None, ...], str | None, bool]:
    """The words after the manager's own options, where it works, and whether it is a dry run."""
    rest, cwd, dry = list(invocation.args), invocation.cwd, False
    while rest and rest[0] is not None and rest[0].startswith("-"):
        option = rest.pop(0) or ""
        dry = dry or option in ("--dry-run", "--help", "-h", "--version", "-v")
        name, equals, value = option.partition("=")
        if name in _VALUED_HERE:
            given = value if equals else (rest.pop(0) or "?") if rest else "?"
            if name in _DIRECTORY:
                cwd = facts.place(given, cwd)
    return tuple(rest), cwd, dry


def read_executor(invocation: Invocation, _facts: ProjectFacts) -> Invocation | None:
    """`npx [options] tool …`: the tool."""
    rest = invocation.args
    while rest and rest[0] is not None and (rest[0].startswith("-") or "=" in rest[0]):
        rest = rest[2:] if rest[0] in ("-p", "--package", "-c", "-e", "--reporter") else rest[1:]
    return invocation.of(rest)


def read_node(invocation: Invocation, facts: ProjectFacts) -> Finding | Invocation | None:
    """`node --test`, `node --check file`, `node file.js`, `node -e "require('./x')"`."""
    args = invocation.known
    if "--test" in args:
        words = tuple(arg for arg in args if not arg.startswith("-"))
        select = tuple(arg for arg in args if arg.startswith(("--test-name-pattern", "--test-only")))
        scope = Scope.SELECTION if words or select else Scope.PROJECT
        return Finding("node --test", kinds("t"), scope, (*select, *words), words, invocation.cwd)
    if args[:1] in (("--check",), ("-c",)):
        return Finding("node --check", kinds("l"), Scope.SELECTION, args[1:], cwd=invocation.cwd)
    code = (
        args[1]
        if args[:1] in (("-e",), ("--eval",), ("-p",)) and len(args) > 1
        else invocation.stdin
        if not args
        else None
    )
    if code is not None:
        local = re.findall(r"""(?:require\(|from\s|import\()\s*["'](\.{1,2}/[^"']+)["']""", code)
        for path in local:
            for suffix in ("", ".js", ".mjs", ".cjs", ".ts", "/index.js"):
                place = facts.place(path + suffix, invocation.cwd)
                if place is not None and facts.exists(place):
                    return Finding("node -e", kinds("r"), Scope.PROGRAM, (code,), (place,), invocation.cwd)
        return None
    return read_interpreter(invocation, facts)
