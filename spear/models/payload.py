"""The conversation as chat-completions JSON: each message is encoded once, so that round 500 costs what round 5 did.

The body starts with what never changes within a turn (model, limits, tools) and ends with the messages, oldest first:
from round to round the bytes are an extension, and servers' prefix caches hold (spec 8.4).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, Generic, TypeVar

from spear.agent.messages import Message, ModelRequest, Role, ToolCall, ToolSchema
from spear.models.pictures import MISSING, base64_of
from spear.models.surrogates import mend

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

T = TypeVar("T")
R = TypeVar("R")


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8 without lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return mend(text).encode()


class Once(Generic[T, R]):
    """Converts each object once for as long as requests keep containing it.

    Objects are told apart by identity, held while remembered, and dropped with the first request that lacks them. What
    a request has in common with the last one from its start on costs next to nothing.
    """

    def __init__(self, convert: Callable[[T], R]) -> None:
        self._convert = convert
        self._items: list[T] = []
        self._converted: list[R] = []

    def all(self, items: Sequence[T]) -> list[R]:
        """The converted items in order."""
        common = common_start(self._items, items)
        known = {id(item): made for item, made in zip(self._items[common:], self._converted[common:], strict=True)}
        converted = self._converted[:common]
        for item in items[common:]:
            if id(item) not in known:
                known[id(item)] = self._convert(item)
            converted.append(known[id(item)])
        self._items, self._converted = list(items), converted
        return list(converted)


class CallIds:
    """The ids of the calls of a conversation that grows."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._ids: set[str] = set()

    def of(self, messages: Sequence[Message]) -> Collection[str]:
        """All ids in `messages`; valid until the next call."""
        common = common_start(self._messages, messages)
        if common < len(self._messages):
            common, self._ids = 0, set()
        self._ids.update(call.id for message in messages[common:] for call in message.tool_calls)
        self._messages = list(messages)
        return self._ids


def common_start(one: Sequence[object], other: Sequence[object]) -> int:
    """How many objects two sequences have in common from the start on, told apart by identity."""
    if all(map(is_, one, other)):
        return min(len(one), len(other))
    return next(n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a is not b)


@dataclass(slots=True)
class Dialect:
    """What this server was found to accept. Changes once per surprise, never back."""

    limit_key: str = "max_tokens"
    stream: bool = True
    include_usage: bool = True
    reasoning_key: str = ""
    carry_reasoning: bool = True

    def adapt(self, status: int, message: str) -> bool:
        """Learn from a rejected request; true when it is worth sending again in the new form."""
        if status not in (400, 422, 501):
            return False
        text = message.lower()
        if self.carry_reasoning and self.reasoning_key and self.reasoning_key in text:
            self.carry_reasoning = False
        elif self.limit_key == "max_tokens" and "max_completion_tokens" in text:
            self.limit_key = "max_completion_tokens"
        elif self.stream and self.include_usage and ("stream_options" in text or "include_usage" in text):
            self.include_usage = False
        elif self.stream and "stream" in text and "support" in text:
            self.stream = False
        elif self.stream and self.include_usage and _names_no_field(text):
            self.include_usage = False
        else:
            return False
        return True


def _names_no_field(text: str) -> bool:
    """Whether a rejection speaks of an unknown field without naming one that a caller asked for."""
    asked_for = any(field in text for field in ("response_format", "json_schema", "tool"))
    return not asked_for and any(word in text for word in _UNKNOWN_FIELD)


_UNKNOWN_FIELD = ("extra", "unknown field", "unrecognized", "unexpected", "not permitted", "additional propert")


class ChatPayload:
    """Builds request bodies for one endpoint. `extra` holds further top-level fields (a response format). Images go
    along where the endpoint takes them (`images`)."""

    def __init__(self, *, images: bool = False) -> None:
        self._images = images
        self._messages = Once(self._message)
        self._tools: Once[ToolSchema, bytes] = Once(lambda tool: dumps(tool_json(tool)))
        self._reasoning_key = ""

    def body(self, model: str, request: ModelRequest, dialect: Dialect, extra: Sequence[tuple[str, Any]] = ()) -> bytes:
        """The JSON bytes of a request."""
        self._carry(dialect.reasoning_key if dialect.carry_reasoning else "")
        fields = [b'"model":' + dumps(model)]
        if request.max_tokens is not None:
            fields.append(dumps(dialect.limit_key) + b":" + dumps(request.max_tokens))
        if request.temperature is not None:
            fields.append(b'"temperature":' + dumps(request.temperature))
        if dialect.stream:
            fields.append(b'"stream":true')
            if dialect.include_usage:
                fields.append(b'"stream_options":{"include_usage":true}')
        fields += [dumps(key) + b":" + dumps(value) for key, value in extra]
        if request.tools:
            fields.append(b'"tools":[' + b",".join(self._tools.all(request.tools)) + b"]")
        fields.append(b'"messages":[' + b",".join(self._messages.all(request.messages)) + b"]")
        return b"{" + b",".join(fields) + b"}"

    def _carry(self, reasoning_key: str) -> None:
        """Change what messages carry: only messages with reasoning are affected, and only on the day it is learned."""
        if reasoning_key != self._reasoning_key:
            self._reasoning_key = reasoning_key
            self._messages = Once(self._message)

    def _message(self, message: Message) -> bytes:
        return dumps(message_json(message, self._reasoning_key, images=self._images))


def message_json(message: Message, reasoning_key: str = "", *, images: bool = False) -> dict[str, Any]:
    """One message in the provider's shape. `reasoning_key` names the field that carries reasoning back, if any."""
    content = _with_images(message) if images and message.images else message.content
    shape: dict[str, Any] = {"role": message.role.value, "content": content}
    if message.role is Role.TOOL:
        shape["tool_call_id"] = message.tool_call_id
    if message.role is Role.ASSISTANT:
        if reasoning_key and message.reasoning and message.tool_calls:
            shape[reasoning_key] = message.reasoning
        if message.tool_calls:
            shape["tool_calls"] = [call_json(call) for call in message.tool_calls]
    return shape


def _with_images(message: Message) -> list[dict[str, Any]]:
    """The text, then each image that is still kept."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.content}]
    for image in message.images:
        data = base64_of(image)
        shown = {"url": f"data:{image.media_type};base64,{data}"}
        parts.append({"type": "text", "text": MISSING} if data is None else {"type": "image_url", "image_url": shown})
    return parts


def call_json(call: ToolCall) -> dict[str, Any]:
    """One call in the provider's shape."""
    function = {"name": call.name, "arguments": sendable_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def sendable_arguments(arguments: str) -> str:
    """The arguments as they may be sent back: the model's own text when it is a JSON object, else wrapped in one.

    Servers parse the arguments of earlier calls and fail on what does not parse, or decodes to lone surrogates, for the
    rest of the conversation.
    """
    if not is_json_object(arguments):
        return json.dumps({"invalid_json": mend(arguments)})
    return dumps(json.loads(arguments)).decode() if _ESCAPED_SURROGATE.search(arguments) else arguments


def is_json_object(text: str) -> bool:
    """Whether `text` is one complete JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def tool_json(tool: ToolSchema) -> dict[str, Any]:
    """One tool in the provider's shape."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
