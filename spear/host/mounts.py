"""Which roots a command sees, how, and what is closed inside them (spec 2.2, 2.7)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from spear.policy.target_policy import credentials
from spear.sandbox.request import RootMount
from spear.workspace.git_layout import git_layout
from spear.workspace.roots import Roots

EXECUTED_LATER = (
    ".envrc",
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".vscode/settings.json",
    ".idea",
    ".husky",
    ".spear",
    ".mcp.json",
    ".claude",
    ".codex",
    ".cursor",
    ".pre-commit-config.yaml",
)
"""Files other programs execute on the operator's behalf: closed unless the request names them (spec 2.2)."""

_CREDENTIALS_BELOW = (".docker/config.json", ".config/gcloud", ".config/gh", ".cargo/credentials.toml")


def mounts(roots: Roots, state: Path, writes: Path | None, named: Iterable[str]) -> tuple[RootMount, ...]:
    """The roots of a command. `writes` is the directory for the overlays' upper layers, None for read-only roots.

    `named` are paths the request itself names: those may be written even where they would be executed later.
    """
    wanted = tuple(name.rstrip("/") for name in named)
    closed = tuple(name for name in EXECUTED_LATER if not any(_same_tree(name, other) for other in wanted))
    result = [_root(roots.primary, state, writes / "0" if writes else None, "", closed)]
    for index, (name, path) in enumerate(roots.others.items(), start=1):
        result.append(_root(path, state, writes / str(index) if writes else None, name, closed))
    return tuple(result + _git_directories(roots, writes))


def _same_tree(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}/") or other.startswith(f"{name}/")


def _root(path: Path, state: Path, writes: Path | None, alias: str, closed: tuple[str, ...]) -> RootMount:
    layout = git_layout(path)
    git_closed = _inside(path, layout.closed() if layout else ())
    hidden = list(_credentials(path))
    if state.is_relative_to(path) and state != path:
        hidden.append(str(state.relative_to(path)))
    return RootMount(path, writes, alias, (*git_closed, *closed), tuple(hidden))


def _credentials(root: Path) -> Iterator[str]:
    """The credential stores at the top of a root, where they exist: masked, so that not even reading works."""
    with os.scandir(root) as entries:
        for entry in entries:
            # A directory is one only by what lies in it: `shadow/` may hold anything, `.ssh/` does not.
            name = f"{entry.name}/x" if entry.is_dir(follow_symlinks=False) else entry.name
            if credentials(name) is not None:
                yield entry.name
    yield from (name for name in _CREDENTIALS_BELOW if os.path.lexists(f"{root}/{name}"))


def _inside(root: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    above = f"{root}/"
    return tuple(name.removeprefix(above) for name in map(str, paths) if name.startswith(above))


def _git_directories(roots: Roots, writes: Path | None) -> list[RootMount]:
    """A linked work tree's git directory lies elsewhere: shown at its own path, so that a commit works (spec 2.7)."""
    layout = git_layout(roots.primary)
    if layout is None:
        return []
    found: list[RootMount] = []
    for place in layout.outside(roots.primary):
        if any(place.is_relative_to(mount.path) for mount in found) or not os.access(place, os.R_OK | os.X_OK):
            continue
        closed = _inside(place, layout.closed())
        found.append(RootMount(place, writes / f"git-{len(found)}" if writes else None, "", closed, ()))
    return found
