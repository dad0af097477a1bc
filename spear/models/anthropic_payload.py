"""The conversation as Anthropic messages JSON, with prompt-caching marks.

Marks stand on the system text, on the last tool and on the newest message: everything before a mark is read from the
cache by the next round. Thinking blocks must come back exactly as received, signature included; they travel in
`Message.reasoning` as the JSON list `anthropic_assembly` put there, and are left out when they came from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from spear.agent.messages import Image, Message, ModelRequest, Role, ToolSchema
from spear.models.payload import Once, dumps
from spear.models.pictures import MISSING, base64_of

_MARK = {"cache_control": {"type": "ephemeral"}}
_DEFAULT_MAX_TOKENS = 8192
_THINKING = ("thinking", "redacted_thinking")

Block = dict[str, Any]


class MessagesPayload:
    """Builds request bodies for one endpoint. Images go along where it takes them (`images`)."""

    def __init__(self, *, images: bool = True) -> None:
        self._images = images
        self._messages = Once(self._joined)
        self._tools = Once(_tools)

    def body(self, model: str, request: ModelRequest, *, stream: bool) -> bytes:
        """The JSON bytes of a request."""
        limit = request.max_tokens or _DEFAULT_MAX_TOKENS
        fields = [b'"model":' + dumps(model), b'"max_tokens":' + dumps(limit)]
        if request.temperature is not None:
            fields.append(b'"temperature":' + dumps(request.temperature))
        if stream:
            fields.append(b'"stream":true')
        if request.tools:
            fields.append(b'"tools":' + self._tools.all([request.tools])[0])
        system, rest = _split_system(request.messages)
        if system:
            fields.append(b'"system":' + dumps([{"type": "text", "text": system, **_MARK}]))
        fields.append(b'"messages":[' + b",".join(self._turns(rest)) + b"]")
        return b"{" + b",".join(fields) + b"}"

    def _turns(self, messages: Sequence[Message]) -> list[bytes]:
        """Alternating user and assistant turns; neighbours of one side are joined, empty ones left out."""
        parts = self._messages.all(messages)
        spoken = [(_side(message), part) for message, part in zip(messages, parts, strict=True) if part]
        if messages and parts[-1]:
            spoken[-1] = (spoken[-1][0], _encoded(_marked(self._blocks(messages[-1]))))
        if not spoken or spoken[0][0] == "assistant":
            spoken.insert(0, ("user", dumps({"type": "text", "text": "Go on."})))
        return [
            b'{"role":' + dumps(side) + b',"content":[' + b",".join(part for _, part in group) + b"]}"
            for side, group in groupby(spoken, key=lambda item: item[0])
        ]

    def _joined(self, message: Message) -> bytes:
        return _encoded(self._blocks(message))

    def _blocks(self, message: Message) -> list[Block]:
        return [*(map(_image, message.images) if self._images else ()), *blocks(message)]


def _image(image: Image) -> Block:
    data = base64_of(image)
    if data is None:
        return {"type": "text", "text": MISSING}
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": data}}


def blocks(message: Message) -> list[Block]:
    """The content blocks of one message, its images aside. Blank text is left out: the service refuses it."""
    text: list[Block] = [{"type": "text", "text": message.content}] if message.content.strip() else []
    match message.role:
        case Role.TOOL:
            result: Block = {"type": "tool_result", "tool_use_id": message.tool_call_id}
            return [{**result, "content": message.content} if text else result]
        case Role.ASSISTANT:
            uses = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}
                for call in message.tool_calls
            ]
            return [*(_thinking(message.reasoning) if text or uses else ()), *text, *uses]
        case _:
            return text


def _split_system(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The leading system text, and the rest of the conversation."""
    count = next((n for n, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))
    return "\n\n".join(message.content for message in messages[:count] if message.content), messages[count:]


def _encoded(content: list[Block]) -> bytes:
    return b",".join(dumps(block) for block in content)


def _side(message: Message) -> str:
    return "assistant" if message.role is Role.ASSISTANT else "user"


def _marked(content: list[Block]) -> list[Block]:
    if content[-1]["type"] in _THINKING:
        return content
    return [*content[:-1], {**content[-1], **_MARK}]


def _input(arguments: str) -> Any:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"invalid_json": arguments}


def _thinking(reasoning: str) -> list[Block]:
    if not reasoning.startswith("["):
        return []
    try:
        value = json.loads(reasoning)
    except (ValueError, RecursionError):
        return []
    known = isinstance(value, list) and all(isinstance(b, dict) and b.get("type") in _THINKING for b in value)
    return value if known else []


def _tools(tools: tuple[ToolSchema, ...]) -> bytes:
    shapes = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in tools]
    shapes[-1] |= _MARK
    return dumps(shapes)
