"""What a confined command is asked to be, and what it turned out to be. Values only.

Writes of a command land in an overlay's upper directory, never in the tree: the caller promotes what it accepts and
throws the rest away (docs/decisions: writes are promoted from an overlay).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RootMount:
    """A workspace root shown at its own host path and, when `alias` is set, at `/workspaces/<name>` too.

    `writes` is the directory that receives the overlay's upper layer for this command (created by the runner, on the
    file system of the state directory); None binds the root read-only.
    `closed` are paths relative to the root shown read-only, whether they exist or not (`.git/hooks`, `.envrc`…);
    `hidden` are relative paths masked so that not even reading works (credentials).
    """

    path: Path
    writes: Path | None = None
    alias: str = ""
    closed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


class Network(StrEnum):
    """What of the network a command gets."""

    NONE = "none"
    FULL = "full"
    LISTED = "listed"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the whole tree of processes (spec 2.7); None where the default of the machine is meant."""

    memory_bytes: int | None = None
    tasks: int | None = None
    cpu_quota: float | None = None
    open_files: int = 4096


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One command. `environment` is what the session has exported so far (no host variable is added but PATH and the
    locale); `cwd` is a host path inside a root; `capture` is where the whole output goes (None: not kept). `heard` is
    given the output as it comes, from the thread that runs the command; it must not raise.
    """

    script: str
    roots: tuple[RootMount, ...]
    cwd: Path
    timeout_s: float
    environment: Mapping[str, str] = field(default_factory=dict)
    network: Network = Network.NONE
    allowed_hosts: tuple[str, ...] = ()
    limits: Limits = Limits()
    capture: Path | None = None
    heard: Callable[[bytes], None] | None = None
    output_limit: int = 50_000
    cancelled: Callable[[], bool] | None = None


class Ending(StrEnum):
    """How a command ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What happened. `output` is cleaned (no control sequences, progress bars collapsed, invalid UTF-8 escaped) and
    capped head and tail; `output_bytes` and `output_sha256` speak of the raw whole.

    `pipe_status` has one entry a stage of the last pipeline, empty when the shell ended before it could be read.
    `cwd` and `environment` are as the command left them, None when not reported. `left_running` names processes that
    were still alive and have been killed. `limits` is the mechanism in force (`systemd`, `cgroup2`, `cgroup1`,
    `rlimit-only`); `network` says what the command really had; `problem` is one sentence when NOT_STARTED. `notes` are
    one-line facts for the model and the operator (bash missing, a closed path dropped, input asked for).
    """

    ending: Ending
    exit_code: int | None
    output: str
    output_bytes: int
    output_sha256: str
    truncated: bool
    duration_s: float
    signal: int | None = None
    pipe_status: tuple[int, ...] = ()
    cwd: Path | None = None
    environment: Mapping[str, str] | None = None
    left_running: tuple[str, ...] = ()
    limits: str = ""
    network: Network = Network.NONE
    shell: str = "bash"
    started_ns: int = 0
    problem: str = ""
    notes: tuple[str, ...] = ()
