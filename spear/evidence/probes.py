"""How a project is verified where it does not say: read from its files, nothing is run (spec 3.5)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from spear.evidence.facts import read_makefile
from spear.evidence.turn import ValidationKind

Commands = dict[ValidationKind, str]
_BUILD, _TEST = ValidationKind.BUILD, ValidationKind.TEST
PROBED_FILES = [
    "CMakeLists.txt",
    "meson.build",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Makefile.am",
    "Makefile.in",
    "Cargo.toml",
    "go.mod",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    "conftest.py",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Package.swift",
    "build.zig",
    "dune-project",
    "mix.exs",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lockb",
    "bun.lock",
]
"""Files whose contents a probe reads, at the root of the workspace."""


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """What a probe may look at: the contents of `PROBED_FILES` that exist; the tree's file names, workspace-relative
    and bounded by the caller, ignored files left out; whether a program is on the sandbox's PATH.
    """

    contents: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    installed: Callable[[str], bool] = lambda _program: True


def probe(files: ProjectFiles) -> Commands:
    """The commands a project of this shape is verified with, by kind; the first family that fits a kind gives it."""
    found: Commands = {}
    for family in _FAMILIES:
        for kind, command in family(files):
            found.setdefault(kind, command)
    return found


def offered_once_configured(files: ProjectFiles) -> frozenset[ValidationKind]:
    """What autotools offer once `configure` has run. No command is probed for it: configuring may take minutes."""
    if files.names.isdisjoint({"configure", "configure.ac", "autogen.sh"}):
        return frozenset()
    automake, plain = files.contents.get("Makefile.am"), files.contents.get("Makefile.in")
    if automake is not None:
        tests = re.search(r"^\s*(?:TESTS|SUBDIRS|check[\w-]*)\b", automake, re.MULTILINE) is not None
    else:
        tests = plain is not None and not {"check", "test", "tests"}.isdisjoint(read_makefile(plain).targets)
    if automake is None and plain is None:
        return frozenset()
    return frozenset({_BUILD, _TEST}) if tests else frozenset({_BUILD})


Family = Callable[[ProjectFiles], Iterator[tuple[ValidationKind, str]]]


def _make(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    name = next((name for name in ("GNUmakefile", "makefile", "Makefile") if name in files.contents), None)
    if name is None:
        return
    makefile = read_makefile(files.contents[name])
    build = next((target for target in ("all", "build", makefile.default) if target in makefile.targets), None)
    is_build = build is not None and (build in ("all", "build") or not re.fullmatch(_NO_BUILD, build))
    if build is not None and is_build and not makefile.prints_only(build):
        yield _BUILD, "make" if build == makefile.default else f"make {build}"
    for target in ("test", "check", "tests"):
        rule = makefile.targets.get(target)
        if rule is not None and not makefile.prints_only(target) and not makefile.is_empty(target):
            yield _TEST, f"make {target}"
            return


_NO_BUILD = (
    r"help|usage|list|test|tests|check|clean|distclean|install|run|lint|fmt|format|deploy|publish|docs?|html|setup"
    r"|serve|watch|dev"
)


def _cmake(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    text = files.contents.get("CMakeLists.txt")
    if text is None or not re.search(r"^\s*project\s*\(", text, re.MULTILINE | re.IGNORECASE):
        return
    directory = "build"
    build = f"cmake -S . -B {directory} && cmake --build {directory}"
    yield _BUILD, build
    if re.search(r"\b(?:enable_testing|include\s*\(\s*CTest|add_test)\b", text, re.IGNORECASE):
        yield _TEST, f"{build} && ctest --test-dir {directory} --output-on-failure"


def _meson(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    text = files.contents.get("meson.build")
    if text is None or not re.search(r"^\s*project\s*\(", text, re.MULTILINE):
        return
    configure = "{ [ -d build/meson-info ] || meson setup build; }"
    yield _BUILD, f"{configure} && meson compile -C build"
    has_tests = re.search(r"^\s*(?:test|subdir\s*\(\s*'tests?'|benchmark)\b", text, re.MULTILINE)
    if has_tests:
        yield _TEST, f"{configure} && meson test -C build"


def _cargo(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    if "Cargo.toml" in files.contents:
        workspace = " --workspace" if "[workspace]" in files.contents["Cargo.toml"] else ""
        yield _BUILD, f"cargo build{workspace}"
        yield _TEST, f"cargo test{workspace}"


def _go(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    if "go.mod" in files.contents:
        yield _BUILD, "go build ./..."
        if any(name.endswith("_test.go") for name in files.names):
            yield _TEST, "go test ./..."


def _npm(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    scripts = package_scripts(files.contents.get("package.json", ""))
    if not scripts:
        return
    locks = (("pnpm", ("pnpm-lock.yaml",)), ("yarn", ("yarn.lock",)), ("bun", ("bun.lockb", "bun.lock")))
    manager = next(
        (name for name, lock in locks if any(file in files.contents or file in files.names for file in lock)), "npm"
    )
    if "build" in scripts:
        yield _BUILD, f"{manager} run build"
    test = scripts.get("test", "")
    if test and "no test specified" not in test:
        watches = re.search(r"\bvitest\b(?!.*\brun\b)|--watch\b", test) is not None
        yield _TEST, f"CI=1 {manager} run test" if watches else f"{manager} run test"


def package_scripts(text: str) -> dict[str, str]:
    """The scripts of a package.json's text; none when it cannot be read."""
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    scripts = document.get("scripts") if isinstance(document, dict) else None
    if not isinstance(scripts, dict):
        return {}
    return {name: body for name, body in scripts.items() if isinstance(name, str) and isinstance(body, str)}


_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")


def _python(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    tests = sorted(name for name in files.names if _PYTHON_TEST.search(name))
    configured = _configures_pytest(files)
    if not tests and not configured:
        if "tox.ini" in files.contents:
            yield _TEST, "tox"
        return
    if files.installed("pytest") and (configured or not _only_unittest(files, tests)):
        yield _TEST, "python3 -m pytest -q"
    elif tests:
        roots = {name.rsplit("/", 1)[0] if "/" in name else "." for name in tests}
        root = min(roots, key=len) if "." not in roots else "."
        yield _TEST, "python3 -m unittest" if root == "." else f"python3 -m unittest discover -s {root} -t ."


def _configures_pytest(files: ProjectFiles) -> bool:
    if "pytest.ini" in files.contents or "conftest.py" in files.contents:
        return True
    if "[tool:pytest]" in files.contents.get("setup.cfg", "") or "[pytest]" in files.contents.get("tox.ini", ""):
        return True
    try:
        document = tomllib.loads(files.contents.get("pyproject.toml", ""))
    except tomllib.TOMLDecodeError:
        return False
    tool = document.get("tool")
    return isinstance(tool, dict) and "pytest" in tool


def _only_unittest(files: ProjectFiles, tests: list[str]) -> bool:
    texts = [files.contents[name] for name in tests if name in files.contents]
    return bool(texts) and all("unittest" in text and "pytest" not in text for text in texts)


def _jvm(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    if "pom.xml" in files.contents:
        maven = "./mvnw" if "mvnw" in files.names else "mvn"
        yield _BUILD, f"{maven} -q -B -DskipTests package"
        yield _TEST, f"{maven} -B test"
    if {"build.gradle", "build.gradle.kts"} & set(files.contents):
        gradle = "./gradlew" if "gradlew" in files.names else "gradle"
        yield _BUILD, f"{gradle} --console=plain assemble"
        yield _TEST, f"{gradle} --console=plain test"


def _dotnet(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    at_root = [name for name in files.names if re.fullmatch(r"[^/]+\.(?:sln|slnx|csproj|fsproj|vbproj)", name)]
    if at_root:
        yield _BUILD, "dotnet build"
        if any(re.search(r"tests?[^/]*\.(?:cs|fs|vb)proj$", name, re.IGNORECASE) for name in files.names):
            yield _TEST, "dotnet test"


def _others(files: ProjectFiles) -> Iterator[tuple[ValidationKind, str]]:
    if "Package.swift" in files.contents:
        yield _BUILD, "swift build"
        if any(name.startswith("Tests/") for name in files.names):
            yield _TEST, "swift test"
    if "build.zig" in files.contents:
        yield _BUILD, "zig build"
        if re.search(r"\.step\(\s*\"test\"", files.contents["build.zig"]):
            yield _TEST, "zig build test"
    if "dune-project" in files.contents:
        yield _BUILD, "dune build"
        yield _TEST, "dune test"
    if "mix.exs" in files.contents:
        yield _BUILD, "mix compile"
        if any(name.startswith("test/") and name.endswith("_test.exs") for name in files.names):
            yield _TEST, "mix test"


_FAMILIES: tuple[Family, ...] = (_make, _cmake, _meson, _cargo, _go, _npm, _python, _jvm, _dotnet, _others)
