"""Where settings come from: files, variables and flags, each read into dotted keys with the place they stand at."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from spear import __version__
from spear.cli.option import BOOLEAN
from spear.cli.options import settings_options
from spear.cli.settings_model import Backend, Price, Settings
from spear.errors import ConfigurationError


class LayerName(StrEnum):
    """Who set a value, strongest first."""

    CHAT = "chat"
    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROJECT = "project file"
    USER = "user file"
    BACKEND = "backend used last"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: the layer, and `--flag`, `VARIABLE` or `path line N` within it.

    `file` and `line` (from 1, 0 where it is not known) say the last once more, for whoever wants to go there.
    """

    layer: LayerName
    where: str = ""
    file: Path | None = None
    line: int = 0

    def __str__(self) -> str:
        return f"{self.layer} {self.where}".strip()


@dataclass(frozen=True, slots=True)
class Layer:
    """The values one source gives: dotted key → value as read, with the origin of each."""

    name: LayerName
    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def validated(self) -> dict[str, Any]:
        """The values, typed. Raises ConfigurationError that names key, value, place and what is accepted.

        Files are typed and taken by the letter; flags and variables are text to be converted.
        """
        try:
            settings = Settings.model_validate(nest(self.values), strict=None if self.name in _TYPED else False)
        except ValidationError as error:
            raise self._explain(error) from error
        return {key: _reach(settings, key) for key in self.values}

    def _explain(self, error: ValidationError) -> ConfigurationError:
        first = error.errors(include_url=False)[0]
        location = [str(part) for part in first["loc"]]
        prefixes = (".".join(location[:length]) for length in range(len(location), 0, -1))
        origin = next((self.origins[key] for key in prefixes if key in self.origins), Origin(self.name))
        name, place = ".".join(location), origin.where or origin.layer
        if first["type"] == "missing":
            return ConfigurationError(f"{name} is missing in {place}", hint="add it")
        if first["type"] == "extra_forbidden":
            return ConfigurationError(
                f"{name} ({place}): there is no such key", hint="take it out, or correct its name"
            )
        accepted = re.sub(r"^(?:Value error, )?Input ", "", first["msg"])
        accepted = re.sub(r"a valid dictionary(?: or instance of \w+)?", "a table", accepted)
        return ConfigurationError(f"{name} = {first['input']!r} ({place}): it {accepted}", hint="correct the value")


_TYPED = frozenset({LayerName.PROJECT, LayerName.USER})
_TABLES = tuple(name for name, info in Settings.model_fields.items() if isinstance(info.default, BaseModel))


def nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as tables."""
    nested: dict[str, Any] = {}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        (nested.setdefault(table, {}) if table else nested)[name] = value
    return nested


def known_keys() -> list[str]:
    """Every key a file may set; keys of tables are dotted."""
    keys = [key for key in Settings.model_fields if key not in _TABLES]
    for table in _TABLES:
        default = Settings.model_fields[table].default
        keys += [f"{table}.{key}" for key in type(default).model_fields]
    return keys


def _reach(settings: Settings, key: str) -> Any:
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def of_flags(arguments: argparse.Namespace, directory: Path, home: Path) -> Layer:
    """What the command line gives. Relative paths start from `directory`."""
    values, origins = {}, {}
    for option in settings_options():
        value = getattr(arguments, option.attribute, None) if option.names else None
        if value is not None and value != "":
            values[option.key] = _located(option.key, value, directory, home)
            named = [o for o in settings_options() if o.key == option.key and (not o.constant or o.constant == value)]
            origins[option.key] = Origin(LayerName.FLAG, named[0].names[0])
    return Layer(LayerName.FLAG, values, origins)


def of_environment(environ: Mapping[str, str], directory: Path, home: Path) -> Layer:
    """What the variables give; an empty variable is not set."""
    values, origins = {}, {}
    variables = {option.variable: option for option in settings_options() if option.variable}
    for variable, option in variables.items():
        text = environ.get(variable, "").strip()
        if text:
            values[option.key] = _located(
                option.key, _flagged(text) if option.kind == BOOLEAN else text, directory, home
            )
            origins[option.key] = Origin(LayerName.ENVIRONMENT, variable)
    openai = environ.get("OPENAI_BASE_URL", "").strip()
    if openai and "api_base" not in values:
        values["api_base"] = openai
        origins["api_base"] = Origin(LayerName.ENVIRONMENT, "OPENAI_BASE_URL")
    return Layer(LayerName.ENVIRONMENT, values, origins)


def _flagged(text: str) -> bool | str:
    """A switch as people write it in variables; anything else is left for validation to refuse."""
    lowered = text.lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    return False if lowered in ("0", "false", "no", "off") else text


def of_file(path: Path, name: LayerName, home: Path) -> Layer:
    """What a configuration file gives; nothing when there is none. Raises ConfigurationError naming file and line."""
    if name is LayerName.PROJECT and path.exists() and not path.is_file():  # a tree's pipe would never end
        raise ConfigurationError(f"{path} is no regular file", hint="move it away")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return Layer(name)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 (byte {error.start})", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {path}: {error.strerror}", hint="make it readable, or move it"
        ) from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _broken(path, text, error) from error
    lines = key_lines(text)
    values, origins = {}, {}
    for key, value in _flatten(document, path):
        place = f"{path} line {lines[key]}" if key in lines else str(path)
        _require_known(key, value, place)
        origins[key] = Origin(name, place, path, lines.get(key, 0))
        if key == "backends" and isinstance(value, dict):
            value = {each: _with_located_file(backend, path.parent, home) for each, backend in value.items()}
            within = [each for each in lines if each.startswith("backends.")]
            origins |= {each: Origin(name, f"{path} line {lines[each]}", path, lines[each]) for each in within}
        values[key] = _located(key, value, path.parent, home)
    return Layer(name, values, origins)


def _broken(path: Path, text: str, error: tomllib.TOMLDecodeError) -> ConfigurationError:
    message = str(error)
    place = re.search(r"\(at (?:line (\d+), column (\d+)|end of document)\)", message)
    line, column = (place[1], place[2]) if place and place[1] else (str(text.count("\n") + 1), "")
    said = _said_of(message[: place.start()].strip() if place else message, text.split("\n")[int(line) - 1])
    hint = "write a Windows path in 'single quotes'" if "\\" in said or "escape" in said.lower() else "correct the line"
    where = f"{path}, line {line}" + (f", column {column}" if column else "")
    return ConfigurationError(f"{where}: {said}", hint=hint)


def _said_of(message: str, line: str) -> str:
    """What the reader complains of on a line, the key named where it only says that there are two."""
    key = re.match(r"\s*([^=\s]+)\s*=", line)
    if message == "Cannot overwrite a value" and key:
        return f"{key[1]} is given twice"
    return f"{line.strip()} is given twice" if re.fullmatch(r"Cannot declare .* twice", message) else message


def _flatten(document: Mapping[str, Any], path: Path) -> Iterable[tuple[str, Any]]:
    """Keys of the known tables dotted; everything else as it is."""
    for key, value in document.items():
        if key in _TABLES and isinstance(value, dict):
            for name, inner in value.items():
                yield f"{key}.{name}", inner
        elif key in _TABLES:
            raise ConfigurationError(f"{key} = {value!r} ({path}): it should be a table", hint=f"write [{key}]")
        else:
            yield key, value


def _require_known(key: str, value: Any, place: str) -> None:
    _require_one_of(key, known_keys(), place)
    if key == "backends" and isinstance(value, dict):
        for name, backend in value.items():
            for inner in backend if isinstance(backend, dict) else ():
                names = [f"backends.{name}.{known}" for known in Backend.model_fields]
                _require_one_of(f"backends.{name}.{inner}", names, place)
            price = backend.get("price") if isinstance(backend, dict) else None
            for inner in price if isinstance(price, dict) else ():
                names = [f"backends.{name}.price.{known}" for known in Price.model_fields]
                _require_one_of(f"backends.{name}.price.{inner}", names, place)


def _require_one_of(key: str, known: list[str], place: str) -> None:
    if key in known:
        return
    if near := nearest_key(key, known):
        raise ConfigurationError(f"unknown key {key} in {place}", hint=f"did you mean {near}?")
    table, beside = key.rpartition(".")[0], _beside(key, known)
    names = ", ".join(f"{table}.{each}" for each in sorted(beside))
    shown = f"known: {names}" if table and names else "spear-chat --help lists what can be set"
    raise ConfigurationError(
        f"unknown key {key} in {place}",
        hint=f"{shown}; what a newer spear-chat wrote, this one ({__version__}) refuses",
    )


def nearest_key(key: str, known: list[str]) -> str:
    """The known key that `key` may be a slip of; "" when none is near."""
    table, _, name = key.rpartition(".")
    beside = _beside(key, known)
    swapped = [each for each in beside if sorted(each) == sorted(name)]
    near = [f"{table}.{each}".lstrip(".") for each in swapped or get_close_matches(name, beside, 1, 0.7)]
    near = near or [each for each in known if each.rpartition(".")[2] == name]
    return near[0] if near else ""


def _beside(key: str, known: list[str]) -> list[str]:
    """The names of the table `key` stands in."""
    table = key.rpartition(".")[0]
    return [each.rpartition(".")[2] for each in known if each.rpartition(".")[0] == table]


def key_lines(text: str) -> dict[str, int]:
    """The line each dotted key of a TOML text stands on, as far as a line reader can tell."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if rows := re.match(r"\s*\[\[\s*([^\[\]]+?)\s*\]\]", line):
            table = f"{rows[1]}[]"
            lines.setdefault(rows[1], number)
        elif header := re.match(r"\s*\[([^\[\]]+)\]", line):
            table = re.sub(r"[\s\"']", "", header[1])
            lines.setdefault(table.partition(".")[0] if table.startswith("backends") else table, number)
        elif assignment := re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line):
            key = re.sub(r"[\"']", "", assignment[1])
            lines.setdefault(f"{table}.{key}" if table else key, number)
    return lines


_PATHS = frozenset(
    {"state_dir", "projects_file", "capabilities_file", "knowledge_db", "corpus_root", "trace_file", "gguf"}
)


def _with_located_file(backend: Any, base: Path, home: Path) -> Any:
    """A backend whose model file, if it has one, is an absolute path."""
    if isinstance(backend, dict) and "gguf" in backend:
        return {**backend, "gguf": _located("gguf", backend["gguf"], base, home)}
    return backend


def _located(key: str, value: Any, base: Path, home: Path) -> Any:
    """Paths made absolute: `~` is the operator's home, a relative path starts where it was written."""
    if key not in _PATHS or not isinstance(value, str):
        return value
    if value == "~" or value.startswith("~/"):
        return str(home / value[2:])
    return str(base / value)
