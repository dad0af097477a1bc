"""OpenAI-compatible chat completions through the `openai` package (spec 8.4): llama.cpp, vLLM, Ollama, hosted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from spear.agent.messages import ModelRequest, ModelTurn
from spear.models.assembly import TurnAssembler
from spear.models.backend import BackendSettings
from spear.models.endpoint import Endpoint
from spear.models.failures import AttemptFailed
from spear.models.payload import CallIds, ChatPayload, Dialect
from spear.models.provider import ProviderBackend
from spear.models.retry import check
from spear.models.shown import ShownText

if TYPE_CHECKING:
    from spear.models.wire import Wire

_NO_KEY = "none"
"""Sent where the endpoint wants no key: the package insists on one."""


class OpenAIBackend(ProviderBackend):
    """A chat-completions endpoint. The package is imported with the first request, or by `warm_up`."""

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(Endpoint(settings, _connect, "/models"))
        self._payload = ChatPayload(images=settings.images)
        self._call_ids = CallIds()
        self._dialect = Dialect(stream=settings.stream)

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer. Raises `ModelFailure`."""
        return self.complete_with(request, ())

    def complete_with(self, request: ModelRequest, extra: Sequence[tuple[str, Any]]) -> ModelTurn:
        """As `complete`, with further top-level fields in the request (`response_format`, `tool_choice`)."""
        check(request.cancelled)
        model = self._endpoint.model(request.cancelled)
        taken = self._call_ids.of(request.messages)
        shown = ShownText(request.on_text)

        def attempt() -> ModelTurn:
            while True:
                try:
                    return self._attempt(
                        self._payload.body(model, request, self._dialect, extra), request, taken, shown
                    )
                except AttemptFailed as failed:
                    if not self._dialect.adapt(failed.status, failed.message):
                        raise

        return self._endpoint.retried(attempt, request.cancelled)

    def _attempt(self, body: bytes, request: ModelRequest, taken: Collection[str], shown: ShownText) -> ModelTurn:
        shown.begin()
        assembler = TurnAssembler(taken)
        headers = {"Accept": "text/event-stream" if self._dialect.stream else "application/json"}
        turn = self._endpoint.exchange("/chat/completions", body, headers, request, assembler, shown)
        self._dialect.reasoning_key = self._dialect.reasoning_key or assembler.reasoning_key
        return turn


def _connect(settings: BackendSettings) -> Wire:
    import openai

    from spear.models.wire import SdkErrors, Wire

    errors = SdkErrors(openai.APIStatusError, openai.APIConnectionError)
    return Wire(
        settings,
        errors,
        lambda http: openai.OpenAI(
            api_key=settings.api_key or _NO_KEY, base_url=settings.api_base, max_retries=0, http_client=http
        ),
    )
