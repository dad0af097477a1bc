"""Writes and deletions of the file tools: confirmed where the mode asks, kept for undo, durable (spec 3.6, 3.7)."""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from collections.abc import Callable

from spear.agent.host import DeleteResult, Refusal, Resolved, ToolRequest, WriteResult
from spear.evidence.records import Change
from spear.host.changes import ChangeLog
from spear.host.confirmation import Choice, Question, Subject
from spear.host.consent import Consent
from spear.host.paths import PathGate
from spear.host.recorder import Draft
from spear.host.session import HostSession
from spear.workspace.beneath import Beneath
from spear.workspace.durable import WriteProblem
from spear.workspace.roots import Location
from spear.workspace.tree_state import NodeKind, PathState, observe, open_regular

_SHOWN_BYTES = 2_000_000


class Files:
    """The two mutations a file tool has."""

    def __init__(
        self, session: HostSession, gate: PathGate, consent: Consent, log: ChangeLog, cancelled: Callable[[], bool]
    ) -> None:
        self._session = session
        self._gate = gate
        self._consent = consent
        self._log = log
        self._cancelled = cancelled

    def write(
        self, target: Resolved, content: bytes, expected: str | None, request: ToolRequest, draft: Draft
    ) -> WriteResult | Refusal:
        """Replace or create a file. The checkpoint is durable before the first byte moves."""
        location = self._gate.location(target)
        if refusal := self._consent.ask(request, target.shown, lambda: self._edit(location, content, request)):
            return refusal
        if refusal := self._unprotected(location, request.tool):
            return refusal
        mode = self._mode(location)
        was_delivered = mode is not None and self._log.is_delivered(location)
        written = self._session.writer.write(
            location.root, location.relative, content, expected, shown=target.shown, cancelled=self._cancelled
        )
        if isinstance(written, WriteProblem):
            return _refused(written, request.tool)
        result = written.result
        draft.committed, draft.durable = result.committed, result.durable
        if result.changed:
            change = Change(
                path=target.shown,
                kind="created" if result.created else "modified",
                before_sha256=result.before,
                after_sha256=result.sha256,
                delivered=was_delivered or self._log.is_delivered(location),
                before_mode=mode or None,
            )
            self._log.changed(draft, [change])
        left = PathState(NodeKind.FILE, self._mode(location) or 0, result.sha256, result.bytes)
        self._log.settled([location], {location: left})
        return result

    def delete(self, target: Resolved, reason: str, request: ToolRequest, draft: Draft) -> DeleteResult | Refusal:
        """Remove one file, or one link itself."""
        location = self._gate.location(target)
        with Beneath(location.root) as tree:
            before = observe(tree, location.relative)
        if refusal := self._consent.ask(
            request,
            target.shown,
            lambda: Question(Subject.DELETE, request.tool, target.shown, f"delete {target.shown}: {reason}"),
        ):
            return refusal
        if refusal := self._unprotected(location, request.tool):
            return refusal
        was_delivered = self._log.is_delivered(location)
        done = self._session.writer.delete(
            location.root, location.relative, shown=target.shown, cancelled=self._cancelled
        )
        if isinstance(done, WriteProblem):
            return _refused(done, request.tool)
        draft.committed = draft.durable = True
        if done.existed:
            change = Change(
                path=target.shown, kind="deleted", before_sha256=before.sha256 or None, after_sha256=None,
                delivered=was_delivered,
            )  # fmt: skip
            self._log.changed(draft, [change])
        self._log.settled([location])
        return done

    def _unprotected(self, location: Location, tool: str) -> Refusal | None:
        """Keep what is there before it changes; what cannot be kept is not changed."""
        try:
            self._log.protect(location)
        except OSError as error:
            return no_checkpoint(tool, location.shown, error)
        return None

    def _mode(self, location: Location) -> int | None:
        """The permission bits of a regular file, None where there is none."""
        with Beneath(location.root) as tree:
            found = tree.lstat(location.relative)
        return stat.S_IMODE(found.st_mode) if found is not None and stat.S_ISREG(found.st_mode) else None

    def _shown(self, location: Location) -> bytes:
        """The bytes of a regular file of a size that a person could read, or as if there were none."""
        with Beneath(location.root) as tree:
            descriptor = open_regular(tree, location.relative)
            if descriptor is None:
                return b""
            with os.fdopen(descriptor, "rb") as stream:
                return stream.read() if os.fstat(descriptor).st_size <= _SHOWN_BYTES else b""

    def _edit(self, location: Location, new: bytes, request: ToolRequest) -> Question:
        shown = location.shown
        return Question(
            Subject.EDIT, request.tool, shown, change_text(shown, self._shown(location), new), writes=(shown,),
            choices=(Choice.YES, Choice.NO, Choice.ALWAYS_FILE),
        )  # fmt: skip


def no_checkpoint(tool: str, shown: str, error: OSError) -> Refusal:
    """The refusal of a change whose undo could not be made sure of."""
    why = f"its present state cannot be kept for undo: {(error.strerror or str(error)).lower()}"
    return Refusal("no_checkpoint", tool, shown, why, "stop and tell the operator to make room in the state directory")


def change_text(shown: str, old: bytes, new: bytes) -> str:
    """What a person is asked about: a unified diff, or sizes and digests of what nobody could read as one."""
    if max(len(old), len(new)) <= _SHOWN_BYTES and b"\0" not in old + new:
        return diff_text(shown, old, new)
    sizes = [f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}" for data in (old, new)]
    before = f"-{sizes[0]}\n" if old else ""
    return f"--- a/{shown}\n+++ b/{shown}\n{before}+{sizes[1]}\n"


def diff_text(shown: str, old: bytes, new: bytes) -> str:
    """A unified diff for a person to judge; bytes that are no UTF-8 are shown escaped."""
    before = old.decode("utf-8", "backslashreplace").splitlines(keepends=True)
    after = new.decode("utf-8", "backslashreplace").splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, f"a/{shown}", f"b/{shown}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _refused(problem: WriteProblem, tool: str) -> Refusal:
    return Refusal(problem.code.value, tool, problem.path, problem.text, problem.remedy)
