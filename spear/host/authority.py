"""What the mode grants, asked anew for every call: the operator may change it while a turn runs (spec 2.1, 8.2)."""

from __future__ import annotations

from collections.abc import Callable

from spear.events.names import Mode
from spear.policy.modes import Grants, grants


class Authority:
    """The mode and the grants of the call that is being made.

    A change of the mode, tighter or looser, holds from the next call on; a call keeps what it began with, so that what
    it was granted, confirmed and allowed to keep agree. A turn that only reads, or has no network, stays so in every
    mode.
    """

    def __init__(self, present: Callable[[], Mode], *, read_only: bool = False, no_network: bool = False) -> None:
        self._present = present
        self._read_only = read_only
        self._no_network = no_network
        self.mode = present()
        self.grants: Grants = self._granted()

    def renew(self) -> None:
        """A call begins: take the present mode."""
        mode = self._present()
        if mode is not self.mode:
            self.mode = mode
            self.grants = self._granted()

    def _granted(self) -> Grants:
        return grants(self.mode, read_only=self._read_only, no_network=self._no_network)
