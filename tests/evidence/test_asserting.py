"""Assertions that can still fail a Python test."""

from __future__ import annotations

import pytest

from spear.evidence.asserting import assertions_that_count
from spear.evidence.weakened import FileTexts, find_weakened

TEST = "from calc import add\n\n\ndef test_add():\n    one = add(1, 2)\n    assert one == 3\n"

DISARMED = [
    ("    one = add", "    return\n    one = add"),
    ("    assert one == 3", "    if False:\n        assert one == 3"),
    ("    assert one == 3", "    if 0:\n        assert one == 3"),
    ("    assert one == 3", "    try:\n        assert one == 3\n    except AssertionError:\n        pass"),
    (
        "    assert one == 3",
        "    try:\n        assert one == 3\n    except (ValueError, Exception):\n        print('x')",
    ),
    ("    assert one == 3", "    with contextlib.suppress(AssertionError):\n        assert one == 3"),
    ("    assert one == 3", "    for one in ():\n        return\n    return\n    assert one == 3"),
    ("def test_add", "pytestmark = pytest.mark.skip\n\n\ndef test_add"),
    ("def test_add", "__test__ = False\n\n\ndef test_add"),
    ("    one = add", "    raise unittest.SkipTest\n    one = add"),
]
STILL_COUNT = [
    ("    assert one == 3", "    if one:\n        assert one == 3\n    else:\n        assert one == 3"),
    ("    assert one == 3", "    try:\n        assert one == 3\n    except ValueError:\n        pass"),
    ("    assert one == 3", "    try:\n        assert one == 3\n    except AssertionError:\n        raise"),
    ("    assert one == 3", "    try:\n        assert one == 3\n    except Exception:\n        pytest.fail('no')"),
    ("    assert one == 3", "    with open('x') as x:\n        assert one == 3"),
    ("    assert one == 3", "    for _ in range(2):\n        assert one == 3"),
    ("    assert one == 3", "    assert one == 3\n    return"),
    ("    assert one == 3", "    with pytest.raises(ValueError):\n        add(1)\n    assert one == 3"),
]


@pytest.mark.parametrize("change", DISARMED)
def test_a_test_whose_assertions_can_no_longer_fail_it_is_named(change):
    after = TEST.replace(*change)
    assert after != TEST
    (found,) = find_weakened([FileTexts("test_calc.py", TEST, after)])
    assert found.certain, found


@pytest.mark.parametrize("change", STILL_COUNT)
def test_a_test_written_otherwise_is_not_accused(change):
    after = TEST.replace(*change)
    assert after != TEST
    (found,) = find_weakened([FileTexts("test_calc.py", TEST, after)])
    assert not found.certain, found


def test_what_is_no_python_has_no_count():
    assert assertions_that_count("def broken(:") is None
    assert assertions_that_count("int main(void) { assert(1); }") is None
    assert assertions_that_count(TEST) == 1


C_TEST = "int main(void)\n{\n    if (next(3))\n        return 1;\n    return 0;\n}\n"


def test_a_test_put_where_no_runner_looks_is_a_deleted_one():
    for name in ("tests/test_a.c.off", "attic/notes.txt"):
        (found,) = find_weakened([FileTexts("tests/test_a.c", C_TEST, None), FileTexts(name, None, C_TEST)])
        assert found.certain, found
    assert (
        find_weakened([FileTexts("tests/test_a.c", C_TEST, None), FileTexts("tests/unit/test_a.c", None, C_TEST)]) == ()
    )


def test_what_tests_compare_with_is_named_when_it_changes():
    (found,) = find_weakened([FileTexts("tests/golden/out.txt", "3\n", "2\n")])
    assert not found.certain
    assert (
        find_weakened([FileTexts("tests/golden/new.txt", None, "2\n"), FileTexts("docs/out.txt", "3\n", "2\n")]) == ()
    )


def test_a_new_makefile_that_says_anew_what_the_tests_are_is_named():
    new = FileTexts("local.mk", None, "test:\n\t@test -f Makefile\n")
    (found,) = find_weakened([new], targets=["test", "all"])
    assert found.certain
    assert find_weakened([new], targets=["all"]) == ()
