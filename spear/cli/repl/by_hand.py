"""The tools by the operator's own hand: through SpearHost, in the session's mode, audited as operator (spec 8.2)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from spear.agent.host import Access, Outcome, Refusal, ToolRequest, ToolResult
from spear.agent.tools import SCHEMAS, Toolbox, coerce
from spear.cli.application import Application
from spear.control.observation import outline
from spear.errors import UsageError
from spear.events.names import EventName
from spear.events.stream import Event, Live, Sink
from spear.host.confirmation import Confirm, nobody
from spear.host.opening import TurnParts, TurnRequest, open_turn
from spear.host.spear_host import SpearHost
from spear.web.tools import SCHEMAS as WEB_SCHEMAS

_LARGEST_EDIT = 4 << 20
_numbers = itertools.count(1)


def run_by_hand(
    app: Application,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    sink: Sink,
    confirm: Confirm,
    cancelled: Callable[[], bool],
) -> str:
    """What the tool answers. Raises UsageError for a tool or arguments that do not exist."""
    schema = next((schema for schema in (*SCHEMAS, *WEB_SCHEMAS) if schema.name == tool), None)
    if schema is None:
        raise UsageError(f"this build has no tool for that ({tool})", hint="/help lists the tools")
    coerced = coerce(schema, arguments)
    if isinstance(coerced, str):
        raise UsageError(coerced, hint="/help lists the tools")

    def emit(item: Event | Live) -> None:
        if isinstance(item, Event):
            app.audit.append(item.name, item.turn, {**item.data, "by": "operator"})
        sink(item)

    request = ToolRequest(f"operator-{app.session}-{next(_numbers)}", tool, coerced)
    called = {"call_id": request.call_id, "tool": tool}
    with _host(app, TurnParts(confirm, emit, app.approvals, cancelled, web=app.web)) as host:
        emit(Event(EventName.TOOL_CALLED, {**called, "arguments": outline(coerced)}))
        result = _used(host, request)
        host.after_tool(request, result)
        name = EventName.TOOL_REFUSED if result.refusal else EventName.TOOL_FINISHED
        emit(Event(name, {**called, "outcome": result.outcome.value, "changed": result.changed}))
        return result.text


def _used(host: SpearHost, request: ToolRequest) -> ToolResult:
    """The call through the host: the core's six by its toolbox, the web's by the host itself."""
    if all(schema.name != request.tool for schema in WEB_SCHEMAS):
        return Toolbox(host, lambda _: False).run(request)
    refusal = host.authorize(request)
    if refusal is not None:
        return ToolResult(refusal.line(), Outcome.REFUSED, refusal, reason=refusal.code)
    return host.run_web(request)


def file_text(app: Application, path: str) -> str:
    """A file's text through the host's own reading rules; "" when there is none. Raises UsageError."""
    with _host(app, TurnParts(nobody, lambda _: None, app.approvals)) as host:
        found = host.resolve(path, Access.READ, "read_file")
        if isinstance(found, Refusal):
            raise UsageError(f"{path}: {found.reason}", hint=found.remedy)
        if not found.exists:
            return ""
        with host.open_read(found) as stream:
            data = stream.read(_LARGEST_EDIT + 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text", hint="edit it with a tool of its kind") from error
    if len(data) > _LARGEST_EDIT:
        raise UsageError(f"{path} is larger than 4 MiB", hint="edit it outside of the chat")
    return text


@contextmanager
def _host(app: Application, parts: TurnParts) -> Iterator[SpearHost]:
    """A host outside any turn of the model: number 0, the whole workspace."""
    app.host.confinement.start()
    host = open_turn(app.host, TurnRequest(turn=0, read_only=False, everywhere=True), parts)
    try:
        yield host
        host.settle()
    finally:
        host.close()
