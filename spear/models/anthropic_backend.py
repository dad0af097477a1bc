"""Anthropic messages through the `anthropic` package, for every path, tools and prompt caching included (spec 8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spear.agent.messages import ModelRequest, ModelTurn
from spear.models.anthropic_assembly import MessageAssembler
from spear.models.anthropic_payload import MessagesPayload
from spear.models.backend import BackendSettings
from spear.models.endpoint import Endpoint
from spear.models.payload import CallIds
from spear.models.provider import ProviderBackend
from spear.models.retry import check
from spear.models.shown import ShownText

if TYPE_CHECKING:
    from spear.models.wire import Wire


class AnthropicBackend(ProviderBackend):
    """An endpoint that speaks the messages protocol. The package is imported with the first request."""

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(Endpoint(settings, _connect, "/v1/models"))
        self._payload = MessagesPayload(images=settings.images)
        self._call_ids = CallIds()

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer. Raises `ModelFailure`."""
        check(request.cancelled)
        model = self._endpoint.model(request.cancelled)
        stream = self._endpoint.settings.stream
        body = self._payload.body(model, request, stream=stream)
        headers = {"Accept": "text/event-stream" if stream else "application/json"}
        taken = self._call_ids.of(request.messages)
        shown = ShownText(request.on_text)

        def attempt() -> ModelTurn:
            shown.begin()
            return self._endpoint.exchange("/v1/messages", body, headers, request, MessageAssembler(taken), shown)

        return self._endpoint.retried(attempt, request.cancelled)


def _connect(settings: BackendSettings) -> Wire:
    import anthropic

    from spear.models.wire import SdkErrors, Wire

    errors = SdkErrors(anthropic.APIStatusError, anthropic.APIConnectionError)
    base = settings.api_base.rstrip("/").removesuffix("/v1")
    return Wire(
        settings,
        errors,
        lambda http: anthropic.Anthropic(
            api_key=settings.api_key or "none", base_url=base, max_retries=0, http_client=http
        ),
    )
