"""The state directory: where everything lies (spec 1.5), laid lazily, private whatever the umask.

This module names paths and makes directories; what the files hold belongs to the modules that write them.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from spear.state.files import make_private_directory, probe_writable

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]{0,127}")


def safe_name(name: str) -> str:
    """`name` if it can be one path component inside the state directory; ValueError otherwise.

    Session ids, collection names and document ids come from command lines and files: none of them may walk away.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a name for the state directory: {name!r}")
    return name


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The tree of spec 1.5 below `root`. Properties are paths only: nothing is created by asking for one."""

    root: Path

    def prepare(self) -> None:
        """Create the root (0700) and prove that it can be written. Raises StateError with the way out."""
        make_private_directory(self.root)
        probe_writable(self.root)

    @property
    def audit(self) -> Path:
        """Everything that is evidence."""
        return self.root / "audit"

    @property
    def tool_actions(self) -> Path:
        """Every mutating attempt of every session, metadata only."""
        return self.audit / "tool-actions.jsonl"

    @property
    def sessions(self) -> Path:
        """One directory a session."""
        return self.audit / "sessions"

    @property
    def live(self) -> Path:
        """One locked file for each running session."""
        return self.audit / "live"

    @property
    def tool_results(self) -> Path:
        """Full outputs, one directory a session."""
        return self.audit / "tool-results"

    @property
    def checkpoints(self) -> Path:
        """Exact bytes from before each mutation, content-addressed."""
        return self.audit / "checkpoints"

    @property
    def runtime_trace(self) -> Path:
        """The optional trace; safe to delete."""
        return self.audit / "runtime-trace.jsonl"

    @property
    def training_data(self) -> Path:
        """Captured episodes (spec 7)."""
        return self.audit / "training-data"

    @property
    def standards(self) -> Path:
        """The normative store (spec 5)."""
        return self.root / "standards"

    @property
    def knowledge(self) -> Path:
        """The workspace knowledge database (spec 4.3)."""
        return self.root / "knowledge.sqlite3"

    @property
    def history(self) -> Path:
        """Input history of the terminal."""
        return self.root / "history"

    @property
    def rules_learned(self) -> Path:
        """The rules of `/recall`."""
        return self.root / "rules-learned.md"

    @property
    def trusted(self) -> Path:
        """Digests of the trees the operator trusts (spec 4.1)."""
        return self.root / "trusted.json"

    @property
    def last_backend(self) -> Path:
        """The name of the backend used last."""
        return self.root / "last-backend"

    @property
    def tool_support(self) -> Path:
        """What endpoints did with offered tools."""
        return self.root / "tool-support.json"

    @property
    def log(self) -> Path:
        """Tracebacks of defects."""
        return self.root / "spear.log"

    def session(self, session: str) -> Path:
        """The directory of one session."""
        return self.sessions / safe_name(session)

    def events(self, session: str) -> Path:
        """The hash-chained event log of one session."""
        return self.session(session) / "events.jsonl"

    def evidence(self, session: str) -> Path:
        """The canonical evidence of one session, one record a call."""
        return self.session(session) / "evidence.jsonl"

    def snapshot(self, session: str) -> Path:
        """The resumable snapshot of one session."""
        return self.session(session) / "session.json"

    def planted(self, workspace: Path) -> Path:
        """The build products of a workspace that no build made."""
        return self.root / "planted" / f"{hashlib.sha256(os.fsencode(workspace)).hexdigest()[:32]}.json"

    def index(self, collection: str) -> Path:
        """The retrieval index of one collection."""
        return self.root / "index" / f"{safe_name(collection)}.sqlite3"
