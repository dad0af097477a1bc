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
