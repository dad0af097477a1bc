"""What the first touch of a directory adds to a result: the rules that hold there (spec 4.2)."""

from __future__ import annotations

from collections.abc import Callable

from spear.agent.host import Outcome, ToolRequest, ToolResult


class Touch:
    """Asks `rules` once a call that reached a path; it returns text for the model the first time, "" afterwards."""

    def __init__(self, rules: Callable[[str], str] | None = None) -> None:
        self._rules = rules

    def after(self, request: ToolRequest, result: ToolResult) -> str:
        """Text to append to the result of a call that went well."""
        path = request.arguments.get("path") or request.arguments.get("workdir")
        if self._rules is None or result.outcome is not Outcome.OK or not isinstance(path, str):
            return ""
        return self._rules(path)
