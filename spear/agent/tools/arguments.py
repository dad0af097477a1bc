"""Arguments of a call, made to fit its schema, or one sentence that says which argument is wrong and how."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from spear.agent.messages import ToolSchema

_TRUE = frozenset({"true", "yes", "1"})
_ANY_TEXT = frozenset({"content", "old_string", "new_string"})
_FALSE = frozenset({"false", "no", "0"})


class _Unfit(Exception):
    """A value cannot be what its schema asks for."""


def coerce(schema: ToolSchema, arguments: Mapping[str, Any]) -> dict[str, Any] | str:
    """The arguments with types as documented and defaults filled in, or an error naming the field (spec coding-core,
    loop 3). `"3"` and `"3.0"` become 3, `"true"` becomes True, null in an optional argument means its default."""
    properties: dict[str, Any] = schema.parameters["properties"]
    required: list[str] = schema.parameters["required"]
    for name in arguments:
        if name not in properties:
            return _unknown(schema.name, name, properties)
    result: dict[str, Any] = {}
    for name, wanted in properties.items():
        value = arguments.get(name)
        if value is None:
            if name in required:
                cut = " (was the call cut off?)" if name == "content" else ""
                return f"{schema.name}: required argument {name} is missing{cut}; send the call again with it."
            if "default" in wanted:
                result[name] = wanted["default"]
            continue
        try:
            result[name] = _value(wanted, value)
            if name not in _ANY_TEXT:
                _check_text(result[name])
        except _Unfit as problem:
            return f"{schema.name}: {name} must be {problem}, not {_shown(value)}; send the call again."
    return result


def _check_text(value: Any) -> None:
    if isinstance(value, str) and any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value):
        raise _Unfit("text without NUL or lone surrogates")


def _unknown(tool: str, name: str, properties: Mapping[str, Any]) -> str:
    near = get_close_matches(name, properties, n=1, cutoff=0.6)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"{tool}: unknown argument {name}{meant}; it takes {', '.join(properties)}."


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _value(wanted: Mapping[str, Any], value: Any) -> Any:
    match wanted["type"]:
        case "integer":
            return _integer(value)
        case "boolean":
            return _boolean(value)
        case _:
            return _string(wanted, value)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _Unfit("an integer")
    try:
        number = float(value.strip()) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        raise _Unfit("an integer") from None
    if not math.isfinite(number) or number != int(number) or abs(number) > 2**53:
        raise _Unfit("an integer")
    return int(number)


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _Unfit("true or false")


def _string(wanted: Mapping[str, Any], value: Any) -> str:
    choices: list[str] | None = wanted.get("enum")
    if choices is not None:
        text = str(value).strip().lower()
        if text in choices:
            return text
        raise _Unfit("one of " + ", ".join(choices))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        raise _Unfit("a string")
    return value
