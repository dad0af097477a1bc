"""The journal of one turn's checkpoint: an append-only JSONL file, read back whatever instant its writer died at.

    begin   who, when, which root; an undo also names the turns it takes back
    before  what was at a path when the turn first touched it (durable before the mutation)
    intent  what the mutation that follows is about to leave there
    foreign somebody else changed the path between two changes of the turn
    after   what the turn left there
    finish  the turn ended by itself

A torn or damaged line ends the reading: what was not durable had not begun (spec 3.6).
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from spear.workspace.blobs import private_directory
from spear.workspace.tree_state import NodeKind, PathState

OPEN, RESTING = ".open", ".jsonl"
"""Suffixes of a journal being written (or left by a killed turn), and of one at rest."""

_VERSION = 1
_FINISH = b'{"kind":"finish"}'


class Role(StrEnum):
    """What a journal records: a turn, the taking back of turns, or the taking back of that."""

    TURN = "turn"
    UNDO = "undo"
    REDO = "redo"


@dataclass(slots=True)
class Entry:
    """One path of a turn. `after` is None until recorded; `intents` are the announced contents since then.

    `kept` is false when the previous bytes were too large to keep.
    """

    before: PathState
    kept: bool = True
    after: PathState | None = None
    intents: list[PathState] = field(default_factory=list)
    foreign: bool = False

    @property
    def changed(self) -> bool:
        """Whether the turn left something else than it found, as far as is known."""
        return self.after is None or self.after != self.before


@dataclass(slots=True)
class TurnJournal:
    """What a journal file says. `at` and `last_ns` (its last append) are wall-clock times; `running` means that its
    writer is alive. What a finished one says of paths stays `unread` until somebody asks: an undo asks the turns it
    takes back, and no others.
    """

    id: str
    file: Path
    root: Path
    session: str
    turn: int
    at: float
    role: Role = Role.TURN
    undoes: tuple[str, ...] = ()
    finished: bool = False
    running: bool = False
    last_ns: int = 0
    unread: tuple[bytes, ...] = ()
    _known: dict[str, Entry] = field(default_factory=dict)

    @property
    def entries(self) -> dict[str, Entry]:
        """What it says of each path, up to its first damaged line: one that has such a line is not finished."""
        lines, self.unread = self.unread, ()
        for raw in lines:
            try:
                _apply(self, json.loads(raw))
            except (ValueError, KeyError, TypeError):
                self.finished = False
                break
        return self._known

    @property
    def changed(self) -> bool:
        """Whether there is anything to take back; a turn that left nothing is never finished."""
        return (self.finished and bool(self.unread)) or any(entry.changed for entry in self.entries.values())


def state_to_json(state: PathState) -> dict[str, Any]:
    """A state as JSON, without its empty fields."""
    full = {"k": state.kind.value, "m": state.mode, "s": state.sha256, "n": state.size, "t": state.target}
    return {key: value for key, value in full.items() if value or key == "k"}


def state_from_json(data: dict[str, Any]) -> PathState:
    """The reverse of `state_to_json`. Raises KeyError, TypeError or ValueError for what it never wrote."""
    sha, target = data.get("s", ""), data.get("t", "")
    if not isinstance(sha, str) or not isinstance(target, str) or not set(sha) <= set("0123456789abcdef"):
        raise ValueError("not a state")
    return PathState(NodeKind(data["k"]), int(data.get("m", 0)), sha, int(data.get("n", 0)), target)


class JournalWriter:
    """Appends to one journal, holding its lock so that others can tell that the turn is alive. Raises OSError."""

    def __init__(self, file: Path) -> None:
        self.file = file
        private_directory(file.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(file, flags, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        directory = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def append(self, lines: Iterable[dict[str, Any]], *, durable: bool) -> None:
        """Append in one write; `durable` waits until it is on disk."""
        # Plain ASCII: a name that is not UTF-8 comes back as it was, and no separator hides in a string.
        data = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode("ascii")
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]
        if durable:
            os.fdatasync(self._fd)

    def close(self) -> None:
        """Give the lock up; the journal is at rest from now on."""
        retire(self.file)
        os.close(self._fd)


def retire(file: Path) -> None:
    """Rename a journal that nobody writes any more, so that looking for unfinished ones reads names only."""
    if file.suffix == OPEN:
        file.rename(file.with_suffix(RESTING))


def begin_line(journal: TurnJournal) -> dict[str, Any]:
    """The first line of a journal."""
    return {
        "kind": "begin",
        "v": _VERSION,
        "id": journal.id,
        "root": str(journal.root),
        "session": journal.session,
        "turn": journal.turn,
        "at": journal.at,
        "role": journal.role.value,
        "undoes": list(journal.undoes),
    }


def read_journal(file: Path) -> TurnJournal | None:
    """What a journal says up to its first damaged line; None when even the beginning is unreadable."""
    try:
        with file.open("rb") as source:
            data = source.read()
            last_ns = os.fstat(source.fileno()).st_mtime_ns
            running = not _lockable(source.fileno())
    except OSError:
        return None
    first, *lines = data.split(b"\n")[:-1] or [b""]
    try:
        journal = _begun(file, json.loads(first))
    except (ValueError, KeyError, TypeError):
        return None
    journal.running, journal.last_ns = running, last_ns
    journal.finished = bool(lines) and lines[-1] == _FINISH
    journal.unread = tuple(lines)
    return journal


def _begun(file: Path, line: dict[str, Any]) -> TurnJournal:
    if line["kind"] != "begin" or line["v"] != _VERSION:
        raise ValueError("not the beginning of a journal")
    return TurnJournal(
        str(line["id"]),
        file,
        Path(line["root"]),
        str(line["session"]),
        int(line["turn"]),
        float(line["at"]),
        Role(line["role"]),
        tuple(str(identifier) for identifier in line["undoes"]),
    )


def _apply(journal: TurnJournal, line: dict[str, Any]) -> None:
    kind = line["kind"]
    if kind == "finish":
        return
    path = str(line["path"])
    if kind == "before":
        journal.entries[path] = Entry(state_from_json(line["state"]), bool(line.get("kept", True)))
        return
    entry = journal.entries[path]
    match kind:
        case "intent":
            entry.intents.append(state_from_json(line["state"]))
        case "foreign":
            entry.foreign = True
        case "after":
            entry.after = state_from_json(line["state"])
            entry.intents.clear()
        case _:
            raise ValueError(f"unknown line {kind!r}")


def _lockable(fd: int) -> bool:
    """Whether nobody holds the journal: its writer is gone."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return True


def new_identifier() -> str:
    """A stable name for a checkpoint: sorts by time, unique across processes."""
    return f"{time.time_ns():019d}-{os.urandom(3).hex()}"
