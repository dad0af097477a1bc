"""One canonical record a call: drafted while the host works, written when the call ends (spec 3.1)."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from spear.agent.host import Refusal, ToolRequest, ToolResult
from spear.evidence.epochs import EpochLedger
from spear.evidence.products import NO_PRODUCTS, ProductWrite, is_product
from spear.evidence.records import Change, CheckRecord, CommandRecord, EvidenceRecord
from spear.evidence.roots import within_root

_READING = frozenset({"read_file", "search_files", "search_internet"})
FILE_TOOLS = frozenset({"patch", "write_file", "delete_file", "fetch_url"})
"""Tools that change one file as they are told."""

_MOST_KEPT = 1 << 22
"""Characters of outputs that are kept in memory for the verdict of a turn."""


@dataclass(slots=True)
class Draft:
    """What the host notes about a call while it performs it. `output` is what its checks printed, which stays in
    memory."""

    request: ToolRequest
    started: str
    clock: float
    epoch_before: int
    changes: list[Change] = field(default_factory=list)
    command: CommandRecord | None = None
    check: CheckRecord | None = None
    output_ref: str = ""
    output: str = ""
    committed: bool = False
    durable: bool = False
    refusals: tuple[Refusal, ...] = ()


class Recorder:
    """The records of one turn, in the order in which calls ended. Thread-safe for parallel reads."""

    def __init__(self, turn: int, first_seq: int, write: Callable[[Mapping[str, Any]], None]) -> None:
        self._turn = turn
        self._seq = first_seq
        self._write = write
        self._lock = threading.Lock()
        self._drafts: dict[str, Draft] = {}
        self._refused: dict[str, tuple[Refusal, ...]] = {}
        self.ledger = EpochLedger()
        self.products = NO_PRODUCTS
        self.records: list[EvidenceRecord] = []
        self.outputs: dict[int, str] = {}

    def open(self, request: ToolRequest) -> Draft:
        """Begin the record of a call."""
        draft = Draft(request, datetime.now(UTC).isoformat(), time.monotonic(), self.ledger.epoch)
        with self._lock:
            self._drafts[request.call_id] = draft
        return draft

    def draft(self, request: ToolRequest) -> Draft:
        """The open record of a call; opened now if nobody did (a call that was answered without running)."""
        with self._lock:
            found = self._drafts.get(request.call_id)
        return found if found is not None else self.open(request)

    def changed(self, draft: Draft, changes: Iterable[Change], configured: Collection[str] = ()) -> bool:
        """Note changes as they happen. True when they opened a source epoch. `configured` are those of a configuring
        tool's files among them, which are products whatever their names."""
        found = list(changes)
        draft.changes += found
        before = self.ledger.epoch
        self.ledger = self.ledger.after(found)
        if draft.request.tool in FILE_TOOLS:
            self._edited(found, configured)
        return self.ledger.epoch != before

    def _edited(self, changes: Iterable[Change], configured: Collection[str]) -> None:
        """A file tool builds nothing: a product it writes is planted."""
        written = [
            ProductWrite(change.path, change.after_sha256)
            for change in changes
            if not change.delivered
            and (
                change.path in configured
                or is_product(within_root(change.path), existed=change.before_sha256 is not None)
            )
        ]
        self.products = self.products.written(written, [write.path for write in written])

    def _keep(self, output: str) -> None:
        """Keep what the checks of the record being closed printed, for the values an answer names; the oldest goes when
        it is too much. It is in no record: those are metadata (spec 3.8)."""
        if not output:
            return
        self.outputs[self._seq] = output
        while sum(map(len, self.outputs.values())) > _MOST_KEPT:
            del self.outputs[min(self.outputs)]

    @property
    def next_seq(self) -> int:
        """The number of the next record of the session."""
        return self._seq

    def refusals_of(self, request: ToolRequest) -> tuple[Refusal, ...]:
        """What was refused within the call that ended last: the writes of a command that did not stay."""
        return self._refused.get(request.call_id, ())

    def close(self, request: ToolRequest, result: ToolResult) -> EvidenceRecord:
        """End the record of a call and write it."""
        draft = self.draft(request)
        reads = request.tool in _READING or (request.tool == "fetch_url" and not request.arguments.get("save_as"))
        effect: Literal["read_only", "mutating"] = "read_only" if reads else "mutating"
        replay: Literal["safe", "idempotent", "unsafe"] = "idempotent"
        if effect == "read_only":
            replay = "safe"
        elif request.tool not in FILE_TOOLS:
            replay = "unsafe"
        with self._lock:
            self._drafts.pop(request.call_id, None)
            self._refused = {request.call_id: draft.refusals}
            record = EvidenceRecord(
                seq=self._seq,
                turn=self._turn,
                call_id=request.call_id,
                tool=request.tool,
                arguments_digest=digest(request.arguments),
                started=draft.started,
                duration_s=round(time.monotonic() - draft.clock, 6),
                outcome=result.outcome,
                reason=result.reason or (result.refusal.code if result.refusal else ""),
                paths_read=tuple(result.paths_read),
                changes=tuple(draft.changes),
                command=draft.command,
                check=draft.check,
                output_digest=hashlib.sha256(result.text.encode("utf-8", "surrogatepass")).hexdigest(),
                output_ref=draft.output_ref,
                epoch_before=draft.epoch_before,
                epoch_after=self.ledger.epoch,
                committed=draft.committed,
                durable=draft.durable,
                effect=effect,
                replay=replay,
            )
            self._keep(draft.output)
            self._seq += 1
            self.records.append(record)
        self._write(record.model_dump(mode="json"))
        return record


def digest(arguments: Mapping[str, Any]) -> str:
    """SHA-256 of arguments: each name in order, then whether a text or JSON follows, its length in bytes, and that."""
    sha = hashlib.sha256()
    for name, value in sorted(arguments.items()):
        form, text = ("text", value) if isinstance(value, str) else ("json", _canonical(value))
        data = text.encode("utf-8", "surrogatepass")  # a whole file may be in there: escaping it would take longest
        sha.update(f"{name} {form} {len(data)}\n".encode())
        sha.update(data)
    return sha.hexdigest()


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
