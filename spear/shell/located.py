"""A script with the directory it starts in filled in: what `$PWD` and `$(pwd)` stand for (spec 2.6)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from spear.shell.screen import START_DIRECTORY
from spear.shell.syntax import Script


def located(script: Script, directory: str) -> Script:
    """The script as it reads where it starts in an absolute directory."""
    found: Script = _put(script, directory)
    return found


def _put(value: Any, directory: str) -> Any:
    """The same value where nothing in it stands for the directory."""
    if isinstance(value, str):
        return value.replace(START_DIRECTORY, directory) if START_DIRECTORY in value else value
    if isinstance(value, tuple):
        items = tuple(_put(item, directory) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for field in fields(value):
        old = getattr(value, field.name)
        if (new := _put(old, directory)) is not old:
            changed[field.name] = new
    return replace(value, **changed) if changed else value
