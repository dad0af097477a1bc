"""Which roots a command sees, how, and what is closed inside them (spec 2.2, 2.7)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

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

CREDENTIALS = (".ssh", ".gnupg", ".aws", ".kube", ".docker/config.json", ".netrc", ".git-credentials", ".pypirc")
"""Credential stores at the top of a root: masked where they exist."""


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
    hidden = [name for name in CREDENTIALS if os.path.lexists(f"{path}/{name}")]
    if state.is_relative_to(path) and state != path:
        hidden.append(str(state.relative_to(path)))
    return RootMount(path, writes, alias, (*git_closed, *closed), tuple(hidden))


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
