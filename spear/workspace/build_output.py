"""What builds and tools leave in a tree by convention, told by name, place and first bytes (spec 3.2)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from spear.workspace import presence
from spear.workspace.configured import is_configured

CACHE_DIRECTORIES = frozenset(
    {
        ".git", ".hg", ".svn", ".jj",
        "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".eggs",
        ".ipynb_checkpoints", "htmlcov", ".pytype", ".pyre",
        "node_modules", ".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".nyc_output", ".angular",
        ".gradle", ".idea", ".vs", ".cache", ".ccls-cache", ".dart_tool", ".stack-work", "dist-newstyle",
        ".zig-cache", "zig-cache", "zig-out", "CMakeFiles", "autom4te.cache", ".libs", ".deps", "DerivedData",
        ".terraform", ".bloop", ".metals", ".clwb", "sstate-cache",
    }
)  # fmt: skip
"""Directories that hold nothing of anybody's own, wherever they are."""

_BESIDE = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt", "project.clj"),
    "build": (
        "Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "meson.build", "build.gradle", "build.gradle.kts",
        "setup.py", "setup.cfg", "pyproject.toml", "package.json", "Cargo.toml", "BUILD.gn", "SConstruct",
        "pubspec.yaml", "CMakePresets.json", "configure.ac", "build.zig", "Package.swift", "wscript",
    ),
    "dist": ("package.json", "setup.py", "pyproject.toml", "setup.cfg", "Makefile"),
    "out": ("build.gradle", "CMakeLists.txt", "Makefile", "package.json", "BUILD.gn", "build.ninja"),
    "bin": ("*.csproj", "*.fsproj", "*.vbproj"),
    "obj": ("*.csproj", "*.fsproj", "*.vbproj", "Makefile"),
    "_build": ("dune-project", "mix.exs", "rebar.config", "conf.py", "Makefile"),
    ".build": ("Package.swift",),
    "coverage": ("package.json",),
    "_opam": ("dune-project",),
    "builddir": ("meson.build",),
}  # fmt: skip

_INSIDE = ("CMakeCache.txt", "pyvenv.cfg", ".ninja_log", "meson-info", "CACHEDIR.TAG")
_SIGNED: Mapping[str, bytes] = {
    "CMakeCache.txt": b"CMAKE_HOME_DIRECTORY:INTERNAL=",
    "pyvenv.cfg": b"home = ",
    "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55",
    "build.ninja": b"ninja_required_version",
}
_NAMED_DIRECTORY = re.compile(r"cmake-build-.+|.+\.egg-info|.+\.dSYM|bazel-.+|.+\.xcuserdatad")
_NAMED_FILE = re.compile(
    r".+\.(o|obj|a|so|dylib|dll|exe|lib|lo|la|ko|elf|pyc|pyo|class|gcda|gcno|gcov|profraw|profdata|rlib|rmeta|beam|"
    r"hi|cmi|cmo|cmx|cmxa|cmt|cmti|gch|pch|ilk|pdb|tsbuildinfo|swp|swo|swn|stackdump|dwo|su|whl)|.+\.so\.[0-9.]+|.+~|"
    r"\.#.+|#.+#|a\.out|vgcore\.[0-9]+|gmon\.out|\.DS_Store|Thumbs\.db|\.coverage(\..+)?|coverage\.xml|"
    r"\.ninja_(log|deps)|config\.(log|status)|.+\.trs|test-suite\.log|\.dirstamp|\.eslintcache|\.stylelintcache|\.phpunit\.result\.cache|4913|nohup\.out|"
    r"\.spear-write-[0-9a-f]+"
)
_MAGIC = (
    b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf",
    b"MZ\x90\0",
)  # fmt: skip
_DEPENDENCIES = (".c", ".cc", ".cpp", ".cxx", ".C", ".S", ".s", ".rs", ".o", ".m", ".mm")


def is_output_directory(root: Path, relative: str) -> bool:
    """Whether this directory is where a build or tool puts what it makes, by its name, beside a build file or alone."""
    parent, _, name = relative.rpartition("/")
    if _NAMED_DIRECTORY.fullmatch(name) or relative == "Testing/Temporary" or relative.endswith("/Testing/Temporary"):
        return True
    beside = _BESIDE.get(name, ())
    return any(_present(root / parent, pattern) for pattern in beside)


def bears_output_mark(root: Path, relative: str) -> bool:
    """Whether a build or tool has left its mark in this directory (a CMake cache, a virtual environment…)."""
    return any(presence.exists(root / relative / inside) for inside in _INSIDE)


def signs_directory(name: str, at: Path) -> bool:
    """Whether a file of this name and content is the mark a tool leaves in a directory it makes its things in."""
    mark = _SIGNED.get(name)
    if mark is None:
        return False
    try:
        with at.open("rb") as stream:
            return mark in stream.read(1 << 20)
    except OSError:
        return False


def is_output_file(root: Path, relative: str, at: Path) -> bool:
    """Whether this file is what a build or tool makes: by its name, or because `at` starts like a built program."""
    parent, _, name = relative.rpartition("/")
    if _NAMED_FILE.fullmatch(name):
        return True
    stem, dot, suffix = name.rpartition(".")
    if dot and suffix == "d":
        # A dependency list lies beside what it was made from; a D source does not.
        return any(presence.exists(root / parent / (stem + other)) for other in _DEPENDENCIES)
    if dot and suffix == "log" and presence.exists(at.with_suffix(".trs")):
        return True  # what a test of automake's printed, beside how it ended
    return is_configured(root, relative, at) or _is_program(at)


def _present(directory: Path, pattern: str) -> bool:
    if "*" in pattern:
        return next(directory.glob(pattern), None) is not None
    return presence.exists(directory / pattern)


def _is_program(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return stat.S_ISREG(os.fstat(fd).st_mode) and os.read(fd, 8).startswith(_MAGIC)
    except OSError:
        return False
    finally:
        os.close(fd)
