"""What belongs to a source file by the conventions of its ecosystem: its counterpart, its tests, its manifest."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from spear.policy.patterns import inside

_SOURCES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm", ".cu", ".ino"})
_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".cuh"})
_PAIRS = (
    (_SOURCES, _HEADERS),
    (frozenset({".py", ".pyx"}), frozenset({".pyi", ".pxd"})),
    (frozenset({".ml"}), frozenset({".mli"})),
    (frozenset({".fs"}), frozenset({".fsi"})),
    (frozenset({".adb"}), frozenset({".ads"})),
    (frozenset({".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"}), frozenset({".d.ts", ".d.mts", ".d.cts"})),
)
_DECLARATION_PLACES = frozenset({"include", "includes", "inc", "src", "source", "sources", "lib", "public", "private"})
_TEST_PLACES = frozenset(
    {"test", "tests", "testing", "unittest", "unittests", "unit", "__tests__", "spec", "specs", "t", "check", "checks"}
)
_CODE = _SOURCES | _HEADERS | frozenset(
    {
        ".py", ".go", ".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".java", ".kt", ".kts", ".scala", ".groovy",
        ".rb", ".php", ".cs", ".fs", ".swift", ".ex", ".exs", ".erl", ".hs", ".ml", ".lua", ".pl", ".t", ".sh", ".bats",
        ".r", ".jl", ".dart", ".zig", ".nim", ".vue", ".svelte", ".robot", ".v", ".sv", ".vhd",
    }
)  # fmt: skip
_MANIFESTS = frozenset(
    {
        "CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "Makefile.am", "Kbuild", "meson.build", "Cargo.toml",
        "package.json", "go.mod", "BUILD", "BUILD.bazel", "setup.py", "setup.cfg", "pyproject.toml", "pom.xml",
        "build.gradle", "build.gradle.kts", "SConscript", "SConstruct", "dune", "Package.swift", "build.zig", "mix.exs",
        "build.sbt", "wscript", "configure.ac", "Android.bp", "Android.mk", "module.mk", "rules.mk", "subdir.mk",
    }
)  # fmt: skip
_LOCKS = {
    "Cargo.lock": ("cargo",),
    "package-lock.json": ("npm", "npx"),
    "npm-shrinkwrap.json": ("npm", "npx"),
    "yarn.lock": ("yarn", "yarnpkg"),
    "pnpm-lock.yaml": ("pnpm", "pnpx"),
    "bun.lock": ("bun", "bunx"),
    "bun.lockb": ("bun", "bunx"),
    "deno.lock": ("deno",),
    "go.sum": ("go",),
    "go.work.sum": ("go",),
    "uv.lock": ("uv", "uvx"),
    "poetry.lock": ("poetry",),
    "pdm.lock": ("pdm",),
    "Pipfile.lock": ("pipenv",),
    "Gemfile.lock": ("bundle", "bundler"),
    "composer.lock": ("composer",),
    "mix.lock": ("mix",),
    "pubspec.lock": ("dart", "flutter", "pub"),
    "Package.resolved": ("swift",),
    "packages.lock.json": ("dotnet", "nuget"),
    "gradle.lockfile": ("gradle", "gradlew"),
    "MODULE.bazel.lock": ("bazel", "bazelisk"),
    "flake.lock": ("nix",),
    "stack.yaml.lock": ("stack",),
    "rebar.lock": ("rebar3",),
    "Podfile.lock": ("pod",),
}
_MANIFEST_SUFFIXES = (".csproj", ".vcxproj", ".cabal", ".gemspec", ".cmake", ".pro", ".nimble", ".podspec", ".bbappend")


def split_name(path: str) -> tuple[str, str]:
    """Stem and suffix of a file name; `.d.ts` is one suffix."""
    name = posixpath.basename(path)
    for suffix in (".d.ts", ".d.mts", ".d.cts"):
        if name.endswith(suffix):
            return name.removesuffix(suffix), suffix
    stem, suffix = posixpath.splitext(name)
    return stem, suffix


def is_counterpart(path: str, target: str) -> bool:
    """Whether `path` declares what `target` defines, or the reverse."""
    stem, suffix = split_name(path)
    target_stem, target_suffix = split_name(target)
    if stem != target_stem or path == target:
        return False
    paired = any(
        (suffix in one and target_suffix in other) or (suffix in other and target_suffix in one)
        for one, other in _PAIRS
    )
    return paired and _near(path, target, _DECLARATION_PLACES)


def is_test_of(path: str, target: str) -> bool:
    """Whether `path` is a test of the file or directory `target`, by its name and its place."""
    stem, suffix = split_name(path)
    if suffix not in _CODE:
        return False
    target_stem, target_suffix = split_name(target)
    if target_stem in ("__init__", "mod", "index", "main", "lib") and "/" in target:
        names = {target_stem, posixpath.basename(posixpath.dirname(target))}
    else:
        names = {target_stem}
    if not target_suffix:
        return _test_in_mirror(path, target)
    if is_test_name(target_stem):
        return False
    in_test_place = any(part in _TEST_PLACES for part in posixpath.dirname(path).split("/"))
    fits = any(_tests_name(stem, name) or (in_test_place and stem == name) for name in names)
    inner = (
        suffix == target_suffix and stem in ("tests", "test") and posixpath.basename(posixpath.dirname(path)) in names
    )
    return (fits and _near(path, target, _TEST_PLACES)) or inner


def _tests_name(stem: str, name: str) -> bool:
    if stem in (
        f"test_{name}", f"{name}_test", f"{name}_tests", f"test-{name}", f"{name}-test", f"{name}.test", f"{name}.spec",
        f"{name}_spec", f"{name}-spec", f"{name}_unittest", f"{name}_gtest", f"check_{name}", f"ut_{name}", f"t_{name}",
        f"tests_{name}", f"{name}.tests", f"{name}.e2e", f"{name}.cy", f"test.{name}", f"tst_{name}", f"{name}_ut",
    ):  # fmt: skip
        return True
    camel = name[:1].upper() + name[1:]
    return stem in (
        f"{camel}Test", f"{camel}Tests", f"Test{camel}", f"{camel}Spec", f"{camel}IT", f"{camel}TestCase",
        f"{name}Test", f"{name}Tests", f"{camel}Suite",
    )  # fmt: skip


def is_test_name(stem: str) -> bool:
    """Whether a stem is a test's own name."""
    return stem.startswith(("test_", "test-", "Test")) or stem.endswith(
        ("_test", "-test", "Test", ".test", ".spec", "_spec")
    )


def _test_in_mirror(path: str, target: str) -> bool:
    """A directory's tests: the directory of that name among the tests, or the test tree beside a source root."""
    parts, wanted = posixpath.dirname(path).split("/"), target.split("/")
    for index, part in enumerate(parts):
        if part not in _TEST_PLACES or parts[:index] != wanted[:index]:
            continue
        if len(wanted) == index + 1 and (is_test_name(split_name(path)[0]) or len(parts) == index + 1):
            return True
        if wanted[-1] in parts[index + 1 :]:
            return True
    return False


def _near(path: str, target: str, places: frozenset[str]) -> bool:
    """Whether two files share their directory, or part where a conventional place begins."""
    here, there = posixpath.dirname(path), posixpath.dirname(target)
    if here == there or inside(there, here):
        return True
    parts, wanted = here.split("/"), there.split("/") if there else []
    return any(part in places and parts[:index] == wanted[:index] for index, part in enumerate(parts))


def is_manifest(path: str) -> bool:
    """Whether a file registers sources with a build."""
    name = posixpath.basename(path)
    return name in _MANIFESTS or name.endswith(_MANIFEST_SUFFIXES)


def lock_tools(path: str) -> tuple[str, ...]:
    """The programs that keep this lock file themselves, as a side effect of resolving or building; () for any other
    file. What such a program writes there is its own record, as a build output is, and no edit of the turn's."""
    return _LOCKS.get(posixpath.basename(path), ())


def conventional_names(target: str) -> Iterator[str]:
    """The likeliest counterparts and tests of `target`, for asking whether a pattern may reach one of them."""
    stem, suffix = split_name(target)
    directory = posixpath.dirname(target)
    base = posixpath.dirname(directory)
    for one, other in _PAIRS:
        for counterpart in other if suffix in one else one if suffix in other else ():
            for place in (directory, posixpath.join(base, "include")):
                yield posixpath.join(place, stem + counterpart)
    for name in (f"test_{stem}", f"{stem}_test", f"{stem}.test", f"{stem[:1].upper()}{stem[1:]}Test"):
        for place in (directory, posixpath.join(base, "tests"), posixpath.join(base, "test"), "tests", "test"):
            yield posixpath.join(place, name + suffix)
