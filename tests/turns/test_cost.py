"""The cost of a turn where its price is known, in the installed program (spec 8.2)."""

from __future__ import annotations

import json

from tests.scripted_model import ModelServer, calls, text
from tests.turns.conftest import ASK, FIX, sh

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 500}}


def run(counter, *words: str, price: str = "input = 2\ncached = 0.2\noutput = 10\n", usage=USAGE):
    script = [calls(FIX, usage=usage), calls(sh("make test"), usage=usage), text("Fixed.", usage=usage)]
    with ModelServer(script) as server:
        config = counter.home / ".config/spear/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(
            f"[backends.priced]\nurl = '{server.base_url}'\nmodel = 'scripted'\n[backends.priced.price]\n{price}"
        )
        done = counter.run("-p", ASK, "--auto", "--backend", "priced", *words)
        counter.git("checkout", "-q", ".")
    return done


def test_the_block_that_ends_a_turn_names_its_cost(counter):
    done = run(counter)
    assert done.returncode == 0, done.stderr
    # three times 500 tokens at 2, 500 at 0.2 and 100 at 10, for a million each
    assert done.stderr.rstrip().endswith("3 300 tokens · 0.0063 USD")
    assert "USD" not in done.stdout


def test_the_json_result_is_of_its_schema_and_holds_tokens_alone(counter):
    usage = json.loads(run(counter, "--output", "json").stdout)["usage"]
    assert usage == {"input_tokens": 3000, "output_tokens": 300, "requests": 3}


def test_no_figure_is_a_guess(counter):
    uncounted = {"total_tokens": 3}
    for words, changed in (
        ((), {"price": "input = 2\noutput = 10\n"}),
        (("--model", "another"), {}),
        ((), {"usage": uncounted}),
    ):
        done = run(counter, *words, **changed)
        assert "VERIFIED" in done.stderr and "USD" not in done.stderr, (words, changed)
