"""What is found out while the operator reads the first screen: the sandbox, the endpoint's model and its window."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit
from urllib.request import getproxies

from spear.agent.messages import FailureKind, ModelFailure
from spear.cli.application import Application
from spear.cli.backend import endpoint_label
from spear.errors import SpearError

_CONNECT_SECONDS = 5.0
_WAYS_OUT = (
    "Point spear-chat at an endpoint (--api-base URL, or [backends] in the configuration), see --demo, play a "
    "recording (--replay FILE), or serve a GGUF file with the spear-chat[local] extra (--gguf FILE); /undo, /diff, "
    "/search, /standard, /knowledge and !tools need no model"
)


class BehindThePrompt:
    """One for each `Application`. The probe of the sandbox starts at once, the endpoint is asked by `begin`."""

    def __init__(self, app: Application, *, replaying: bool) -> None:
        self._app = app
        self._replaying = replaying
        self.window = app.settings.ctx
        self.model = app.settings.model
        self.limits = ""
        self._unconfined = ""
        self._probing = threading.Thread(target=self._probe, daemon=True)
        self._probing.start()

    def await_sandbox(self, seconds: float) -> None:
        """Wait a moment for the sandbox's probe, so that the first screen can name it."""
        self._probing.join(seconds)

    def begin(self, say: Callable[[str], None]) -> None:
        """Load the provider and ask the endpoint. `say` prints, from any thread, that commands cannot run here."""
        keep_up = self._app.searching.keep_up
        for work in (lambda: self._ask(say), lambda: self._report(say), lambda: keep_up(say, lambda: False)):
            threading.Thread(target=work, daemon=True).start()

    def _probe(self) -> None:
        try:
            found = self._app.host.confinement.result()
        except (SpearError, OSError) as error:
            self.limits, self._unconfined = "none", f"commands cannot run here: {error}"
            return
        self.limits = f"bubblewrap, limits by {found.limits or 'nothing'}" if found.ok else "none"
        if not found.ok:
            self._unconfined = f"commands cannot run here: {found.problem} — {found.remedy}"

    def _report(self, say: Callable[[str], None]) -> None:
        self._probing.join()
        if self._unconfined:
            say(self._unconfined)

    def _ask(self, say: Callable[[str], None]) -> None:
        app = self._app
        try:
            accompanied = bool(app.settings.ssh or app.settings.gguf)
            direct = not (self._replaying or accompanied or getproxies())
            if direct and not _answers(app.settings.api_base):
                say(f"no model answers at {endpoint_label(app.settings)}. {_WAYS_OUT}")
                return
            self.window = app.model.window()
            self.model = app.settings.model or app.model.backend.model
        except ModelFailure as failure:
            if failure.kind is not FailureKind.CANCELLED:
                say(f"{failure.message} — {failure.hint}" if failure.hint else f"{failure.message}. {_WAYS_OUT}")
        except SpearError as error:
            say(str(error) if error.hint else f"{error}. {_WAYS_OUT}")
        except OSError as error:
            say(f"{error}. {_WAYS_OUT}")


def _answers(address: str) -> bool:
    """Whether somebody listens at an endpoint's address."""
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), _CONNECT_SECONDS):
            return True
    except (OSError, ValueError):
        return False
