"""What the backends of all providers share: one endpoint and what is asked of it between turns (spec 8.4)."""

from __future__ import annotations

from contextlib import suppress

from spear.models.endpoint import Endpoint
from spear.models.failures import AttemptFailed


class ProviderBackend:
    """A backend on one endpoint; its subclasses speak a protocol."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        """Host and port of the endpoint."""
        return self._endpoint.name

    @property
    def model(self) -> str:
        """The configured model, or the endpoint's first one. May raise `ModelFailure`."""
        return self._endpoint.model()

    def begin_turn(self) -> None:
        """Count retries afresh."""
        self._endpoint.begin_turn()

    def warm_up(self) -> None:
        """Import the package and build the client, so that the first request need not. Raises nothing."""
        with suppress(AttemptFailed):
            self._endpoint.wire()

    def close(self) -> None:
        """Release the connections."""
        self._endpoint.close()

    def context_window(self) -> int | None:
        """The window the endpoint reports for the model, in tokens (spec 1.3). One short attempt; never raises."""
        return self._endpoint.context_window()
