"""Approvals in the project's `.spear/config.toml`, under `[[permissions]]`: written there and taken out (spec 2.1).

The file may come with the tree, so it counts only as the operator has trusted it: what is written here is the
operator's own word and trusted as written, and nothing else of a file they have not looked at becomes trusted with it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spear.cli.settings import PROJECT_FILE
from spear.errors import UsageError
from spear.policy.permission import Permission, PermissionScope
from spear.state.trust import TrustStore, digest
from spear.workspace.durable import DurableWriter, WriteProblem

_TABLE = re.compile(r"\s*\[\[\s*permissions\s*\]\]\s*(?:#.*)?")
_HEADER = re.compile(r"\s*\[\[?[^\[\]=]+\]\]?\s*(?:#.*)?")
_KEPT = ("kind", "words", "network", "hosts", "granted", "examples", "never")


class PermissionFile:
    """The project file of one workspace root."""

    def __init__(self, root: Path, trust: TrustStore) -> None:
        self._root = root
        self._trust = trust
        self.path = root / PROJECT_FILE

    def add(self, permission: Permission) -> None:
        """Keep an approval. Raises UsageError for a file that is not trusted or cannot be written, StateError."""
        self._rewrite(lambda kept: kept if _row(permission) in kept else [*kept, _row(permission)])

    def remove(self, permission: Permission) -> None:
        """Take an approval out. Raises as `add`."""
        self._rewrite(lambda kept: [row for row in kept if row != _row(permission)])

    def _rewrite(self, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        present = digest(self.path)
        if present and not self._trust.trusts(self.path):
            raise UsageError(
                f"{PROJECT_FILE} is not trusted as it is now",
                hint="look at it with `spear-chat trust`, then do this again",
            )
        text = self.path.read_text(encoding="utf-8") if present else ""
        document = tomllib.loads(text)
        before = [_row(Permission.model_validate(row)) for row in document.pop("permissions", [])]
        after = change(before)
        if after == before:
            return
        written = _with_rows(_without_rows(text), after)
        if _read(written) != (document | {"permissions": after} if after else document):
            raise UsageError(f"{PROJECT_FILE} holds permissions in a form of its own", hint="change them by hand")
        self._write(written.encode("utf-8"), present)

    def _write(self, data: bytes, present: str) -> None:
        done = DurableWriter().write(self._root, PROJECT_FILE.as_posix(), data, present or None)
        if isinstance(done, WriteProblem):
            raise UsageError(f"{PROJECT_FILE} was not written: {done.text}", hint=done.remedy)
        self._trust.trust(self.path)


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _row(permission: Permission) -> dict[str, Any]:
    """A permission as a table of the file: what says something, lists for tuples."""
    values = permission.model_dump(mode="json", exclude_defaults=True)
    return {key: values[key] for key in _KEPT if key in values}


def _without_rows(text: str) -> str:
    """The text without its tables of permissions; each ends where the next table begins."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if _TABLE.fullmatch(line.rstrip("\r\n")):
            inside = True
        elif _HEADER.fullmatch(line.rstrip("\r\n")):
            inside = False
        if not inside:
            kept.append(line)
    return "".join(kept)


def _with_rows(text: str, rows: Sequence[dict[str, Any]]) -> str:
    parts = [text.rstrip() + "\n"] if text.strip() else []
    for row in rows:
        lines = "".join(f"{key} = {_value(value)}\n" for key, value in row.items())
        parts.append(f"[[permissions]]\n{lines}")
    return "\n".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)  # strings and booleans are written alike in TOML


def of_project(permissions: Sequence[Permission]) -> tuple[Permission, ...]:
    """Permissions as they were read from the file: they hold for the project."""
    return tuple(each.model_copy(update={"scope": PermissionScope.PROJECT}) for each in permissions)
