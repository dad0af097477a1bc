"""Which workspace a turn belongs to: the registered project, or an unregistered tree by itself (spec 4.1, 4.2)."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path

from spear.workspace.projects import Project

_MOUNT = "/workspace"


@dataclass(frozen=True, slots=True)
class WorkspaceIdentity:
    """A workspace by name. `directory` is where tools run, `root` the top of the tree it belongs to (the same for an
    unregistered tree). `keys` are what its knowledge is filed under, the first for new records: a registered project
    also owns what was recorded in its tree before it was registered.
    """

    name: str
    directory: Path
    root: Path
    keys: tuple[str, ...]
    registered: bool

    @classmethod
    def of(cls, directory: Path, registered: Project | None) -> WorkspaceIdentity:
        """The workspace of a launch directory. `registered` comes from the registry of this machine only: a name that a
        tree gives itself owns nothing. Raises OSError when the directory cannot be resolved.
        """
        here = directory.resolve(strict=True)
        if registered is None:
            return cls(here.name or str(here), here, here, (str(here),), registered=False)
        return cls(registered.name, here, registered.root, (registered.name, str(registered.root)), registered=True)

    def relative(self, path: str) -> str | None:
        """A path as a model or operator spells it, relative to `directory` ("" for itself), or None."""
        if path == _MOUNT or path.startswith(_MOUNT + "/"):
            path = path[len(_MOUNT) + 1 :]
        elif path.startswith(f"{self.directory}/"):
            path = path[len(str(self.directory)) + 1 :]
        tidy = posixpath.normpath(path) if path else "."
        if tidy.startswith(("/", "../", "~")) or tidy == ".." or "\0" in tidy:
            return None
        return "" if tidy == "." else tidy

    def inner(self) -> str:
        """Where `directory` lies in `root`, "" when they are the same."""
        inside = self.directory.relative_to(self.root).as_posix() if self.directory.is_relative_to(self.root) else ""
        return "" if inside == "." else inside
