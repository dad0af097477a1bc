"""A secret that the conversation does not show is kept by an edit around it, and never replaced by its sentinel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.tools.hidden_text import unhidden

KEY = "ghp_" + "a1B2" * 9


def test_a_patch_that_quotes_a_hidden_secret_on_both_sides_keeps_it(bench):
    bench.write("k.py", f'K = "{KEY}"\nx = 1\n')
    bench.ok("patch", path="k.py", old_string='K = "[redacted]"\nx = 1', new_string='K = "[redacted]"\nx = 3')
    assert bench.bytes("k.py").decode() == f'K = "{KEY}"\nx = 3\n'


def test_line_endings_around_a_hidden_secret_stay(bench):
    bench.write("k.py", f'K = "{KEY}"\r\nx = 1\r\n'.encode())
    bench.ok("patch", path="k.py", old_string='K = "[redacted]"\nx = 1', new_string='TOKEN = "[redacted]"\nx = 1')
    assert bench.bytes("k.py").decode() == f'TOKEN = "{KEY}"\r\nx = 1\r\n'


def test_a_hidden_secret_may_be_taken_out_by_name(bench):
    bench.write("k.py", f'K = "{KEY}"\nx = 1\n')
    bench.ok("patch", path="k.py", old_string='K = "[redacted]"', new_string='K = os.environ["K"]')
    assert bench.bytes("k.py").decode() == 'K = os.environ["K"]\nx = 1\n'


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ('A = "s1"\nA = "s2"\n', 'A = "[redacted]"', 'B = "[redacted]"'),
        ('A = "s1"\n', 'A = "[redacted]"', 'A = "[redacted]"; B = "[redacted]"'),
        ('A = "s1"\n', '[redacted]"', 'x[redacted]"'),
        ('A = "s1\ns2"\n', 'A = "[redacted]"', 'B = "[redacted]"'),
        ('A = ""\n', 'A = "[redacted]"', 'B = "[redacted]"'),
        ('A = "[redacted]"\n', 'A = "[redacted]"', 'B = "[redacted]"'),
    ],
)
def test_what_is_not_one_clear_place_is_left_to_be_refused(text, old, new):
    assert unhidden(text, old, new) == (old, new)


SECRET = st.text("abcXYZ019_-", min_size=1, max_size=12)


@given(SECRET, SECRET, st.text("xyz \n", max_size=20), st.text("xyz \n", max_size=20))
def test_secrets_come_back_in_their_order(one, two, before, after):
    text = f"{before}\nkey: <{one}> and <{two}>;\n{after}"
    old, new = unhidden(text, "key: <[redacted]> and <«redacted:2»>;", "KEY=<[redacted]>, <«redacted:2»>!")
    assert old == f"key: <{one}> and <{two}>;"
    assert new == f"KEY=<{one}>, <{two}>!"


@given(st.text("ab=\n", max_size=60), st.text("ab=\n", max_size=6), st.text("ab=\n", max_size=6))
def test_what_is_found_is_quoted_from_the_text(text, before, after):
    quote = f"{before}[redacted]{after}"
    old, _ = unhidden(text, quote, "[redacted]")
    assert old == quote or (old in text and old.startswith(before) and old.endswith(after))
