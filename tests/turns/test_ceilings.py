"""Ceilings of a turn in the installed program: tokens, price, wall time (spec 1.3, 1.4)."""

from __future__ import annotations

import json

from tests.scripted_model import ModelServer, calls, text
from tests.turns.conftest import ASK, FIX, sh

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
WRONG = ("patch", {"path": "src/counter.c", "old_string": "value > limit", "new_string": "value < limit"})


def steps(*given):
    return [text(step, usage=USAGE) if isinstance(step, str) else calls(step, usage=USAGE) for step in given]


def test_a_ceiling_of_tokens_stops_the_turn_and_is_said_in_its_block(counter):
    script = steps(FIX, sh("make test"), sh("make"), "Fixed.")
    with ModelServer(script) as server:
        words = ("-p", ASK, "--auto", "--api-base", server.base_url, "--validation", "off")
        done = counter.run(*words, "--max-turn-tokens", "2200")
    assert done.returncode == 4 and len(server.requests) == 2, done.stderr
    assert "stopped: round budget" in done.stderr
    assert "the ceiling of 2200 tokens is reached: 2200 are spent" in done.stderr
    assert "2 rounds · 2 200 tokens" in done.stderr and "Stopped early" in done.stdout


def test_the_json_result_names_the_ceiling_as_a_budget(counter):
    turn = counter.turn(ASK, *steps(FIX, sh("make test"), "Fixed."), env={"SPEAR_MAX_TURN_TOKENS": "1"})
    assert turn.done.returncode == 4 and len(turn.requests) == 1
    assert turn.result["stop"]["reason"] == "round_budget" and "1 tokens" in turn.result["stop"]["detail"]


def test_what_answered_in_time_is_not_stopped(counter):
    flags = ("--max-turn-tokens", "3300", "--max-time", "900")
    turn = counter.turn(ASK, *steps(FIX, sh("make test"), "The tests pass."), flags=flags)
    assert turn.done.returncode == 0 and turn.result["stop"]["reason"] == "answered"


def test_no_repair_is_begun_beyond_a_ceiling_and_the_answer_stays(counter):
    script = steps(WRONG, "Changed it.", FIX, "Fixed.")
    turn = counter.turn(ASK, *script, flags=("--max-turn-tokens", "2200"))
    assert turn.done.returncode == 4 and len(turn.requests) == 2
    assert turn.verdict == "UNVERIFIED" and "Changed it." in turn.result["answer"]
    assert "not repaired" in turn.result["stop"]["detail"]
    assert any(step["status"] == "FAILED" for step in turn.result["validation"])
    assert turn.result["repair"] is None


def test_when_the_time_is_over_neither_a_request_nor_a_command_begins(counter):
    turn = counter.turn(ASK, FIX, "Fixed.", flags=("--max-time", "0.0001"))
    assert turn.done.returncode == 4 and not turn.requests
    assert turn.result["stop"] == {"reason": "round_budget", "detail": "the ceiling of 0.0001 s is reached"}


def priced(counter, server, *words, price="price = {input = 100, output = 1000}\n"):
    config = counter.home / ".config/spear/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"[backends.paid]\nurl = '{server.base_url}'\nmodel = 'scripted'\n{price}")
    return counter.run("-p", ASK, "--auto", "--backend", "paid", "--validation", "off", *words)


def test_a_ceiling_of_price_stops_the_turn_where_its_price_is_known(counter):
    with ModelServer(steps(FIX, sh("make test"), sh("make"), "Fixed.")) as server:
        done = priced(counter, server, "--max-price", "0.3")
    assert done.returncode == 4 and len(server.requests) == 2, done.stderr
    assert "the ceiling of 0.3 USD is reached: 0.4 are spent" in done.stderr and "0.4000 USD" in done.stderr


def test_a_price_that_is_not_known_is_an_error_before_any_request(counter):
    with ModelServer(steps("never")) as server:
        done = priced(counter, server, "--max-price", "0.3", price="")
        assert done.returncode == 2 and not server.requests and not done.stdout
        assert "max_price (flag --max-price) cannot be held" in done.stderr and "[backends.NAME.price]" in done.stderr
        other = priced(counter, server, "--max-price", "0.3", "--model", "another")
        assert other.returncode == 2 and "another" in other.stderr and not server.requests
    uncounted = {"total_tokens": 3}
    with ModelServer([calls(FIX, usage=uncounted), text("never", usage=uncounted)]) as server:
        done = priced(counter, server, "--max-price", "0.3")
    assert done.returncode == 4 and len(server.requests) == 1 and "cannot be held" in done.stderr


def test_a_ceiling_that_is_no_ceiling_is_refused(counter):
    for flag, value in (("--max-turn-tokens", "0"), ("--max-price", "-1"), ("--max-time", "nan"), ("--max-time", "0")):
        done = counter.run("-p", ASK, flag, value)
        key = flag.strip("-").replace("-", "_")
        assert done.returncode == 2 and key in done.stderr and flag in done.stderr, done.stderr


def test_a_file_nobody_trusts_may_lower_a_ceiling_and_not_raise_it(counter):
    counter.write(".spear/config.toml", "max_time = 50\nmax_turn_tokens = 9000\nmax_price = 1\n")

    def value(key, **variables):
        return json.loads(counter.run("config", "explain", key, "--json", env=variables).stdout)["value"]

    assert (value("max_time"), value("max_turn_tokens"), value("max_price")) == (50, 9000, None)
    config = counter.home / ".config/spear/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("max_time = 20\nmax_turn_tokens = 10000\n")
    assert (value("max_time"), value("max_turn_tokens")) == (20, 9000)
