"""What endpoints did with offered tools, remembered per endpoint and model in the state directory (spec 8.4)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spear.models.toolless import ToolSupport
from spear.state.files import replace_durably

_SECONDS = 7 * 86_400
"""A server is set up anew under the same name now and then: what was found is asked again after a week."""
_MOST = 200


class ToolMemory:
    """The findings of one endpoint. A file that cannot be read is empty: the worst it costs is one probe."""

    def __init__(self, file: Path, endpoint: str, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._endpoint = endpoint
        self._now = now

    def recall(self, model: str) -> ToolSupport:
        """What was found of the model within the last week."""
        found = self._read().get(self._key(model))
        return ToolSupport(found["support"]) if found else ToolSupport.UNKNOWN

    def remember(self, model: str, support: ToolSupport) -> None:
        """Note what was found. Raises StateError."""
        found = {"support": support.value, "found": self._now()}
        rest = [item for item in self._read().items() if item[0] != self._key(model)]
        kept = {self._key(model): found, **dict(rest[: _MOST - 1])}
        replace_durably(self._file, f"{json.dumps(kept, indent=1)}\n".encode())

    def _key(self, model: str) -> str:
        return f"{self._endpoint} {model}"

    def _read(self) -> dict[str, dict[str, Any]]:
        """What still counts, newest first."""
        try:
            document = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        rows = document.items() if isinstance(document, dict) else ()
        return {key: row for key, row in rows if isinstance(row, dict) and self._counts(row)}

    def _counts(self, row: dict[str, Any]) -> bool:
        found = row.get("found")
        known = row.get("support") in (ToolSupport.NATIVE.value, ToolSupport.IGNORED.value)
        return known and isinstance(found, (int, float)) and 0 <= self._now() - found < _SECONDS
