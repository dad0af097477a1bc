"""`spear-chat config explain [KEY] [--json]`: the value of a setting, what set it, and what it means (spec 1.3).

Needs no model and no terminal. Secrets are left out of what is printed: a command or an address may hold one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spear.cli.display.filtering import clean
from spear.cli.option import CONSTANT, Option
from spear.cli.options import FILES_ONLY, settings_options
from spear.cli.settings import Loaded, load
from spear.cli.settings_layers import Origin, known_keys, nearest_key
from spear.errors import UsageError
from spear.state.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Explanation:
    """One setting. `value` is as JSON has it; `flags`, `variable` and `default` are as the help page shows them, and
    `left_out` are the sentences on values of it that a file gives in vain."""

    key: str
    value: Any
    origin: Origin
    meaning: str
    flags: tuple[str, ...]
    variable: str
    default: str
    left_out: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The explanation as JSON: `file` is null and `line` null where no file gave the value."""
        origin = self.origin
        return {
            "key": self.key,
            "value": self.value,
            "origin": str(origin.layer),
            "where": origin.where,
            "file": str(origin.file) if origin.file else None,
            "line": origin.line or None,
            "meaning": self.meaning,
            "flags": list(self.flags),
            "variable": self.variable,
            "default": self.default,
            "left_out": list(self.left_out),
        }


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Explain what was asked for. Raises UsageError for a key nobody knows, ConfigurationError for broken settings."""
    keys = asked(parsed.setting)
    loaded = load(parsed, environ, cwd)
    explained = [explain(key, loaded, environ) for key in keys]
    if parsed.json:
        documents = [each.document() for each in explained]
        print(json.dumps(documents[0] if keys == [parsed.setting] else documents, indent=2))
    elif keys == [parsed.setting]:
        print("\n".join(_page(explained[0])))
    else:
        print("\n".join(_rows(explained)))
    return 0


def asked(name: str | None) -> list[str]:
    """The keys a word means: itself, those of a table, all of them for none. Raises UsageError, with the way out."""
    known = known_keys()
    if not name:
        return sorted(known)
    keys = [key for key in known if key == name] or sorted(key for key in known if key.startswith(f"{name}."))
    if keys:
        return keys
    if name.partition(".")[0] in ("backends", "permissions", "hooks"):  # tables whose names are the operator's
        raise UsageError(f"{name} is explained as a part", hint=f"spear-chat config explain {name.partition('.')[0]}")
    spelt = {option.variable: option.key for option in settings_options() if option.variable}
    near = spelt.get(name) or nearest_key(name.lower().replace("-", "_"), known)
    hint = f"did you mean {near}?" if near else "spear-chat config explain lists every key"
    raise UsageError(f"unknown key {name}", hint=hint)


def explain(key: str, loaded: Loaded, environ: Mapping[str, str]) -> Explanation:
    """What is to be said of a known key."""
    options = [option for option in (*settings_options(), *FILES_ONLY) if option.key == key]
    value: Any = loaded.settings.model_dump(mode="json")
    for part in key.split("."):
        value = value[part]
    first = options[0]
    return Explanation(
        key=key,
        value=Redactor.of_environment(environ).data(value),
        origin=loaded.origins[key],
        meaning=_meaning(options),
        flags=tuple(name for option in options for name in option.names),
        variable=first.variable,
        default=first.constant if first.kind == CONSTANT else first.default,
        left_out=tuple(notice for notice in loaded.notices if notice.startswith(f"{key} in ")),
    )


def _meaning(options: Sequence[Option]) -> str:
    """The sentence of a setting; where each flag gives a value of its own, those of its values."""
    values = [f"{option.constant}: {option.help}" for option in options if option.kind == CONSTANT]
    first = options[0]
    said = "; ".join(values) if first.kind == CONSTANT else first.help
    return f"{said} ({', '.join(first.choices)})" if first.choices else said


def _page(found: Explanation) -> list[str]:
    """One setting, a line for each thing known of it."""
    ways = " · ".join(part for part in (", ".join(found.flags), found.variable) if part)
    rows = [
        ("from", _place(found.origin)),
        ("means", found.meaning),
        ("default", found.default),
        ("set by", f"{ways} · {found.key} in a configuration file" if ways else "a configuration file"),
        *(("note", sentence) for sentence in found.left_out),
    ]
    return [clean(f"{found.key} = {_shown(found.value)}"), *(clean(f"  {n:8}{text}") for n, text in rows if text)]


def _rows(explained: Sequence[Explanation]) -> list[str]:
    """Many settings, a line each, and below them what was left out."""
    lines = [f"{each.key} = {_shown(each.value)}  ({_place(each.origin)})" for each in explained]
    return [clean(line) for line in (*lines, *(sentence for each in explained for sentence in each.left_out))]


def _place(origin: Origin) -> str:
    """The origin in words: with file and line also where it is a backend that gave the value."""
    if origin.file and str(origin.file) not in origin.where:
        return f"{origin}, {origin.file}" + (f" line {origin.line}" if origin.line else "")
    return str(origin)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
