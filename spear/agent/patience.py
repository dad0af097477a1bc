"""How often a model may come back with nothing usable: empty, cut off or unreadable messages (spec: coding core,
loop 3 and 5). Says what to do next; sends and appends nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spear.agent.messages import ModelTurn, StopReason
from spear.agent.outcome import Budget, Ending, Stop
from spear.agent.reasoning import strip

NO_ANSWER = "(no answer)"
CUT_CALL = (
    "not run: your message was cut off at the limit of {limit} tokens, so its calls may be incomplete. Send them "
    "again in smaller pieces: for a long file a short write_file first, then patch to add to it, one part a message."
)
_EMPTY = (
    "Your last message held no answer and no tool call. Go on: call a tool through the tool interface (a call "
    "written as text does not run), or answer in plain text."
)
_ONLY_REASONING = (
    "Your last message was cut off before it held anything but reasoning. Think briefly, then call a tool or answer."
)
_CONTINUE = "Your message was cut off. Continue exactly where it stopped; repeat nothing."


@dataclass(frozen=True, slots=True)
class Nudge:
    """Ask again. `said` is what the model said so far, `ask` what it is told; both empty: send the same request."""

    code: str
    count: int
    said: str = ""
    ask: str = ""


@dataclass(slots=True)
class Patience:
    """Counts in a row; `worked` starts them anew."""

    budget: Budget
    _empty: int = 0
    _cut: int = 0
    _malformed: int = 0
    _pieces: list[str] = field(default_factory=list)

    def text(self, turn: ModelTurn) -> Ending | Nudge:
        """A message without calls: the end of the turn, or what to ask next."""
        visible, _ = strip(turn.text)
        if turn.stop_reason is StopReason.FILTERED:
            return Ending(Stop.RESPONSE_TRUNCATED, "the endpoint's content filter cut the response short")
        cut = turn.stop_reason is StopReason.LENGTH
        if not visible.strip():
            return self._nothing(cut)
        self._pieces.append(visible)
        if not cut:
            return Ending(Stop.ANSWERED, answer="".join(self._pieces).strip())
        if len(self._pieces) > self.budget.continuations:
            limit = self.budget.max_tokens
            return Ending(
                Stop.RESPONSE_TRUNCATED,
                f"the answer was still cut off after {self.budget.continuations} continuations of {limit} tokens",
            )
        return Nudge("truncated_answer", len(self._pieces), visible, _CONTINUE)

    def cut_calls(self) -> Ending | None:
        """A message with calls was cut off; they are answered with `CUT_CALL`."""
        self._cut += 1
        self._pieces.clear()
        if self._cut <= self.budget.truncated_calls:
            return None
        detail = f"{self._cut} messages in a row were cut off within a tool call"
        return Ending(Stop.RESPONSE_TRUNCATED, detail)

    def worked(self, *, malformed: bool) -> Ending | None:
        """A complete message with calls; `malformed` when one of them held unreadable arguments."""
        self._empty = self._cut = 0
        self._pieces.clear()
        self._malformed = self._malformed + 1 if malformed else 0
        if self._malformed < self.budget.malformed_calls:
            return None
        detail = f"{self._malformed} messages in a row held tool calls whose arguments are not valid JSON"
        return Ending(Stop.STALLED_GUARDRAIL, detail)

    @property
    def cut_count(self) -> int:
        """Messages cut off within a call, in a row."""
        return self._cut

    @property
    def malformed_count(self) -> int:
        """Messages with unreadable arguments, in a row."""
        return self._malformed

    def _nothing(self, cut: bool) -> Ending | Nudge:
        self._empty += 1
        if self._empty > 1 + self.budget.empty_retries:
            return Ending(Stop.STALLED_GUARDRAIL, f"empty answers: {self._empty} in a row")
        if self._empty > 1:
            return Nudge("empty_answer", self._empty)
        return Nudge("empty_answer", self._empty, NO_ANSWER, _ONLY_REASONING if cut else _EMPTY)
