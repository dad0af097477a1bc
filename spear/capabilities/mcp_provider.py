"""One external provider for the length of a session, over the `mcp` client (spec 4.4, 9.2).

A provider is started when first needed, once. What can go wrong with it is a value that names what happened; after
that the provider is unavailable for the rest of the session and its process is gone. Only `mcp` knows the protocol:
what it returns is taken in wire form (JSON with the names of the specification), whatever its version calls it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from spear.capabilities.background import Background
from spear.capabilities.framing import one_line
from spear.capabilities.mcp_transport import TOO_LARGE, http, stdio
from spear.capabilities.registry import ProviderEntry

START_BUDGET_S = 5.0
"""Seconds a provider has from launch to its list of tools, at most."""

TOOL_LIMIT = 1000
"""Tools of one provider that are looked at."""

_POLL_S = 0.05
_STOP_S = 5.0
_GUARD_ERROR = -32099
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class FailureCode(StrEnum):
    """What happened to a provider or to one call of it."""

    CANNOT_START = "cannot_start"
    START_TIMEOUT = "start_timeout"
    PROTOCOL = "protocol"
    ENDED = "ended"
    CALL_TIMEOUT = "call_timeout"
    TOO_LARGE = "too_large"
    SERVER_ERROR = "server_error"
    CANCELLED = "cancelled"


_LASTING = frozenset(FailureCode) - {FailureCode.TOO_LARGE, FailureCode.SERVER_ERROR, FailureCode.CANCELLED}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer. `said` is the provider's last line on stderr: for the operator, never for a model."""

    code: FailureCode
    reason: str
    said: str = ""

    @property
    def lasting(self) -> bool:
        """Whether the provider is unavailable from now on."""
        return self.code in _LASTING


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """One tool as the provider declares it: its name, its text, the JSON Schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class McpProvider:
    """A provider by its entry. Methods are called from one thread; `log` receives its stderr, bounded."""

    def __init__(self, entry: ProviderEntry, background: Background, environ: Mapping[str, str], log: Path) -> None:
        self.entry = entry
        self.log = log
        self.failure: Failure | None = None
        self._background = background
        self._environ = environ
        self._ready: Future[Any] = Future()
        self._launched = threading.Event()
        self._launched_at = 0.0
        self._task: Future[None] | None = None
        self._stop: asyncio.Event | None = None
        self._too_large = asyncio.Event()
        self._session: Any = None
        self._tools: tuple[ToolDeclaration, ...] = ()
        self._changed = threading.Event()

    @property
    def started(self) -> bool:
        """Whether a start was ever attempted."""
        return self._task is not None

    def known(self) -> tuple[ToolDeclaration, ...] | Failure:
        """What was last heard of it, without asking it."""
        return self.failure or self._tools

    def start(self) -> None:
        """Begin to start it, without waiting. Starting twice is starting once."""
        if self._task is None:
            self._task = self._background.submit(self._serve())

    def tools(
        self, cancelled: Callable[[], bool] = lambda: False, *, refresh: bool = False
    ) -> tuple[ToolDeclaration, ...] | Failure:
        """What it offers now. The first call waits for the start; `refresh`, or its own notice, asks it again."""
        if self.failure is not None:
            return self.failure
        if self._session is None:
            return self._opened(cancelled)
        if refresh or self._changed.is_set():
            self._changed.clear()
            listed: tuple[ToolDeclaration, ...] | Failure = self._ask(_listed(self._session), self._budget, cancelled)
            if isinstance(listed, Failure):
                return listed
            self._tools = listed
        return self._tools

    def call(
        self, tool: str, arguments: Mapping[str, Any], cancelled: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Any] | Failure:
        """Call a tool of a started provider: its result in wire form (`content`, `structuredContent`, `isError`)."""
        if self.failure is not None:
            return self.failure
        result: dict[str, Any] | Failure = self._ask(
            _called(self._session, tool, dict(arguments), self._too_large), self.entry.timeout, cancelled
        )
        return result

    def close(self) -> None:
        """End it; returns when its processes are gone, or after a few seconds."""
        self.dismiss()
        if self._task is not None:
            try:
                self._task.result(_STOP_S)
            except (FutureTimeout, asyncio.CancelledError):
                self._task.cancel()

    def dismiss(self) -> None:
        """Have it ended, without waiting."""
        if self._task is not None and not self._task.done():
            self._background.submit(self._end())

    @property
    def _budget(self) -> float:
        return min(self.entry.timeout, START_BUDGET_S)

    def _opened(self, cancelled: Callable[[], bool]) -> tuple[ToolDeclaration, ...] | Failure:
        """Wait for the start. Its time runs from the launch, whoever waits and since when."""
        self.start()
        self._launched.wait()
        late = Failure(FailureCode.START_TIMEOUT, f"it did not answer its start within {self._budget:g} s")
        opened = self._wait(self._ready, self._launched_at + self._budget, cancelled, late)
        if isinstance(opened, Failure):
            return opened
        self._session, self._tools = opened
        return self._tools

    def _ask(self, work: Coroutine[Any, Any, Any], seconds: float, cancelled: Callable[[], bool]) -> Any:
        future = self._background.submit(work)
        late = Failure(FailureCode.CALL_TIMEOUT, f"it did not answer within {seconds:g} s")
        found = self._wait(future, time.monotonic() + seconds, cancelled, late)
        future.cancel()
        return found

    def _wait(self, future: Future[Any], deadline: float, cancelled: Callable[[], bool], late: Failure) -> Any:
        """The result of `future`, or the failure it amounts to. A lasting failure ends the provider."""
        while True:
            try:
                return future.result(max(0.0, min(_POLL_S, deadline - time.monotonic())))
            except FutureTimeout as error:
                if future.done() and future.exception() is error:
                    found = Failure(late.code, f"{late.reason}: {one_line(str(error), 200)}")
                    break
                if cancelled():
                    return Failure(FailureCode.CANCELLED, "the turn was interrupted")
                if time.monotonic() >= deadline:
                    found = late
                    break
            except Exception as error:  # noqa: BLE001 — whatever a server makes the client raise is its failure
                found = _failure(error, starting=late.code is FailureCode.START_TIMEOUT)
                break
        if found.lasting:
            self.failure = found
            self.dismiss()
        return found

    async def _end(self) -> None:
        if self._stop is not None:
            self._stop.set()

    async def _serve(self) -> None:
        """Open the connection, hand it over, hold it open until told to stop. Runs in one task from start to end."""
        try:
            _quiet()
            from mcp import ClientSession
        finally:
            self._launched_at = time.monotonic()
            self._stop = asyncio.Event()
            self._launched.set()
        opening = asyncio.ensure_future(self._hold(ClientSession))
        stopping = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
        opening.cancel()
        stopping.cancel()
        await asyncio.gather(opening, return_exceptions=True)

    async def _hold(self, session_type: Any) -> None:
        try:
            async with AsyncExitStack() as stack:
                entry, environ = self.entry, self._environ
                transport = stdio(entry, environ, self.log) if entry.command else http(entry, environ, self._too_large)
                read, write = await stack.enter_async_context(transport)
                session = await stack.enter_async_context(session_type(read, write, message_handler=self._heard))
                await session.initialize()
                self._ready.set_result((session, await _listed(session)))
                await asyncio.Event().wait()
        except Exception as error:  # noqa: BLE001 — a connection that breaks is a failed start, or shown by the next call
            if not self._ready.done():
                self._ready.set_exception(error)

    async def _heard(self, message: Any) -> None:
        """What a server says unasked: of interest is only that its tools changed."""
        notification = getattr(message, "root", message)
        if getattr(notification, "method", "") == "notifications/tools/list_changed":
            self._changed.set()


def _quiet() -> None:
    """Keep what the client library logs off the terminal, unless the program set up logging itself."""
    logger = logging.getLogger("mcp")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


async def _listed(session: Any) -> tuple[ToolDeclaration, ...]:
    """All tools, page by page. Names that could not be written as one word of a command are left out."""
    from mcp.types import PaginatedRequestParams

    found: dict[str, ToolDeclaration] = {}
    cursor: str | None = None
    for _ in range(TOOL_LIMIT):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        wire = page.model_dump(by_alias=True, mode="json", exclude_none=True)
        for tool in wire["tools"]:
            if _NAME.fullmatch(tool["name"]):
                text = tool.get("description") or tool.get("title") or ""
                found.setdefault(tool["name"], ToolDeclaration(tool["name"], text, tool["inputSchema"]))
        cursor = wire.get("nextCursor")
        if not cursor or len(found) >= TOOL_LIMIT:
            break
    return tuple(found.values())[:TOOL_LIMIT]


async def _called(session: Any, tool: str, arguments: dict[str, Any], too_large: asyncio.Event) -> dict[str, Any]:
    """The result in wire form. Raises ValueError when it was cut off as too large."""
    too_large.clear()
    cut_off = asyncio.ensure_future(too_large.wait())
    answer = asyncio.ensure_future(session.call_tool(tool, arguments))
    try:
        await asyncio.wait({answer, cut_off}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ValueError(TOO_LARGE)
        return dict(answer.result().model_dump(by_alias=True, mode="json", exclude_none=True))
    finally:
        cut_off.cancel()
        answer.cancel()


def _failure(error: BaseException, *, starting: bool) -> Failure:
    """A failure in words, from whatever the client raised."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    detail = getattr(error, "error", None)
    if detail is not None and detail.code == _GUARD_ERROR and isinstance(detail.data, dict):
        return _guarded(detail.data, starting=starting)
    text = one_line(str(error), 300) or type(error).__name__
    if TOO_LARGE in text:
        return Failure(FailureCode.TOO_LARGE, f"its answer was {TOO_LARGE}")
    if starting:
        code = (
            FailureCode.CANNOT_START
            if isinstance(error, OSError) or "onnect" in type(error).__name__
            else FailureCode.PROTOCOL
        )
        return Failure(code, f"it cannot be spoken to: {text}")
    if detail is not None and not _broken(detail):
        return Failure(FailureCode.SERVER_ERROR, f"it answered with an error: {text}")
    if detail is None and isinstance(error, RuntimeError | ValueError):
        return Failure(FailureCode.SERVER_ERROR, f"its answer does not follow the protocol: {text}")
    return Failure(FailureCode.ENDED, f"the connection broke: {text}")


def _broken(detail: Any) -> bool:
    """Whether an error was made up by the client because the connection is gone."""
    return "onnection closed" in str(detail.message) or "ession terminated" in str(detail.message)


def _guarded(data: Mapping[str, Any], *, starting: bool) -> Failure:
    """A failure the provider's guard reports."""
    said = one_line(str(data.get("said", "")), 300)
    why = one_line(str(data.get("why", "")), 300)
    match data.get("spear"):
        case "too_large":
            return Failure(FailureCode.TOO_LARGE, f"its answer was {TOO_LARGE}")
        case "cannot_start":
            return Failure(FailureCode.CANNOT_START, f"it cannot be started: {why}")
        case _:
            if starting:
                return Failure(FailureCode.CANNOT_START, f"{why} during its start", said)
            return Failure(FailureCode.ENDED, why, said)
