"""Build products: who made what a check may run, and in which state of the source (spec 3.2, 3.3).

A build opens no epoch, so its products are watched apart. One that anything but a build wrote, or gave another time,
may stand for what the source would have made; one that was built before the source changed speaks of another source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from spear.evidence.families import families_of_product, may_be_of
from spear.evidence.source_state import UNCHANGED, SourceState

TOOLS = frozenset({"node_modules", ".venv", "venv", "env", ".tox", ".nox", "site-packages", "vendor", "_opam"})
"""Directories that tools fill with what they install."""
_PLACES = frozenset(
    {
        "build", "builddir", "_build", ".build", "target", "dist", "out", "bin", "obj", "debug", "release", ".libs",
        "cmakefiles", "zig-out", "dist-newstyle", "__pycache__", ".next",
    }
)  # fmt: skip
_BUNDLES = frozenset({"lib", "es", "esm", "cjs", "umd"})
"""Where source lies in most trees, and bundles in those that do not deliver it."""
_PROGRAM = re.compile(
    r".+\.(?:o|obj|a|so|dylib|dll|exe|lib|lo|la|ko|elf|pyc|pyo|class|jar|rlib|rmeta|beam|cmi|cmo|cmx|wasm|whl)"
    r"|.+\.so\.[0-9.]+|a\.out|cmake-build-.+|.+\.egg-info|config\.status"
)
_REPORT = re.compile(
    r".+\.(?:txt|log|out|err|md|html|css|csv|tsv|xml|svg|png|jpg|pdf|lst|map|sym|dis|asm|dot|gz|tar|zip|tmp|bak|diff|json|ya?ml|tap|info|junit)"
    r"|\.(?:git)?keep|\.gitignore"
)


_MEMORIES = frozenset({".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".benchmarks"})
"""Directories in which tools remember what they found, and run nothing from."""


def is_builds_place(directory: str) -> bool:
    """Whether a directory is one that builds or tools write to, by its name or that of one above it."""
    return any(part in TOOLS or part in _PLACES for part in PurePosixPath(directory.lower()).parts)


def is_product(path: str, *, executable: bool = False, existed: bool = True, tools_own: bool = False) -> bool:
    """Whether an undelivered file can be what a check runs or loads: as a program, by its name, by its place, which
    may be known to be a tool's own. A report that is new there is none: no build has put it there yet, and none will
    take it for its own."""
    parts = PurePosixPath(path.lower()).parts
    if not _MEMORIES.isdisjoint(parts):
        return False
    if executable or any(part in TOOLS or _PROGRAM.fullmatch(part) for part in parts):
        return True
    return (tools_own or any(part in _PLACES | _BUNDLES for part in parts)) and (
        existed or not _REPORT.fullmatch(parts[-1])
    )


@dataclass(frozen=True, slots=True)
class ProductWrite:
    """A product a call wrote, under its recorded name (`/workspaces/NAME/…` in another root). `sha256` is its content
    now, None where it is gone. `touched` says that only its times moved, to `time_ns`; such a change outlives the
    command only where a build made it, to the same bytes.
    """

    path: str
    sha256: str | None
    touched: bool = False
    time_ns: int = 0


@dataclass(frozen=True, slots=True)
class PassedBuild:
    """A build that passed on the present source: the directory it worked in and that of its source, by their recorded
    names, and its targets. `whole` says that it was one of everything, `exact` that its builder itself finds out what
    depends on what."""

    place: str
    source: str
    targets: tuple[str, ...] = ()
    whole: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Products:
    """What is known of the products: those no build made (`planted`, with their content), and what builds have made
    since the source came into its present `state`. `built` are the roots, by their shown names ("" the primary one),
    in which a build has passed on it, `builds` these builds. `scratch` are
    absolute paths outside the workspace to which something else than a build has written. `moved`, `born` and `remade`
    say when compiled source changed last, when the turn made it, and when a product was last made, in changes of
    compiled source counted by `clock`. `changed` says that the source has ever been in another state than the turn
    found it in.
    """

    planted: tuple[tuple[str, str | None], ...] = ()
    made: frozenset[tuple[str, str]] = frozenset()
    built: frozenset[str] = frozenset()
    builds: frozenset[PassedBuild] = frozenset()
    state: SourceState = UNCHANGED
    scratch: frozenset[str] = frozenset()
    moved: Mapping[str, int] = field(default_factory=dict)
    born: Mapping[str, int] = field(default_factory=dict)
    remade: Mapping[str, int] = field(default_factory=dict)
    clock: int = 0
    changed: bool = False

    @property
    def wholly(self) -> frozenset[str]:
        """The directories in which everything has been built."""
        return frozenset(build.place for build in self.builds if build.whole)

    def in_state(self, state: SourceState) -> Products:
        """The products in a state of the source: in another one, nothing has been built yet."""
        if state == self.state:
            return self
        moved = {path for path, _ in state.compiled ^ self.state.compiled}
        clock = self.clock + 1 if moved else self.clock
        born = {**dict.fromkeys(moved & state.new, clock), **self.born}
        moved_now = {**self.moved, **dict.fromkeys(moved, clock)}
        now = replace(self, state=state, moved=moved_now, born=born, clock=clock, changed=True)
        if state.whole == self.state.whole:
            return now
        return replace(now, made=frozenset(), built=frozenset(), builds=frozenset())

    def is_older(self, product: str, source: str) -> bool:
        """Whether a product that may be made of a source has not been made since that changed."""
        return may_be_of(product, source) and self.precedes(product, source)

    def precedes(self, product: str, source: str) -> bool:
        """Whether a product was last made before a source changed. What was made before there was such a source is not
        made of it."""
        return self.born.get(source, 0) <= self.remade.get(product, 0) < self.moved.get(source, 0)

    def made_since(self, source: str) -> frozenset[str]:
        """What has been made, of what may be made of a source, since that changed."""
        changed = self.moved.get(source, 0)
        return frozenset(path for path, made in self.remade.items() if made >= changed and may_be_of(path, source))

    def written(self, writes: Iterable[ProductWrite], planted: Iterable[str], compiled: Iterable[str] = ()) -> Products:
        """The products after a call: `planted` are the paths among `writes` that no build wrote, `compiled` those a
        compiler made of loose files, which stand for themselves and not for what the project would have built."""
        foreign, loose = set(planted), set(compiled)
        known = dict(self.planted)
        made = set(self.made)
        writes = tuple(writes)
        for write in writes:
            if write.touched:
                made.discard((write.path, ""))
                made |= {(write.path, "")} if write.path not in foreign else set()
                continue
            known.pop(write.path, None)
            if write.sha256 is None:
                below = f"{write.path}/"
                known = {path: sha for path, sha in known.items() if not path.startswith(below)}
            elif write.path in foreign:
                known[write.path] = write.sha256
                if write.path in loose:
                    made.add((write.path, write.sha256))
            else:
                made.add((write.path, write.sha256))
        remade = self._remade_after(writes, foreign - loose, {sha for _, sha in made if sha})
        return replace(self, planted=tuple(sorted(known.items())), made=frozenset(made), remade=remade)

    def _remade_after(self, writes: Iterable[ProductWrite], foreign: set[str], contents: set[str]) -> dict[str, int]:
        """When what is there was last made, after these writes; a copy of what was made (`contents`) is as new."""
        gone = {write.path for write in writes if write.sha256 is None}
        kept = {path: made for path, made in self.remade.items() if not gone or gone.isdisjoint(_places(path))}
        for write in writes:
            if write.sha256 is not None and (write.path not in foreign or write.sha256 in contents):
                kept |= {write.path: self.clock} if families_of_product(write.path) else {}
        return kept

    def has_made(self, write: ProductWrite) -> bool:
        """Whether a build made what a call has just written."""
        return (write.path, "" if write.touched else write.sha256) in self.made

    def doubtful(self, *, copies_count: bool) -> tuple[str, ...]:
        """The planted products a check may have run. Where it runs one program by its path, a copy of what a build of
        this state made is what it is (`copies_count`)."""
        contents = {sha for _, sha in self.made if sha} if copies_count else set()
        return tuple(path for path, sha in self.planted if sha not in contents)


def _places(path: str) -> set[str]:
    """A path and the directories it lies in."""
    return {path, *map(str, PurePosixPath(path).parents)}


def holds(directory: str, path: str) -> bool:
    """Whether a recorded path is a directory or lies in it; "" is the primary root."""
    return (path == directory or path.startswith(f"{directory}/")) if directory else not path.startswith("/")


def is_program_beneath(path: str, directory: str) -> bool:
    """Whether a product, by its recorded name, is a program in a build directory, and no file of the build tool's."""
    inside = PurePosixPath(path.removeprefix(f"{directory}/"))
    return (
        holds(directory, path) and (not inside.suffix or inside.suffix == ".exe") and "CMakeFiles" not in inside.parts
    )


NO_PRODUCTS = Products()
"""Nothing is known of any product."""
