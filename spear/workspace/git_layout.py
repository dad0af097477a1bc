"""Where git keeps its data for a tree, and which of it a command may change (spec 2.2).

Git's own working files (objects, refs, index, logs, the files of a merge or rebase in progress) are git's to write.
What makes git run programs or read elsewhere (hooks, config, attributes, links between git directories) is closed to
everybody: it would act outside the sandbox later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from spear.workspace.roots import folded

_TREES = ("objects", "refs", "logs", "rebase-merge", "rebase-apply", "sequencer")
_CLOSED_WITHIN = frozenset({"objects/info/alternates", "objects/info/http-alternates"})
_FILES = re.compile(
    r"(HEAD|index|packed-refs|shallow|ORIG_HEAD|FETCH_HEAD|AUTO_MERGE|[A-Z]+_(HEAD|MSG|EDITMSG|RR|MODE)|"
    r"BISECT_[A-Z_]+|sharedindex\.[0-9a-f]+|info/(exclude|sparse-checkout))"
)
_LFS = re.compile(r"lfs/(objects|tmp|incomplete)/")
_NESTED = re.compile(r"(worktrees|modules)/[^/]+/")

CLOSED = ("hooks", "config", "config.worktree", "info/attributes", "commondir", "gitdir", "objects/info/alternates")
"""What stays read-only inside a git directory, existing or not; relative to it."""


@dataclass(frozen=True, slots=True)
class GitLayout:
    """`git_dir` holds this work tree's index and HEAD, `common_dir` the objects and refs; they differ in a linked
    work tree. `link` is the `.git` file that points there, None when `.git` is the directory itself.
    """

    git_dir: Path
    common_dir: Path
    link: Path | None = None

    def outside(self, root: Path) -> tuple[Path, ...]:
        """The git directories that lie outside the work tree and must be reachable for a commit to work."""
        found = dict.fromkeys((self.common_dir, self.git_dir))
        return tuple(
            path
            for path in found
            if not path.is_relative_to(root) and not any(o != path and path.is_relative_to(o) for o in found)
        )

    def closed(self) -> tuple[Path, ...]:
        """The paths that must stay closed, existing or not: absolute."""
        places = dict.fromkeys((self.git_dir, self.common_dir))
        paths = dict.fromkeys(place / name for place in places for name in CLOSED)
        if self.link is not None:
            paths[self.link] = None
        return tuple(paths)


def git_layout(root: Path) -> GitLayout | None:
    """The git directories of a work tree whose top is `root`; None when it is not one. Reads at most two small files
    and runs nothing. Broken pointers give None.
    """
    dot = root / ".git"
    if dot.is_symlink():
        return None
    if dot.is_dir():
        return GitLayout(dot, _common(dot))
    git_dir = _pointed(dot, "gitdir: ", root)
    if git_dir is None or not git_dir.is_dir():
        return None
    return GitLayout(git_dir, _common(git_dir), dot)


def _common(git_dir: Path) -> Path:
    found = _pointed(git_dir / "commondir", "", git_dir)
    return found if found is not None and found.is_dir() else git_dir


def _pointed(file: Path, prefix: str, base: Path) -> Path | None:
    try:
        with file.open("rb") as source:
            text = source.read(4096).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    if not text.startswith(prefix):
        return None
    return (base / text[len(prefix) :].rstrip("\n")).resolve()


def git_part(relative: str) -> str | None:
    """The part of a path inside the innermost git directory it names ('' for the directory or `.git` file itself), in
    any spelling; None when it names none.
    """
    parts = relative.split("/")
    for place in range(len(parts) - 1, -1, -1):
        if folded(parts[place]) == ".git":
            return "/".join(parts[place + 1 :])
    return None


def git_may_write(inside: str) -> bool:
    """Whether git itself may write `inside`, a path relative to a git directory. Directories on the way to something
    writable count as writable.
    """
    if folded(inside) in _CLOSED_WITHIN:
        return False
    nested = _NESTED.match(inside)
    if nested and inside[nested.end() :]:
        return git_may_write(inside[nested.end() :])
    if re.fullmatch(r"(worktrees|modules)(/[^/]+)?/?", inside):
        return True
    head = inside.split("/", 1)[0]
    return (
        head in _TREES or bool(_FILES.fullmatch(inside)) or bool(_LFS.match(inside + "/")) or inside in ("info", "lfs")
    )
