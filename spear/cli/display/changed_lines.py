"""How many lines each file gained and lost in a turn, counted from its calls: for the block at its end (spec 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spear.events.names import EventName
from spear.events.stream import Event, Live


class ChangedLines:
    """Added and removed lines by path, of the calls that say so. A sink of events."""

    def __init__(self) -> None:
        self.of_file: dict[str, tuple[int, int]] = {}
        self._paths: dict[str, str] = {}

    def __call__(self, item: Event | Live) -> None:
        """Take note of an event; what is no call is passed over."""
        if not isinstance(item, Event):
            return
        if item.name is EventName.TOOL_CALLED:
            self._paths[str(item.data.get("call_id", ""))] = str((item.data.get("arguments") or {}).get("path", ""))
        elif item.name is EventName.TOOL_FINISHED:
            self._count(item.data)

    def _count(self, data: Mapping[str, Any]) -> None:
        path = self._paths.pop(str(data.get("call_id", "")), "")
        if path and "added" in data:
            added, removed = self.of_file.get(path, (0, 0))
            self.of_file[path] = (added + data["added"], removed + data["removed"])
