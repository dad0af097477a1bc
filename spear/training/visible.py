"""What a model saw and said, in the one provider-neutral form episodes and datasets use (spec 7).

Private reasoning is dropped, secrets are redacted, and the ids of calls are counted anew, so that two runs in which a
model saw the same things have equal bytes whichever server answered. The form is the one chat templates read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spear.agent.conversation import mend
from spear.agent.messages import Message, Role, ToolSchema
from spear.agent.reasoning import strip
from spear.state.conversation import redact
from spear.state.lines import canonical
from spear.state.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Step:
    """One assistant message: its place, the digest of all the model saw before it, and the digest of itself."""

    place: int
    context: str
    completion: str


def neutral(messages: Iterable[Message], redactor: Redactor) -> list[dict[str, Any]]:
    """The messages in neutral form. Every assistant message says `train: false`: selecting is for curation.

    They are mended first, as they were before they were sent: what a model saw is always a valid conversation.
    """
    ids: dict[str, str] = {}
    return [_neutral(redact(message, redactor), ids) for message in mend(messages)]


def neutral_tools(schemas: Iterable[ToolSchema]) -> list[dict[str, Any]]:
    """The tools a model was offered, as chat templates read them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in schemas
    ]


def steps(tools: Sequence[dict[str, Any]], messages: Sequence[dict[str, Any]], start: int) -> tuple[Step, ...]:
    """The assistant messages from place `start` on, each with the digest of exactly what was visible before it."""
    seen = hashlib.sha256(canonical({"tools": list(tools)}))
    found = []
    for place, message in enumerate(messages):
        line = canonical(message)
        if message["role"] == Role.ASSISTANT.value and place >= start:
            found.append(Step(place, seen.hexdigest()[:32], hashlib.sha256(line).hexdigest()[:32]))
        seen.update(line + b"\n")
    return tuple(found)


def _neutral(message: Message, ids: dict[str, str]) -> dict[str, Any]:
    content = strip(message.content)[0] if message.role is Role.ASSISTANT else message.content
    shown: dict[str, Any] = {"role": message.role.value, "content": content}
    if message.role is Role.ASSISTANT:
        shown["train"] = False
    if message.tool_calls:
        shown["tool_calls"] = [
            {
                "id": ids.setdefault(call.id, f"call_{len(ids) + 1}"),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        shown["tool_call_id"] = ids.setdefault(message.tool_call_id, f"call_{len(ids) + 1}")
    return shown
