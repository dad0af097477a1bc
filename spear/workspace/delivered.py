"""Which files of a tree are delivered source: not ignored by git, not build output, not a cache of a tool (spec 3.2).

Works with and without git. What git tracks is always delivered. The rules in force are those of the start of a turn:
`seal` fixes them, so that a turn cannot make its own changes vanish by writing a `.gitignore`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from spear.workspace.build_output import CACHE_DIRECTORIES, bears_output_mark, is_output_directory, is_output_file
from spear.workspace.git_layout import git_layout, git_part
from spear.workspace.host_git import git_output


class DeliveredSource:
    """Judges relative paths of one workspace root, for one turn. Not thread-safe. Reads rules lazily."""

    def __init__(self, root: Path, declared_build_dirs: Iterable[str] = ()) -> None:
        self._root = root
        self._top = _repository_top(root)
        self._declared = tuple(d.strip("/").removeprefix("./") for d in declared_build_dirs if d.strip("/"))
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self._directories: dict[str, bool] = {"": True}
        self._global: tuple[GitIgnoreSpec, ...] | None = None
        self._tracked: frozenset[str] | None = None
        self._tracked_directories: frozenset[str] = frozenset()
        self._set_up: set[str] = set()
        self._kept: dict[str, frozenset[str]] = {}
        self._sealed = False

    def seal(self, directories: Iterable[str] = ()) -> None:
        """Read the `.gitignore` of these directories now; none that has not been read by then counts any more."""
        for directory in ("", *directories):
            self._spec(directory)
        self._sealed = True

    def prunable_names(self) -> tuple[str, ...]:
        """Names of cache directories in which nothing is tracked, so that a walk need not enter any of them."""
        used = {name for path in self._tracked_parents() for name in path.split("/")}
        return tuple(sorted(CACHE_DIRECTORIES - used))

    def is_delivered(self, relative: str, at: Path | None = None) -> bool:
        """Whether the file at `relative` is delivered source. `at` is where its content is now, when that is not in
        the tree (an overlay's upper); it is opened only to tell a built program by its first bytes.
        """
        if git_part(relative) is not None:
            return False
        parent, _, name = relative.rpartition("/")
        plain = self._directory(parent) or self._is_kept_like(relative)
        if (
            plain
            and not self._ignored(relative, name, parent, directory=False)
            and not is_output_file(self._root, relative, at or self._root / relative)
        ):
            return True
        return relative in self._tracked_files()

    def is_delivered_directory(self, relative: str) -> bool:
        """Whether files in this directory can be delivered source."""
        if git_part(relative) is not None:
            return False
        return self._directory(relative) or relative in self._tracked_parents()

    def note_output(self, relative: str) -> None:
        """A tool has set this directory up for what it makes: from now on it is no source. Tracked files stay so."""
        if relative and relative not in self._tracked_parents():
            below = relative + "/"
            self._directories = {path: d for path, d in self._directories.items() if not path.startswith(below)}
            self._directories[relative] = False
            self._set_up.add(relative)

    def is_tools_own(self, relative: str) -> bool:
        """Whether a directory is where builds and tools put what they make, and not just ignored."""
        while relative:
            above, _, name = relative.rpartition("/")
            if relative in self._set_up or name in CACHE_DIRECTORIES or is_output_directory(self._root, relative):
                return True
            if relative not in self._tracked_parents() and bears_output_mark(self._root, relative):
                return True
            relative = above
        return False

    def prunes(self, relative: str) -> bool:
        """Whether nothing in this directory is delivered, so that a walk need not enter it."""
        return not self.is_delivered_directory(relative)

    def pruned(self, depth: int = 3) -> tuple[str, ...]:
        """The outermost undelivered directories of the first `depth` levels: where an undelivered mass usually lies.
        Reads the directories' ignore rules on the way.
        """
        found: list[str] = []
        level = [""]
        for _ in range(depth):
            below: list[str] = []
            for directory in level:
                for name in _subdirectories(self._root / directory):
                    path = f"{directory}/{name}" if directory else name
                    (found if self.prunes(path) else below).append(path)
            level = below
        return tuple(sorted(found))

    def _is_kept_like(self, relative: str) -> bool:
        """Whether a directory that looks like a build's holds tracked files of this file's kind: `build/rules.mk` makes
        `build/more.mk` source, and no other file there."""
        parent, _, name = relative.rpartition("/")
        if parent not in self._tracked_parents() or PurePosixPath(name).suffix not in self._kinds_kept(parent):
            return False
        inside = parent
        while inside:
            above, _, last = inside.rpartition("/")
            if self._ignored(inside, last, above, directory=True):
                return False
            inside = above
        return True

    def _kinds_kept(self, directory: str) -> frozenset[str]:
        """The suffixes of the tracked files that lie in this directory itself."""
        if directory not in self._kept:
            found = (PurePosixPath(path) for path in self._tracked_files() if path.rpartition("/")[0] == directory)
            self._kept[directory] = frozenset(path.suffix for path in found if path.suffix)
        return self._kept[directory]

    # --- rules ----------------------------------------------------------------------------------------------------

    def _directory(self, relative: str) -> bool:
        """Whether a directory is delivered by its name, its place and the ignore rules; tracked content aside."""
        known = self._directories.get(relative)
        if known is not None:
            return known
        parent, _, name = relative.rpartition("/")
        delivered = (
            self._directory(parent)
            and name not in CACHE_DIRECTORIES
            and not any(relative == d or relative.startswith(d + "/") for d in self._declared)
            and not self._ignored(relative, name, parent, directory=True)
            and not is_output_directory(self._root, relative)
            and not (bears_output_mark(self._root, relative) and relative not in self._tracked_parents())
        )
        self._directories[relative] = delivered
        return delivered

    def _ignored(self, relative: str, name: str, parent: str, *, directory: bool) -> bool:
        """The answer of the ignore file nearest to the path that has one."""
        if self._declared and not directory and relative in self._declared:
            return True
        for base, spec in self._chain(parent):
            tail = relative[len(base) + 1 :] if base else relative
            verdict = spec.check_file(tail + "/" if directory else tail).include
            if verdict is not None:
                return verdict
        if self._top is not None:
            above = os.path.relpath(self._root / relative, self._top)
            for spec in self._wide():
                verdict = spec.check_file(above + "/" if directory else above).include
                if verdict is not None:
                    return verdict
        return False

    def _chain(self, directory: str) -> Iterator[tuple[str, GitIgnoreSpec]]:
        while True:
            spec = self._spec(directory)
            if spec is not None:
                yield directory, spec
            if not directory:
                return
            directory = directory.rpartition("/")[0]

    def _spec(self, directory: str) -> GitIgnoreSpec | None:
        if directory not in self._specs:
            path = self._root / directory / ".gitignore"
            self._specs[directory] = None if self._sealed else _read_rules(path)
        return self._specs[directory]

    def _wide(self) -> tuple[GitIgnoreSpec, ...]:
        """Rules that lie in no directory of the root: of outer directories, the exclude file, the user's."""
        if self._global is None:
            found = []
            if self._top is not None:
                # Patterns of an outer directory are relative to it; anchoring differs only for those with a slash.
                outer = [p for p in self._root.parents if p.is_relative_to(self._top)]
                found += [_rebased(p, self._top) for p in outer]
                layout = git_layout(self._top)
                if layout is not None:
                    found.append(_read_rules(layout.common_dir / "info/exclude"))
            home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
            found.append(_read_rules(home / "git/ignore"))
            self._global = tuple(spec for spec in found if spec is not None)
        return self._global

    # --- what git tracks --------------------------------------------------------------------------------------------

    def _tracked_files(self) -> frozenset[str]:
        if self._tracked is None:
            self._tracked = frozenset(_list_tracked(self._root)) if self._top is not None else frozenset()
            parents = set()
            for path in self._tracked:
                parent = path.rpartition("/")[0]
                while parent and parent not in parents:
                    parents.add(parent)
                    parent = parent.rpartition("/")[0]
            self._tracked_directories = frozenset(parents)
        return self._tracked

    def _tracked_parents(self) -> frozenset[str]:
        self._tracked_files()
        return self._tracked_directories


def _read_rules(path: Path) -> GitIgnoreSpec | None:
    try:
        if path.is_symlink():
            return None
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return _compile(lines)


def _compile(lines: list[str]) -> GitIgnoreSpec | None:
    """The rules that can be read: one that git would reject does not take the others with it."""
    try:
        return GitIgnoreSpec.from_lines(lines) if lines else None
    except ValueError:
        kept = [line for line in lines if _readable(line)]
        return GitIgnoreSpec.from_lines(kept) if kept else None


def _readable(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _rebased(directory: Path, top: Path) -> GitIgnoreSpec | None:
    """The rules of an outer directory, spelled relative to the repository's top."""
    base = "" if directory == top else f"/{directory.relative_to(top)}"
    try:
        text = (directory / ".gitignore").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    lines = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        sign, pattern = ("!", line[1:]) if line.startswith("!") else ("", line)
        anchored = "/" in pattern.rstrip("/")
        middle = "/" if anchored else "/**/"
        lines.append(f"{sign}{base}{middle}{pattern.lstrip('/')}" if base else line)
    return _compile(lines)


def _repository_top(root: Path) -> Path | None:
    """The top of the git work tree the root belongs to; None outside of one, or where it ignores the root itself."""
    for directory in (root, *root.parents):
        if git_layout(directory) is None:
            continue
        if directory == root:
            return directory
        inner = str(root.relative_to(directory)) + "/"
        outer = [p for p in root.parents if p.is_relative_to(directory)]
        specs = [spec for p in outer if (spec := _rebased(p, directory)) is not None]
        return None if any(spec.match_file(inner) for spec in specs) else directory
    return None


def _list_tracked(root: Path) -> list[str]:
    """The files git tracks beneath `root`; none when git is missing or refuses."""
    listed = git_output(root, "ls-files", "-z") or b""
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _subdirectories(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
