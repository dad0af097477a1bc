"""Asking the operator, and remembering what they said for the session (spec 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from spear.agent.host import Refusal, ToolRequest
from spear.events.names import EventName
from spear.events.stream import Event, Sink
from spear.host.authority import Authority
from spear.host.confirmation import NOBODY_TO_ASK, Choice, Confirm, Question, Reply, Subject
from spear.policy.command_policy import Assessment
from spear.policy.denials import DenyRule
from spear.policy.modes import Capability
from spear.policy.permission import Permission, PermissionKind
from spear.policy.permissions import PermissionStore
from spear.shell.destinations import commands

NOT_CONFIRMED = "not_confirmed"
_PREFIX_WORDS = 2


@dataclass(slots=True)
class Approvals:
    """What the operator has approved so far in a session."""

    store: PermissionStore = field(default_factory=PermissionStore)
    workspace: str = ""

    def grant(self, permission: Permission) -> None:
        """Add one approval or prohibition, of today and for this workspace."""
        today = datetime.now(UTC).date().isoformat()
        self.store = self.store.grant(permission.model_copy(update={"granted": today, "workspace": self.workspace}))


class Consent:
    """Decides whether a question must be put, puts it, and turns a no into a refusal. One instance a turn."""

    def __init__(
        self,
        authority: Authority,
        approvals: Approvals,
        confirm: Confirm,
        emit: Sink,
        turn: int,
        hosts: tuple[str, ...] = (),
    ) -> None:
        self._authority = authority
        self._approvals = approvals
        self._confirm = confirm
        self._emit = emit
        self._turn = turn
        self._hosts = hosts

    def needed(self, *capabilities: Capability) -> bool:
        """Whether any of these capabilities is granted only when confirmed."""
        return any(capability in self._authority.grants.confirmed for capability in capabilities)

    def ask(self, request: ToolRequest, target: str, question: Callable[[], Question]) -> Refusal | None:
        """Confirm an edit or a deletion. None when it may happen."""
        if not self.needed(Capability.WORKSPACE_WRITE) or self._approvals.store.covers_file(target):
            return None
        reply = self.put(question())
        if reply.choice is Choice.ALWAYS_FILE:
            self._approvals.grant(Permission(kind=PermissionKind.FILE, words=(target,)))
        return refusal_of(reply, request.tool, target)

    def to_command(
        self, assessment: Assessment, tool: str, needs: Iterable[Capability], *, lasting: bool = True
    ) -> str | Refusal:
        """The command to run once the operator agrees, by an earlier answer where one covers it; the same one where
        nothing of `needs` has to be asked for. `lasting` offers answers that hold for good.
        """
        command = assessment.command
        if not self.needed(*needs) or self.covers(assessment):
            return command
        choices = self.choices(assessment) if lasting else (Choice.YES, Choice.NO, Choice.EDITED)
        question = Question(
            Subject.COMMAND, tool, command, command, assessment.network,
            tuple(d.path for d in assessment.destinations if d.path), choices,
        )  # fmt: skip
        reply = self.put(question)
        if reply.choice is Choice.EDITED:
            return reply.command
        self.remember(reply, assessment)
        return refusal_of(reply, tool, command) or command

    def covers(self, assessment: Assessment) -> bool:
        """Whether an earlier answer covers this command."""
        return self._approvals.store.covers_command(assessment, self._hosts)

    def denials(self) -> tuple[DenyRule, ...]:
        """The commands the operator has forbidden by now."""
        return self._approvals.store.denials()

    def choices(self, assessment: Assessment) -> tuple[Choice, ...]:
        """The answers that make sense for a command: "always" only where it would cover something."""
        offered = (
            choice
            for choice in (Choice.ALWAYS_COMMAND, Choice.ALWAYS_PREFIX)
            if (permission := self._permission(choice, assessment)) is not None
            and PermissionStore().grant(permission).covers_command(assessment, self._hosts)
        )
        return (Choice.YES, Choice.NO, *offered, Choice.EDITED)

    def remember(self, reply: Reply, assessment: Assessment) -> None:
        """Keep an "always" for the session: the exact text, or the first two words of a simple one."""
        permission = self._permission(reply.choice, assessment)
        if permission is not None:
            self._approvals.grant(permission)

    def _permission(self, choice: Choice, assessment: Assessment) -> Permission | None:
        """What an answer would approve, None when it approves this once only."""
        examples: tuple[tuple[str, ...], ...] = ()
        match choice:
            case Choice.ALWAYS_COMMAND:
                kind = PermissionKind.COMMAND
                words: tuple[str, ...] = (assessment.command.strip(),)
            case Choice.ALWAYS_PREFIX:
                lists = _word_lists(assessment)
                kind = PermissionKind.PREFIX
                words = lists[0][:_PREFIX_WORDS] if len(lists) == 1 else ()
                examples = tuple(lists[:1])
            case _:
                return None
        hosts = self._hosts if assessment.network else ()
        if not words:
            return None
        return Permission(kind=kind, words=words, network=assessment.network, hosts=hosts, examples=examples)

    def put(self, question: Question) -> Reply:
        """Put one question, audited with its answer."""
        return put(question, self._confirm, self._emit, self._turn)


def put(question: Question, confirm: Confirm, emit: Sink, turn: int) -> Reply:
    """Put a question to the operator and audit it with its answer."""
    shown = {
        "subject": question.subject.value,
        "tool": question.tool,
        "target": question.target,
        "network": question.network,
    }
    emit(Event(EventName.CONFIRMATION_ASKED, shown, turn))
    reply = confirm(question)
    answer = {**shown, "answer": reply.choice.value, "reason": reply.reason}
    if reply.choice is Choice.EDITED:
        answer["command"] = reply.command
    emit(Event(EventName.CONFIRMATION_ANSWERED, answer, turn))
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


def _word_lists(assessment: Assessment) -> list[tuple[str, ...]]:
    """The words of each simple command; empty when one of them cannot be known."""
    if assessment.script is None:
        return []
    found: list[tuple[str, ...]] = []
    for simple in commands(assessment.script):
        values = tuple(word.value for word in simple.words)
        known = tuple(value for value in values if value is not None)
        if len(known) != len(values) or not known:
            return []
        found.append(known)
    return found
