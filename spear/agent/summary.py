"""The summary a turn ends with when it stops early: asked of the model once without tools, else composed from the
record (spec 1.4)."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from spear.agent.host import Outcome, ToolRequest, ToolResult
from spear.agent.outcome import Ending, Stop

STOPPING = "I have to stop here."
COMPOSED_ONLY = frozenset({Stop.INTERRUPTED, Stop.ENDPOINT_ERROR, Stop.CONFINEMENT_UNAVAILABLE})
"""Stops after which the model is not asked: nobody waits, it cannot be reached, or it could do nothing."""

_RECENT_COMMANDS = 5
_COMMAND_LENGTH = 120
_NAMED_PATHS = 20


def question(ending: Ending) -> str:
    """What the model is asked; it is offered no tools."""
    return (
        f"The turn ends here: {ending.detail or ending.stop}. No more tools can be called. Sum up in a few sentences, "
        "for the person who asked: what was done, what was shown to work and what was not, and what is left to do."
    )


@dataclass(slots=True)
class Record:
    """What happened, in counts and recent names; bounded however long the turn."""

    _tools: Counter[str] = field(default_factory=Counter)
    _unsuccessful: Counter[Outcome] = field(default_factory=Counter)
    _changed: dict[str, None] = field(default_factory=dict)
    _commands: deque[str] = field(default_factory=lambda: deque(maxlen=_RECENT_COMMANDS))

    def add(self, request: ToolRequest, result: ToolResult) -> None:
        """One call and how it ended."""
        self._tools[request.tool] += 1
        if result.outcome is not Outcome.OK:
            self._unsuccessful[result.outcome] += 1
        if request.tool == "terminal":
            command = " ".join(str(request.arguments.get("command", "")).split())[:_COMMAND_LENGTH]
            self._commands.append(f"`{command}` ({result.outcome})")
        elif result.changed:
            self._changed[str(request.arguments.get("path", "?"))] = None

    def compose(self, ending: Ending) -> str:
        """The summary in plain sentences; claims nothing that was not recorded."""
        lines = [f"Stopped early: {ending.detail or ending.stop}."]
        if not self._tools:
            return f"{lines[0]} Nothing was done."
        calls = ", ".join(f"{count} {tool}" for tool, count in sorted(self._tools.items()))
        bad = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self._unsuccessful.items()))
        lines.append(f"Done: {calls}" + (f" (of these {bad})." if bad else "."))
        if self._changed:
            names = list(self._changed)
            more = f" and {len(names) - _NAMED_PATHS} more" if len(names) > _NAMED_PATHS else ""
            lines.append(f"Changed by edits: {', '.join(names[:_NAMED_PATHS])}{more}.")
        if self._commands:
            lines.append(f"Last commands: {'; '.join(self._commands)}.")
        lines.append("Left: whatever the request asked for beyond this; the model gave no account of it.")
        return "\n".join(lines)
