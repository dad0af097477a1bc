"""Canonical evidence: one record a call, as values and as JSON lines (spec 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from spear.agent.host import CommandResult, DeleteResult, Outcome, WriteResult
from spear.evidence.kinds import CheckCode, CheckKind, CheckStatus, Scope

ChangeKind = Literal["created", "modified", "deleted", "mode", "symlink"]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Change(_Value):
    """What happened to one workspace-relative path. Shas are of whole contents (of the target text for a link), None
    for absence. `delivered` says whether the path is delivered source (spec 3.2). Modes are permission bits, given
    only where they changed, and left out of the JSON when they are not.
    """

    path: str
    kind: ChangeKind
    before_sha256: str | None
    after_sha256: str | None
    delivered: bool
    before_mode: int | None = None
    after_mode: int | None = None

    @model_serializer(mode="wrap")
    def _without_unknown_modes(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        for name in ("before_mode", "after_mode"):
            if document.get(name) is None:
                document.pop(name, None)
        return document


class CommandRecord(_Value):
    """A terminal command as it ran. `exit_code` is None when it did not end by itself; `limits` is the mechanism that
    bounded its tree of processes; `complaints` are the qualities
    (compiler warnings, leaks…) that its checks said something against."""

    script: str
    argv0s: tuple[str, ...] = ()
    cwd_before: str = ""
    cwd_after: str = ""
    exit_code: int | None = None
    pipe_status: tuple[int, ...] = ()
    signal: int | None = None
    background: bool = False
    network: str = "none"
    limits: str = ""
    complaints: tuple[str, ...] = ()


class SummaryRecord(_Value):
    """What a test runner's own summary said."""

    runner: str
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    total: int = 0


class CheckResult(_Value):
    """One check within a command: what it was, how it ended, and the state of the source it counts for.

    `order` is its place among the checks of the command; `paths` are the arguments that name files, and the changed
    texts that the project's programs name; `numbers` are the
    counts of tests seen in its output. `epoch` and `fingerprint` name the state it ran on. `own` are the files that
    decide what it runs where this turn wrote all of them and the project has checks; `planted` the products it may have
    run that no build made. `root` is the shown name of the other root it worked in, "" the primary one. `partly` says
    that there are tests of its kind which it was not given. `names` are the qualities it names (a word each of the
    closed list in `spear.evidence.qualities`). `passed_over` are the changed sources that it cannot have read.
    """

    command: str
    tool: str
    kinds: tuple[CheckKind, ...]
    scope: Scope
    status: CheckStatus
    code: CheckCode
    epoch: int
    fingerprint: str
    order: int = 0
    selectors: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    cwd: str = ""
    exit_code: int | None = None
    summary: SummaryRecord | None = None
    root: str = ""
    own: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    partly: bool = False
    names: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


class CheckRecord(_Value):
    """The checks of one call: their kinds together, the widest scope, whether any of them decided something."""

    kinds: tuple[CheckKind, ...]
    scope: Scope
    decisive: bool
    results: tuple[CheckResult, ...] = Field(min_length=1)

    @classmethod
    def of(cls, results: Sequence[CheckResult]) -> CheckRecord | None:
        """The record of a command's checks; None when it held none."""
        if not results:
            return None
        kinds = {kind for result in results for kind in result.kinds}
        scopes = {result.scope for result in results}
        return cls(
            kinds=tuple(kind for kind in CheckKind if kind in kinds),
            scope=next(scope for scope in Scope if scope in scopes),
            decisive=any(result.status is not CheckStatus.INCONCLUSIVE for result in results),
            results=tuple(results),
        )


class EvidenceRecord(_Value):
    """One call that crossed the host (spec 3.1). `started` is an ISO 8601 time in UTC."""

    seq: int
    turn: int
    call_id: str
    tool: str
    arguments_digest: str
    started: str
    duration_s: float
    outcome: Outcome
    reason: str = ""
    paths_read: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    command: CommandRecord | None = None
    check: CheckRecord | None = None
    output_digest: str = ""
    output_ref: str = ""
    epoch_before: int
    epoch_after: int
    committed: bool = False
    durable: bool = False
    effect: Literal["read_only", "mutating"]
    replay: Literal["safe", "idempotent", "unsafe"]

    def line(self) -> str:
        """The record as one JSON line without its newline, ASCII only."""
        return self.model_dump_json(ensure_ascii=True)


def read_lines(data: bytes) -> tuple[tuple[EvidenceRecord, ...], tuple[int, ...]]:
    """Records of a JSON Lines file, and the 1-based numbers of the lines that are none (a torn tail, say)."""
    records: list[EvidenceRecord] = []
    bad: list[int] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(EvidenceRecord.model_validate_json(line))
        except ValidationError:
            bad.append(number)
    return tuple(records), tuple(bad)


def change_of_write(result: WriteResult, *, delivered: bool) -> tuple[Change, ...]:
    """The change a file tool's write made; none for an identical replacement."""
    if not result.changed:
        return ()
    kind: ChangeKind = "created" if result.created else "modified"
    return (
        Change(
            path=result.path,
            kind=kind,
            before_sha256=result.before,
            after_sha256=result.sha256,
            delivered=delivered,
        ),
    )


def change_of_delete(result: DeleteResult, before_sha256: str | None, *, delivered: bool) -> tuple[Change, ...]:
    """The change a deletion made; none when the file was absent already."""
    if not result.existed:
        return ()
    return (
        Change(
            path=result.path,
            kind="deleted",
            before_sha256=before_sha256,
            after_sha256=None,
            delivered=delivered,
        ),
    )


def command_record(
    script: str,
    result: CommandResult,
    *,
    argv0s: Iterable[str],
    cwd_before: str,
    background: bool,
    network: str,
    limits: str = "",
    complaints: tuple[str, ...] = (),
) -> CommandRecord:
    """A command's record from its own structured result, never from the text the model was shown."""
    return CommandRecord(
        script=script,
        argv0s=tuple(argv0s),
        cwd_before=cwd_before,
        cwd_after=result.cwd,
        exit_code=result.exit_code,
        pipe_status=result.pipe_status,
        signal=result.signal,
        background=background,
        network=network,
        limits=limits,
        complaints=complaints,
    )
