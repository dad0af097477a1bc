"""What the operator is shown of the providers: where each applies, what it may do, how it fares (spec 4.4)."""

from __future__ import annotations

from spear.capabilities.framing import one_line
from spear.capabilities.mcp_provider import Failure
from spear.capabilities.providers import CapabilityProviders
from spear.capabilities.registry import Place, ProviderEntry


def listing(providers: CapabilityProviders, place: Place) -> tuple[str, ...]:
    """One line a provider and one for each entry that cannot be used. Nothing is started for it."""
    registry = providers.registry
    _, withheld = registry.applicable(place)
    absent = {each.provider: each.reason for each in withheld}
    lines = [_line(providers, entry, absent.get(entry.id, "")) for entry in registry.providers]
    lines += [problem.line() for problem in registry.problems]
    return tuple(lines) or ("no capability provider is registered",)


def _line(providers: CapabilityProviders, entry: ProviderEntry, absent: str) -> str:
    what = one_line(" ".join(entry.command) if entry.command else str(entry.url), 80)
    where = f"scope {entry.scope or 'none'}, tasks {', '.join(entry.tasks)}, write {entry.write}"
    head = f"{entry.id} ({entry.transport}: {what}) {where}"
    return f"{head}: {f'not here, {absent}' if absent else _state(providers, entry)}"


def _state(providers: CapabilityProviders, entry: ProviderEntry) -> str:
    provider = providers.get(entry)
    if not provider.started:
        return "starts when a turn first needs it"
    found = provider.known()
    if isinstance(found, Failure):
        said = f'; it last said "{found.said}"' if found.said else ""
        return f"unavailable, {found.reason}{said} (its output: {provider.log})"
    reading = sum(tool.name in entry.read for tool in found)
    missing = sorted(set(entry.read) - {tool.name for tool in found})
    note = f"; `read` names what it does not offer: {', '.join(missing)}" if missing and found else ""
    return f"{len(found)} tools, {reading} of them reading{note}"
