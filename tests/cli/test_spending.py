"""What a turn costs: known to the figure, or not shown (spec 8.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.cli.settings_model import Backend, Price, Settings
from spear.cli.spending import Spending, cost_of, price_of
from spear.events.names import EventName
from spear.events.stream import Event, Live, LiveKind

PRICE = Price(input=3.0, output=15.0, cached=0.3, written=3.75)


def spent(price: Price | None, *answers: dict[str, int | None]) -> str:
    spending = Spending(price)
    spending(Live(LiveKind.TEXT, "…"))
    spending(Event(EventName.MODEL_REQUESTED, {"round": 1}, 1))
    for answer in answers:
        spending(Event(EventName.MODEL_ANSWERED, answer, 1))
    return spending.text


def counted(
    given: int | None, made: int | None, cached: int | None = None, written: int | None = None
) -> dict[str, int | None]:
    return {"input_tokens": given, "output_tokens": made, "cached_tokens": cached, "written_tokens": written}


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([counted(1000, 100)], "0.0045 USD"),
        ([counted(1000, 100), counted(2000, 0)], "0.0105 USD"),
        ([counted(1_000_000, 0, cached=1_000_000)], "0.3000 USD"),
        ([counted(1_000_000, 0, written=1_000_000)], "3.75 USD"),
        ([counted(3_000_000, 1_000_000, 1_000_000, 1_000_000)], "22.05 USD"),
        ([counted(1, 0)], "under 0.0001 USD"), ([counted(0, 0)], "0.0000 USD"), ([], ""),
    ],
)  # fmt: skip
def test_each_kind_of_token_has_its_price(answers, text):
    assert spent(PRICE, *answers) == text


@pytest.mark.parametrize(
    ("price", "answer"),
    [
        (None, counted(10, 10)), (PRICE, counted(None, 10)), (PRICE, counted(10, None)), (PRICE, {}),
        (Price(input=1, output=1), counted(10, 10, cached=4)), (Price(input=1, output=1, cached=1), counted(10, 10, written=4)),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_shown(price, answer):
    assert spent(price, answer) == ""
    assert spent(price, counted(10, 10), answer, counted(10, 10)) == "", "one answer nobody counted spoils the sum"


def test_a_price_that_is_not_needed_may_be_missing():
    assert spent(Price(input=1, output=2, currency="EUR"), counted(1_000_000, 500_000, cached=0)) == "2.00 EUR"


@given(
    given=st.integers(0, 10**7), made=st.integers(0, 10**7), cached=st.integers(0, 10**7) | st.none(),
    written=st.integers(0, 10**7) | st.none(),
)  # fmt: skip
def test_no_cost_is_negative(given, made, cached, written):
    cost = cost_of(PRICE, counted(given, made, cached, written))
    assert cost is not None and cost >= 0


def test_a_price_holds_for_its_backend_with_its_model_alone():
    backends = {"work": Backend(url="http://e/v1", model="m", price=PRICE), "free": Backend(url="http://f/v1")}
    known = Settings(backends=backends, backend="work", model="m")
    assert price_of(known) is PRICE
    assert price_of(known.model_copy(update={"model": "another"})) is None
    assert price_of(known.model_copy(update={"backend": ""})) is None
    assert price_of(known.model_copy(update={"backend": "free", "model": ""})) is None
