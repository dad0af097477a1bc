"""The operator's hooks at work: which run, what they are told, what becomes of their answers (docs/hooks.md, spec 2).

before_tool   a gate: a deny refuses the call, and so does a failure. It only takes away: what the policy refuses is
              refused whatever a hook says
all others    a notice: a failure is said once, and things go on
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spear.agent.host import Refusal, ToolRequest, ToolResult
from spear.capabilities.framing import one_line
from spear.events.names import EventName, Mode
from spear.events.stream import Event, Live, LiveKind, Sink
from spear.host.confirmation import Question
from spear.host.hook_run import HookPlace, run_hook
from spear.policy.hook import Hook, HookEvent
from spear.policy.hook_answer import Answer, Ruling, answer_of
from spear.state.redaction import Redactor

DENIED = "hook_denied"
FAILED = "hook_failed"
SCHEMA = "spear.hook/1"
"""The form of what a hook is told."""

_LONGEST_REASON = 300
_LONGEST_PROGRAM = 200


@dataclass(frozen=True, slots=True)
class Moment:
    """One event, of one turn (0 outside any), and the facts a hook is told of it; JSON values only."""

    event: HookEvent
    turn: int
    mode: Mode
    facts: Mapping[str, Any] = field(default_factory=dict)


class SessionHooks:
    """The hooks of a session. `session` is its id."""

    def __init__(self, declared: Iterable[Hook], place: HookPlace, session: str, redactor: Redactor) -> None:
        self._declared = tuple(declared)
        self._place = place
        self._session = session
        self._redactor = redactor
        self._told: set[str] = set()

    def of(self, event: HookEvent, tool: str = "") -> tuple[Hook, ...]:
        """Those that run at an event, in the order they were declared."""
        return tuple(hook for hook in self._declared if hook.is_about(event, tool))

    def run(
        self, hooks: Iterable[Hook], moment: Moment, emit: Sink, cancelled: Callable[[], bool]
    ) -> tuple[Hook, Answer] | None:
        """Run them one after the other; at a gate the first that stands in the way, which is the last to run. The
        reason of the answer is cleaned, bounded and without secrets."""
        document = self._document(moment)
        for hook in hooks:
            started = time.monotonic()
            answer = self._cleaned(answer_of(hook, run_hook(hook, document, self._place, cancelled)))
            data = {
                "event": moment.event.value,
                "program": program_of(hook),
                "decision": answer.ruling.value,
                "milliseconds": round((time.monotonic() - started) * 1000),
                "reason": answer.reason,
            } | {name: moment.facts[name] for name in ("tool", "call_id") if name in moment.facts}
            emit(Event(EventName.HOOK_RAN, data, moment.turn))
            if answer.ruling is Ruling.FAILED and not cancelled():
                self._tell(hook, answer, emit)
            if moment.event.is_gate and answer.ruling in (Ruling.DENY, Ruling.FAILED):
                return hook, answer
        return None

    def of_turn(self, turn: int, mode: Callable[[], Mode], emit: Sink, cancelled: Callable[[], bool]) -> TurnHooks:
        """The hooks of one turn's calls. `mode` is asked at each."""
        return TurnHooks(self, turn, mode, emit, cancelled)

    def _document(self, moment: Moment) -> bytes:
        told = {
            "schema": SCHEMA,
            "event": moment.event.value,
            "session": self._session,
            "turn": moment.turn,
            "mode": moment.mode.value,
            "workspace": str(self._place.workspace),
            **moment.facts,
        }
        return json.dumps(self._redactor.data(told)).encode("ascii") + b"\n"

    def _cleaned(self, answer: Answer) -> Answer:
        return Answer(answer.ruling, one_line(self._redactor.text(answer.reason), _LONGEST_REASON))

    def _tell(self, hook: Hook, answer: Answer, emit: Sink) -> None:
        """Say a failure once: a broken hook of every call would drown everything else."""
        after = "the call is refused" if hook.event.is_gate else "everything goes on without it"
        sentence = f"the hook {program_of(hook)} of {hook.event} failed: {answer.reason}; {after}"
        if sentence not in self._told:
            self._told.add(sentence)
            emit(Live(LiveKind.NOTICE, sentence))


class TurnHooks:
    """The hooks of one turn's calls and questions."""

    def __init__(
        self,
        hooks: SessionHooks,
        turn: int,
        mode: Callable[[], Mode],
        emit: Sink,
        cancelled: Callable[[], bool],
    ) -> None:
        self._hooks = hooks
        self._turn = turn
        self._mode = mode
        self._emit = emit
        self._cancelled = cancelled

    def before(self, request: ToolRequest, *, by_command: bool = False) -> Refusal | None:
        """The refusal of the first hook that stands in the way of a call; None when it may go on."""
        stopped = self._run(HookEvent.BEFORE_TOOL, request, {}, by_command=by_command)
        if stopped is None:
            return None
        hook, answer = stopped
        program, target = program_of(hook), _target(request)
        if answer.ruling is Ruling.DENY:
            said = f"the operator's hook {program} says no" + (f": {answer.reason}" if answer.reason else "")
            return Refusal(DENIED, request.tool, target, said, "do something else, or say what is missing")
        failed = f"the operator's hook {program} failed: {answer.reason}"
        remedy = "nothing it guards happens until the operator mends it or takes it out of [[hooks]]; go on without"
        return Refusal(FAILED, request.tool, target, failed, remedy)

    def after(self, request: ToolRequest, result: ToolResult, *, by_command: bool = False) -> None:
        """A call has ended, refused ones included. In a turn that is being stopped nothing is started any more."""
        if self._cancelled():
            return
        code = result.reason or (result.refusal.code if result.refusal else "")
        outcome = {"outcome": result.outcome.value, "reason": code, "changed": result.changed}
        self._run(HookEvent.AFTER_TOOL, request, outcome, by_command=by_command)

    def approval_needed(self, question: Question) -> None:
        """The operator is about to be asked."""
        facts = {"subject": question.subject.value, "tool": question.tool, "target": question.target,
                 "network": question.network}  # fmt: skip
        moment = Moment(HookEvent.APPROVAL_NEEDED, self._turn, self._mode(), facts)
        self._hooks.run(self._hooks.of(moment.event), moment, self._emit, self._cancelled)

    def _run(
        self, event: HookEvent, request: ToolRequest, facts: Mapping[str, Any], *, by_command: bool
    ) -> tuple[Hook, Answer] | None:
        """`by_command`: the model reached the tool by a command of the terminal; hooks about that have run."""
        hooks = self._hooks.of(event, request.tool)
        if by_command:
            hooks = tuple(hook for hook in hooks if hook.tools and "terminal" not in hook.tools)
        if not hooks:
            return None
        told = {"tool": request.tool, "call_id": request.call_id, "arguments": dict(request.arguments), **facts}
        return self._hooks.run(hooks, Moment(event, self._turn, self._mode(), told), self._emit, self._cancelled)


def program_of(hook: Hook) -> str:
    """A hook's program as it is named: without its arguments, which may hold anything."""
    return one_line(hook.command[0], _LONGEST_PROGRAM)


def _target(request: ToolRequest) -> str:
    """What a refusal is about, as the rest of the host names it."""
    named = (request.arguments.get(name) for name in ("path", "command", "url", "query"))
    return str(next(filter(None, named), request.tool))
