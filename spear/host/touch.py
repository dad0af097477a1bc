"""What is added to a result for the model: the rules of a directory at its first touch, the operator's word."""

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


def said_meanwhile(text: str) -> str:
    """What the operator said while the turn ran, as the model is told it at the next tool boundary; "" for nothing."""
    return f"\n\n[the operator says now, as part of the request: {text.strip()}]" if text.strip() else ""
