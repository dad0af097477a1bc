"""How many lines each file gained and lost in a turn, counted from its calls: for the block at its end (spec 8.2)."""

from __future__ import annotations

from spear.events.names import EventName
from spear.events.stream import Event, Live


class ChangedLines:
    """Added and removed lines by path, of the calls that say so. A sink of events."""

    def __init__(self) -> None:
        self.of_file: dict[str, tuple[int, int]] = {}

    def __call__(self, item: Event | Live) -> None:
        """Take note of an event; what is no edit is passed over."""
        if isinstance(item, Event) and item.name is EventName.TOOL_FINISHED and "added" in item.data:
            path = str(item.data["path"])
            added, removed = self.of_file.get(path, (0, 0))
            self.of_file[path] = (added + item.data["added"], removed + item.data["removed"])
