"""Each tool call as one line: `Read src/ring.c`, `Update src/ring.c +3 −1`, `Terminal make test 0.8 s ✓`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spear.cli.display.filtering import one_line
from spear.cli.display.palette import PLAIN, Palette, Style

_VERBS = {
    "read_file": "Read",
    "search_files": "Search",
    "patch": "Update",
    "write_file": "Write",
    "delete_file": "Delete",
    "terminal": "Terminal",
    "search_internet": "Search the web",
    "fetch_url": "Fetch",
}
_MARKS = {
    "ok": "✓",
    "answered": "✓",
    "failed": "✗",
    "refused": "refused",
    "timeout": "timed out",
    "cancelled": "stopped",
}
_STYLES = {
    "ok": Style.OK,
    "answered": Style.OK,
    "failed": Style.BAD,
    "refused": Style.WARN,
    "timeout": Style.BAD,
    "cancelled": Style.WARN,
}


def called(data: Mapping[str, Any], width: int = 100, palette: Palette = PLAIN) -> str:
    """The line of a call that begins, from a `tool_called` event."""
    tool = str(data.get("tool", ""))
    arguments = data.get("arguments") or {}
    if tool == "terminal":
        subject = str(arguments.get("command", ""))
    elif tool == "search_files":
        subject = f"{arguments.get('pattern', '')} in {arguments.get('path') or '.'}"
    else:
        subject = str(arguments.get("path") or arguments.get("url") or arguments.get("query") or "")
    verb = one_line(_VERBS.get(tool, tool), 30)
    return f"{palette.paint(Style.TITLE, verb)} {one_line(subject, max(10, width - len(verb) - 1))}".rstrip()


def finished(data: Mapping[str, Any], palette: Palette = PLAIN) -> str:
    """What is added to the line when the call has ended, from a `tool_finished` or `tool_refused` event."""
    parts: list[str] = []
    if "added" in data:
        parts.append(palette.paint(Style.ADDED, f"+{data['added']}"))
        parts.append(palette.paint(Style.REMOVED, f"−{data['removed']}"))
    if isinstance(data.get("duration_s"), int | float) and data["duration_s"] >= 0.1:
        parts.append(palette.paint(Style.MUTED, f"{data['duration_s']:.1f} s"))
    outcome = str(data.get("outcome", ""))
    mark = _MARKS.get(outcome, one_line(outcome, 30))
    if outcome == "refused" and data.get("reason"):
        mark = f"refused: {one_line(str(data['reason']), 80)}"
    parts.append(palette.paint(_STYLES.get(outcome, Style.MUTED), mark))
    return " ".join(parts)


class CallLines:
    """Lines of calls on a stream that only grows. A command's line stands from its beginning; calls that may run side
    by side have theirs when they end, so that no two of them share one."""

    def __init__(self, write: Callable[[str], None], lead: str = "") -> None:
        self._write = write
        self._lead = lead
        self._begun: dict[str, str] = {}

    def begin(self, data: Mapping[str, Any]) -> None:
        """A `tool_called` event."""
        line = f"{self._lead}{called(data)} "
        if data.get("tool") == "terminal":
            self._write(line)
            line = ""
        self._begun[str(data.get("call_id", ""))] = line

    def end(self, data: Mapping[str, Any]) -> None:
        """A `tool_finished` or `tool_refused` event."""
        self._write(f"{self._begun.pop(str(data.get('call_id', '')), '')}{finished(data)}\n")
