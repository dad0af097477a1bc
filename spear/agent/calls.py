"""A model's tool calls, read: names repaired where that is unambiguous, arguments parsed and coerced, or the answer
that tells the model what was wrong. Nothing is executed here, and no argument text is ever completed (spec: coding
core, loop 3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spear.agent.conversation import printable
from spear.agent.host import ToolRequest
from spear.agent.messages import ToolCall, ToolSchema

Coerce = Callable[[ToolSchema, Mapping[str, Any]], dict[str, Any] | str]
"""Arguments fitted to a schema, or the sentence that says why they cannot be."""

_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXCERPT = 40
_SMALLER = "if your message was cut off, write in smaller pieces: a short write_file first, then patch to add to it"


class Fault(StrEnum):
    """Why a call is answered without running."""

    BAD_JSON = "bad_json"
    BAD_ARGUMENTS = "bad_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    TRUNCATED = "truncated_call"
    BUDGET = "tool_budget"
    STOPPED = "turn_stopped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Call:
    """One call, read. `problem` is None when it may run; else (fault, answer for the model) and it must not."""

    request: ToolRequest
    problem: tuple[Fault, str] | None = None


def read_call(call: ToolCall, call_id: str, schemas: Sequence[ToolSchema], coerce: Coerce) -> Call:
    """What a call asks for, under the id it has in this conversation."""
    schema = find_tool(call.name, schemas)
    name = schema.name if schema else _NAME.sub("_", call.name)[:64] or "unnamed"
    arguments, fault = _parse(call.arguments)
    if schema is None:
        known = ", ".join(s.name for s in schemas)
        wrong = f"there is no tool {printable(call.name)[:64]!r}" if call.name.strip() else "the call names no tool"
        return Call(ToolRequest(call_id, name, arguments), (Fault.UNKNOWN_TOOL, f"{wrong}; the tools are {known}"))
    if fault is not None:
        return Call(ToolRequest(call_id, name, {}), fault)
    coerced = coerce(schema, arguments)
    if isinstance(coerced, str):
        return Call(ToolRequest(call_id, name, arguments), (Fault.BAD_ARGUMENTS, coerced))
    return Call(ToolRequest(call_id, name, coerced))


def sendable(call: Call, original: ToolCall) -> ToolCall:
    """The call as it is kept in the conversation: the id and name it ran under, and the model's own argument text;
    written anew where only a lenient reader accepts it, `{}` where it is no JSON object at all. Servers parse it."""
    value, fault = _parse(original.arguments)
    text = original.arguments.strip()
    if fault is not None or not text:
        text = "{}"
    elif not _strict(text):
        text = json.dumps(value, ensure_ascii=False)
    return ToolCall(call.request.call_id, call.request.tool, text)


def find_tool(name: str, schemas: Sequence[ToolSchema]) -> ToolSchema | None:
    """The tool of that name; else the only one equal to it but for case, `-` or space for `_`, and a suffix `_tool`."""
    exact = [s for s in schemas if s.name == name]
    alike = exact or [s for s in schemas if _plain(s.name) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[-\s]", "_", name.strip()).lower().removesuffix("_tool")


def _parse(text: str) -> tuple[dict[str, Any], tuple[Fault, str] | None]:
    """The object in `text`, or what is wrong with it. Raw line breaks within strings are accepted: they have one
    reading. No argument at all is the empty object."""
    if not text.strip():
        return {}, None
    try:
        value = json.loads(text, strict=False, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        near = printable(text[max(0, error.pos - _EXCERPT) : error.pos + _EXCERPT])
        at_end = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated string")
        advice = f"; {_SMALLER}" if at_end else ""
        problem = f"{error.msg} at character {error.pos + 1} of {len(text)}, near {near!r}"
        return {}, (Fault.BAD_JSON, f"the arguments are not valid JSON: {problem}; send the whole call again{advice}")
    except (ValueError, RecursionError) as error:
        return {}, (Fault.BAD_JSON, f"the arguments are not usable JSON: {error}; send the call again")
    if not isinstance(value, dict):
        kind = type(value).__name__
        return {}, (Fault.BAD_ARGUMENTS, f"the arguments must be one JSON object, not {kind}; send the call again")
    if _SURROGATE.search(text) or ("\\u" in text and _SURROGATE.search(json.dumps(value, ensure_ascii=False))):
        wrong = r"the arguments hold half a character (a lone \ud800–\udfff escape)"
        return {}, (Fault.BAD_JSON, f"{wrong}; write the character itself and send the call again")
    return value, None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _strict(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
