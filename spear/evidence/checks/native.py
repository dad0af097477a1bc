"""Builds of C and C++ projects and of whole systems: CMake, Ninja, Meson, autotools, Bazel, Buck2, SCons, BitBake."""

from __future__ import annotations

from collections.abc import Mapping

from spear.evidence.checks.invocation import Finding, Invocation, kinds
from spear.evidence.checks.makefiles import kinds_of_target
from spear.evidence.checks.tool import Tool
from spear.evidence.facts import ProjectFacts
from spear.evidence.kinds import CheckCode, Scope
from spear.evidence.names import names

_LIST = CheckCode.LISTING

TOOLS: Mapping[str, Tool] = {
    "ctest": Tool(
        default="t",
        voids={"-N": _LIST, "--show-only": _LIST, "--print-labels": _LIST},
        valued=names("-C -R -E -L -LE -j --test-dir --timeout -I --build-config --repeat --preset -O --output-log"),
        selecting=names("-R -E -L -LE -I --tests-regex --exclude-regex --label-regex"),
        directory=frozenset({"--test-dir"}),
    ),
    "meson": Tool(
        {"compile": "b", "test": "bt", "setup": "", "configure": "", "install": "b", "introspect": "i"},
        valued=names("-C -t --suite --no-suite -j --num-processes --timeout-multiplier"),
        selecting=frozenset({"--suite", "--no-suite"}),
        directory=frozenset({"-C"}),
        words_select=True,
    ),
    "bazel": Tool(
        {"build": "b", "test": "bt", "run": "br", "coverage": "bt", "query": "i", "clean": "c", "info": "i"},
        voids={"--nobuild": CheckCode.DRY_RUN},
        valued=frozenset({"-c", "-j"}),
        selecting=frozenset({"--test_filter"}),
    ),
    "buck2": Tool({"build": "b", "test": "bt", "run": "br", "clean": "c", "query": "i", "targets": "i"}),
    "scons": Tool(
        {"test": "bt", "check": "bt", "*": "b"},
        default="b",
        voids={"-n": CheckCode.DRY_RUN, "--no-exec": CheckCode.DRY_RUN, "-q": CheckCode.DRY_RUN},
        valued=frozenset({"-C", "-f"}),
        directory=frozenset({"-C"}),
    ),
    "xmake": Tool({"build": "b", "test": "bt", "run": "br", "clean": "c", "f": "", "config": ""}, default="b"),
    "waf": Tool({"build": "b", "test": "bt", "check": "bt", "clean": "c", "configure": ""}, many=True, default="b"),
    "west": Tool({"build": "b", "twister": "bt"}),
    "pio": Tool({"run": "b", "test": "bt", "check": "l"}),
    "platformio": Tool({"run": "b", "test": "bt", "check": "l"}),
    "idf.py": Tool({"build": "b", "clean": "c", "fullclean": "c", "size": "i"}, many=True),
    "dtc": Tool(default="b", scope=Scope.LOOSE, valued=names("-I -O -o -i")),
    "cppcheck": Tool(default="l", words_select=True),
    "clang-tidy": Tool(default="l", words_select=True, writes=frozenset({"--fix", "-fix"})),
    "clang-format": Tool(default="l", writes=frozenset({"-i"}), words_select=True),
    "shellcheck": Tool(default="l", words_select=True),
    "yamllint": Tool(default="l", words_select=True),
    "markdownlint": Tool(default="l", words_select=True, writes=frozenset({"--fix", "-f"}), scope=Scope.DOCUMENTATION),
    "vale": Tool(default="l", words_select=True, scope=Scope.DOCUMENTATION),
    "sphinx-build": Tool(default="b", scope=Scope.DOCUMENTATION),
    "mkdocs": Tool({"build": "b"}, scope=Scope.DOCUMENTATION),
    "mdbook": Tool({"build": "b", "test": "bt"}, scope=Scope.DOCUMENTATION),
    "hugo": Tool({"version": "i"}, default="b", scope=Scope.DOCUMENTATION),
    "doxygen": Tool(default="b", scope=Scope.DOCUMENTATION),
    "asciidoctor": Tool(default="b", scope=Scope.DOCUMENTATION),
    "pre-commit": Tool({"run": "l"}, selecting=frozenset({"--files"})),
    "actionlint": Tool(default="l"),
    "hadolint": Tool(default="l", words_select=True),
    "xmllint": Tool(default="l", words_select=True),
}


def read_cmake(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """`cmake --build` builds (its targets say what else), `-P` runs a script; configuring proves nothing."""
    args = invocation.known
    if "--build" not in args:
        configures = "-P" not in args
        return Finding("cmake", kinds("i"), cwd=invocation.cwd, void=CheckCode.LISTING) if configures else None
    directory = args[args.index("--build") + 1] if args.index("--build") + 1 < len(args) else "."
    targets: list[str] = []
    taking = False
    for arg in args[: args.index("--") if "--" in args else len(args)]:
        if arg in ("--target", "-t"):
            taking = True
        elif arg.startswith("--target="):
            targets.append(arg.partition("=")[2])
        elif arg.startswith("-"):
            taking = False
        elif taking:
            targets.append(arg)
    native = args[args.index("--") + 1 :] if "--" in args else ()
    found = frozenset().union(*(kinds_of_target(target) for target in targets)) if targets else kinds("b")
    if "--clean-first" in args:
        found |= kinds("cb")
    void = CheckCode.DRY_RUN if "-n" in native else None
    cwd = facts.place(directory, invocation.cwd)
    return Finding("cmake", found, Scope.PROJECT, tuple(targets), (), cwd, void)


def read_ninja(invocation: Invocation, facts: ProjectFacts) -> Finding | None:
    """`ninja [-C dir] [targets]`; `-t` tools inspect, except `-t clean`."""
    cwd, targets, void = invocation.cwd, [], None
    rest = list(invocation.args)
    while rest:
        arg = rest.pop(0) or "?"
        if arg in ("-C", "-f", "-j", "-k", "-l", "-d", "-w", "-t"):
            value = (rest.pop(0) if rest else "") or "?"
            if arg == "-C":
                cwd = facts.place(value, cwd)
            if arg == "-t":
                found = kinds("c") if value == "clean" else kinds("i")
                return Finding("ninja", found, cwd=cwd, void=None if value == "clean" else CheckCode.LISTING)
        elif arg in ("-n", "--version", "-h", "--help"):
            void = CheckCode.DRY_RUN if arg == "-n" else CheckCode.LISTING
        elif not arg.startswith("-"):
            targets.append(arg)
    found = frozenset().union(*(kinds_of_target(target) for target in targets)) if targets else kinds("b")
    return Finding("ninja", found, Scope.PROJECT, tuple(targets), (), cwd, void)


def read_bitbake(invocation: Invocation, _facts: ProjectFacts) -> Finding | None:
    """A recipe or image build; `-c task`, `recipe:do_task`, `--runonly=task` are that task only, a clean is a clean."""
    task, targets, void = "", [], None
    rest = list(invocation.args)
    while rest:
        arg = rest.pop(0) or "?"
        if arg in ("-c", "--cmd"):
            task = (rest.pop(0) if rest else "") or "?"
        elif arg.startswith(("--cmd=", "--runonly=", "--runall=")):
            task = arg.partition("=")[2]
        elif arg in ("--runonly", "--runall"):
            task = (rest.pop(0) if rest else "") or "?"
        elif arg.startswith("-c"):
            task = arg[2:]
        elif arg in ("-n", "--dry-run"):
            void = CheckCode.DRY_RUN
        elif arg in (
            "-e",
            "-g",
            "-s",
            "-p",
            "--help",
            "-h",
            "--version",
            "--environment",
            "--graphviz",
            "--parse-only",
        ):
            void = CheckCode.LISTING
        elif arg in ("-r", "-R", "-u", "-D", "-l", "--read", "--postread"):
            rest = rest[1:] if arg in ("-r", "-R", "-u", "-l") else rest
        elif not arg.startswith("-"):
            target, _, own = arg.partition(":do_")
            targets.append(target)
            task = task or own
    selectors = tuple(targets)
    if task in ("clean", "cleansstate", "cleanall"):
        return Finding("bitbake", kinds("c"), selectors=selectors, cwd=invocation.cwd, void=void)
    if task and task not in ("build",):
        void = void or CheckCode.SINGLE_TASK
        return Finding("bitbake", kinds("b"), Scope.TASK, (*selectors, task), (), invocation.cwd, void)
    return Finding("bitbake", kinds("b"), Scope.PROJECT, selectors, (), invocation.cwd, void)
