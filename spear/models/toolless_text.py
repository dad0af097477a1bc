"""The text form of tools for servers that ignore them: how a call is asked for, and how strictly it is read. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from spear.agent.messages import Message, ModelTurn, Role, StopReason, ToolCall, ToolSchema
from spear.models.assembly import unused
from spear.models.payload import is_json_object

_FENCE = re.compile(r"^```json[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_BARE_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
_EXAMPLE = "example"


def answer_schema(tools: tuple[ToolSchema, ...]) -> dict[str, Any]:
    """The JSON schema of a turn: a call of one of the tools, or the final answer."""
    answer = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": tool.parameters},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"anyOf": [*calls, answer]}


def instructions(tools: tuple[ToolSchema, ...]) -> str:
    """What the system text says about the tools, with one example a tool."""
    described = "\n".join(
        f"- {tool.name}: {tool.description}\n  arguments: {_compact(tool.parameters)}" for tool in tools
    )
    examples = "\n".join(_fenced({"name": tool.name, "arguments": _example(tool)}) for tool in tools)
    return (
        "You act by calling tools. A tool call is exactly one JSON object in one fenced block, and nothing runs"
        " otherwise. Call one tool, then wait for its result.\n\n"
        f"Tools:\n{described}\n\nA call of each, as an example of the form:\n{examples}\n\n"
        f"When the work is done, or no tool is needed, answer with:\n{_fenced({'answer': 'your answer'})}"
    )


def plain_message(message: Message) -> Message:
    """A message without anything that belongs to native tool calling. Messages that need no change are kept."""
    if message.role is Role.TOOL:
        return Message(Role.USER, f"Result of the call:\n{message.content}")
    if message.tool_calls:
        calls = [_fenced({"name": call.name, "arguments": _arguments(call.arguments)}) for call in message.tool_calls]
        return Message(Role.ASSISTANT, "\n".join(part for part in (message.content, *calls) if part))
    return message


def object_turn(turn: ModelTurn, names: Collection[str], taken: Collection[str]) -> ModelTurn | None:
    """The turn when its whole text is one JSON object of the schema (a fence around it is forgiven), else None."""
    text = turn.text.strip()
    bare = _BARE_FENCE.match(text)
    value = _object(bare[1] if bare else text)
    if value is None:
        return None
    if set(value) == {"answer"} and isinstance(value["answer"], str):
        return replace(turn, text=value["answer"])
    call = _call(value, names, taken)
    return None if call is None else _with_call(turn, "", call)


def fenced_call(turn: ModelTurn, names: Collection[str], taken: Collection[str]) -> ModelTurn | None:
    """The turn when its text holds exactly one fenced `json` block and that block is exactly one call, else None."""
    blocks = list(_FENCE.finditer(turn.text))
    if len(blocks) != 1 or turn.text.count("```") != 2:
        return None
    value = _object(blocks[0][1])
    call = None if value is None else _call(value, names, taken)
    if call is None:
        return None
    around = (turn.text[: blocks[0].start()] + turn.text[blocks[0].end() :]).strip()
    return _with_call(turn, around, call)


def _with_call(turn: ModelTurn, text: str, call: ToolCall) -> ModelTurn:
    return replace(turn, text=text, tool_calls=(call,), stop_reason=StopReason.TOOL_CALLS)


def _call(value: dict[str, Any], names: Collection[str], taken: Collection[str]) -> ToolCall | None:
    if set(value) != {"name", "arguments"} or not isinstance(value["arguments"], dict):
        return None
    if value["name"] not in names:
        return None
    return ToolCall(unused("call_1", taken), value["name"], json.dumps(value["arguments"], ensure_ascii=False))


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _example(tool: ToolSchema) -> dict[str, Any]:
    """Arguments of the right shape: the required ones, and the first one where none is required."""
    properties = tool.parameters.get("properties", {})
    wanted = tool.parameters.get("required") or list(properties)[:1]
    return {name: _sample(name, properties.get(name, {})) for name in wanted}


def _sample(name: str, schema: dict[str, Any]) -> Any:
    for value in _given(schema):
        return value
    kinds: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    path = "src/example.c" if name in ("path", "file") else _EXAMPLE
    return kinds.get(str(schema.get("type")), path)


def _given(schema: dict[str, Any]) -> Iterator[Any]:
    if "default" in schema:
        yield schema["default"]
    yield from schema.get("enum", ())


def _arguments(text: str) -> Any:
    return json.loads(text) if is_json_object(text) else {"invalid_json": text}


def _fenced(value: Any) -> str:
    return f"```json\n{_compact(value)}\n```"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
