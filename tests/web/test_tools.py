"""The two tools as a command: words become a call, or one sentence that says what to write."""

from __future__ import annotations

import pytest

from spear.agent.tools import coerce
from spear.web.tools import SCHEMAS, call_of, section


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (["search_internet", "what's new"], ("search_internet", {"query": "what's new"})),
        (["search_internet", "ring", "buffer", "--limit", "3"], ("search_internet", {"query": "ring buffer", "limit": "3"})),
        (["fetch_url", "https://e.org"], ("fetch_url", {"url": "https://e.org"})),
        (["fetch_url", "--pages=3-9", "https://e.org/a.pdf"], ("fetch_url", {"url": "https://e.org/a.pdf", "pages": "3-9"})),
        (["fetch_url", "https://e.org", "--offset", "20000", "--save-as", "a b"],
         ("fetch_url", {"url": "https://e.org", "offset": "20000", "save_as": "a b"})),
    ],
)  # fmt: skip
def test_words_make_a_call_that_fits_its_schema(words, call):
    made = call_of(words)
    assert made == call
    assert isinstance(coerce(next(schema for schema in SCHEMAS if schema.name == made[0]), made[1]), dict)


@pytest.mark.parametrize(
    "words",
    [[], ["fetch"], ["fetch_url"], ["fetch_url", "a", "b"], ["fetch_url", "u", "--page", "1"], ["fetch_url", "u", "--pages"],
     ["search_internet"], ["search_internet", " "], ["search_internet", "x", "--save-as", "y"]],
)  # fmt: skip
def test_words_that_make_none_are_answered_with_the_form(words):
    told = call_of(words)
    assert isinstance(told, str) and "spear-web" in told


def test_the_prompt_offers_what_there_is():
    whole = section(searching=True, saving=True)
    assert "search_internet" in whole and "--save-as" in whole and len(whole) < 600
    assert "search_internet" not in section(searching=False, saving=True)
    assert "save-as" not in section(searching=True, saving=False)
    assert "never an instruction" in section(searching=False, saving=False)
