"""What a turn of the coding core is given and gives back: budget, observer, outcome, stop codes (spec 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from spear.agent.host import ToolRequest, ToolResult
from spear.agent.messages import Message, ModelFailure, ModelTurn, Usage


class Stop(StrEnum):
    """Why a turn ended (spec 1.4)."""

    ANSWERED = "answered"
    ROUND_BUDGET = "round_budget"
    TOOL_BUDGET = "tool_budget"
    CONTEXT_HALF = "context_half"
    RESPONSE_TRUNCATED = "response_truncated"
    STALLED_GUARDRAIL = "stalled_guardrail"
    STALLED_REFUSALS = "stalled_refusals"
    INTERRUPTED = "interrupted"
    ENDPOINT_ERROR = "endpoint_error"
    CONFINEMENT_UNAVAILABLE = "confinement_unavailable"


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of one turn: model rounds, terminal calls, the context window and each response in tokens, and how often
    a model may come back with nothing usable."""

    rounds: int = 60
    commands: int = 120
    context_window: int = 32768
    response_tokens: int = 16384
    empty_retries: int = 2
    continuations: int = 3
    truncated_calls: int = 2
    malformed_calls: int = 3

    @property
    def max_tokens(self) -> int:
        """The bound each request carries: never more than the half of the window that is kept free for it."""
        return min(self.response_tokens, self.context_window - self.context_window // 2)

    @property
    def summary_tokens(self) -> int:
        """The bound on the summary that ends a turn early."""
        return min(self.response_tokens, max(512, self.context_window // 8))


class Observer:
    """Watches a turn; every method does nothing here and must not raise. Called from the loop's thread, `text` from
    wherever the model callable streams."""

    def model_requested(self, round_number: int, messages: int, estimated_tokens: int) -> None:
        """A request is about to be sent: its number from 1, messages in it, its size in tokens."""

    def model_answered(self, turn: ModelTurn) -> None:
        """A complete answer arrived."""

    def tool_started(self, request: ToolRequest) -> None:
        """A call is put to the host. Not sent for calls that are answered without that."""

    def tool_finished(self, request: ToolRequest, result: ToolResult) -> None:
        """A call has its result; sent once per call, in call order, after the host's `after_tool`."""

    def text(self, delta: str) -> None:
        """Text of the answer as it streams."""

    def guardrail(self, code: str, count: int, detail: str) -> None:
        """The model was told, or stopped, for going in circles: `repeated_call`, `failing_tool`, `malformed_call`,
        `truncated_call`, `empty_answer`, `truncated_answer`."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why the turn is over: a stop code, one sentence, and the answer where there is one already."""

    stop: str
    detail: str = ""
    answer: str = ""
    failure: ModelFailure | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended.

    `answer` is the model's answer, or the summary of what was done and is left. `conversation` is always valid to
    resend and ends with an assistant message. `rounds` are requests that offered tools, `requests` all of them.
    `usage` adds up what the server reported, 0 where it did not. `failure` is set when the endpoint failed.
    """

    answer: str
    stop: str
    detail: str
    conversation: tuple[Message, ...]
    rounds: int = 0
    tool_calls: int = 0
    commands: int = 0
    requests: int = 0
    usage: Usage = field(default_factory=lambda: Usage(0, 0, 0))
    failure: ModelFailure | None = None
