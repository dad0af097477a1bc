"""`--schema FILE`: the JSON Schema the answer of one turn must satisfy, checked before the model is asked (spec 1.3).

The model is told the schema; what it answers is judged here, by nobody's word. Nothing is fetched for a `$ref`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spear.capabilities.arguments import json_value
from spear.cli.display.filtering import clean
from spear.errors import UsageError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_LARGEST = 64 << 10
_REASONS = 3
_REASON_LENGTH = 300
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL)
_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data: what looks like a reference there is none."""
_TOLD = """\
The form of the answer
Your final answer is read by a program. It must be one JSON value that satisfies this JSON Schema, and nothing else: \
no sentence before or after it, no fence around it.
"""


class AnswerMismatch(Exception):
    """Why an answer does not satisfy the schema, in one clause."""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """A schema that can be used. `path` is how the operator named it."""

    path: str
    _text: str
    _validator: Validator

    @property
    def instruction(self) -> str:
        """What the model is told."""
        return _TOLD + self._text

    def accept(self, answer: str) -> str:
        """The JSON text of an answer that satisfies the schema, taken out of one fence around all of it.

        Raises AnswerMismatch with up to three places and what is wrong there.
        """
        text = answer.strip()
        if fenced := _FENCED.fullmatch(text):
            text = fenced[1].strip()
        try:
            value = json_value(text)
        except (ValueError, RecursionError) as error:
            raise AnswerMismatch(f"it is not one JSON value: {_short(str(error))}") from error
        problems = self._problems(value)
        if problems:
            raise AnswerMismatch("; ".join(problems))
        return text if clean(text) == text else json.dumps(value)  # what is not shown as it is stays JSON

    def _problems(self, value: Any) -> list[str]:
        from jsonschema.exceptions import by_relevance
        from referencing.exceptions import Unresolvable

        try:
            found = sorted(self._validator.iter_errors(value), key=by_relevance(), reverse=True)
        except (Unresolvable, RecursionError, ArithmeticError, re.error) as error:
            return [f"the schema cannot judge it: {_short(str(error))}"]
        return [f"at {_pointer(each.absolute_path)}: {_short(each.message)}" for each in found[:_REASONS]]


def load_schema(given: str, directory: Path) -> AnswerSchema:
    """The schema of a file, relative to `directory`. Raises UsageError that names file, place and the way out."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    text = _read(directory / given, given)
    try:
        schema = json_value(text)
    except json.JSONDecodeError as error:
        where = f"{given}, line {error.lineno}, column {error.colno}"
        raise UsageError(f"--schema {where}: {error.msg}", hint="correct the JSON") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--schema {given}: {_short(str(error))}", hint="correct the JSON") from error
    if not isinstance(schema, dict | bool):
        raise UsageError(f"--schema {given} holds no JSON Schema", hint="it should be an object with its keywords")
    kind: Any = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        place = f"{given} at {_pointer(error.absolute_path)}"
        raise UsageError(f"--schema {place}: {_short(error.message)}", hint="correct the schema") from error
    for place_of, reference in _references(schema, ()):
        if not _resolves(reference, schema):
            raise UsageError(
                f"--schema {given} at {_pointer(place_of)}: {_short(reference)} leads nowhere within the file",
                hint="put what it means under $defs; nothing is fetched",
            )
    return AnswerSchema(given, text.strip(), kind(schema, registry=Registry()))


def _read(path: Path, given: str) -> str:
    if not path.exists():
        raise UsageError(f"--schema {given}: there is no such file", hint="name a file that holds a JSON Schema")
    if not path.is_file():
        raise UsageError(f"--schema {given} is no regular file", hint="name a file that holds a JSON Schema")
    try:
        with path.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"--schema {given} is not UTF-8 (byte {error.start})", hint="save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"--schema {given} cannot be read: {error.strerror}", hint="make it readable") from error
    if len(data) > _LARGEST:
        raise UsageError(f"--schema {given} is larger than {_LARGEST >> 10} KiB", hint="the model is shown all of it")
    return text


def _references(schema: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every `$ref` with its place."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                yield (*place, key), value
            elif key not in _DATA or (place and place[-1] == "properties"):
                yield from _references(value, (*place, key))
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from _references(value, (*place, str(index)))


def _resolves(reference: str, schema: Any) -> bool:
    """Whether a reference leads into the schema itself."""
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    base = resource.id() or ""
    try:
        Registry().with_resource(base, resource).crawl().resolver(base).lookup(reference)
    except Unresolvable:
        return False
    return True


def _pointer(path: Iterable[str | int]) -> str:
    """A place as a JSON pointer; `/` is the whole."""
    return "/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _REASON_LENGTH else f"{line[:_REASON_LENGTH]}…"
