"""The conversation as values, and what the core asks of a model. Provider types never appear here.

A conversation is a tuple or list of `Message`; it is append-only within a turn, so that the request prefix stays
byte-stable from round to round. `ModelTurn` is one complete answer of a model: a turn that was cut off by a dropped
stream is never returned, it is retried or raised as `ModelFailure` by the backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model wrote it: `arguments` is the raw JSON text, unparsed and untrusted."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image beside the text of a message: a `file` that holds it, its media type, its size in pixels."""

    file: str
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `tool_call_id` is set on TOOL messages only, `tool_calls` on ASSISTANT messages only.

    `reasoning` holds a model's private reasoning where the server needs it carried back; it is never evidence and
    never shown as an answer. `images` are on USER messages only.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    reasoning: str = ""
    images: tuple[Image, ...] = ()


class StopReason(StrEnum):
    """Why the model ended its message."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; `None` where it did not say. Of the input, `cached_tokens` were read from a
    cache and `written_tokens` written to one."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """One tool as offered to a model: name, description, JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. No sampling parameters unless a path sets them: the coding core never does.

    `tools` empty means that no tools are offered at all. `on_text` receives text deltas while they stream (reasoning
    excluded) and must not raise. `cancelled` is polled while waiting; true cuts the request short (`ModelFailure`
    with kind CANCELLED). `on_sent` is told, on any thread, that the request has left: a hint that there is time to
    use, which a backend may never give; it must not block or raise.
    """

    messages: Sequence[Message]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    on_text: Callable[[str], None] | None = None
    cancelled: Callable[[], bool] | None = None
    on_sent: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One complete answer: text with reasoning removed, tool calls (ids unique and non-empty), stop reason, usage.

    `stop_reason` LENGTH with tool calls means the last call may be cut: none of them may run.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = StopReason.STOP
    usage: Usage = field(default_factory=Usage)
    reasoning: str = ""


class FailureKind(StrEnum):
    """Classes of endpoint failure. Retries have already happened when one is raised."""

    UNREACHABLE = "unreachable"
    AUTHENTICATION = "authentication"
    CONTEXT_OVERFLOW = "context_overflow"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    DROPPED_STREAM = "dropped_stream"
    BAD_REPLY = "bad_reply"
    BAD_REQUEST = "bad_request"
    CANCELLED = "cancelled"


class ModelFailure(Exception):
    """The model could not be asked. `message` names the endpoint and never holds a key; `hint` is the way out."""

    def __init__(self, kind: FailureKind, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint


Complete = Callable[[ModelRequest], ModelTurn]
"""The model callable the core is given."""
