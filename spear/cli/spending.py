"""What a turn costs: the operator's prices times the tokens the server counted. A guess is never shown (spec 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spear.agent.ceilings import Ceilings
from spear.errors import ConfigurationError
from spear.events.names import EventName
from spear.events.stream import Event, Live

if TYPE_CHECKING:
    from spear.cli.settings import Loaded
    from spear.cli.settings_model import Price, Settings

_PER = 1_000_000


def price_of(settings: Settings) -> Price | None:
    """The price of the model in use, None where nobody has said it: a price holds for the backend it stands at, with
    the model that is named there."""
    backend = settings.backends.get(settings.backend)
    return backend.price if backend is not None and settings.model == backend.model else None


def turn_ceilings(loaded: Loaded, *, recorded: bool) -> Ceilings:
    """The ceilings of a turn that begins now. `recorded` turns are played back and cost nothing.

    Raises ConfigurationError where a price is the ceiling and nobody has said what the model costs.
    """
    settings = loaded.settings
    price, bound = price_of(settings), None if recorded else settings.max_price
    if bound is None or price is None:
        if bound is not None:
            model = settings.model or "the model in use"
            raise ConfigurationError(
                f"max_price ({loaded.origins['max_price']}) cannot be held: what {model} costs is not known",
                hint="choose a --backend whose [backends.NAME.price] says it, or leave max_price out",
            )
        return Ceilings(settings.max_turn_tokens, seconds=settings.max_time)
    return Ceilings(
        settings.max_turn_tokens, bound, settings.max_time, lambda used: cost_of(price, asdict(used)), price.currency
    )


class Spending:
    """A sink that adds up one turn. One answer whose tokens the server did not count makes the sum unknown."""

    def __init__(self, price: Price | None) -> None:
        self._price = price
        self._amount: float | None = 0.0
        self._answers = 0

    def __call__(self, item: Event | Live) -> None:
        """Take one item of the stream."""
        if isinstance(item, Event) and item.name is EventName.MODEL_ANSWERED:
            self._answers += 1
            cost = None if self._price is None else cost_of(self._price, item.data)
            self._amount = None if cost is None or self._amount is None else self._amount + cost

    @property
    def text(self) -> str:
        """The sum with its currency; "" while there is none, and where it is not known."""
        if self._price is None or self._amount is None or not self._answers:
            return ""
        return f"{_figure(self._amount)} {self._price.currency}"


def cost_of(price: Price, usage: Mapping[str, Any]) -> float | None:
    """The cost of one answer from its `model_answered` event; None where a count or a price is missing.

    `input_tokens` holds those read from a cache and those written to one; each kind has its own price.
    """
    given, made = usage.get("input_tokens"), usage.get("output_tokens")
    if given is None or made is None:
        return None
    read, written = usage.get("cached_tokens") or 0, usage.get("written_tokens") or 0
    fresh = max(0, given - read - written)
    parts = ((fresh, price.input), (read, price.cached), (written, price.written), (made, price.output))
    if any(tokens and each is None for tokens, each in parts):
        return None
    return sum(tokens * (each or 0.0) for tokens, each in parts) / _PER


def _figure(amount: float) -> str:
    if 0 < amount < 0.0001:
        return "under 0.0001"
    return f"{amount:.2f}" if amount >= 1 else f"{amount:.4f}"
