"""`/recall` records a rule for every corpus."""

import stat
import subprocess
import sys

from spear.context.rules_learned import learn, learned

LEARN = """
import sys
from pathlib import Path
from spear.context.rules_learned import learn
for number in range(10):
    assert learn(Path(sys.argv[1]), f"{sys.argv[2]}-{number}").ok
"""


def test_a_learned_rule_holds_in_every_workspace(tree, shape):
    file = tree.state / "rules-learned.md"
    assert learn(file, "use  tabs\nalways").ok
    assert learn(file, "no globals").ok
    assert learn(file, "no globals").ok
    assert learned(file) == ("- use tabs always", "- no globals")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    choice = tree.book("any").choose(shape())
    assert [rule.text for rule in choice.kept] == ["- use tabs always\n- no globals"]


def test_an_empty_or_endless_rule_is_none(tree):
    file = tree.state / "rules-learned.md"
    assert not learn(file, "  \x1b ").ok
    assert not learn(file, "x" * 5000).ok
    assert not file.exists()
    assert learned(file) == ()


def test_sessions_that_learn_at_once_lose_nothing(tree):
    file = tree.state / "rules-learned.md"
    running = [subprocess.Popen([sys.executable, "-c", LEARN, str(file), f"p{n}"]) for n in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert len(learned(file)) == 40
    assert file.read_text().count("scope: global") == 1
