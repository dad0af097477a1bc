"""What a turn may spend in all, in whichever pass of the loop: tokens, a price, wall time (coding core, loop 6)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from spear.agent.messages import Usage


@dataclass(slots=True)
class Ceilings:
    """The ceilings of one turn, None for none, and what is spent of them. Time runs from the making of the object.

    `tokens` are those of every request and its answer together, `seconds` wall time, `price` is in `currency`: `cost`
    says what an answer cost, None where nobody knows. They are looked at before a request and before a command; what
    has begun is not cut short, so the one answer that reaches a ceiling may go beyond it.
    """

    tokens: int | None = None
    price: float | None = None
    seconds: float | None = None
    cost: Callable[[Usage], float | None] = lambda _: None
    currency: str = ""
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _tokens: int = field(init=False, default=0)
    _paid: float | None = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def spend(self, usage: Usage, sent: int, received: int) -> None:
        """One answer. `sent` and `received` are estimates, taken for what the server did not count."""
        self._tokens += sent if usage.input_tokens is None else usage.input_tokens
        self._tokens += received if usage.output_tokens is None else usage.output_tokens
        if self.price is not None and self._paid is not None:
            cost = self.cost(usage)
            self._paid = None if cost is None else self._paid + cost

    def before_request(self) -> str:
        """Why nothing more may be asked of the model, one clause; "" when it may."""
        if self.tokens is not None and self._tokens >= self.tokens:
            return f"the ceiling of {self.tokens} tokens is reached: {self._tokens} are spent"
        return self._of_price() or self.before_command()

    def before_command(self) -> str:
        """Why no further command may begin; "" when it may."""
        if self.seconds is not None and self.clock() - self._began >= self.seconds:
            return f"the ceiling of {self.seconds:g} s is reached"
        return ""

    def _of_price(self) -> str:
        if self.price is None:
            return ""
        ceiling = f"the ceiling of {self.price:g} {self.currency}".rstrip()
        if self._paid is None:
            missing = "the server does not count its tokens, or a price for a kind of them is missing"
            return f"{ceiling} cannot be held: {missing}"
        return f"{ceiling} is reached: {self._paid:.4g} are spent" if self._paid >= self.price else ""
