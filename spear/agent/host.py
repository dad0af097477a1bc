"""The seam between the coding core and whoever runs it: the `Host` protocol and its value types.

The core proposes; the host decides, performs and records. Every tool call makes this walk:

    authorize(call)                    may this call happen at all (mode, read-only turn)?
    resolve(path, access)              where does the path lead, and may it be used that way?
    read / write / delete / run_command    the effect, on what was resolved
    after_tool(call, result)           recording; may add text for the model or stop the turn

A `Refusal` is a value, returned in place of what was asked for. It is one line the model can act on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Protocol


class Access(StrEnum):
    """What a path is wanted for."""

    READ = "read"
    SEARCH = "search"
    WRITE = "write"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A decision not to. Renders as `refused: <what> — <why>; <what to do instead>` on one line.

    `code` is from a closed list kept by whoever refuses; `target` is the normalized thing refused (a workspace path,
    or the command); counting equal refusals uses (tool, target, code).
    """

    code: str
    tool: str
    target: str
    reason: str
    remedy: str

    def line(self) -> str:
        """The text the model is shown."""
        text = f"refused: {self.target} — {self.reason}"
        return " ".join((f"{text}; {self.remedy}" if self.remedy else text).split())


@dataclass(frozen=True, slots=True)
class Resolved:
    """A path that may be used: `shown` is the workspace-relative spelling for the model, `real` the canonical host
    path (symlinks of parents followed; for DELETE the last component is not followed). `exists` is as of resolution.
    """

    shown: str
    real: Path
    exists: bool
    is_dir: bool = False


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a write did (spec 3.7). Shas are lowercase hex of whole contents; `before` is None for a creation."""

    path: str
    bytes: int
    sha256: str
    before: str | None
    created: bool
    changed: bool
    committed: bool = True
    durable: bool = True


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """`existed` false means that it was already absent: a success that changed nothing."""

    path: str
    existed: bool
    was_link: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """One change of the tree, for the short list a result shows. kind: created, modified, deleted, mode, symlink."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a terminal command did. `output` is for the model: capped head and tail, control sequences removed.

    `exit_code` is None when the command did not end by itself (timed out, cancelled). `notes` are one-line facts of
    the host for the model (rolled-back changes, network missing, a vanished directory, a stopped daemon).
    """

    output: str
    exit_code: int | None
    cwd: str
    duration_s: float
    pipe_status: tuple[int, ...] = ()
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    truncated: bool = False
    output_ref: str = ""
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


class Outcome(StrEnum):
    """How a tool call ended (spec 3.1)."""

    OK = "ok"
    REFUSED = "refused"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One call the core is about to make: canonical tool name, coerced arguments."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Edited:
    """The file an edit changed, as it is shown, and how many lines it gained and lost."""

    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned: `text` for the model; the rest for the host's record and the core's guardrail."""

    text: str
    outcome: Outcome
    refusal: Refusal | None = None
    changed: bool = False
    paths_read: Sequence[str] = ()
    reason: str = ""
    edited: Edited | None = None


@dataclass(frozen=True, slots=True)
class AfterTool:
    """The host's last word on a call: text appended to the result, and a stop (`code`, `detail`) or None."""

    append: str = ""
    stop: tuple[str, str] | None = field(default=None)


class Host(Protocol):
    """What the core needs from the world. Methods are called from the loop's thread, except `resolve`, `open_read`
    and `readable`, which parallel read-only calls use from worker threads.
    """

    def authorize(self, request: ToolRequest) -> Refusal | None:
        """Whether the call may happen at all. Called exactly once per call, first."""
        ...

    def resolve(self, path: str, access: Access, tool: str) -> Resolved | Refusal:
        """Where `path` leads. WRITE and DELETE include every decision about the target (scope, protection)."""
        ...

    def open_read(self, target: Resolved) -> BinaryIO:
        """A descriptor on the resolved file, opened beneath its root without following links. Raises OSError."""
        ...

    def readable(self, shown: str) -> bool:
        """Whether a workspace-relative path may appear in search results."""
        ...

    def write(
        self, target: Resolved, content: bytes, expected_sha256: str | None, request: ToolRequest
    ) -> WriteResult | Refusal:
        """Replace the file durably. `expected_sha256` None demands that it does not exist. A stale digest, a file
        that appeared meanwhile, or a "no" to the confirmation is a Refusal and leaves the tree as it was."""
        ...

    def delete(self, target: Resolved, reason: str, request: ToolRequest) -> DeleteResult | Refusal:
        """Remove one file or one link (the link itself)."""
        ...

    def run_command(
        self, command: str, timeout: int, workdir: str | None, request: ToolRequest
    ) -> CommandResult | Refusal:
        """Run a shell script confined (spec 2.5). Blocks at most `timeout` seconds plus clean-up."""
        ...

    def after_tool(self, request: ToolRequest, result: ToolResult) -> AfterTool:
        """Record the call. Called exactly once per call, last, refused ones included."""
        ...
