"""OpenAI-compatible chat completions through the `openai` package (spec 8.4): llama.cpp, vLLM, Ollama, hosted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from spear.agent.messages import FailureKind, ModelFailure, ModelRequest, ModelTurn
from spear.models.assembly import TurnAssembler
from spear.models.backend import BackendSettings
from spear.models.catalogue import Catalogue
from spear.models.failures import AttemptFailed, decode_object, dropped
from spear.models.inflight import relay
from spear.models.payload import ChatPayload, Dialect
from spear.models.retry import Retrier, RetryBudget, check
from spear.models.shown import ShownText
from spear.models.sse import DONE, Streamed, Whole

if TYPE_CHECKING:
    from spear.models.wire import Wire

_NO_KEY = "none"
"""Sent where the endpoint wants no key: the package insists on one."""


class OpenAIBackend:
    """A chat-completions endpoint. The package is imported with the first request, or by `warm_up`."""

    def __init__(self, settings: BackendSettings) -> None:
        self._settings = settings
        self._budget = RetryBudget(settings.retry.per_turn)
        self._retrier = Retrier(settings.endpoint, settings.api_key, settings.retry, self._budget)
        self._catalogue = Catalogue(settings.model)
        self._payload = ChatPayload()
        self._dialect = Dialect(stream=settings.stream)
        self._open_wire: Wire | None = None

    @property
    def name(self) -> str:
        """Host and port of the endpoint."""
        return self._settings.endpoint

    @property
    def model(self) -> str:
        """The configured model, or the endpoint's first one. May raise `ModelFailure`."""
        return self._catalogue.model or self._first_model(None)

    def begin_turn(self) -> None:
        """Count retries afresh."""
        self._budget.reset()

    def warm_up(self) -> None:
        """Import the package and build the client, so that the first request need not. Safe on any one thread."""
        self._wire()

    def context_window(self) -> int | None:
        """The window the endpoint reports for the model, in tokens (spec 1.3). One short attempt; never raises."""
        if not self._catalogue.fetched:
            try:
                self._catalogue.learn(self._wire().fetch("/models"))
            except AttemptFailed as failed:
                if failed.status:  # the endpoint answers but has no list: it will not grow one
                    self._catalogue.learn({})
        return self._catalogue.window

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer. Raises `ModelFailure`."""
        return self.complete_with(request, ())

    def complete_with(self, request: ModelRequest, extra: Sequence[tuple[str, Any]]) -> ModelTurn:
        """As `complete`, with further top-level fields in the request (`response_format`, `tool_choice`)."""
        check(request.cancelled)
        model = self._catalogue.model or self._first_model(request)
        taken = {call.id for message in request.messages for call in message.tool_calls}
        shown = ShownText(request.on_text)

        def attempt() -> ModelTurn:
            while True:
                shown.begin()
                body = self._payload.body(model, request, self._dialect, extra)
                try:
                    return self._exchange(body, request, TurnAssembler(taken), shown)
                except AttemptFailed as failed:
                    if not self._dialect.adapt(failed.status, failed.message):
                        raise

        return self._retrier.run(attempt, request.cancelled)

    def _exchange(self, body: bytes, request: ModelRequest, assembler: TurnAssembler, shown: ShownText) -> ModelTurn:
        wire = self._wire()
        headers = {"Accept": "text/event-stream" if self._dialect.stream else "application/json"}
        done = False
        broken: AttemptFailed | None = None
        replies = relay(lambda: wire.exchange("/chat/completions", body, headers), wire.cut, request.cancelled)
        with closing(replies):
            try:
                for reply in replies:
                    done = self._take(reply, assembler, shown)
                    if done:
                        break
            except AttemptFailed as failed:
                if failed.kind is not FailureKind.DROPPED_STREAM:
                    raise
                broken = failed
        if not done:
            _judge_end(assembler, broken)
        self._dialect.reasoning_key = self._dialect.reasoning_key or assembler.reasoning_key
        turn = assembler.build()
        shown.feed(assembler.rest())
        return turn

    @staticmethod
    def _take(reply: Streamed | Whole, assembler: TurnAssembler, shown: ShownText) -> bool:
        """Feed one piece of the reply; true when it says that it is the last."""
        if isinstance(reply, Whole):
            shown.feed(assembler.feed(decode_object(reply.text, "the reply")))
            return True
        for data in reply.data:
            if data.startswith(DONE):
                return True
            for line in data.split("\n"):
                if line.strip():
                    shown.feed(assembler.feed(decode_object(line, "a chunk of the stream")))
        return False

    def _first_model(self, request: ModelRequest | None) -> str:
        cancelled = request.cancelled if request else None

        def attempt() -> Mapping[str, Any]:
            wire = self._wire()
            with closing(relay(lambda: iter((wire.fetch("/models"),)), wire.cut, cancelled)) as replies:
                return next(replies)

        self._catalogue.learn(self._retrier.run(attempt, cancelled))
        if not self._catalogue.model:
            raise ModelFailure(
                FailureKind.BAD_REPLY, f"{self.name}: the endpoint lists no model", "name one with --model"
            )
        return self._catalogue.model

    def _wire(self) -> Wire:
        if self._open_wire is None or self._open_wire.spent:
            self.close()
            self._open_wire = _connect(self._settings)
        return self._open_wire

    def close(self) -> None:
        """Release the connections."""
        if self._open_wire is not None:
            self._open_wire.close()


def _judge_end(assembler: TurnAssembler, broken: AttemptFailed | None) -> None:
    """Whether a stream that ended without `[DONE]` was whole. Raises `AttemptFailed` (DROPPED_STREAM) when not.

    The server's own finish reason says that it was; after an abrupt end, calls must be whole as well.
    """
    if assembler.finished and (broken is None or assembler.calls_complete):
        return
    raise broken or dropped("the stream ended in the middle of the answer")


def _connect(settings: BackendSettings) -> Wire:
    import openai

    from spear.models.wire import SdkErrors, Wire

    errors = SdkErrors(openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError)
    return Wire(
        settings,
        errors,
        lambda http: openai.OpenAI(
            api_key=settings.api_key or _NO_KEY, base_url=settings.api_base, max_retries=0, http_client=http
        ),
    )
