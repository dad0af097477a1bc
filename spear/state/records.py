"""The logs beside the event log: canonical evidence, and mutating attempts as metadata (spec 1.5, 3.1, 3.8)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spear.state.audit import timestamp
from spear.state.lines import LineFile, TornLine, canonical, read_records
from spear.state.redaction import Redactor
from spear.state.secret_shapes import MARKER

_COMMAND_SHOWN = 300
_ENVIRONMENT_VALUE = re.compile(
    r"""(?<![\w-])([A-Z_][A-Z0-9_]*=)(?:"(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s"'\\;&|]|\\.)+)+"""
)


class EvidenceLog:
    """`evidence.jsonl` of one session: one record a call, in call order, redacted."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._lines = LineFile(path)
        self._redactor = redactor

    @property
    def torn(self) -> tuple[TornLine, ...]:
        """Incomplete last lines set aside by this object."""
        return tuple(self._lines.torn)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record (JSON values). Raises StateError."""
        self._lines.append(canonical(self._redactor.data(dict(record))))

    def flush(self) -> None:
        """Make what was appended durable. Raises StateError."""
        self._lines.flush()

    def close(self) -> None:
        """Flush and let the file go."""
        self.flush()
        self._lines.close()


def read_evidence(path: Path) -> Iterator[dict[str, Any]]:
    """The evidence of a session in order, streamed; nothing when it was deleted."""
    return read_records(path)


@dataclass(frozen=True, slots=True)
class ToolAction:
    """One mutating attempt. `target` is a path or the command as asked for; `outcome` and `code` say how it ended."""

    session: str
    turn: int
    call_id: str
    tool: str
    target: str
    outcome: str
    code: str = ""
    mode: str = ""
    operator: str = ""


class ToolActionLog:
    """`tool-actions.jsonl`, shared by all sessions: no contents, no output, no environment values, no secrets."""

    def __init__(self, path: Path, redactor: Redactor, *, clock: Callable[[], str] = timestamp) -> None:
        self._lines = LineFile(path)
        self._redactor = redactor
        self._clock = clock

    def append(self, action: ToolAction) -> None:
        """Write one attempt. Raises StateError."""
        record = self._redactor.data(asdict(action))
        record["ts"] = self._clock()
        record["target"] = self._redactor.text(command_head(action.target))
        record["target_sha256"] = hashlib.sha256(action.target.encode("utf-8", "surrogatepass")).hexdigest()
        self._lines.append(canonical(record))

    def close(self) -> None:
        """Let the file go."""
        self._lines.close()


def command_head(command: str) -> str:
    """The part of a command that is metadata: its first line, bounded, values of variables left out.

    What follows the first line is as a rule a here-document, which is content.
    """
    first, newline, _ = command.partition("\n")
    shown = _ENVIRONMENT_VALUE.sub(rf"\1{MARKER}", first[: 4 * _COMMAND_SHOWN])
    cut = newline or len(first) > 4 * _COMMAND_SHOWN or len(shown) > _COMMAND_SHOWN
    return f"{shown[:_COMMAND_SHOWN]} …" if cut else shown
