"""From settings to the web tools of a session: whether there are any, and where they search (spec 8.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from spear.cli.settings_model import Settings
from spear.events.names import Mode

if TYPE_CHECKING:
    from spear.host.web import WebAccess

_NOT_CONFIGURED = "no search endpoint is configured"


def search_lacks(settings: Settings, environ: Mapping[str, str]) -> str:
    """Why `search_internet` cannot be offered; "" when it can. Imports and asks nothing."""
    web = settings.web
    if not web.search_url and web.search_api != "brave":
        return _NOT_CONFIGURED
    if web.search_api == "brave" and not environ.get(web.search_key_env):
        return f"the key of the search endpoint is missing: the variable {web.search_key_env} is not set"
    return ""


def web_lines(settings: Settings, mode: Mode, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What `/tools` says of the web: each tool, or why it is not offered."""
    from spear.policy.modes import Capability, grants
    from spear.web.tools import FETCH_SCHEMA, SEARCH_SCHEMA

    if not grants(mode, no_network=settings.no_network).possible(Capability.NETWORK):
        why = "--no-network" if settings.no_network else f"mode {mode.value} has no network"
        return (f"no web tools: {why}",)
    lacks = search_lacks(settings, environ)
    offered = [FETCH_SCHEMA] if lacks else [SEARCH_SCHEMA, FETCH_SCHEMA]
    lines = [f"spear-web {schema.name}: {schema.description.split('. ')[0]}" for schema in offered]
    return (*lines, *((f"no search_internet: {lacks}",) if lacks else ()))


def web_access(settings: Settings, environ: Mapping[str, str]) -> WebAccess | None:
    """What a session reaches the web with; None under `--no-network`."""
    if settings.no_network:
        return None
    from spear.host.web import WebAccess
    from spear.web.fetching import Fetcher
    from spear.web.search import BRAVE_URL, Search, SearchApi, SearchEndpoint

    lacks = search_lacks(settings, environ)
    if lacks:
        return WebAccess(Fetcher(), lacks)
    web = settings.web
    endpoint = SearchEndpoint(
        web.search_url or BRAVE_URL, SearchApi(web.search_api), environ.get(web.search_key_env, "")
    )
    return WebAccess(Fetcher(), Search(endpoint))
