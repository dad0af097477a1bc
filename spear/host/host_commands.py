"""Commands the host answers itself: `spear-capability …`, `spear-knowledge …`, `spear-web …` (spec 2.5).

They are never run. What each of them does is given by whoever composes the host; here they are only recognised and
dispatched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spear.agent.host import CommandResult, FileChange, Refusal, ToolRequest
from spear.shell.host_commands import HostCommandProblem, host_command
from spear.shell.syntax import Script


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """What a host command says; `ok` false for an error, `refusal` for a decision not to, `changes` of the tree."""

    text: str
    ok: bool = True
    refusal: Refusal | None = None
    changes: tuple[FileChange, ...] = ()


Handler = Callable[[Sequence[str], ToolRequest], HostAnswer]


class HostCommands:
    """The host commands of a session, by their first word."""

    def __init__(self, handlers: Mapping[str, Handler] | None = None) -> None:
        self._handlers = dict(handlers or {})

    def answer(
        self, command: str, script: Script | None, cwd: str, request: ToolRequest
    ) -> CommandResult | Refusal | None:
        """The answer, None when the text holds no host command, a refusal when one does not stand alone."""
        found = host_command(command, script)
        if found is None:
            return None
        if isinstance(found, HostCommandProblem):
            remedy = "write it alone, its arguments quoted, without pipes or redirections"
            return Refusal("host_command", request.tool, found.name, found.reason, remedy)
        handler = self._handlers.get(found.words[0])
        if handler is None:
            why = f"{found.words[0]} has nothing to offer in this turn"
            return Refusal("host_command", request.tool, found.words[0], why, "go on without it")
        answer = handler(found.words[1:], request)
        if answer.refusal is not None:
            return answer.refusal
        return CommandResult(answer.text, 0 if answer.ok else 1, cwd, 0.0, changes=answer.changes)
