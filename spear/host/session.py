"""What lasts for a session of the host: roots, stores, the runner, and where the shell last was."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.events.names import Mode
from spear.host.confinement import Confinement
from spear.sandbox.request import Limits, Network
from spear.sandbox.runner import CommandRunner
from spear.shell.parse import ShellParser
from spear.state.directory import StateDirectory
from spear.state.records import EvidenceLog, ToolActionLog
from spear.state.results import ResultStore
from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.durable import DurableWriter
from spear.workspace.projects import Project
from spear.workspace.roots import Roots

if TYPE_CHECKING:
    from spear.host.hooks import SessionHooks


@dataclass(slots=True)
class ShellState:
    """Where the last command left the shell: its directory and what it exported."""

    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostOptions:
    """Settings of the host that do not change within a session. Seconds, and counts."""

    network: bool = True
    allowed_hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    refusal_repeats: int = 5
    validation_timeout_s: int = 900
    operator: str = ""

    def attachment(self) -> Network:
        """The network a command gets where the mode grants it."""
        if not self.network:
            return Network.NONE
        return Network.LISTED if self.allowed_hosts else Network.FULL


@dataclass(slots=True)
class HostSession:
    """Everything a turn's host works with. `scratch` is private, on the state directory's file system. `mode` is the
    present one: the operator may change it at any time, from another thread. `project` is that of the primary root,
    `projects` those of the other roots by their names.
    `scratch_planted` is what commands have put into the session's scratch directories other than by building.
    `hooks` are the operator's, None where they declared none."""

    identity: str
    roots: Roots
    state: StateDirectory
    scratch: Path
    options: HostOptions
    runner: CommandRunner
    confinement: Confinement
    parser: ShellParser
    writer: DurableWriter
    checkpoints: CheckpointManager
    evidence: EvidenceLog
    actions: ToolActionLog
    results: ResultStore
    shell: ShellState
    mode: Mode = Mode.SAFE
    project: Project | None = None
    projects: Mapping[str, Project] = field(default_factory=dict)
    next_seq: int = 1
    scratch_planted: frozenset[str] = frozenset()
    hooks: SessionHooks | None = None

    def remembered(self) -> dict[str, Any]:
        """What a resumed session starts from besides the shell, as JSON values: for `recall`."""
        return {"next_seq": self.next_seq}

    def recall(self, extra: Mapping[str, Any]) -> None:
        """Take over what `remembered` gave; what is not there, or not of its shape, is left as it is."""
        seq = extra.get("next_seq")
        if isinstance(seq, int) and seq > self.next_seq:
            self.next_seq = seq

    def close(self) -> None:
        """End what lasts for the session: processes, private directories, descriptors."""
        self.confinement.finish()
        self.runner.close()
        shutil.rmtree(self.scratch.parent, ignore_errors=True)
        self.evidence.close()
        self.actions.close()
