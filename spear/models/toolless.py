"""Servers that ignore `tools` (spec 8.4): found out with one forced call, then served by text the program reads itself.

Small and unknown local servers answer a request with tools by HTTP 200 and plain prose. For them the tools go into
the system text and the answer is one JSON object: held to a JSON schema where the server can, else one fenced block.
What is read that way becomes an ordinary `ModelTurn`; it crosses the host like any other call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Protocol

from spear.agent.messages import (
    FailureKind,
    Message,
    ModelFailure,
    ModelRequest,
    ModelTurn,
    Role,
    StopReason,
    ToolSchema,
)
from spear.models.backend import ModelBackend
from spear.models.payload import Once
from spear.models.retry import check
from spear.models.toolless_text import answer_schema, fenced_call, instructions, object_turn, plain_message
from spear.models.wrapping import WrappingBackend


class ToolSupport(StrEnum):
    """What an endpoint and model do with offered tools. Callers remember it per endpoint and model."""

    UNKNOWN = "unknown"
    NATIVE = "native"
    IGNORED = "ignored"


class ExtensibleBackend(ModelBackend, Protocol):
    """A backend whose requests can carry further fields."""

    def complete_with(self, request: ModelRequest, extra: Sequence[tuple[str, Any]]) -> ModelTurn:
        """As `complete`, with these top-level fields."""
        ...


_PROBE_TOOL = ToolSchema(
    "report_ready",
    "Report that you are ready.",
    {"type": "object", "properties": {"ready": {"type": "boolean"}}, "required": ["ready"]},
)
_PROBE_ASK = Message(Role.USER, "Call the tool report_ready with ready set to true.")
_PROBE_TOKENS = 1024
_REFUSES_TOOLS = re.compile(
    r"(not|n't) support (tool|function)|tools? (param|call\w*|use) (requires?|(is|are) not)|--jinja", re.IGNORECASE
)
_CALL_LIKE = re.compile(r"<(tool_call|function)\b|```tool", re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"\b(I'll|I will|I am going to|I'm going to|let me|let's|first, I|je vais|laissez-moi|commençons par)\b",
    re.IGNORECASE,
)


def probe(backend: ExtensibleBackend, cancelled: Callable[[], bool] | None = None) -> ToolSupport:
    """Ask for one forced call. UNKNOWN when the answer was cut or the server refuses to force a call.

    Raises `ModelFailure` when the endpoint cannot be used at all.
    """
    request = ModelRequest((_PROBE_ASK,), (_PROBE_TOOL,), max_tokens=_PROBE_TOKENS, cancelled=cancelled)
    try:
        turn = backend.complete_with(request, (("tool_choice", "required"),))
    except ModelFailure as failure:
        if refuses_tools(failure):
            return ToolSupport.IGNORED
        if failure.kind is not FailureKind.BAD_REQUEST:
            raise
        turn = backend.complete(request)
    if any(call.name == _PROBE_TOOL.name for call in turn.tool_calls):
        return ToolSupport.NATIVE
    return ToolSupport.UNKNOWN if turn.stop_reason is StopReason.LENGTH else ToolSupport.IGNORED


def refuses_tools(failure: ModelFailure) -> bool:
    """Whether a server rejected a request because it carries tools."""
    rejected = failure.kind in (FailureKind.BAD_REQUEST, FailureKind.SERVER_ERROR)
    return rejected and _REFUSES_TOOLS.search(failure.message) is not None


def suspicious(turn: ModelTurn, tools: Sequence[ToolSchema]) -> bool:
    """Whether an answer without calls looks like one whose call was lost: a call as text, or an announced action."""
    if turn.tool_calls:
        return False
    text = f"{turn.text}\n{turn.reasoning}"
    named = any(f'"{tool.name}"' in text for tool in tools)
    return named or bool(_CALL_LIKE.search(text) or _ANNOUNCED.search(turn.text))


class ToolAwareBackend(WrappingBackend[ExtensibleBackend]):
    """Offers tools natively, and without the server's help once that is known to be needed.

    An answer that is `suspicious` while nothing is known costs one probe; plain answers cost nothing. `recall` tells
    what is remembered of a model, asked once, with the first request that offers tools; `on_support` is told once what
    was found of it, to remember it and to say so.
    """

    def __init__(
        self,
        inner: ExtensibleBackend,
        recall: Callable[[str], ToolSupport] | None = None,
        on_support: Callable[[str, ToolSupport], None] | None = None,
    ) -> None:
        super().__init__(inner)
        self._toolless = ToollessBackend(inner)
        self._recall = recall
        self._on_support = on_support
        self._probed = False
        self.support = ToolSupport.UNKNOWN

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer. Raises `ModelFailure`."""
        if self._recall is not None and request.tools:
            check(request.cancelled)
            self.support, self._recall = self._recall(self._inner.model), None
        if self.support is ToolSupport.IGNORED:
            return self._toolless.complete(request)
        if not request.tools:
            return self._inner.complete(request)
        try:
            turn = self._inner.complete(request)
        except ModelFailure as failure:
            if not refuses_tools(failure):
                raise
            self._found(ToolSupport.IGNORED)
            return self._toolless.complete(request)
        if self.support is ToolSupport.NATIVE:
            return turn
        if turn.tool_calls:
            self._found(ToolSupport.NATIVE)
        elif suspicious(turn, request.tools) and self._probe(request) is ToolSupport.IGNORED:
            return self._toolless.complete(request)
        return turn

    def _probe(self, request: ModelRequest) -> ToolSupport:
        """What a forced call shows; asked once. A failure says nothing, and the answer at hand stands."""
        if not self._probed:
            self._probed = True
            try:
                self._found(probe(self._inner, request.cancelled))
            except ModelFailure as failure:
                if failure.kind is FailureKind.CANCELLED:
                    raise
        return self.support

    def _found(self, support: ToolSupport) -> None:
        self.support = support
        if self._on_support is not None and support is not ToolSupport.UNKNOWN:
            self._on_support(self._inner.model, support)


class ToollessBackend(WrappingBackend[ExtensibleBackend]):
    """Sends no tools; describes them in the system text and reads one call from the answer.

    The first form is a reply held to a JSON schema. A server that rejects or ignores the schema is asked for one fenced
    block from then on. Nothing streams: an answer is shown once it is known to be one.
    """

    def __init__(self, inner: ExtensibleBackend) -> None:
        super().__init__(inner)
        self._constrained = True
        self._messages = Once(plain_message)
        self._system: Once[Message, Message] | None = None
        self._tools: tuple[ToolSchema, ...] = ()

    def complete(self, request: ModelRequest) -> ModelTurn:
        """One complete answer; at most one call. Raises `ModelFailure`."""
        turn = self._read(request, self._ask(request))
        if request.on_text is not None and turn.text:
            request.on_text(turn.text)
        return turn

    def _ask(self, request: ModelRequest) -> ModelTurn:
        plain = replace(request, messages=self._plain(request), tools=(), on_text=None)
        if self._constrained and request.tools:
            schema = {"name": "turn", "strict": True, "schema": answer_schema(request.tools)}
            try:
                return self._inner.complete_with(
                    plain, (("response_format", {"type": "json_schema", "json_schema": schema}),)
                )
            except ModelFailure as failure:
                if failure.kind is not FailureKind.BAD_REQUEST:
                    raise
                self._constrained = False
        return self._inner.complete(plain)

    def _read(self, request: ModelRequest, turn: ModelTurn) -> ModelTurn:
        """What the model meant. A cut answer is passed on as cut: no call is ever read from it."""
        if not request.tools or turn.stop_reason in (StopReason.LENGTH, StopReason.FILTERED):
            return turn
        taken = {call.id for message in request.messages for call in message.tool_calls}
        names = {tool.name for tool in request.tools}
        read = object_turn(turn, names, taken)
        if read is None:
            self._constrained = False
            read = fenced_call(turn, names, taken)
        return read or turn

    def _plain(self, request: ModelRequest) -> list[Message]:
        messages = self._messages.all(request.messages)
        if not request.tools:
            return messages
        if messages and messages[0].role is Role.SYSTEM:
            return [*self._told(request.tools).all(messages[:1]), *messages[1:]]
        return [*self._told(request.tools).all((_NO_SYSTEM,)), *messages]

    def _told(self, tools: tuple[ToolSchema, ...]) -> Once[Message, Message]:
        """System messages with the tools described; one object per message, so that the prefix stays the same."""
        if self._system is None or self._tools != tools:
            text = instructions(tools)
            self._tools = tools
            self._system = Once(lambda m: replace(m, content=f"{m.content}\n\n{text}".lstrip()))
        return self._system


_NO_SYSTEM = Message(Role.SYSTEM, "")
