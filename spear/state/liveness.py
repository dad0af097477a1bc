"""Which sessions are running, so that two on one tree are told of each other (spec 3.7, 8.3)."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from spear.errors import StateError
from spear.state.directory import StateDirectory, safe_name
from spear.state.files import replace_durably

_DEBRIS_AFTER_S = 86_400


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that is running now, in process `pid`."""

    session: str
    workspace: str
    pid: int


class Presence:
    """Says that a session runs in this process, until closed. A process that died is not present, whatever it left.

    A process is known by its number, its start and the boot it belongs to: numbers alone are used again.
    """

    def __init__(self, directory: StateDirectory, session: str, workspace: Path) -> None:
        self._directory = directory
        self._path = directory.live / f"{safe_name(session)}.json"
        self._session = session
        self._workspace = str(workspace)

    def announce(self) -> tuple[LiveSession, ...]:
        """Be present, and return the other sessions on this workspace.

        Raises StateError when this very session is open in another process.
        """
        present = live_sessions(self._directory)
        for other in present:
            if other.session == self._session and other.pid != os.getpid():
                raise StateError(
                    f"session {self._session} is open in process {other.pid}",
                    hint="close it there, or start a new session here",
                )
        record = {"session": self._session, "workspace": self._workspace, **_identity(os.getpid())}
        replace_durably(self._path, json.dumps(record).encode())
        _clear_debris(self._directory)
        return tuple(s for s in present if s.workspace == self._workspace and s.session != self._session)

    def others(self) -> tuple[LiveSession, ...]:
        """The other sessions running on this workspace now."""
        present = live_sessions(self._directory)
        return tuple(s for s in present if s.workspace == self._workspace and s.session != self._session)

    def close(self) -> None:
        """Be gone."""
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> Presence:
        self.announce()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def live_sessions(directory: StateDirectory) -> tuple[LiveSession, ...]:
    """Every session that runs now, on any workspace, by id."""
    found = []
    for path in sorted(directory.live.glob("*.json")):
        try:
            record = json.loads(path.read_bytes())
            session = LiveSession(str(record["session"]), str(record["workspace"]), int(record["pid"]))
            if _identity(session.pid) == {key: record[key] for key in ("pid", "started", "boot")}:
                found.append(session)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # gone meanwhile, or debris: nobody is there
    return tuple(found)


def _identity(pid: int) -> dict[str, int | str]:
    """What tells a process from a later one of the same number; all zero when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return {"pid": 0, "started": 0, "boot": ""}
    if fields[0] in "ZX":  # dead, only not yet waited for
        return {"pid": 0, "started": 0, "boot": ""}
    return {"pid": pid, "started": int(fields[19]), "boot": boot}


def _clear_debris(directory: StateDirectory) -> None:
    """Remove what sessions left that died long ago; recent files are not touched, their session may be starting."""
    running = {session.session for session in live_sessions(directory)}
    for path in directory.live.glob("*.json"):
        try:
            if path.stem not in running and time.time() - path.stat().st_mtime > _DEBRIS_AFTER_S:
                path.unlink()
        except OSError:
            continue  # gone meanwhile
