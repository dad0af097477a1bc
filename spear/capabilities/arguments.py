"""The arguments of a capability: one JSON object, valid against the declared JSON Schema (spec 4.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spear.capabilities.framing import one_line

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_REASON_LIMIT = 300
_REASONS = 3


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    """Why arguments are not taken. `declared` is true when it is the declaration itself that cannot be used."""

    reason: str
    declared: bool = False


def decoded(text: str) -> dict[str, Any] | ArgumentProblem:
    """Exactly one JSON object: no key twice, no number or text that JSON cannot carry, nothing after it."""
    try:
        found = json_value(text)
    except (ValueError, RecursionError) as error:
        return ArgumentProblem(f"the arguments are not one JSON object: {one_line(str(error), _REASON_LIMIT)}")
    if not isinstance(found, dict):
        return ArgumentProblem("the arguments are JSON, but not an object")
    return found


def json_value(text: str) -> Any:
    """One JSON value: no key twice, no number or text that JSON cannot carry, nothing after it. Raises ValueError, for
    broken syntax JSONDecodeError with its place, and RecursionError."""
    found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # a lone surrogate, 1e999: not to be sent on
    return found


def checked(arguments: Mapping[str, Any], schema: dict[str, Any]) -> ArgumentProblem | None:
    """What keeps `arguments` from being valid against `schema`; None when they are. Nothing is fetched for a `$ref`."""
    from jsonschema.exceptions import SchemaError, by_relevance
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        errors = sorted(kind(schema, registry=Registry()).iter_errors(arguments), key=by_relevance(), reverse=True)
    except (SchemaError, Unresolvable, RecursionError) as error:
        said = getattr(error, "message", "") or str(error)
        return ArgumentProblem(f"its declared schema cannot be used: {one_line(said, _REASON_LIMIT)}", declared=True)
    if not errors:
        return None
    return ArgumentProblem("; ".join(_told(error) for error in errors[:_REASONS]))


def _told(error: ValidationError) -> str:
    where = "/".join(map(str, error.absolute_path))
    return f"{f'argument {where}: ' if where else ''}{one_line(error.message, _REASON_LIMIT)}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
