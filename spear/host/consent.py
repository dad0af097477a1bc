"""Asking the operator, and remembering what they said for the session (spec 2.1)."""

from __future__ import annotations

from collections.abc import Callable

from spear.agent.host import Refusal, ToolRequest
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.host.confirmation import Choice, Confirm, Question, Reply
from spear.policy.modes import Capability, Grants
from spear.policy.permissions import PermissionStore

NOT_CONFIRMED = "not_confirmed"
NOBODY_TO_ASK = "nobody_to_ask"


class Consent:
    """Decides whether a question must be put, puts it, and turns a no into a refusal. One instance a turn."""

    def __init__(
        self, grants: Grants, permissions: PermissionStore, confirm: Confirm, emit: Sink, turn: int
    ) -> None:
        self._grants = grants
        self._permissions = permissions
        self._confirm = confirm
        self._emit = emit
        self._turn = turn

    def needed(self, *capabilities: Capability) -> bool:
        """Whether any of these capabilities is granted only when confirmed."""
        return any(capability in self._grants.confirmed for capability in capabilities)

    def ask(self, request: ToolRequest, target: str, question: Callable[[], Question]) -> Refusal | None:
        """Confirm an edit or a deletion. None when it may happen."""
        if not self.needed(Capability.WORKSPACE_WRITE) or self._permissions.allows_file(target):
            return None
        reply = self.put(question())
        if reply.choice is Choice.ALWAYS_FILE:
            self._permissions.allow_file(target)
        return refusal_of(reply, request.tool, target)

    def put(self, question: Question) -> Reply:
        """Put one question, audited with its answer."""
        shown = {"subject": question.subject.value, "tool": question.tool, "target": question.target, "network": question.network}
        self._emit(Event(EventName.CONFIRMATION_ASKED, shown, self._turn))
        reply = self._confirm(question)
        self._emit(Event(EventName.CONFIRMATION_ANSWERED, {**shown, "answer": reply.choice.value, "reason": reply.reason}, self._turn))
        return reply


def refusal_of(reply: Reply, tool: str, target: str) -> Refusal | None:
    """The refusal a reply amounts to; None for every kind of yes."""
    match reply.choice:
        case Choice.NO:
            why = f"the operator said no: {reply.reason}" if reply.reason else "the operator said no"
            return Refusal(NOT_CONFIRMED, tool, target, why, "do something else, or say what is missing")
        case Choice.NOBODY:
            why = "it needs a confirmation and nobody can be asked"
            return Refusal(NOBODY_TO_ASK, tool, target, why, "describe the change; the operator can rerun with --auto")
        case _:
            return None
