"""Where a path of a command lies: in a workspace root, in the sandbox's scratch space, or outside (spec 2.2)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from spear.policy.patterns import inside, normal
from spear.shell.tools.call import names

SCRATCH = ("/tmp", "/var/tmp", "/home/sandbox", "/dev/shm", "/dev/mqueue")  # noqa: S108
"""Private to the session's sandbox: writing there changes nothing anyone keeps."""

_START_UP = frozenset(
    {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin",
     ".kshrc", ".cshrc", ".tcshrc", ".login", ".gitconfig", ".inputrc", ".pam_environment", ".xprofile", ".xsession"}
)  # fmt: skip
_START_UP_DIRECTORIES = (".config/autostart", ".config/systemd", ".config/fish", ".config/git", ".local/share/systemd")


@dataclass(frozen=True, slots=True)
class Root:
    """A workspace root: its canonical host path, and the name it also goes by (`/workspaces/<name>`)."""

    path: str
    alias: str = ""


class Place(StrEnum):
    """What kind of place a path is in."""

    WORKSPACE = "workspace"
    SCRATCH = "scratch"
    START_UP = "start_up"
    DEVICE = "device"
    SYSTEM = "system"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Located:
    """A path placed. `shown` is workspace-relative in the primary root ("" is the root), `/workspaces/<name>/…` in
    another one, absolute elsewhere."""

    place: Place
    shown: str


def _unknown(_: str) -> None:
    return None


def by_convention(path: str) -> bool:
    """Whether a path is a build output or a cache by its name, for when nobody can ask the ignore rules."""
    parts = path.split("/")
    return any(part in _OUTPUT_PARTS or part.startswith(_OUTPUT_PREFIXES) for part in parts) or path.endswith(
        _OUTPUT_SUFFIXES
    )


_OUTPUT_PARTS = names(
    "build _build target dist out bin obj __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox htmlcov coverage "
    ".coverage .gradle .next .nuxt .cache .hypothesis .eggs node_modules .venv venv CMakeFiles CMakeCache.txt zig-out "
    ".zig-cache .stack-work a.out"
)
_OUTPUT_PREFIXES = ("cmake-build-", "bazel-", "build-")
_OUTPUT_SUFFIXES = tuple(
    sorted(
        names(
            ".o .a .so .dylib .dll .exe .obj .pyc .pyo .class .gcda .gcno .gcov .egg-info .elf .map .lst .d .log .tmp "
            ".profraw .rlib .rmeta"
        )
    )
)


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """What the host knows of the tree; the defaults know nothing. Paths are as `Located.shown`.

    `is_directory` and `exists` are None where unknown. `expand` gives the existing paths a glob pattern stands for,
    None when nobody looked. `is_output` says that a path is a build output, a cache or ignored.
    """

    is_directory: Callable[[str], bool | None] = field(default=_unknown)
    expand: Callable[[str], tuple[str, ...] | None] = field(default=_unknown)
    is_output: Callable[[str], bool] = field(default=by_convention)
    exists: Callable[[str], bool | None] = field(default=_unknown)


def locate(path: str, cwd: str, roots: tuple[Root, ...], scratch: tuple[str, ...] = SCRATCH) -> Located:
    """Place a path. `path` is absolute or relative to `cwd`, itself relative to the primary root."""
    primary = roots[0]
    absolute = path if path.startswith("/") else posixpath.join(primary.path, cwd, path)
    absolute = "/" + posixpath.normpath(absolute).lstrip("/")
    for index, root in enumerate(roots):
        for name in (root.path, root.alias, "/workspace" if index == 0 else ""):
            if name and inside(absolute, name.rstrip("/")):
                relative = normal(absolute[len(name.rstrip("/")) :].lstrip("/"))
                shown = relative if index == 0 else posixpath.join(root.alias or root.path, relative).rstrip("/")
                return Located(Place.WORKSPACE, shown)
    return Located(_elsewhere(absolute, scratch), absolute)


def _elsewhere(absolute: str, scratch: tuple[str, ...]) -> Place:
    home = "/home/sandbox"
    if inside(absolute, home):
        relative = absolute[len(home) + 1 :]
        startup = relative in _START_UP or any(inside(relative, place) for place in _START_UP_DIRECTORIES)
        return Place.START_UP if startup else Place.SCRATCH
    if any(inside(absolute, prefix) for prefix in scratch):
        return Place.SCRATCH
    if inside(absolute, "/dev"):
        return Place.DEVICE
    if any(inside(absolute, top) for top in _SYSTEM):
        return Place.SYSTEM
    return Place.OUTSIDE


_SYSTEM = (
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/boot",
    "/opt",
    "/proc",
    "/sys",
    "/run",
    "/var",
)
