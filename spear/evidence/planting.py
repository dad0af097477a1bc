"""Which commands of a script may have written a product other than by building it (spec 3.2, 3.3).

Builds, tests and what sets a project up may write products; everything else plants them: a copy, a redirection, a
program given on the command line. Where a script does both, its destinations tell who wrote what; a program whose
writes cannot be read is taken for the writer unless its text speaks of nothing like that path. What this turn wrote for
a tool to follow (a script, a makefile, a package's scripts) is read as if it had been typed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from spear.evidence.apart import stands_apart
from spear.evidence.builders import is_program_elsewhere, makes_as_the_project, takes_more_in
from spear.evidence.checks.candidates import CheckCandidate, recognise
from spear.evidence.checks.programs import SHELLS
from spear.evidence.compiled import COMPILED
from spear.evidence.elsewhere import as_seen_there, doubt_of
from spear.evidence.facts import ProjectFacts
from spear.evidence.followers import followers_in
from spear.evidence.following import Followed, own_script
from spear.evidence.kinds import CheckCode, CheckKind, Scope
from spear.evidence.products import ProductWrite
from spear.evidence.scratch import names_scratch
from spear.evidence.setting import Setting, is_scratch
from spear.evidence.setting_up import sets_up
from spear.evidence.speaking import told_by
from spear.evidence.tree import Leaf, Path, in_sequence, leaves, same_pipeline
from spear.evidence.writing import (
    NO_CONTENT,
    Writer,
    absolute_place,
    told_writer,
    writer_of,
)
from spear.shell.destinations import Destination, effects
from spear.shell.syntax import Script, Simple
from spear.shell.tools.call import WriteKind

_MOST_FOLLOWED = 40
"""How many scripts of this turn's are followed from one command."""


@dataclass(frozen=True, slots=True)
class Planting:
    """A product something else than a build wrote. `writer` is its place in the script, () where it is not known."""

    path: str
    writer: Path
    in_sequence: bool

    def is_after(self, check: Path) -> bool:
        """Whether it happened, in sequence, after the check."""
        return self.in_sequence and self.writer > check


def plantings(
    script: Script,
    candidates: Collection[CheckCandidate],
    facts: ProjectFacts,
    setting: Setting,
    writes: Collection[ProductWrite],
) -> tuple[Planting, ...]:
    """The products among `writes` that something else than a build may have written. Costs nothing without writes."""
    present = [write.path for write in writes if write.sha256 is not None]
    if not present:
        return ()
    found = list(_writers(script, candidates, facts, setting))
    unread = any(writer.unread for writer in found)
    alone = unread and not generates(script, candidates, facts, setting)
    return tuple(
        Planting(path, writer.path, writer.in_sequence)
        for path in present
        for writer in found
        if (writer.may_have_written(path, facts, setting) or (alone and writer.may_be_alone_with(path)))
        and not (writer.compiles and stands_apart(path, facts))
    )


def generates(script: Script, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a script configures or builds anything, itself or by what it follows of this turn's, and so may write
    what checks are run by."""
    return any(
        any(sets_up(leaf.simple, facts, within) for leaf in leaves(each))
        or any(makes_as_the_project(candidate, facts, within) for candidate in found)
        for each, found, within in ((script, candidates, setting), *_followed(script, candidates, facts, setting))
    )


def follows_a_build(
    script: Script, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting
) -> bool:
    """Whether what a script follows of this turn's builds the project the way it does."""
    return any(
        CheckKind.BUILD in candidate.kinds and makes_as_the_project(candidate, facts, within)
        for _, found, within in _followed(script, candidates, facts, setting)
        for candidate in found
    )


def _followed(
    script: Script,
    candidates: Collection[CheckCandidate],
    facts: ProjectFacts,
    setting: Setting,
    seen: _Seen | None = None,
) -> Iterator[tuple[Script, tuple[CheckCandidate, ...], Setting]]:
    """The scripts of this turn's that a script follows, and those that they follow, with what they start from."""
    seen = seen or _Seen()
    found = [
        recipe
        for follower in followers_in(script, candidates, set(), facts, setting)
        for recipe in follower.recipes or ()
    ]
    around = setting.around(script)
    found += filter(None, (_own_script(script, leaf, facts, setting, around) for leaf in leaves(script)))
    for followed in found:
        if seen.is_new(followed):
            within, inner = _entered(followed, facts, setting)
            yield followed.script, inner, within
            yield from _followed(followed.script, inner, facts, within, seen)


def scratch_writes(
    script: Script, candidates: Collection[CheckCandidate], facts: ProjectFacts, setting: Setting
) -> tuple[Planting, ...]:
    """Places of the scratch directories, absolute, that something else than a build or a compiler of workspace files
    writes to. Nothing is read of a script that names none."""
    if not may_use_scratch(script, facts, setting):
        return ()
    return tuple(
        Planting(place, writer.path, writer.in_sequence)
        for writer in _writers(script, candidates, facts, setting)
        if not writer.compiles
        for given in writer.destinations
        for place in _written_places(given, posixpath.join(facts.root, setting.start))
        if is_scratch(place, facts)
    )


def may_use_scratch(script: Script, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a script names the scratch directories, or runs a script of this turn's, which may."""
    around = setting.around(script)
    return names_scratch(script, facts, setting) or any(
        _own_script(script, leaf, facts, setting, around) is not None for leaf in leaves(script)
    )


def _written_places(given: Destination, base: str) -> Iterator[str]:
    """The absolute paths a destination may mean; one that ends with a slash stands for everything beneath."""
    if given.path is None:
        return
    place = posixpath.normpath(posixpath.join(base, given.path))
    yield f"{place}/" if given.tree else place
    yield from (posixpath.join(place, name) for name in given.into)


class _Seen:
    """What has been followed from one command, each script once: they may call one another."""

    def __init__(self) -> None:
        self._sources: set[tuple[str | None, ...]] = set()

    def is_new(self, followed: Followed) -> bool:
        """Whether it has not been followed yet, and may still be."""
        known = len(self._sources)
        if not self.is_full:
            self._sources.add((followed.directory, *followed.source))
        return len(self._sources) > known

    @property
    def is_full(self) -> bool:
        """Whether no more is followed."""
        return len(self._sources) >= _MOST_FOLLOWED


def _writers(
    script: Script,
    candidates: Collection[CheckCandidate],
    facts: ProjectFacts,
    setting: Setting,
    seen: _Seen | None = None,
) -> Iterator[Writer]:
    """What may write more than a build would, what it follows of this turn's included."""
    seen = seen or _Seen()
    makers = {c.path for c in candidates if makes_as_the_project(c, facts, setting)}
    makers |= {leaf.path for leaf in leaves(script) if is_program_elsewhere(leaf.simple, facts, setting)}
    around = setting.around(script)
    told = {leaf.path: _own_script(script, leaf, facts, setting, around) for leaf in leaves(script)}
    makers -= {path for path, followed in told.items() if followed is not None and facts.shown_before()}
    hidden = {c.path for c in candidates if told.get(c.path) is None and _hidden(c, facts)}
    yield from (told_writer(path, None, facts) for path in sorted(hidden) if facts.shown_before())
    makers -= {c.path for c in candidates if c.finding.scope is Scope.PROGRAM and _is_outside(c, facts, setting)}
    own = {follower.path: follower for follower in followers_in(script, candidates, makers, facts, setting)}
    makers -= own.keys()
    doubtful = {c.path for c in candidates if c.path in makers and doubt_of(script, c, facts, setting) is not None}
    doubtful |= {c.path for c in candidates if c.finding.void is CheckCode.DRY_RUN}  # `make -t` writes all the same
    yield from (told_writer(path, None, facts) for path in sorted(doubtful))
    for follower in own.values():
        if follower.recipes is None:
            compiled = all(file.endswith(COMPILED) for file in follower.files)
            text = None if follower.takes_in else told_by(follower.files, facts)
            yield told_writer(follower.path, text, facts, compiled=compiled, compiles=True)
        for recipe in follower.recipes or ():
            writers = (_making(recipe), *_inside(recipe, facts, setting, seen))
            yield from (replace(writer, path=follower.path, in_sequence=False) for writer in writers)
    read = makers | own.keys()
    for leaf in leaves(script):
        followed = told[leaf.path]
        if leaf.path in read or followed is None:
            continue
        read.add(leaf.path)
        for writer in _inside(followed, facts, setting, seen):
            yield replace(writer, path=leaf.path, in_sequence=in_sequence(leaf))
    compiling = {c.path for c in candidates if c.finding.scope is Scope.LOOSE and not takes_more_in(c, facts, setting)}
    for writer in _typed(script, read, facts, setting):
        yield replace(writer, compiles=True) if writer.path in compiling else writer


def _is_outside(candidate: CheckCandidate, facts: ProjectFacts, setting: Setting) -> bool:
    """Whether a program is run that lies in the scratch directories."""
    program = candidate.simple.argv[0].value or ""
    return "/" in program and is_scratch(absolute_place(program, candidate.simple, facts, setting), facts)


def _own_script(script: Script, leaf: Leaf, facts: ProjectFacts, setting: Setting, around: Setting) -> Followed | None:
    """The script of this turn's that a command runs, which starts from `around`. One that the same command changed says
    what it said then only where the last to have written it is seen to have written just that."""
    if leaf.simple.cwd is None:
        return None  # nobody can say which file it names

    def is_unsettled(path: str) -> bool:
        if not facts.changed_now(path):
            return False
        writers = (
            other.simple.heredoc
            for other in leaves(script)
            if other.path < leaf.path
            for destination in _written_by(other.simple)
            if destination.path
            and facts.shown(posixpath.join(facts.root, setting.start, destination.path)) == path
            and destination.kind is not WriteKind.MODE
        )
        *_, last = (None, *writers)
        return last is None or facts.read(posixpath.join(facts.root, path)) != last

    base = absolute_place(".", leaf.simple, facts, setting)
    return own_script(leaf.simple, base, around.variables(), replace(facts, changed_now=is_unsettled))


def _hidden(candidate: CheckCandidate, facts: ProjectFacts) -> bool:
    """Whether a shell script is run that this command changed, so that nobody can say what it did."""
    shell = candidate.simple.name in SHELLS or any(path.endswith(".sh") for path in candidate.finding.paths)
    return candidate.finding.scope is Scope.PROGRAM and shell and any(map(facts.changed_now, candidate.finding.paths))


def _entered(followed: Followed, facts: ProjectFacts, setting: Setting) -> tuple[Setting, tuple[CheckCandidate, ...]]:
    """What a script of this turn's starts from, and its checks."""
    start = facts.shown(followed.directory)
    within = replace(
        setting.around(followed.script), start=followed.directory if start is None or start.startswith("/") else start
    )
    candidates = recognise(followed.script, facts, start=within.start)
    return within, as_seen_there(followed.script, candidates, facts, within)


def _inside(followed: Followed, facts: ProjectFacts, setting: Setting, seen: _Seen) -> Iterator[Writer]:
    """The writers of a script of this turn's, as seen from anywhere; what is too much to follow may write anything."""
    if not seen.is_new(followed):
        if seen.is_full:
            yield told_writer((), None, facts)
        return
    within, candidates = _entered(followed, facts, setting)
    for writer in _writers(followed.script, candidates, facts, within, seen):
        yield replace(writer, destinations=tuple(_absolute(d, followed.directory) for d in writer.destinations))


def _absolute(destination: Destination, directory: str) -> Destination:
    """A destination as seen from anywhere."""
    path = destination.path
    return destination if path is None else replace(destination, path=posixpath.join(directory, path))


def _making(followed: Followed) -> Writer:
    """What a tool makes by rules of its own beside the recipes it follows."""
    made = tuple(
        Destination(path, "make", True, WriteKind.CREATE, 0, 0, "make", glob="*" in path) for path in followed.makes
    )
    return Writer((), False, made)


def _written_by(simple: Simple) -> tuple[Destination, ...]:
    return effects(Script((replace(simple, nested=None, substitutions=()),))).destinations


def _typed(script: Script, makers: set[Path], facts: ProjectFacts, setting: Setting) -> Iterator[Writer]:
    """The writers among the commands of a script as they stand, those that are read otherwise (`makers`) left out."""
    found_leaves = list(leaves(script))
    building = [leaf for leaf in found_leaves if leaf.path in makers]
    read: set[Destination] = set()
    for leaf in found_leaves:
        found = effects(Script((replace(leaf.simple, nested=None, substitutions=()),)))
        read |= set(found.destinations)
        shows = leaf.simple.name == "tee" and any(same_pipeline(leaf, maker) for maker in building)
        if not shows and leaf.path not in makers and not sets_up(leaf.simple, facts, setting):
            yield from writer_of(leaf, found.destinations, bool(found.opaque), facts, setting)
    links = {d.path for leaf in found_leaves if leaf.simple.name == "ln" for d in _written_by(leaf.simple) if d.path}
    for leaf in found_leaves if links else ():
        if any(d.path and any(d.path.startswith(f"{link}/") for link in links) for d in _written_by(leaf.simple)):
            yield told_writer(leaf.path, None, facts)  # what lies behind a link has another name
    rest = tuple(d for d in effects(script).destinations if d not in read and d.kind not in NO_CONTENT)
    if rest:
        yield Writer((), False, rest)
