"""What keeps a tool from its work, or gives it another: options, variables, settings, shadowing modules (spec 3.3).

A table says which of a tool's options name a program or a file that takes the place of what it would run. Variables of
a makefile are judged by where its recipes use them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from spear.evidence.facts import Makefile, ProjectFacts
from spear.evidence.names import names

Strange = Callable[[str], bool]
"""Whether a path lies where anything may be put without a trace, or was written by this turn."""

_NAMES_A_PROGRAM = re.compile(
    r"(?:\w+_)?(?:CC|CXX|LD|AR|PYTHON3?|PYTEST|TOX|MAKE|NODE|NPM|JEST|GO|CARGO|RUSTC|RUSTDOC|RUNNER)"
)
_IDLE = frozenset({"true", "false", ":", "echo", "printf"})


def is_idle(program: str) -> bool:
    """Whether a program of that name does nothing, whatever it is given."""
    return program.rsplit("/", 1)[-1] in _IDLE


def made_idle(variable: str, value: str) -> bool:
    """Whether this setting makes what should do the work do nothing. `DEBUG=true` does not."""
    words = value.split()
    return _NAMES_A_PROGRAM.fullmatch(variable) is not None and bool(words) and is_idle(words[0])


_TAKES_ANOTHER: Mapping[str, frozenset[str]] = {
    "go": names("-exec -toolexec -overlay -modfile"),
    "make": names("-E --eval -o --old-file"),
    "cargo": names("--config"),
    "package script": names("--script-shell --node-options --ignore-scripts"),
    "node": names("--snapshot-blob --build-snapshot"),
    "tox": names("-x --override"),
    "meson": names("--wrapper --wrap"),
    "prove": names("-e --exec"),
    "bazel": names("--run_under"),
    "cmake": names("--preset-file"),
}
"""Options that put another program or file in the place of what the tool would run."""

_LOADS: Mapping[str, frozenset[str]] = {
    "node": names("-r --require --import --loader --experimental-loader"),
    "pytest": names("-p"),
    "mocha": names("-r --require"),
    "rspec": names("-r --require"),
    "ruby": names("-r"),
    "jest": names(
        "--setupFiles --setupFilesAfterEnv --globalSetup --testEnvironment --runner --testRunner --transform"
    ),
}
"""Options that load code first; a pass under code of this turn's, or from the scratch directories, shows nothing."""


def is_told_otherwise(tool: str, words: Sequence[str | None], strange: Strange) -> bool:
    """Whether a tool's own words give it another program, or load code first that may stand for what is tested."""
    family = "package script" if tool.startswith("package script ") else tool.split(" ")[0]
    others, loads = _TAKES_ANOTHER.get(family, frozenset()), _LOADS.get(family, frozenset())
    for index, word in enumerate(words):
        name, equals, value = (word or "").partition("=")
        given = value if equals else (words[index + 1] if index + 1 < len(words) else None) or ""
        if name in others or (name[:2] == "--" and name[1:] in others):
            return True
        if name in loads and any(strange(place) for place in _places(given)):
            return True
    return False


def _places(given: str) -> Iterator[str]:
    """Where a module or file named on a command line may lie."""
    yield given
    if not given.endswith((".py", ".js", ".mjs", ".cjs", ".rb", ".ts")):
        module = given.replace(".", "/") if "/" not in given else given
        yield from (f"{module}{suffix}" for suffix in (".py", "/__init__.py", ".js", ".mjs", ".cjs", ".rb"))


# --- variables --------------------------------------------------------------------------------------------------------

_FLAGS = re.compile(r"(?:\w+_)?(?:C|CXX|CPP|LD|ASM?|OBJC|GO|RUST|LDLIBS|DEFS?)(?:_?FLAGS)?|EXTRA_\w*FLAGS")
_REPLACES_CODE = re.compile(r"-D\s*\w+\(|-include\b|-imacros\b|-Wl,--(?:wrap|defsym)|--defsym|-DNDEBUG\b")
_GO_REPLACES = re.compile(r"-(?:exec|toolexec|overlay|modfile)\b")


def replaces_code(variable: str, value: str) -> bool:
    """Whether compiler flags put something else in the place of what is compiled, or switch its assertions off."""
    if variable == "GOFLAGS":
        return _GO_REPLACES.search(value) is not None
    return _FLAGS.fullmatch(variable) is not None and _REPLACES_CODE.search(value) is not None


def stands_for_a_command(makefile: Makefile, variable: str, value: str, strange: Strange) -> bool:
    """Whether a makefile runs a program through this variable, and the value is one that does nothing or that this turn
    put there: `make test RUN=true` where the recipe says `$(RUN) ./build/test`. What a directory holds
    (`$(BUILD)/test`) is asked of those who wrote there."""
    words = value.split()
    if not words or not (is_idle(words[0]) or strange(words[0])):
        return False
    use = re.compile(rf"(?:^|[;&|(]|&&|\|\|)\s*[@+-]*\s*(?:\w+=\S*\s+)*\$[({{]{re.escape(variable)}[)}}](?!/)")
    return any(use.search(line) for rule in makefile.targets.values() for line in rule.recipe)


# --- modules of a runner's own name -----------------------------------------------------------------------------------

_LOADED_BY_RUNNERS = names(
    "pytest _pytest pluggy iniconfig packaging unittest doctest nose tox nox coverage hypothesis sitecustomize"
    " usercustomize argparse traceback inspect importlib pathlib re ast warnings logging functools contextlib io"
    " types typing enum dataclasses platform tempfile shutil signal threading fnmatch textwrap tokenize linecache"
    " pdb copy glob difflib pprint struct subprocess weakref abc site runpy pkgutil collections sysconfig"
)
_PYTHON_TOOLS = names("pytest py.test unittest tox nox nosetests trial doctest")


def shadows_runner(tool: str, cwd: str | None, facts: ProjectFacts, entries: Sequence[str]) -> bool:
    """Whether this turn wrote a module that Python finds before the runner's own: beside the tests, or in one of the
    `entries` of PYTHONPATH."""
    if tool not in _PYTHON_TOOLS or cwd is None:
        return False
    places = {cwd, *(place for entry in entries if (place := facts.place(entry or ".", cwd)) is not None)}
    return any(
        facts.made_here(posixpath.join(place, file))
        for place in places
        for module in _LOADED_BY_RUNNERS
        for file in (f"{module}.py", f"{module}/__init__.py")
    )


# --- settings of its own file -----------------------------------------------------------------------------------------

_NODE = r"^\s*(?:script-shell|node-options|ignore-scripts)\s*[=:]"
_MAVEN = r"\bskipTests\b|\bmaven\.test\.|\btestFailureIgnore\b"
_SETTINGS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.MULTILINE)
    for files, pattern in (
        (".npmrc .yarnrc .yarnrc.yml rc", _NODE),
        ("config.toml config", r"^\s*(?:runner|rustc|rustc-wrapper|rustc-workspace-wrapper)\s*="),
        (".bazelrc", r"--run_under\b"),
        ("CTestCustom.cmake", r"\bCTEST_CUSTOM_(?:TESTS_IGNORE|PRE_TEST|POST_TEST)\b"),
        ("pom.xml settings.xml maven.config", _MAVEN),
        ("build.gradle build.gradle.kts init.gradle gradle.properties", r"\bignoreFailures\b|\bexcludeTestsMatching\b"),
        ("env", r"^GOFLAGS=.*-(?:exec|toolexec|overlay)\b"),
    )
    for name in files.split()
}
"""Settings of a tool's own file that keep it from its work or give it another program, by the file's name."""


def settings_that_divert(path: str, text: str) -> int:
    """How many such settings a tool's own file holds; 0 for a file that is none."""
    pattern = _SETTINGS.get(posixpath.basename(path))
    return 0 if pattern is None else len(pattern.findall(text))


_AT_HOME: Mapping[str, tuple[str, ...]] = {
    "package script": (".npmrc", ".yarnrc", ".config/pnpm/rc"),
    "cargo": (".cargo/config.toml", ".cargo/config"),
    "go": (".config/go/env",),
    "mvn": (".m2/settings.xml",),
    "gradle": (".gradle/gradle.properties", ".gradle/init.gradle"),
    "bazel": (".bazelrc",),
}
_USER_MODULES = tuple(
    f".local/lib/python3.{minor}/site-packages/{name}.py"
    for minor in range(6, 20)
    for name in ("usercustomize", "sitecustomize")
)


def is_set_at_home(tool: str, facts: ProjectFacts, home: str) -> bool:
    """Whether a file a command left in the home directory gives the tool another program."""
    family = "package script" if tool.startswith("package script ") else tool.split(" ")[0]
    if family in _PYTHON_TOOLS:
        return any(facts.at_home(path) for path in _USER_MODULES)
    found = (path for path in _AT_HOME.get(family, ()) if facts.at_home(path))
    return any(settings_that_divert(path, facts.read(posixpath.join(home, path)) or "") for path in found)
