"""Sessions that can be resumed: created, saved after each turn, found again, forked, and freed (spec 1.5, 8.3).

`session.json` has its small facts on the first line and the conversation behind them, so that listing a thousand
sessions reads a thousand lines and not a thousand conversations. The newest session is told from the last record of
its log; there is no index that could be wrong.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from spear.agent.messages import Message
from spear.errors import StateError, UsageError
from spear.events.names import EventName, Mode
from spear.state.audit import timestamp
from spear.state.conversation import decode_message, encode, redact, repair
from spear.state.directory import StateDirectory, safe_name
from spear.state.files import DIRECTORY_MODE, make_private_directory, replace_durably, state_error
from spear.state.lines import read_records, records_backwards
from spear.state.liveness import live_sessions
from spear.state.redaction import Redactor
from spear.state.retention import Freeable, freeable, remove

SCHEMA = 1
_SCHEMA_NAME = "spear.session/"
_TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it can be resumed.

    `turn` counts finished turns; `cwd` and `environment` are as the last command left them; `parent` is the session
    this one was forked from; `extra` holds JSON values of whoever else has something to resume.
    """

    id: str
    workspace: str
    created: str
    mode: Mode
    updated: str = ""
    turn: int = 0
    title: str = ""
    parent: str = ""
    cwd: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    conversation: tuple[Message, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class SessionState(StrEnum):
    """How a session stands: running in some process, closed in order, ended without closing, or not readable."""

    RUNNING = "running"
    CLOSED = "closed"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session as a list shows it. `last` is the time of its last record."""

    id: str
    workspace: str
    title: str
    turn: int
    created: str
    last: str
    state: SessionState


class SessionStore:
    """The sessions of one state directory."""

    def __init__(self, directory: StateDirectory, redactor: Redactor, *, clock: Callable[[], str] = timestamp) -> None:
        self._directory = directory
        self._redactor = redactor
        self._clock = clock

    def create(self, workspace: Path, mode: Mode, *, parent: str = "") -> Session:
        """A new session with a unique id that sorts by time. Raises StateError."""
        make_private_directory(self._directory.sessions)
        for _ in range(100):
            session = _new_id(datetime.now(UTC))
            path = self._directory.session(session)
            try:
                path.mkdir(DIRECTORY_MODE)
                path.chmod(DIRECTORY_MODE)
            except FileExistsError:
                continue
            except OSError as error:
                raise state_error("create the directory", path, error) from error
            return self.save(Session(session, str(workspace), self._clock(), mode, parent=parent))
        raise StateError(f"cannot find a free session id in {self._directory.sessions}", hint="try again")

    def save(self, session: Session) -> Session:
        """Write the snapshot whole or not at all; returns it with its time. Secrets are left out. Raises StateError.

        An exported variable that holds a secret is not kept: a replaced value would be worse than none.
        """
        saved = replace(session, updated=self._clock(), title=session.title or _title(session.conversation))
        replace_durably(self._directory.snapshot(session.id), _encode(saved, self._redactor))
        return saved

    def load(self, session: str) -> Session:
        """The snapshot of a session, each of its calls with a result. Raises StateError that says what is wrong."""
        path = self._directory.snapshot(session)
        try:
            document = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise StateError(
                f"session {session} has no snapshot to resume",
                hint=f"its record can still be read: spear-chat audit show {session}",
            ) from error
        except OSError as error:
            raise state_error("read", path, error) from error
        except (ValueError, RecursionError) as error:
            raise _damaged(session, path) from error
        try:
            return _decode(document, session)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _damaged(session, path) from error

    def resolve(self, prefix: str) -> str:
        """The id that starts with `prefix`. Raises UsageError when there is none or more than one."""
        ids = self.ids()
        found = [prefix] if prefix in ids else [session for session in ids if session.startswith(prefix)]
        match found:
            case [only]:
                return only
            case []:
                raise UsageError(f"there is no session {prefix}", hint="spear-chat sessions lists them")
            case _:
                shown = ", ".join(found[:5])
                raise UsageError(f"{len(found)} sessions start with {prefix}: {shown}", hint="give more of the id")

    def newest(self, workspace: Path) -> str | None:
        """The session of this workspace with the latest record, resumed or unreadable ones too; None for none."""
        return next((summary.id for summary in self.summaries(workspace)), None)

    def before(self, session: str, workspace: Path) -> str | None:
        """The newest session of this workspace that can be read, other than `session`."""
        others = (s for s in self.summaries(workspace) if s.id != session and s.state is not SessionState.UNREADABLE)
        return next((summary.id for summary in others), None)

    def summaries(self, workspace: Path | None = None) -> list[SessionSummary]:
        """Sessions by last record, latest first, of one workspace or of all; conversations are not read."""
        running = {session.session for session in live_sessions(self._directory)}
        found = [self._summary(session, session in running) for session in self.ids()]
        if workspace is not None:
            found = [summary for summary in found if summary.workspace == str(workspace)]
        return sorted(found, key=lambda summary: (summary.last, summary.id), reverse=True)

    def fork(self, session: Session) -> Session:
        """A new session that starts with this one's conversation and knows where it came from. Raises StateError."""
        new = self.create(Path(session.workspace), session.mode, parent=session.id)
        return self.save(replace(session, id=new.id, created=new.created, parent=session.id))

    def freeable(self) -> list[Freeable]:
        """What removing the kept output of closed sessions would free, largest first; removes nothing."""
        closed = [s.id for s in self.summaries() if s.state in (SessionState.CLOSED, SessionState.CRASHED)]
        return freeable(self._directory, closed)

    def prune(self, freed: Iterable[Freeable]) -> int:
        """Remove what `freeable` listed; returns the bytes freed. Records and snapshots stay. Raises StateError."""
        return sum(remove(self._directory, item) for item in freed)

    def _begun(self, session: str) -> dict[str, Any]:
        """What the record of a session says of its beginning, for one whose snapshot cannot be read."""
        first = next(read_records(self._directory.session(session) / "events.jsonl"), {})
        data = first.get("data")
        return data if isinstance(data, dict) and first.get("event") == EventName.SESSION_STARTED else {}

    def ids(self) -> list[str]:
        """The id of every session, oldest first."""
        try:
            return sorted(path.name for path in self._directory.sessions.iterdir() if path.is_dir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise state_error("read", self._directory.sessions, error) from error

    def _summary(self, session: str, running: bool) -> SessionSummary:
        header = _header(self._directory.session(session) / "session.json")
        record = next(islice(records_backwards(self._directory.session(session) / "events.jsonl"), 1), {})
        state = SessionState.CLOSED if record.get("event") == EventName.SESSION_CLOSED else SessionState.CRASHED
        if running:
            state = SessionState.RUNNING
        if not header:
            state = SessionState.UNREADABLE
            header = self._begun(session)
        return SessionSummary(
            id=session,
            workspace=str(header.get("workspace", "")),
            title=str(header.get("title", "")),
            turn=int(header.get("turn", 0)),
            created=str(header.get("created", "")),
            last=max(str(record.get("ts", "")), str(header.get("updated", ""))),
            state=state,
        )


def _new_id(now: datetime) -> str:
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}{secrets.token_hex(2)}"


def _title(conversation: tuple[Message, ...]) -> str:
    """The first line of the first request."""
    first = next((message.content for message in conversation if message.role == "user"), "")
    line = " ".join(first.split("\n", 1)[0].split())
    return line if len(line) <= _TITLE_LENGTH else f"{line[: _TITLE_LENGTH - 1]}…"


def _encode(session: Session, redactor: Redactor) -> bytes:
    header = {
        "schema": f"{_SCHEMA_NAME}{SCHEMA}",
        "id": session.id,
        "workspace": session.workspace,
        "created": session.created,
        "updated": session.updated,
        "mode": session.mode.value,
        "turn": session.turn,
        "title": redactor.text(session.title),
        "parent": session.parent,
        "cwd": session.cwd,
    }
    kept = {name: value for name, value in session.environment.items() if redactor.data({name: value}) == {name: value}}
    first = json.dumps(header)[:-1]
    rest = f'"environment": {json.dumps(kept)},\n"extra": {json.dumps(redactor.data(dict(session.extra)))}'
    messages = ",\n".join(json.dumps(encode(redact(message, redactor))) for message in session.conversation)
    return f'{first},\n{rest},\n"conversation": [\n{messages}\n]}}\n'.encode("ascii")


def _header(path: Path) -> dict[str, Any]:
    """The small facts of a snapshot, empty when they cannot be read by this version."""
    try:
        with path.open("rb") as file:
            line = file.readline(1 << 20).rstrip()
        header = json.loads(line.removesuffix(b",") + b"}")
        return header if _schema(header) <= SCHEMA else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _schema(document: Mapping[str, Any]) -> int:
    name = str(document["schema"])
    if not name.startswith(_SCHEMA_NAME):
        raise ValueError(f"not a session: {name}")
    return int(name.removeprefix(_SCHEMA_NAME))


def _decode(document: Any, session: str) -> Session:
    schema = _schema(document)
    if schema > SCHEMA:
        raise StateError(
            f"session {session} was written by a newer spear-chat: {_SCHEMA_NAME}{schema}",
            hint=f"this one reads up to {_SCHEMA_NAME}{SCHEMA}: upgrade it, or start a new session",
        )
    return Session(
        id=safe_name(str(document["id"])),
        workspace=str(document["workspace"]),
        created=str(document["created"]),
        mode=Mode(document["mode"]),
        updated=str(document["updated"]),
        turn=int(document["turn"]),
        title=str(document["title"]),
        parent=str(document["parent"]),
        cwd=str(document["cwd"]),
        environment={str(name): str(value) for name, value in document["environment"].items()},
        conversation=repair([decode_message(message) for message in document["conversation"]]),
        extra=dict(document["extra"]),
    )


def _damaged(session: str, path: Path) -> StateError:
    return StateError(
        f"the snapshot of session {session} is damaged ({path})",
        hint=f"its record can still be read: spear-chat audit show {session}",
    )
