"""Model turns written down, and answered from what was written (spec 8.4): `--record`, `--replay`, the demonstration.

A recording is JSON lines, one a model turn. It holds what the model answered; of what it was asked only the number of
messages and the digest of the newest one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from spear.agent.messages import ModelRequest, ModelTurn, StopReason, ToolCall, Usage
from spear.errors import ConfigurationError, StateError
from spear.models.backend import ModelBackend
from spear.models.payload import dumps
from spear.models.retry import check
from spear.models.wrapping import WrappingBackend

SCHEMA = "spear.recording/1"
ENDED = "The recording ends here. No model was asked."


class RecordingBackend(WrappingBackend[ModelBackend]):
    """Answers with `inner` and appends each turn to `path` (0600). An earlier recording there is replaced, or gone on
    with when `more` is true.

    Raises `ConfigurationError` when the file cannot be written, or is something else than a recording.
    """

    def __init__(self, inner: ModelBackend, path: Path, *, more: bool = False) -> None:
        super().__init__(inner)
        self._path = path
        self._descriptor = _open_for_recording(path, more)

    def close(self) -> None:
        """Close the file and the endpoint."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        super().close()

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One answer, recorded. Raises `ModelFailure`, or `StateError` when it cannot be written down."""
        turn = self._inner.complete(request)
        line = dumps(_record(self._inner.model, request, turn)) + b"\n"
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            raise StateError(f"the recording {self._path} cannot be written: {error.strerror}") from error
        return turn


class ReplayBackend:
    """Answers from a recording, in order, whatever is asked. Asked for more than was recorded, it says so and stops.

    Raises `ConfigurationError` when `path` is not a recording. A torn last line is left out.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turns, self._model = _load(path)
        self._next = 0

    @property
    def name(self) -> str:
        """The recording, labelled as one."""
        return f"recording {self._path.name}"

    @property
    def model(self) -> str:
        """The recorded model, labelled as a recording."""
        return f"{self._model} (recording)"

    def context_window(self) -> int | None:
        """A recording has none."""
        return None

    def begin_turn(self) -> None:
        """Nothing is retried."""

    def close(self) -> None:
        """Nothing is held open."""

    def complete(self, request: ModelRequest) -> ModelTurn:
        """The next recorded turn."""
        check(request.cancelled)
        turn = self._turns[self._next] if self._next < len(self._turns) else ModelTurn(ENDED)
        self._next += 1
        if request.on_text is not None and turn.text:
            request.on_text(turn.text)
        return turn


def _open_for_recording(path: Path, more: bool) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        start = os.read(descriptor, 4096)
        if start and not _begins_recording(start):
            os.close(descriptor)
            _refuse(path, "it holds something else than a recording", "name a new file for --record")
        os.fchmod(descriptor, 0o600)
        if not more:
            os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_END)
    except OSError as error:
        raise ConfigurationError(f"the recording {path} cannot be written: {error.strerror}") from error
    return descriptor


def _begins_recording(start: bytes) -> bool:
    return start.startswith(dumps({"schema": SCHEMA})[:-1])


def _record(model: str, request: ModelRequest, turn: ModelTurn) -> dict[str, Any]:
    newest = request.messages[-1].content if request.messages else ""
    return {
        "schema": SCHEMA,
        "model": model,
        "messages": len(request.messages),
        "newest_sha256": hashlib.sha256(newest.encode("utf-8", "replace")).hexdigest(),
        "text": turn.text,
        "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.tool_calls],
        "stop_reason": turn.stop_reason.value,
        "usage": {
            "input_tokens": turn.usage.input_tokens,
            "output_tokens": turn.usage.output_tokens,
            "cached_tokens": turn.usage.cached_tokens,
            "written_tokens": turn.usage.written_tokens,
        },
        "reasoning": turn.reasoning,
    }


def _load(path: Path) -> tuple[list[ModelTurn], str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"the recording {path} cannot be read: {error.strerror}") from error
    *lines, _torn = data.split(b"\n")
    turns, model = [], "unknown model"
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if entry["schema"] != SCHEMA:
                _refuse(path, f"line {number} is of schema {entry['schema']!r}, not {SCHEMA!r}", "record it again")
            model = _field(entry, "model", str)
            turns.append(_turn(entry))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{path} is not a recording: line {number} cannot be read", hint="name a file made by --record"
            ) from error
    if data and not lines:
        _refuse(path, "it holds no whole line", "name a file made by --record")
    return turns, model


def _turn(entry: Mapping[str, Any]) -> ModelTurn:
    calls = tuple(
        ToolCall(_field(call, "id", str), _field(call, "name", str), _field(call, "arguments", str))
        for call in _field(entry, "tool_calls", list)
    )
    usage = _field(entry, "usage", dict)
    counts = [usage.get(key) for key in ("input_tokens", "output_tokens", "cached_tokens", "written_tokens")]
    if any(count is not None and not isinstance(count, int) for count in counts):
        raise TypeError("usage")
    return ModelTurn(
        _field(entry, "text", str),
        calls,
        StopReason(_field(entry, "stop_reason", str)),
        Usage(*counts),
        _field(entry, "reasoning", str),
    )


def _field(entry: Mapping[str, Any], key: str, kind: type) -> Any:
    value = entry[key]
    if not isinstance(value, kind):
        raise TypeError(key)
    return value


def _refuse(path: Path, what: str, hint: str) -> NoReturn:
    raise ConfigurationError(f"{path}: {what}", hint=hint)
