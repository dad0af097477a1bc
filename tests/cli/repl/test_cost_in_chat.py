"""The cost of a turn in the chat of `spear-chat` itself: of the backend that has a price, and of no other (spec 8.2)."""

from __future__ import annotations

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
FIX = ("patch", {"path": "app.py", "old_string": "return 1", "new_string": "return 2"})
BACK = ("patch", {"path": "app.py", "old_string": "return 2", "new_string": "return 1"})


def test_a_turn_names_its_cost_once_its_backend_has_a_price(real, scripted):
    server = scripted.ModelServer(
        [
            scripted.calls(FIX, usage=USAGE), scripted.text("Done.", usage=USAGE),
            scripted.calls(BACK, usage=USAGE), scripted.text("Back.", usage=USAGE),
        ]
    )  # fmt: skip
    config = f"[backends.priced]\nurl = '{server.base_url}'\nmodel = 'scripted'\nprice = {{input = 2, output = 10}}\n"
    r = real(None, "--auto", "--validation", "off", server=server, config=config)
    r.line("Fix f() in app.py.")
    r.wait("2 rounds · 2 200 tokens")
    assert "USD" not in r.settle()
    r.line("/model priced")
    r.wait(r"scripted at priced \(")
    r.line("Put f() in app.py back.")
    r.wait("2 rounds · 2 200 tokens · 0.0060 USD", 40)


def test_a_ceiling_stops_each_turn_of_the_chat_by_itself(real, scripted):
    steps = [scripted.calls(FIX, usage=USAGE), scripted.calls(BACK, usage=USAGE)]
    server = scripted.ModelServer([*steps, scripted.text("never", usage=USAGE)])
    r = real(None, "--auto", "--validation", "off", "--max-turn-tokens", "1100", server=server)
    for request in ("Fix f() in app.py.", "Put f() in app.py back."):
        r.line(request)
        r.wait("the ceiling of 1100 tokens is reached: 1100 are spent")
        r.wait("1 round · 1 100 tokens", 40)


def test_a_ceiling_of_price_is_refused_with_the_way_out_until_the_backend_has_a_price(real, scripted):
    server = scripted.ModelServer([scripted.calls(FIX, usage=USAGE), scripted.text("never", usage=USAGE)])
    config = f"[backends.priced]\nurl = '{server.base_url}'\nmodel = 'scripted'\nprice = {{input = 2, output = 10}}\n"
    r = real(None, "--auto", "--validation", "off", "--max-price", "0.002", server=server, config=config)
    r.line("Fix f() in app.py.")
    r.wait("max_price")
    r.wait("cannot be held")
    assert not server.requests
    r.line("/model priced")
    r.wait(r"scripted at priced \(")
    r.line("Fix f() in app.py.")
    r.wait("the ceiling of 0.002 USD is reached: 0.003 are spent", 40)
