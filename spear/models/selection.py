"""From settings to a backend: provider, tool support, recording or replay. Imports no provider package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from spear.models.anthropic_backend import AnthropicBackend
from spear.models.backend import BackendSettings, ModelBackend, Provider
from spear.models.companion import AccompaniedBackend, Companion
from spear.models.openai_backend import OpenAIBackend
from spear.models.recording import RecordingBackend, ReplayBackend
from spear.models.toolless import ToolAwareBackend, ToolSupport


def open_backend(
    settings: BackendSettings,
    *,
    record: Path | None = None,
    more: bool = False,
    replay: Path | None = None,
    companion: Companion | None = None,
    given_up: Callable[[], bool] = lambda: False,
    recall: Callable[[str], ToolSupport] | None = None,
    on_support: Callable[[str, ToolSupport], None] | None = None,
) -> ModelBackend:
    """The backend a session uses. No request is made and no provider package imported before its first use.

    `replay` answers from a recording and asks nobody; `record` writes down what the endpoint answers, behind what is
    there already when `more` is true. `companion` is what must run for the endpoint to be there, `given_up` that nobody
    waits for it any more (`AccompaniedBackend`). `recall` and `on_support`: what is remembered of a model, and how to
    remember what is found (`ToolAwareBackend`). Raises `ConfigurationError` for a file that cannot be used.
    """

    def endpoint(settings: BackendSettings) -> ModelBackend:
        return _endpoint(settings, recall, on_support)

    backend: ModelBackend
    if replay:
        backend = ReplayBackend(replay)
    else:
        backend = AccompaniedBackend(settings, companion, endpoint, given_up) if companion else endpoint(settings)
    return RecordingBackend(backend, record, more=more) if record else backend


def _endpoint(
    settings: BackendSettings,
    recall: Callable[[str], ToolSupport] | None,
    on_support: Callable[[str, ToolSupport], None] | None,
) -> ModelBackend:
    match settings.provider:
        case Provider.OPENAI:
            return ToolAwareBackend(OpenAIBackend(settings), recall, on_support)
        case Provider.ANTHROPIC:
            return AnthropicBackend(settings)
        case _:
            assert_never(settings.provider)
