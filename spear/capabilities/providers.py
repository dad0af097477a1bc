"""The providers of a session: started when a turn first needs them, ended with the session (spec 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spear.capabilities.background import Background
from spear.capabilities.mcp_provider import Failure, McpProvider, ToolDeclaration
from spear.capabilities.registry import ProviderEntry, Registry

_LOOP_STOP_S = 2.0


@dataclass(slots=True)
class Disclosure:
    """What of the capabilities a session has been shown, by id and digest, and which events were said once already."""

    described: dict[str, str] = field(default_factory=dict)
    registered: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)


class CapabilityProviders:
    """All providers of one session. `logs` is the directory (made when needed, 0700) their stderr goes to."""

    def __init__(self, registry: Registry, environ: Mapping[str, str], logs: Path) -> None:
        self.registry = registry
        self.disclosure = Disclosure()
        self._environ = dict(environ)
        self._logs = logs
        self._background = Background()
        self._providers: dict[str, McpProvider] = {}

    def start(self, entries: Sequence[ProviderEntry]) -> None:
        """Begin to start these, all at once, without waiting."""
        for entry in entries:
            self._provider(entry).start()

    def tools(
        self, entries: Sequence[ProviderEntry], cancelled: Callable[[], bool], *, refresh: bool = False
    ) -> dict[str, tuple[ToolDeclaration, ...] | Failure]:
        """What each of these offers, or why it offers nothing. They start side by side: the slowest one counts."""
        self.start(entries)
        return {entry.id: self._provider(entry).tools(cancelled, refresh=refresh) for entry in entries}

    def get(self, entry: ProviderEntry) -> McpProvider:
        """One provider of the session."""
        return self._provider(entry)

    def close(self) -> None:
        """End every provider; returns when their processes are gone, or after a few seconds."""
        started = [provider for provider in self._providers.values() if provider.started]
        for provider in started:
            provider.dismiss()
        for provider in started:
            provider.close()
        self._providers.clear()
        self._background.close(_LOOP_STOP_S)

    def _provider(self, entry: ProviderEntry) -> McpProvider:
        found = self._providers.get(entry.id)
        if found is None:
            self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            log = self._logs / f"{entry.id}.log"
            found = self._providers[entry.id] = McpProvider(entry, self._background, self._environ, log)
        return found
