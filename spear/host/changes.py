"""Every change of the tree on its way into the record: kept for undo before, noticed after, judged as delivered."""

from __future__ import annotations

import fnmatch
import hashlib
import itertools
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from spear.agent.host import Outcome, ToolRequest, ToolResult
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.evidence.epochs import FileState
from spear.evidence.facts import read_makefile
from spear.evidence.products import TOOLS, is_product
from spear.evidence.recipes import filled_in
from spear.evidence.records import Change
from spear.evidence.roots import root_of, within_root
from spear.evidence.turn import Weakening
from spear.evidence.weakened import (
    FileTexts,
    find_weakened,
    inline_tests,
    is_expectation,
    is_test_file,
    kinds_of_check_file,
)
from spear.host.first_look import FirstLook
from spear.host.recorder import FILE_TOOLS, Draft, Recorder
from spear.host.turn_checkpoints import TurnCheckpoints
from spear.workspace import presence
from spear.workspace.build_output import is_output_file
from spear.workspace.changes import Snapshot, TreeChange, TreeChangeKind, compare, snapshot
from spear.workspace.configured import record_of
from spear.workspace.delivered import DeliveredSource
from spear.workspace.index_memory import indexed_digests
from spear.workspace.roots import PRIMARY, Location, Roots
from spear.workspace.tree_state import PathState

_LARGEST_CHECK = 1 << 20
_MOST_LOOKED_AT = 5000
_MOST_WALKED = 200_000
_MOST_STATED = 1 << 24
_STARTS = frozenset(
    {
        "", ".mk", ".mak", ".sh", ".bash", ".zsh", ".cmake", ".txt", ".py", ".pl", ".rb", ".lua", ".tcl", ".js", ".mjs",
        ".cjs", ".ts", ".json", ".toml", ".yml", ".yaml", ".am", ".in", ".ac", ".bzl", ".bazel", ".gn", ".ninja",
        ".gradle", ".kts", ".xml", ".cfg", ".ini", ".rs", ".zig", ".build", ".bat", ".t", ".bats", ".exp", ".php",
        ".awk", ".go", ".mod",
    }
)  # fmt: skip
"""Suffixes of files that build programs or start them."""
_CALLED_LIKE_A_TEST = re.compile(r"^test_|_test\.|\.(?:test|spec)\.|_spec\.|\.(?:t|bats)$|Test\.\w+$")
OUTSIDE = "outside"
"""The tool name of a record about changes nobody in this turn made."""


class ChangeLog:
    """The changes of one turn. `created` is shared with the path rules: what the turn made belongs to it. `remembered`
    is told the roots, by their recorded names, whose source this turn changes."""

    def __init__(
        self,
        roots: Roots,
        delivered: DeliveredSource,
        checkpoints: TurnCheckpoints,
        recorder: Recorder,
        created: set[str],
        emit: Sink,
        turn: int,
        remembered: Callable[[Iterable[str]], None] = lambda _roots: None,
    ) -> None:
        self._roots = roots
        self._delivered = delivered
        self._checkpoints = checkpoints
        self._recorder = recorder
        self._created = created
        self._emit = emit
        self._turn = turn
        self._remembered = remembered
        self._announced = False
        self._texts: dict[str, str | None] = {}
        self._look = FirstLook(lambda: snapshot(roots.primary, delivered))
        self._known: Snapshot | None = None
        self._looked_ns = 0
        self._others: dict[str, DeliveredSource] = {}
        self._gone: set[str] = set()
        self._moved: set[str] = set()
        self._generated: set[str] = set()
        self._told: set[str] = set()
        self._named: dict[tuple[str, str], bool] = {}

    def weakenings(self) -> tuple[Weakening, ...]:
        """Checks whose own files this turn changed (spec 3.3)."""
        ran = {p for r in self._recorder.records if r.check for result in r.check.results for p in result.paths}
        changed = {path for path, _ in self._recorder.ledger.net_changes() if path.endswith(".py")}
        roots = sorted({root_of(path) for path in (*self._texts, *changed)})
        return tuple(
            replace(found, path=_recorded(root, found.path))
            for root in roots
            for found in self._weakened_in(root, ran, changed)
        )

    def _weakened_in(self, root: str, ran: Collection[str], changed: Collection[str]) -> tuple[Weakening, ...]:
        """The weakened checks of one root, their paths relative to it: its own name says nothing of what lies there."""
        files = [
            FileTexts(within_root(path), before, _small_text(self._place(path)))
            for path, before in self._texts.items()
            if root_of(path) == root
        ]
        here = (path for path in sorted(changed) if root_of(path) == root)
        sources = {within_root(path): text for path in here if (text := _small_text(self._place(path))) is not None}
        new = [path for path in sources if self._recorder.ledger.began_absent(_recorded(root, path))]
        return find_weakened(
            files, checks=tuple(sorted(within_root(path) for path in ran if root_of(path) == root)),
            had_tests=self._had_tests(root, files), sources=sources, new=new, targets=self._targets(root, files),
        )  # fmt: skip

    def _place(self, path: str) -> Path:
        """Where a recorded path lies."""
        if not (root := root_of(path)):
            return self._roots.primary / path
        return self._roots.others[PurePosixPath(root).name] / within_root(path)

    def _targets(self, root: str, files: Sequence[FileTexts]) -> frozenset[str]:
        """The targets of a root's makefile; read only where a makefile to include is new."""
        if not any(file.before is None and file.path.endswith(".mk") for file in files):
            return frozenset()
        names = ("GNUmakefile", "makefile", "Makefile")
        texts = (_small_text(self._place(_recorded(root, name))) for name in names)
        return frozenset(target for text in texts if text is not None for target in read_makefile(text).targets)

    def _had_tests(self, root: str, files: Sequence[FileTexts]) -> bool:
        """Whether a file of a test was there before this turn; looked for only where a check's own file is new."""
        return all(file.before is not None for file in files) or any(is_test_file(p) for p in self._before(root))

    def _before(self, root: str) -> Iterator[str]:
        """The files of a root that were there before this turn, relative to it. Another root is looked at now: what the
        turn made there is left out, and of what it removed the checks' own files are known."""
        if not root:
            found = self._look.awaited()
            yield from found.paths() if found is not None else ()
            return
        place = self._place(root)
        yield from (
            p for p in snapshot(place, DeliveredSource(place)).paths() if _recorded(root, p) not in self._created
        )
        yield from (within_root(p) for p, text in self._texts.items() if text is not None and root_of(p) == root)

    def is_delivered(self, location: Location, at: Path | None = None, *, directory: bool = False) -> bool:
        """Whether a path of a root is delivered source; for a directory, whether it can hold any. `at` is where its
        content is when that is not in the tree. A git directory that lies outside the roots holds none."""
        rules = self._rules_of(location)
        if rules is None:
            return False
        if directory:
            return rules.is_delivered_directory(location.relative)
        if rules.is_delivered(location.relative, at):
            return True
        record = record_of(location.root, location.relative, at or location.root / location.relative)
        return record is not None and record != location.relative and self._is_planted(location, record)

    def _is_planted(self, location: Location, relative: str) -> bool:
        """Whether something else than its tool wrote a record, which then says nothing of what lies beside it."""
        root = "" if location.root_name == PRIMARY else f"/workspaces/{location.root_name}"
        return _recorded(root, relative) in {path for path, _ in self._recorder.products.planted}

    def is_configured(self, path: str) -> bool:
        """Whether a configuring tool wrote a file of a root, so that what it builds depends on it."""
        return record_of(self._place(root_of(path)), within_root(path), self._place(path)) is not None

    def is_delivered_path(self, relative: str) -> bool:
        """Whether a path of the primary root is delivered source."""
        self._look.awaited()
        return self._delivered.is_delivered(relative)

    def may_hold_delivered(self, relative: str) -> bool:
        """Whether a directory of the primary root, there or not yet, can hold delivered source."""
        self._look.awaited()
        return self._delivered.is_delivered_directory(relative)

    def note_output(self, directory: Location) -> None:
        """A tool has set a directory of a root up for what it makes."""
        if (rules := self._rules_of(directory)) is not None:
            rules.note_output(directory.relative)

    def is_tools_own(self, directory: Location) -> bool:
        """Whether a directory of a root is a build's or a tool's, and not just ignored."""
        rules = self._rules_of(directory)
        return rules is not None and rules.is_tools_own(directory.relative)

    def _rules_of(self, location: Location) -> DeliveredSource | None:
        """What is delivered source in the root of a path; None for a git directory that lies outside the roots."""
        if location.root_name == PRIMARY:
            self._look.awaited()
            return self._delivered
        return self._rules_elsewhere(location.root_name)

    def _rules_elsewhere(self, name: str) -> DeliveredSource | None:
        if name not in self._roots.others:
            return None
        if name not in self._others:
            self._others[name] = DeliveredSource(self._roots.others[name])
        return self._others[name]

    def protect(self, *locations: Location) -> None:
        """Make the present state of these paths durable before it is changed. Raises OSError."""
        self._look.awaited()
        for location in locations:
            if location.root_name not in (PRIMARY, *self._roots.others):
                continue  # a git directory outside the roots
            root = "" if location.root_name == PRIMARY else f"/workspaces/{location.root_name}"
            path = _recorded(root, location.relative)
            if not self.is_delivered(location) and (is_product(location.relative) or self.is_built(path)):
                continue  # whether a build made it is asked elsewhere
            self._remember_text(path)
        fresh = self._checkpoints.protect(locations)
        if fresh and not self._announced:
            self._announced = True
            self._event(EventName.CHECKPOINT_CREATED, {"paths": fresh[:20], "count": len(fresh)})

    def settled(self, locations: Iterable[Location], known: Mapping[Location, PathState] | None = None) -> None:
        """Note what the turn left at these paths, as far as it is `known`, else as they are now."""
        self._checkpoints.settled(locations, known)

    def _remember_text(self, path: str) -> None:
        """What a check's own file said before the turn first touched it."""
        place, inside = self._place(path), within_root(path)
        holds = kinds_of_check_file(inside) or is_expectation(inside) or path.endswith(".mk")
        if path not in self._texts and (holds or os.access(place, os.X_OK)):
            self._texts[path] = _small_text(place)
        elif path not in self._texts and path.endswith((".rs", ".py")):
            text = _small_text(place)
            if inline_tests(path, text):
                self._texts[path] = text

    def changed(self, draft: Draft, changes: Sequence[Change]) -> None:
        """Changes that have happened."""
        self._named.clear()
        self._generated.difference_update(change.path for change in changes)
        if draft.request.tool != OUTSIDE:
            self._note_created(changes)
            self._remembered(root_of(change.path) for change in changes if change.delivered)
        undelivered = (change.path for change in changes if not change.delivered)
        products = {path for path in undelivered if draft.request.tool in FILE_TOOLS and self.is_configured(path)}
        if self._recorder.changed(draft, changes, products):
            paths = [change.path for change in changes if change.delivered]
            self._event(
                EventName.EPOCH_OPENED, {"epoch": self._recorder.ledger.epoch, "paths": paths[:50], "count": len(paths)}
            )

    def _note_created(self, changes: Sequence[Change]) -> None:
        """What the turn made, and of that, what it only moved from another place of the tree."""
        self._gone |= {change.before_sha256 for change in changes if change.kind == "deleted" and change.before_sha256}
        self._told |= {change.path for change in changes if change.kind in ("created", "modified")}
        for change in changes:
            if change.kind == "created":
                self._created.add(change.path)
                if change.after_sha256 in self._gone:
                    self._moved.add(change.path)

    def note_generated(self, paths: Iterable[str]) -> None:
        """Tools of the project's own have generated these files, as they are now."""
        self._generated.update(paths)

    def made_here(self, path: str) -> bool:
        """Whether this turn wrote a file that was not there before, in this place or another, and no tool did."""
        return path in self._created and path not in self._moved and path not in self._generated

    def made_matching(self, pattern: str) -> bool:
        """Whether this turn wrote a new file that a pattern stands for."""
        return any(self.made_here(path) for path in fnmatch.filter(self._created, pattern))

    def told_here(self, path: str) -> bool:
        """Whether this turn created a file or changed what it says, and no tool did."""
        return path in self._told and path not in self._moved and path not in self._generated

    def text_before(self, path: str) -> str | None:
        """What a check's own file that this turn changed said before; None where it was not there."""
        return self._texts.get(path)

    def told(self, suffixes: frozenset[str], root: str = "") -> Iterator[str]:
        """The files of a root with these suffixes that this turn created or changed, relative to it."""
        found = (path for path in sorted(self._told) if root_of(path) == root and self.told_here(path))
        return (inside for path in found if PurePosixPath(inside := within_root(path)).suffix in suffixes)

    def only_new_tests(self, suffixes: frozenset[str], root: str = "") -> tuple[str, ...]:
        """The tests of a root with these suffixes, where this turn wrote all there are; none otherwise."""
        new = tuple(
            sorted(
                path
                for path in self._created
                if root_of(path) == root and _is_test(path, suffixes) and self.made_here(path)
            )
        )
        if not new or (not root and self._look.awaited() is None):
            return ()
        return () if any(_is_test(path, suffixes) for path in self._before(root)) else new

    def named_before(self, word: str, root: str = "") -> bool:
        """Whether a build file or script of a root that was there before this turn names a word, as it is now, in one
        piece or put together of variables, or a file is called so, its suffix aside. Where there are too many to look
        through, one may."""
        if (root, word) not in self._named:
            self._named[root, word] = self._is_named(word, root)
        return self._named[root, word]

    def _is_named(self, word: str, root: str) -> bool:
        named = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        texts: list[str] = []
        for path in self._before(root):
            place = PurePosixPath(path)
            if place.stem == word and _recorded(root, path) not in self._created:
                return True
            if place.suffix not in _STARTS or _recorded(root, path) in self._created:
                continue
            text = _small_text(self._place(_recorded(root, path))) or ""
            if len(texts) >= _MOST_LOOKED_AT or named.search(text):
                return True
            texts.append(text)
        return named.search(filled_in("\n".join(texts))) is not None

    def is_built(self, path: str) -> bool:
        """Whether a path of a root is what a build makes."""
        place, inside = self._place(path), within_root(path)
        if not presence.is_file(place) or self._is_delivered(path):
            return False
        return is_product(inside) or is_output_file(self._place(root_of(path)), inside, place)

    def _is_delivered(self, path: str) -> bool:
        rules = self._rules_elsewhere(PurePosixPath(root_of(path)).name) if root_of(path) else None
        return rules.is_delivered(within_root(path)) if rules is not None else self.is_delivered_path(path)

    def built(self, matches: Callable[[str], bool], root: str = "") -> Iterator[str]:
        """What builds have made in a root, whose path relative to it matches. Tools' own directories are passed over;
        no more than 200 000 files are looked at."""
        top, looked_at = self._place(root), 0
        for directory, below, files in os.walk(top):
            below[:] = [name for name in below if name not in TOOLS and name != ".git"]
            inside = "" if (relative := os.path.relpath(directory, top)) == "." else f"{relative}/"
            looked_at += len(files)
            if looked_at > _MOST_WALKED:
                return
            found = (inside + name for name in files if matches(inside + name))
            yield from (path for path in found if self.is_built(_recorded(root, path)))

    def tests_beside(self, suffixes: frozenset[str], given: tuple[str, ...], root: str = "") -> bool:
        """Whether a root holds tests with these suffixes beside those given, by files and directories relative to it.
        Only files called like tests count: what lies beside tests may help them."""
        made = (within_root(path) for path in self._created if root_of(path) == root)
        return any(
            _is_test(path, suffixes) and _CALLED_LIKE_A_TEST.search(PurePosixPath(path).name) is not None
            for path in itertools.chain(self._before(root), made)
            if not any(place in ("", path) or path.startswith(f"{place}/") for place in given)
        )

    def texts(self, suffixes: frozenset[str], root: str = "") -> Iterator[tuple[str, str]]:
        """The small delivered files of a root with these suffixes, relative to it, and what they say; 5000 at most."""
        made = (within_root(p) for p in self._created if root_of(p) == root and self._is_delivered(p))
        found = (path for path in {*self._before(root), *made} if PurePosixPath(path).suffix in suffixes)
        for path in itertools.islice(sorted(found), _MOST_LOOKED_AT):
            if (text := _small_text(self._place(_recorded(root, path)))) is not None:
                yield path, text

    def stated(self) -> tuple[str, ...]:
        """What the changed delivered files and the tests of the primary root and of every root with changes say now:
        the values an answer names may stand there. Bounded in number and size; the changed files come first."""
        changed = [path for path, _ in self._recorder.ledger.net_changes()]
        roots = dict.fromkeys(("", *map(root_of, changed)))
        tests = (_recorded(root, path) for root in roots for path in self._before(root) if is_test_file(path))
        texts: list[str] = []
        left = _MOST_STATED
        for path in itertools.islice(dict.fromkeys((*changed, *tests)), _MOST_LOOKED_AT):
            text = _small_text(self._place(path))
            if text is not None and "\0" not in text and len(text) <= left:
                texts.append(text)
                left -= len(text)
        return tuple(texts)

    def watch(self) -> None:
        """Look at the tree as it is, so that what others change meanwhile is noticed. Returns at once; whatever depends
        on the look waits for it."""
        self._look.start()

    def close(self) -> None:
        """The checkpoints are complete; a look that nobody needed is waited for."""
        self._checkpoints.finish()
        self._look.awaited()

    def settle(self, why: str) -> None:
        """Notice what others changed since the last look; it opens an epoch like any change (spec 3.7)."""
        before = self._known or self._look.awaited()
        if before is None:
            return
        looked_ns, self._looked_ns = self._looked_ns or self._look.began_ns, time.time_ns()
        now = snapshot(self._roots.primary, self._delivered, before)
        mine = dict(self._recorder.ledger.current)
        found = [
            change
            for change in compare(before, now, self._delivered, lambda path: mine.get(path, (None, None))[0])
            if not self._is_mine(change, mine)
        ]
        found = self._without_touches(before, found, looked_ns)
        self._known = now
        if not found:
            return
        request = ToolRequest(f"{OUTSIDE}-{self._recorder.ledger.epoch}-{why}", OUTSIDE, {"noticed": why})
        draft = self._recorder.open(request)
        changes = [
            Change(
                path=c.path,
                kind=c.kind.value,
                before_sha256=mine.get(c.path, (c.before_sha256, None))[0],
                after_sha256=c.after_sha256,
                delivered=True,
            )
            for c in found
        ]
        self.changed(draft, changes)
        self._recorder.close(request, ToolResult("", Outcome.OK, changed=True, reason="changed by someone else"))

    def _without_touches(self, look: Snapshot, changes: list[TreeChange], looked_ns: int) -> list[TreeChange]:
        """The changes without files whose status moved and whose bytes git knows to be the same."""
        unsure = [change.path for change in changes if not change.certain]
        held = indexed_digests(look, unsure, looked_ns)
        return [change for change in changes if change.certain or held.get(change.path, "") != change.after_sha256]

    def _is_mine(self, change: TreeChange, mine: Mapping[str, FileState]) -> bool:
        """Whether what is there now is what this turn left there."""
        if change.path not in mine:
            return False
        now = change.after_sha256
        if change.kind is TreeChangeKind.SYMLINK:
            now = link_digest(str((self._roots.primary / change.path).readlink()))
        return mine[change.path][0] == now

    def _event(self, name: EventName, data: dict[str, object]) -> None:
        self._emit(Event(name, data, self._turn))


def _is_test(path: str, suffixes: frozenset[str]) -> bool:
    return PurePosixPath(path).suffix in suffixes and is_test_file(within_root(path))


def _recorded(root: str, relative: str) -> str:
    """The recorded name of a path of a root."""
    return f"{root}/{relative}" if root else relative


def link_digest(target: str) -> str:
    """What stands for a symbolic link's content in records: the digest of where it points."""
    return hashlib.sha256(target.encode("utf-8", "surrogateescape")).hexdigest()


def _small_text(path: Path) -> str | None:
    """The text of a small regular file, None for anything else: no check is a link, a pipe or a megabyte long."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_CHECK:
            return None
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
