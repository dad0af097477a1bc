"""What is found out while the operator reads the first screen: the sandbox, the endpoint's model and its window."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spear.agent.messages import ModelFailure
from spear.cli.application import Application
from spear.errors import SpearError


class BehindThePrompt:
    """One for each `Application`. The probe of the sandbox starts at once, the endpoint is asked by `begin`."""

    def __init__(self, app: Application) -> None:
        self._app = app
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
        for work in (self._ask, lambda: self._report(say)):
            threading.Thread(target=work, daemon=True).start()

    def _probe(self) -> None:
        found = self._app.host.confinement.result()
        self.limits = f"bubblewrap, limits by {found.limits or 'nothing'}" if found.ok else "none"
        if not found.ok:
            self._unconfined = f"commands cannot run here: {found.problem} — {found.remedy}"

    def _report(self, say: Callable[[str], None]) -> None:
        self._probing.join()
        if self._unconfined:
            say(self._unconfined)

    def _ask(self) -> None:
        app = self._app
        try:
            self.window = app.window()
            self.model = app.settings.model or app.backend.model
        except (ModelFailure, SpearError, OSError):
            return  # an endpoint that cannot be asked is said when a turn needs it
