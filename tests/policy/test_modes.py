"""The table of modes and capabilities."""

from __future__ import annotations

import pytest

from spear.errors import UsageError
from spear.events.names import Mode
from spear.policy.modes import UNIMPLEMENTED, Capability, grants

YES, CONFIRMED, NO = False, True, None


@pytest.mark.parametrize(
    ("capability", "safe", "ask", "auto"),
    [
        (Capability.FILESYSTEM_READ, YES, YES, YES),
        (Capability.HOST_READ, YES, CONFIRMED, YES),
        (Capability.WORKSPACE_WRITE, NO, CONFIRMED, YES),
        (Capability.SHELL_COMPLEX, YES, YES, YES),
        (Capability.NETWORK, NO, CONFIRMED, YES),
    ],
)
def test_the_table(capability, safe, ask, auto):
    found = [grants(mode).requires(capability) for mode in (Mode.SAFE, Mode.ASK, Mode.AUTO)]
    assert found == [safe, ask, auto]


@pytest.mark.parametrize("mode", list(Mode))
def test_no_network_and_read_only_hold_in_every_mode(mode):
    found = grants(mode, read_only=True, no_network=True)
    assert not found.possible(Capability.NETWORK)
    assert not found.possible(Capability.WORKSPACE_WRITE)
    assert found.possible(Capability.FILESYSTEM_READ)


@pytest.mark.parametrize("capability", sorted(UNIMPLEMENTED))
def test_a_capability_by_name_only_fails_loudly(capability):
    with pytest.raises(UsageError, match="not implemented"):
        grants(Mode.AUTO).requires(capability)
