"""Headers of rule and skill files: the block between two `---` lines at the top of a text (spec 4.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_HEADER = re.compile(r"\A---[ \t]*\n(?P<header>.*?)(?:\A|(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.+)\Z")
_LARGEST_HEADER = 16_384


def split(text: str) -> tuple[str | None, str]:
    """Header and body; the header is None when there is none, and the body is then the whole text."""
    found = _HEADER.match(text)
    if found is None or len(found["header"]) > _LARGEST_HEADER:
        return None, text
    return found["header"], text[found.end() :]


def lines(header: str) -> Mapping[str, tuple[str, ...]] | str:
    """A header of plain `key: value` lines as lists of values, or the line that is none.

    Read line by line and not as YAML, so that `paths: **/*.py` means what it says. `[a, b]`, `a, b` and a list of
    `- item` lines are the same.
    """
    found: dict[str, tuple[str, ...]] = {}
    key = ""
    for line in header.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (item := _ITEM.match(line)) and key:
            found[key] += (_bare(item["value"]),)
            continue
        match = _KEY.match(line.rstrip())
        if match is None:
            return line.strip()
        key = match["key"].lower()
        if key in found:
            return f"{line.strip()} (the key is there twice)"
        found[key] = _values(match["value"] or "")
    return found


def yaml_mapping(header: str) -> Mapping[str, Any] | None:
    """A header as YAML, as the skills convention writes it; None when it is not a mapping that can be read."""
    import yaml

    try:
        found = yaml.load(header, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None
    return found if isinstance(found, dict) else None


def _values(text: str) -> tuple[str, ...]:
    text = re.sub(r"\s+#.*\Z", "", text).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return tuple(value for part in _parts(text) if (value := _bare(part)))


def _parts(text: str) -> list[str]:
    """Split at the commas that are not inside braces: `*.{c,h}` is one glob."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth <= 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
