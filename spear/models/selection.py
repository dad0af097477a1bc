"""From settings to a backend: provider, tool support, recording or replay. Imports no provider package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from spear.models.anthropic_backend import AnthropicBackend
from spear.models.backend import BackendSettings, ModelBackend, Provider
from spear.models.openai_backend import OpenAIBackend
from spear.models.recording import RecordingBackend, ReplayBackend
from spear.models.toolless import ToolAwareBackend, ToolSupport


def open_backend(
    settings: BackendSettings,
    *,
    record: Path | None = None,
    replay: Path | None = None,
    support: ToolSupport = ToolSupport.UNKNOWN,
    on_support: Callable[[ToolSupport], None] | None = None,
) -> ModelBackend:
    """The backend a session uses. No request is made and no provider package imported before its first use.

    `replay` answers from a recording and asks nobody; `record` writes down what the endpoint answers. `support` and
    `on_support`: what is remembered of the endpoint and model, and how to remember what is found (`ToolAwareBackend`).
    Raises `ConfigurationError` for a file that cannot be used.
    """
    backend = ReplayBackend(replay) if replay else _endpoint(settings, support, on_support)
    return RecordingBackend(backend, record) if record else backend


def _endpoint(
    settings: BackendSettings, support: ToolSupport, on_support: Callable[[ToolSupport], None] | None
) -> ModelBackend:
    match settings.provider:
        case Provider.OPENAI:
            return ToolAwareBackend(OpenAIBackend(settings), support, on_support)
        case Provider.ANTHROPIC:
            return AnthropicBackend(settings)
        case _:
            assert_never(settings.provider)
