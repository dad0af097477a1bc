"""The optional runtime trace: what happened when, one JSON line an item of the event stream (spec 1.5).

Safe to delete at any time: nothing reads it, and no evidence rests on it. Texts that stream are counted, not kept.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from spear.events.stream import Event, Live
from spear.state.files import open_private, state_error, write_all
from spear.state.redaction import Redactor


class RuntimeTrace:
    """A sink that appends to a file. Raises StateError when the file cannot be opened or written."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._path = path
        self._redactor = redactor
        self._began = time.monotonic()
        try:
            self._descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise state_error("open", path, error) from error

    def __call__(self, item: Event | Live) -> None:
        """Write one item down, with the seconds since the trace began."""
        row: dict[str, object] = {"s": round(time.monotonic() - self._began, 4)}
        if isinstance(item, Event):
            row |= {"event": item.name.value, "turn": item.turn, "data": self._redactor.data(dict(item.data))}
        else:
            row |= {"live": item.kind.value, "characters": len(item.text)}
        try:
            write_all(self._descriptor, json.dumps(row).encode("ascii") + b"\n")
        except OSError as error:
            raise state_error("write", self._path, error) from error

    def close(self) -> None:
        """End the trace."""
        os.close(self._descriptor)
