"""Whole turns in which the project's own recipe or script throws away the status of its tests."""

from __future__ import annotations

import pytest

from tests.turns.conftest import Tree, built, sh

ASK = "Rework the counter in this tree thoroughly."
CHANGE = ("patch", {"path": "counter.py", "old_string": "v >= limit", "new_string": "{}"})
TEST = "import sys\nsys.path.insert(0, '.')\nfrom counter import step\nif not step({}:\n    print('wrong answer')\n    sys.exit(1)\n"
LOST = {
    "a loop": "for t in tests/*.py; do python3 $t; done",
    "of known words": "for t in tests/a.py tests/z.py; do python3 $t; done; echo done",
    "of lines": "ls tests/*.py > list; while read t; do python3 $t; done < list",
    "in a branch": "if [ -d tests ]; then for t in tests/*.py; do python3 $t; done; fi",
    "in a loop": "for d in tests; do for t in $d/*.py; do python3 $t; done; done",
    "one after the other": "python3 tests/a.py; python3 tests/z.py",
    "in a subshell": "(python3 tests/a.py; python3 tests/z.py)",
    "a function": "t() { python3 $1; }; t tests/a.py; t tests/z.py",
    "a function in a condition": "set -e; t() { python3 tests/a.py; python3 tests/z.py; }; if t; then echo good; fi",
    "words for success": "python3 tests/a.py && echo good; python3 tests/z.py && echo good",
    "words nobody reads": "python3 tests/a.py || echo hm; python3 tests/z.py || echo hm",
    "words for both": "if python3 tests/a.py; then echo good; else echo hm; fi",
    "a number": "python3 tests/a.py; echo $?",
    "what is found": "find tests -name '*.py' -exec python3 {} ';'",
    "a log": "python3 tests/a.py | tee list",
    "a variable that is gone": "n=0; ls tests/*.py | while read t; do python3 $t || n=1; done; exit $n",
}
KEPT = {
    "it ends": "for t in tests/*.py; do python3 $t || exit 1; done",
    "it counts": "n=0; for t in tests/*.py; do python3 $t || n=1; done; exit $n",
    "it asks": "n=0; for t in tests/*.py; do python3 $t; [ $? = 0 ] || n=1; done; exit $n",
    "it branches": "for t in tests/*.py; do if ! python3 $t; then exit 1; fi; done",
    "the shell ends": "set -e; for t in tests/*.py; do python3 $t; done",
    "golden files": "for t in tests/*.py; do python3 $t > got; if ! diff got want; then exit 1; fi; done",
    "a file compared": "n=0; for t in tests/*.py; do python3 $t > got; cmp got want || n=1; done; exit $n",
    "until it is there": "until ls tests >/dev/null; do true; done; python3 tests/a.py && python3 tests/z.py",
    "a case of it": "for t in tests/*.py; do python3 $t; case $? in 0) ;; *) exit 1;; esac; done",
    "one of them": "for t in tests/a.py; do python3 $t; done",
    "one and the other": "python3 tests/a.py && python3 tests/z.py && echo good",
    "in a shell that ends": "(set -e; python3 tests/a.py; python3 tests/z.py)",
    "a function in it": "set -e; t() { python3 $1; }; t tests/a.py; t tests/z.py",
    "a function that remembers": "no() { n=1; }; n=0; python3 tests/a.py || no; python3 tests/z.py || no; exit $n",
    "words for failure": "python3 tests/a.py || echo FAILED; python3 tests/z.py || echo FAILED",
    "a status kept": "python3 tests/a.py; n=$?; python3 tests/z.py && exit $n",
    "a log that is read": "python3 tests/a.py | tee list; ! grep -q wrong list",
    "nothing of the tree": "for t in tests/*.py; do echo $t; done; python3 tests/a.py && python3 tests/z.py",
}
RUNNERS = {
    **{name: (loop, "UNVERIFIED") for name, loop in LOST.items()},
    **{n: (loop, "VERIFIED") for n, loop in KEPT.items()},
}


@pytest.fixture
def counted(tree: Tree) -> Tree:
    """Two tests without words for what fails."""
    tree.write("counter.py", "def step(v, limit):\n    return 0 if v >= limit else v + 1\n")
    tree.write("tests/a.py", TEST.format("4, 4) == 0"))
    tree.write("tests/z.py", TEST.format("1, 4) == 2"))
    tree.write("want", "")
    tree.write(".gitignore", "__pycache__/\nlist\ngot\n")
    return tree


@pytest.mark.parametrize(
    ("runner", "flags"),
    [("make test", ()), ("sh run_tests.sh", ("--validation", "off"))],
    ids=["by the host", "by the model"],
)
@pytest.mark.parametrize(("loop", "verdict"), RUNNERS.values(), ids=RUNNERS)
def test_a_recipe_that_loses_statuses_shows_nothing(counted: Tree, loop, verdict, runner, flags):
    recipe = loop.replace("$", "$$") if runner == "make test" else "sh run_tests.sh"
    counted.write("Makefile", f"test:\n\t{recipe}\n")
    counted.write("run_tests.sh", loop + "\n")
    built(counted, "true")
    change = (CHANGE[0], {**CHANGE[1], "new_string": "limit <= v" if verdict == "VERIFIED" else "v > limit"})
    turn = counted.turn(ASK, change, sh(runner), "I reworked it. The tests pass.", "I leave it.", flags=flags)
    assert turn.verdict == verdict, (turn.result["checks"], turn.result["reasons"])
