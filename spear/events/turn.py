"""The JSON result of a turn, schema `spear.turn/1` (spec 1.3). Its JSON Schema is generated into docs/."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from spear.events.names import Mode, Path, RequestClass, Stop, Verdict


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StopReport(_Result):
    """Why the turn ended, with one sentence."""

    reason: Stop
    detail: str = ""


class Reason(_Result):
    """One reason behind the verdict: a code of the closed list and its sentence."""

    code: str
    text: str


class ChangedFile(_Result):
    """A delivered file that differs from the start of the turn."""

    path: str
    change: Literal["created", "modified", "deleted", "mode", "symlink"]


class CommandReport(_Result):
    """One terminal command as it ran. `exit_code` is null when it did not end by itself."""

    command: str
    cwd: str
    exit_code: int | None
    status: str
    epoch: int
    kind: list[str]


class CheckReport(_Result):
    """One recognised check: what it was, what it showed, in which epoch, and why it counts or does not."""

    command: str
    kinds: list[str]
    status: Literal["passed", "failed", "inconclusive"]
    epoch: int
    reason: str = ""


class ValidationReport(_Result):
    """One step of the project's own validation (spec 3.5)."""

    kind: str
    origin: Literal["declared", "probed"]
    command: str
    status: Literal["PASSED", "FAILED", "NOT_RUN", "ERROR"]
    exit_code: int | None
    epoch: int
    detail: str = ""


class RepairReport(_Result):
    """The one repair: whether it was offered, whether it changed anything, how its validation ended."""

    offered: bool
    changed: bool
    result: str


class RefusalReport(_Result):
    """One refused operation and how often."""

    tool: str
    target: str
    reason: str
    count: int
    code: str = ""


class UsageReport(_Result):
    """Tokens and requests of the whole turn; 0 where the server reports nothing."""

    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0


class AuditReport(_Result):
    """Where the record lies."""

    session_dir: str


class TurnResult(_Result):
    """One turn, whole."""

    schema_: Literal["spear.turn/1"] = Field("spear.turn/1", alias="schema", serialization_alias="schema")
    session: str
    turn: int
    request: str
    class_: RequestClass = Field(alias="class", serialization_alias="class")
    path: Path
    mode: Mode
    read_only: bool
    answer: str
    verdict: Verdict
    reasons: list[Reason]
    stop: StopReport
    epoch: int
    changed_files: list[ChangedFile]
    commands: list[CommandReport]
    checks: list[CheckReport]
    validation: list[ValidationReport]
    repair: RepairReport | None
    normative: dict[str, Any] | None = None
    mixed: dict[str, Any] | None = None
    refusals: list[RefusalReport]
    usage: UsageReport
    rounds: int
    tool_calls: int
    duration_s: float
    audit: AuditReport
