"""From settings to the backend of a session: its key, its companion, what is remembered of it (spec 1.3, 8.4)."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from spear.agent.messages import ModelRequest, ModelTurn
from spear.cli.settings_backend import remember_backend
from spear.cli.settings_model import Settings
from spear.cli.tool_memory import ToolMemory
from spear.errors import ConfigurationError, StateError
from spear.models.backend import BackendSettings, ModelBackend, Provider
from spear.models.selection import open_backend
from spear.models.toolless import ToolSupport
from spear.state.directory import StateDirectory

if TYPE_CHECKING:
    from spear.cli.settings import Loaded
    from spear.models.companion import Companion

_KEY_SECONDS = 30


class SessionBackend:
    """The backend of one or more sessions, opened when first needed; opening asks nobody. Safe from several threads.

    With `replay` no endpoint is used: nothing is started for it and nothing remembered.
    """

    def __init__(
        self,
        loaded: Loaded,
        environ: Mapping[str, str],
        record: Path | None = None,
        replay: Path | None = None,
    ) -> None:
        self._loaded = loaded
        self._environ = environ
        self._state = StateDirectory(loaded.settings.state_dir)
        self._record, self._replay = record, replay
        self._recording = False
        self._opening = threading.Lock()
        self._backend: ModelBackend | None = None
        self._notices: list[str] = []
        self._cancelled: Callable[[], bool] = lambda: False

    @property
    def backend(self) -> ModelBackend:
        """The backend. Raises ConfigurationError for a key, an address or a recording that cannot be used."""
        with self._opening:
            if self._backend is None:
                self._backend = self._open()
            return self._backend

    def begin_turn(self, cancelled: Callable[[], bool]) -> None:
        """A new turn begins, which `cancelled` stops: what is waited for is then waited for no longer."""
        self._cancelled = cancelled
        self.backend.begin_turn()

    def window(self) -> int:
        """The context window in tokens: as configured, else what the endpoint reports, else the default."""
        if self._loaded.is_default("ctx"):
            return self.backend.context_window() or self._loaded.settings.ctx
        return self._loaded.settings.ctx

    def complete(self, request: ModelRequest, say: Callable[[str], None]) -> ModelTurn:
        """One complete answer; `say` is told what was found out about the endpoint. Raises `ModelFailure`."""
        try:
            return self.backend.complete(request)
        finally:
            while self._notices:
                say(self._notices.pop(0))

    def close(self) -> None:
        """Release connections and files, and end what was started for it."""
        with self._opening:
            if self._backend is not None:
                self._backend.close()

    def use(self, loaded: Loaded) -> None:
        """Go on with the endpoint of other settings; the present one is closed. A recording goes on."""
        if self._replay is None:
            self.close()
            with self._opening:
                self._loaded, self._backend = loaded, None

    def _open(self) -> ModelBackend:
        settings = self._loaded.settings
        if self._replay is not None:
            return open_backend(BackendSettings(settings.api_base), record=self._record, replay=self._replay)
        companion, key = self._companion()
        memory = ToolMemory(self._state.tool_support, endpoint_label(settings))
        backend = open_backend(
            BackendSettings(
                api_base=settings.api_base,
                provider=Provider(settings.provider),
                api_key=key,
                model=settings.model or None,
                images=settings.images,
            ),
            record=self._record,
            more=self._recording,
            companion=companion,
            given_up=lambda: self._cancelled(),
            recall=memory.recall,
            on_support=lambda model, support: self._found(memory, model, support),
        )
        self._recording = self._record is not None
        if settings.backend:
            self._kept(lambda: remember_backend(self._state, settings.backend))
        return backend

    def _companion(self) -> tuple[Companion | None, str | None]:
        """What must run for the endpoint to be there, and the endpoint's key."""
        settings = self._loaded.settings
        if settings.gguf is not None:
            from spear.models.gguf import GgufServer

            server = GgufServer(settings.gguf, settings.ctx, self._environ)
            return server, server.key
        command = settings.api_key_cmd
        key = _key_of_command(command) if command else environment_key(settings, self._environ)
        if settings.ssh:
            from spear.cli.tunnel import Tunnel

            return Tunnel(settings.ssh, settings.api_base, self._environ), key
        return None, key

    def _found(self, memory: ToolMemory, model: str, support: ToolSupport) -> None:
        """Remember what the endpoint does with tools, and say so where it matters."""
        if support is ToolSupport.IGNORED:
            self._notices.append(
                f"{model} at {endpoint_label(self._loaded.settings)} ignores tools: its calls are read from a JSON "
                "answer instead (remembered for a week)"
            )
        self._kept(lambda: memory.remember(model, support))

    def _kept(self, keep: Callable[[], None]) -> None:
        """A memory that cannot be written spoils no turn."""
        try:
            keep()
        except StateError as error:
            self._notices.append(str(error))


def endpoint_label(settings: Settings) -> str:
    """Where the model is, as it may be shown: an address without what stands before its @, a file, the way to it."""
    if settings.gguf is not None:
        return f"{settings.gguf}, served here"
    parts = urlsplit(settings.api_base)
    shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
    return f"{shown} through ssh {settings.ssh}" if settings.ssh else shown


def environment_key(settings: Settings, environ: Mapping[str, str]) -> str | None:
    """The key in the variable the settings name, None when it is not set."""
    return environ.get(settings.api_key_env) or None


def _key_of_command(command: tuple[str, ...]) -> str:
    shown = command[0]
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=_KEY_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(
            f"api_key_cmd {shown} could not be run: {error}", hint="correct api_key_cmd"
        ) from error
    key = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0 or not key:
        raise ConfigurationError(
            f"api_key_cmd {shown} printed no key (status {done.returncode})", hint="run it by hand to see why"
        )
    return key
