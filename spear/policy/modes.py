"""Modes and capabilities: what a turn may do at all, before any path or command is looked at (spec 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spear.errors import UsageError
from spear.events.names import Mode


class Capability(StrEnum):
    """What can be granted. The last four are named so that asking for them fails loudly."""

    FILESYSTEM_READ = "filesystem:read"
    HOST_READ = "host:read"
    WORKSPACE_WRITE = "workspace:write"
    SHELL_COMPLEX = "shell:complex"
    NETWORK = "network"
    GPU = "gpu"
    SSH = "ssh"
    CONTAINER_RUNTIME = "container-runtime"
    SECRETS = "secrets"


UNIMPLEMENTED = frozenset({Capability.GPU, Capability.SSH, Capability.CONTAINER_RUNTIME, Capability.SECRETS})
"""Capabilities that exist by name only; requesting one is an error."""

_ALWAYS = frozenset({Capability.FILESYSTEM_READ, Capability.SHELL_COMPLEX})
_ALLOWED = {
    Mode.SAFE: _ALWAYS | {Capability.HOST_READ},
    Mode.ASK: _ALWAYS,
    Mode.AUTO: _ALWAYS | {Capability.HOST_READ, Capability.WORKSPACE_WRITE, Capability.NETWORK},
}
_CONFIRMED = {
    Mode.SAFE: frozenset[Capability](),
    Mode.ASK: frozenset({Capability.HOST_READ, Capability.WORKSPACE_WRITE, Capability.NETWORK}),
    Mode.AUTO: frozenset[Capability](),
}


@dataclass(frozen=True, slots=True)
class Grants:
    """What happens without asking, and what happens once confirmed. Everything else does not happen."""

    allowed: frozenset[Capability]
    confirmed: frozenset[Capability]

    def possible(self, capability: Capability) -> bool:
        """Whether `capability` can be had at all, confirmed or not. Raises UsageError for an unimplemented one."""
        return self.requires(capability) is not None

    def requires(self, capability: Capability) -> bool | None:
        """True when it needs a confirmation, False when it does not, None when it cannot be had.

        Raises UsageError for a capability that exists by name only.
        """
        if capability in UNIMPLEMENTED:
            raise UsageError(f"the capability {capability} is not implemented", hint="do the step yourself, outside")
        if capability in self.allowed:
            return False
        return True if capability in self.confirmed else None


def has_network(granted: Grants, *, asked_for: bool) -> bool:
    """Whether a command gets the network once it runs. `asked_for`: the operator was shown that it needs it, and where
    that takes a confirmation has given it.
    """
    return Capability.NETWORK in granted.allowed or (Capability.NETWORK in granted.confirmed and asked_for)


def grants(mode: Mode, *, read_only: bool = False, no_network: bool = False) -> Grants:
    """The table of spec 2.1. A read-only turn loses every write, `--no-network` the network, in every mode."""
    withheld = set[Capability]()
    if read_only:
        withheld.add(Capability.WORKSPACE_WRITE)
    if no_network:
        withheld.add(Capability.NETWORK)
    return Grants(frozenset(_ALLOWED[mode] - withheld), frozenset(_CONFIRMED[mode] - withheld))
