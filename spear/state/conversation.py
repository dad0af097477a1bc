"""A conversation as JSON and back, and made resendable again after a crash (spec 8.3).

Decoded by hand rather than by a schema library: a model's text may hold lone surrogates, which must come back as
they were.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from spear.agent.messages import Image, Message, Role, ToolCall
from spear.state.redaction import Redactor

INTERRUPTED = (
    "interrupted: the session ended before this call returned; what it did is unknown, and it was not repeated"
)
"""The result of a call that never got one."""


def encode(message: Message) -> dict[str, Any]:
    """A message as a JSON object; empty fields are left out."""
    encoded: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        encoded["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    if message.tool_call_id:
        encoded["tool_call_id"] = message.tool_call_id
    if message.reasoning:
        encoded["reasoning"] = message.reasoning
    if message.images:
        encoded["images"] = [asdict(image) for image in message.images]
    return encoded


def decode_message(encoded: Any) -> Message:
    """The message in a JSON object. Raises ValueError for anything else."""
    if not isinstance(encoded, Mapping):
        raise ValueError("a message is a JSON object")
    calls = encoded.get("tool_calls", [])
    images = encoded.get("images", [])
    if not isinstance(calls, list) or not isinstance(images, list):
        raise ValueError("tool_calls and images are lists")
    return Message(
        role=Role(_text(encoded, "role")),
        content=_text(encoded, "content"),
        tool_calls=tuple(ToolCall(_text(call, "id"), _text(call, "name"), _text(call, "arguments")) for call in calls),
        tool_call_id=_text(encoded, "tool_call_id"),
        reasoning=_text(encoded, "reasoning"),
        images=tuple(map(_image, images)),
    )


def _image(encoded: Any) -> Image:
    return Image(
        _text(encoded, "file"), _text(encoded, "media_type"), _pixels(encoded, "width"), _pixels(encoded, "height")
    )


def _pixels(encoded: Any, key: str) -> int:
    value = encoded.get(key) if isinstance(encoded, Mapping) else None
    if not isinstance(value, int):
        raise ValueError(f"{key} is a number")
    return value


def _text(encoded: Any, key: str) -> str:
    value = encoded.get(key, "") if isinstance(encoded, Mapping) else None
    if not isinstance(value, str):
        raise ValueError(f"{key} is text")
    return value


def redact(message: Message, redactor: Redactor) -> Message:
    """The message without secrets; arguments that were JSON stay JSON."""
    return Message(
        role=message.role,
        content=redactor.text(message.content),
        tool_calls=tuple(
            ToolCall(call.id, call.name, _redact_arguments(call.arguments, redactor)) for call in message.tool_calls
        ),
        tool_call_id=message.tool_call_id,
        reasoning=redactor.text(message.reasoning),
        images=message.images,
    )


def _redact_arguments(arguments: str, redactor: Redactor) -> str:
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        return redactor.text(arguments)
    redacted = redactor.data(parsed)
    return arguments if redacted == parsed else json.dumps(redacted)


def repair(conversation: Sequence[Message]) -> tuple[Message, ...]:
    """The conversation with exactly one result for each call, so that any endpoint takes it again.

    A call without a result gets one saying `interrupted`, behind the results its message already has; a result
    nobody asked for, and a second one for the same call, are dropped.
    """
    repaired: list[Message] = []
    waiting: list[str] = []
    for message in conversation:
        if message.role is Role.TOOL:
            if message.tool_call_id in waiting:
                waiting.remove(message.tool_call_id)
                repaired.append(message)
            continue
        repaired += _interrupted(waiting)
        repaired.append(message)
        waiting = list(dict.fromkeys(call.id for call in message.tool_calls))
    return (*repaired, *_interrupted(waiting))


def _interrupted(calls: Iterable[str]) -> list[Message]:
    return [Message(Role.TOOL, INTERRUPTED, tool_call_id=call) for call in calls]
