"""The two ways to reach a provider with the `mcp` client: a guarded process over stdio, or streamable HTTP (spec 4.4).

Both bound what one message may hold. A provider over stdio gets PATH, HOME and the variables its entry names; it runs
in HOME, never in the tree, so that nothing of the tree decides what runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from spear.capabilities.registry import ProviderEntry
from spear.state.files import open_private

MESSAGE_LIMIT = 8 * 1024 * 1024
"""Bytes one message of a provider may hold."""

LOG_LIMIT = 1024 * 1024
"""Bytes kept of what a provider writes to stderr."""

_GUARD = Path(__file__).with_name("provider_guard.py")


def environment(entry: ProviderEntry, environ: Mapping[str, str]) -> dict[str, str]:
    """What a provider is given: PATH without relative places, HOME, and the variables the entry names."""
    found = {name: environ[name] for name in ("HOME", *entry.env) if name in environ}
    places = environ.get("PATH", os.defpath).split(os.pathsep)
    return {**found, "PATH": os.pathsep.join(place for place in places if place.startswith("/"))}


@asynccontextmanager
async def stdio(entry: ProviderEntry, environ: Mapping[str, str], log: Path) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a provider process, started under its guard; left, the process tree is gone."""
    from mcp.client.stdio import StdioServerParameters, stdio_client

    words = list(entry.command or ())
    given = environment(entry, environ)
    home = given.get("HOME", "/")
    words[0] = f"{home}/{words[0][2:]}" if words[0].startswith("~/") else words[0]
    settings = {
        "log": str(log),
        "line_limit": MESSAGE_LIMIT,
        "log_limit": LOG_LIMIT,
        "env": sorted(given),
        "home": home if Path(home).is_dir() else "/",
    }
    server = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-S", str(_GUARD), json.dumps(settings), *words],
        env=given,
        encoding_error_handler="replace",
    )
    with os.fdopen(open_private(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a") as errors:
        async with stdio_client(server, errlog=errors) as streams:
            yield streams


@asynccontextmanager
async def http(
    entry: ProviderEntry, environ: Mapping[str, str], too_large: asyncio.Event
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a streamable HTTP server; `${NAME}` in a header is the variable, if the entry names it.

    `too_large` is set when a response was cut off: not every client then ends the request that waits for it.
    """
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    given = {name: environ.get(name, "") for name in entry.env}
    headers = {
        key: re.sub(r"\$\{(.*?)\}", lambda match: given.get(match[1], ""), value)
        for key, value in entry.headers.items()
    }
    async with AsyncExitStack() as stack:
        client: Any = create_mcp_http_client(headers=headers)
        await stack.enter_async_context(client)
        _bound(client, too_large)
        streams: Any = await stack.enter_async_context(streamable_http_client(str(entry.url), http_client=client))
        yield streams[0], streams[1]


def _bound(client: Any, too_large: asyncio.Event) -> None:
    """Make every response of an httpx client end with an error once it is larger than MESSAGE_LIMIT."""
    httpx: Any = sys.modules[type(client).__module__.partition(".")[0]]

    class Bounded(httpx.AsyncByteStream):  # type: ignore[misc]  # the class depends on which httpx `mcp` brings
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > MESSAGE_LIMIT:
                    too_large.set()
                    raise httpx.StreamError(TOO_LARGE)
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def replace(response: Any) -> None:
        response.stream = Bounded(response.stream)

    client.event_hooks["response"].append(replace)


TOO_LARGE = f"a message of more than {MESSAGE_LIMIT // 1024 // 1024} MB"
