"""The tool-calling loop: asks the model, runs what it proposes through the host, until it answers or must stop.

Knows no file, process or provider: the host performs, the model callable talks. Requests are only ever appended to.
Exceptions of the host, the model callable (other than `ModelFailure`) or the observer are defects and pass through
unchanged; `CodingCore.conversation` is then still valid to resend (spec: coding core, loop).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from spear.agent import summary
from spear.agent.batch import CANCELLED, run_all, steps
from spear.agent.calls import Call, Fault, read_call, sendable
from spear.agent.ceilings import Ceilings
from spear.agent.conversation import Transcript, printable
from spear.agent.guardrail import Guardrail
from spear.agent.host import Host, ToolResult
from spear.agent.host import Outcome as Ended
from spear.agent.messages import (
    Complete,
    FailureKind,
    Message,
    ModelFailure,
    ModelRequest,
    ModelTurn,
    Role,
    StopReason,
    ToolSchema,
    Usage,
)
from spear.agent.outcome import Budget, Ending, Observer, Outcome, Stop
from spear.agent.patience import CUT_CALL, NO_ANSWER, Nudge, Patience
from spear.agent.reasoning import strip
from spear.agent.room import room_in
from spear.agent.tools import READ_ONLY, SCHEMAS, Toolbox
from spear.agent.tools.arguments import coerce
from spear.agent.tools.results import refused
from spear.agent.window import message_tokens

TERMINAL = "terminal"
_STOPPED = "not run: the turn was stopped before this call"


def run(
    host: Host,
    complete: Complete,
    conversation: Sequence[Message],
    budget: Budget | None = None,
    observer: Observer | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    ceilings: Ceilings | None = None,
) -> Outcome:
    """One turn. `conversation` begins with the system message and ends with the request; it is mended where it is not
    valid to resend. `cancelled` is polled around model calls and between tool calls. `ceilings`
    are those of the whole turn, which may run the loop more than once."""
    return CodingCore(host, complete, conversation, budget, observer, cancelled, ceilings).run()


class CodingCore:
    """One turn; `run` is called once."""

    def __init__(
        self,
        host: Host,
        complete: Complete,
        conversation: Sequence[Message],
        budget: Budget | None = None,
        observer: Observer | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        ceilings: Ceilings | None = None,
    ) -> None:
        self._host = host
        self._complete = complete
        self._budget = budget or Budget()
        self._observer = observer or Observer()
        self._cancelled = cancelled
        self._ceilings = ceilings or Ceilings()
        self._transcript = Transcript(conversation, SCHEMAS, self._budget.context_window)
        self._toolbox = Toolbox(
            host, self._transcript.holds, room_in(self._budget.context_window, self._transcript.tokens)
        )
        self._guardrail = Guardrail()
        self._patience = Patience(self._budget)
        self._record = summary.Record()
        self._rounds = self._requests = self._tool_calls = self._commands = 0
        self._usage = Usage(0, 0, 0)

    @property
    def conversation(self) -> tuple[Message, ...]:
        """The conversation as it stands; valid to resend once `run` has returned or raised."""
        return self._transcript.messages

    def run(self) -> Outcome:
        """Work until there is an answer or a reason to stop. Raises only what the host, the model callable or
        the observer raise as a defect."""
        try:
            ending = self._round()
            while ending is None:
                ending = self._round()
        finally:
            self._transcript.close()
        answer = ending.answer or self._sum_up(ending)
        return Outcome(
            answer=answer,
            stop=str(ending.stop),
            detail=ending.detail,
            conversation=self._transcript.messages,
            rounds=self._rounds,
            tool_calls=self._tool_calls,
            commands=self._commands,
            requests=self._requests,
            usage=self._usage,
            failure=ending.failure,
        )

    def _round(self) -> Ending | None:
        """One request and what follows from its answer; None to go on."""
        if self._cancelled():
            return Ending(Stop.INTERRUPTED, "interrupted")
        if self._rounds >= self._budget.rounds:
            return Ending(Stop.ROUND_BUDGET, f"the budget of {self._budget.rounds} model rounds is used up")
        if reached := self._ceilings.before_request():
            return Ending(Stop.ROUND_BUDGET, reached)
        if self._transcript.tokens > self._budget.context_window // 2:
            return self._half_full()
        self._rounds += 1
        try:
            turn = self._ask(self._transcript.messages, SCHEMAS, self._budget.max_tokens)
        except ModelFailure as failure:
            return _failed(failure)
        self._transcript.reported(turn.usage.input_tokens)
        if not turn.tool_calls:
            return self._take_text(turn)
        if turn.stop_reason in (StopReason.LENGTH, StopReason.FILTERED):
            return self._take_cut_calls(turn)
        return self._take_calls(turn)

    def _half_full(self) -> Ending:
        window, size = self._budget.context_window, self._transcript.tokens
        if self._rounds:
            return Ending(Stop.CONTEXT_HALF, f"half of the context window of {window} tokens is used (about {size})")
        detail = f"the request alone takes about {size} tokens, more than half of the context window of {window}"
        return Ending(Stop.CONTEXT_HALF, f"{detail}; shorten it or use a model with a larger window")

    def _ask(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...], max_tokens: int) -> ModelTurn:
        self._requests += 1
        self._observer.model_requested(self._requests, len(messages), self._transcript.tokens)
        request = ModelRequest(messages, tools, max_tokens, on_text=self._observer.text, cancelled=self._cancelled)
        answered = self._complete(request)
        turn = replace(answered, text=printable(answered.text), reasoning=printable(answered.reasoning))
        self._usage = _added(self._usage, turn.usage)
        received = 0 if turn.usage.output_tokens is not None else _size(turn)
        self._ceilings.spend(turn.usage, self._transcript.tokens, received)
        self._observer.model_answered(turn)
        return turn

    def _take_text(self, turn: ModelTurn) -> Ending | None:
        match self._patience.text(turn):
            case Ending() as ending:
                if ending.answer:
                    self._transcript.say(Role.ASSISTANT, strip(turn.text)[0].strip())
                return ending
            case Nudge() as nudge:
                self._observer.guardrail(nudge.code, nudge.count, nudge.ask or "asked again")
                if nudge.ask:
                    self._exchange(nudge.said, nudge.ask)
                return None

    def _take_cut_calls(self, turn: ModelTurn) -> Ending | None:
        ending = self._patience.cut_calls()
        answer = CUT_CALL.format(limit=self._budget.max_tokens)
        self._observer.guardrail("truncated_call", self._patience.cut_count, answer)
        for call in self._read(turn):
            found = self._finish(call, _unrun(Fault.TRUNCATED, answer))
            ending = ending or found
        return ending

    def _take_calls(self, turn: ModelTurn) -> Ending | None:
        calls = self._read(turn)
        malformed = any(call.problem and call.problem[0] is Fault.BAD_JSON for call in calls)
        stalled = self._patience.worked(malformed=malformed)
        if malformed:
            self._observer.guardrail("malformed_call", self._patience.malformed_count, "arguments are not valid JSON")
        ending: Ending | None = None
        for step in steps(calls, READ_ONLY):
            ending = ending or self._before(step)
            for call, result in zip(step, self._perform(step, ending), strict=True):
                found = self._finish(call, result)
                ending = ending or found
        return ending or stalled

    def _read(self, turn: ModelTurn) -> list[Call]:
        """The calls of a message, which is appended with them."""
        calls = [
            read_call(call, self._transcript.unique_id(call.id, f"call_{self._rounds}_{number}"), SCHEMAS, coerce)
            for number, call in enumerate(turn.tool_calls, 1)
        ]
        kept = [sendable(call, original) for call, original in zip(calls, turn.tool_calls, strict=True)]
        self._transcript.propose(strip(turn.text)[0], kept, turn.reasoning)
        self._tool_calls += len(calls)
        return calls

    def _before(self, step: list[Call]) -> Ending | None:
        """What forbids this step to run."""
        if self._cancelled():
            return Ending(Stop.INTERRUPTED, "interrupted")
        if step[0].problem or step[0].request.tool != TERMINAL:
            return None
        if reached := self._ceilings.before_command():
            return Ending(Stop.TOOL_BUDGET, reached)
        if self._commands >= self._budget.commands:
            return Ending(Stop.TOOL_BUDGET, f"the budget of {self._budget.commands} terminal calls is used up")
        self._commands += 1
        return None

    def _perform(self, step: list[Call], ending: Ending | None) -> list[ToolResult]:
        if ending:
            skipped = CANCELLED if ending.stop == Stop.INTERRUPTED else _unrun(Fault.STOPPED, _STOPPED)
            return [skipped] * len(step)
        if step[0].problem:
            return [_unrun(*step[0].problem)]
        requests = [call.request for call in step]
        for request in requests:
            self._observer.tool_started(request)
        refusals = [self._host.authorize(request) for request in requests]
        allowed = [request for request, refusal in zip(requests, refusals, strict=True) if refusal is None]
        done = iter(run_all(allowed, self._toolbox.perform, self._cancelled))
        return [refused(refusal) if refusal else next(done) for refusal in refusals]

    def _finish(self, call: Call, result: ToolResult) -> Ending | None:
        """The host's word, the guardrail's, and the result in the conversation."""
        after = self._host.after_tool(call.request, result)
        text = "\n".join(part for part in (result.text, after.append) if part)
        ending = Ending(*after.stop) if after.stop else None
        if result.reason not in _UNCOUNTED and (finding := self._guardrail.observe(call.request, result)):
            text = f"{text}\n{finding.note}"
            self._observer.guardrail(finding.code, finding.count, finding.note)
            if finding.stop:
                ending = ending or Ending(Stop.STALLED_GUARDRAIL, finding.detail)
        self._transcript.answer(call.request.call_id, text)
        self._record.add(call.request, result)
        self._observer.tool_finished(call.request, result)
        return ending

    def _sum_up(self, ending: Ending) -> str:
        """The summary of a turn that stopped early; it becomes the last message."""
        asked = None if ending.stop in summary.COMPOSED_ONLY else self._ask_for_summary(ending)
        text = asked or self._record.compose(ending)
        self._transcript.say(Role.ASSISTANT, text)
        return text

    def _ask_for_summary(self, ending: Ending) -> str:
        """What the model says of the turn, asked once without tools; empty when it says nothing, and when nothing more
        may be spent."""
        if self._cancelled() or self._ceilings.before_request():
            return ""
        question = summary.question(ending)
        exchange = (Message(Role.ASSISTANT, summary.STOPPING), Message(Role.USER, question))
        try:
            turn = self._ask((*self._transcript.messages, *exchange), (), self._budget.summary_tokens)
        except ModelFailure:
            return ""
        visible = strip(turn.text)[0].strip()
        if visible:
            self._exchange(summary.STOPPING, question)
        return visible

    def _exchange(self, said: str, ask: str) -> None:
        """An assistant message and what it is told. Templates that demand alternating roles need both."""
        self._transcript.say(Role.ASSISTANT, said or NO_ANSWER)
        self._transcript.say(Role.USER, ask)


_UNCOUNTED = frozenset({Fault.BAD_JSON, Fault.TRUNCATED, Fault.STOPPED, Fault.CANCELLED})
"""Calls that did not run for a reason of their own; the guardrail judges the rest."""


def _unrun(fault: Fault, answer: str) -> ToolResult:
    return ToolResult(answer, Ended.ANSWERED, reason=fault)


def _failed(failure: ModelFailure) -> Ending:
    if failure.kind is FailureKind.CANCELLED:
        return Ending(Stop.INTERRUPTED, "interrupted")
    return Ending(Stop.ENDPOINT_ERROR, failure.message, failure=failure)


def _size(turn: ModelTurn) -> int:
    """An estimate of the tokens of an answer."""
    return message_tokens(Message(Role.ASSISTANT, turn.text, turn.tool_calls, reasoning=turn.reasoning))


def _added(total: Usage, usage: Usage) -> Usage:
    return Usage(
        (total.input_tokens or 0) + (usage.input_tokens or 0),
        (total.output_tokens or 0) + (usage.output_tokens or 0),
        (total.cached_tokens or 0) + (usage.cached_tokens or 0),
        (total.written_tokens or 0) + (usage.written_tokens or 0),
    )
