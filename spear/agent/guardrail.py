"""Loops that lead nowhere: the same call with the same result, the same tool failing whatever the arguments.

Counts are of one turn (spec: coding core, loop 4). A call counts as repeated by (tool, canonical arguments, digest of
the result), so polling whose result changes never counts and A-B-A-B cycles do. A successful change of source starts
the counts anew, but not for the call that made it, nor for an edit repeated word for word: two edits that undo each
other would go on for ever. Refusals are counted and stopped by the host; here equal ones count once.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field

from spear.agent.host import Outcome, ToolRequest, ToolResult

REPEAT_NOTE, REPEAT_STOP = 3, 5
FAILING_NOTE, FAILING_STOP = 4, 8

_EDITS = frozenset({"patch", "write_file", "delete_file"})
_FAILURES = frozenset({Outcome.FAILED, Outcome.TIMEOUT, Outcome.REFUSED, Outcome.ANSWERED})

_STUB = "[unchanged:"
"""How a result begins that stands for an earlier, identical one still in the conversation."""

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """A loop noticed. `code` is `repeated_call` or `failing_tool`; `note` is for the model, `detail` for the operator;
    `stop` ends the turn."""

    code: str
    count: int
    note: str
    detail: str
    stop: bool


@dataclass(slots=True)
class Guardrail:
    """Counts the calls of one turn. Memory is one digest a distinct call."""

    _repeats: Counter[Key] = field(default_factory=Counter)
    _edits: Counter[Key] = field(default_factory=Counter)
    _failing: Counter[str] = field(default_factory=Counter)
    _refusals: set[tuple[str, str, str]] = field(default_factory=set)
    _last: dict[tuple[str, str], str] = field(default_factory=dict)

    def observe(self, request: ToolRequest, result: ToolResult) -> Finding | None:
        """Count one finished call; what was noticed, the graver first, or None."""
        key = self._key(request, result)
        succeeded = result.outcome is Outcome.OK
        if succeeded and result.changed:
            own = self._repeats[key]
            self._repeats.clear()
            self._failing.clear()
            self._refusals.clear()
            self._repeats[key] = own
        self._repeats[key] += 1
        repeats = self._repeats[key]
        if request.tool in _EDITS and succeeded and result.changed:
            self._edits[key] += 1
            repeats = self._edits[key]
        failing = self._count_failure(request.tool, result)
        findings = [self._repeated(request.tool, repeats, result), self._failed(request.tool, failing)]
        noticed = [finding for finding in findings if finding]
        return max(noticed, key=lambda finding: finding.stop, default=None)

    def _key(self, request: ToolRequest, result: ToolResult) -> Key:
        """A stub has the digest of the result it stands for."""
        arguments = _digest(json.dumps(request.arguments, sort_keys=True, default=str))
        digest = _digest(result.text)
        if result.text.startswith(_STUB):
            digest = self._last.get((request.tool, arguments), digest)
        self._last[request.tool, arguments] = digest
        return request.tool, arguments, digest

    def _count_failure(self, tool: str, result: ToolResult) -> int:
        if result.outcome is Outcome.OK:
            self._failing[tool] = 0
        elif result.outcome in _FAILURES:
            refusal = result.refusal
            known = refusal and (refusal.tool, refusal.target, refusal.code)
            if known in self._refusals:
                return 0
            if known:
                self._refusals.add(known)
            self._failing[tool] += 1
            return self._failing[tool]
        return 0

    @staticmethod
    def _repeated(tool: str, count: int, result: ToolResult) -> Finding | None:
        if count < REPEAT_NOTE:
            return None
        stop = count >= REPEAT_STOP and result.refusal is None
        note = (
            f"[loop: {tool} with these arguments has now returned this same result {count} times; it will not change. "
            "Use what you have, do something different, or answer.]"
        )
        return Finding("repeated_call", count, note, f"the same {tool} call gave the same result {count} times", stop)

    @staticmethod
    def _failed(tool: str, count: int) -> Finding | None:
        if count < FAILING_NOTE:
            return None
        note = (
            f"[loop: {tool} has failed {count} times in a row. Stop guessing: read the file or list the directory "
            "first, use another tool, or say what is in the way.]"
        )
        return Finding("failing_tool", count, note, f"{tool} failed {count} times in a row", count >= FAILING_STOP)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
