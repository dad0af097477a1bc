"""A path is what the request names, however it is written, and never the verb of a clause (spec 1.2, 8.2)."""

from __future__ import annotations

import pytest

from spear.control.classification import classify


@pytest.mark.parametrize(
    ("request_text", "targets", "exclusions"),
    [
        ("@src/a.c fix the leak", ("src/a.c",), ()),
        ("fix the leak in @src/a.c", ("src/a.c",), ()),
        ("Fix @README.md and @Makefile", ("README.md", "Makefile"), ()),
        ("fix (@src/a.c) but do not touch @tests/", ("src/a.c",), ("tests/",)),
        ("Change nothing but @src/a.c and @src/b.c; fix the overflow there", ("src/a.c", "src/b.c"), ()),
        ("fix the @property of src/a.py", ("src/a.py",), ()),
        ("I'd like src/a.c to use snprintf", ("src/a.c",), ()),
        ("we would like src/a.c to use snprintf", ("src/a.c",), ()),
    ],
)
def test_a_path_completed_in_the_chat_is_the_path_itself(request_text, targets, exclusions):
    got = classify(request_text)
    assert (got.targets, got.exclusions, got.read_only) == (targets, exclusions, False)


@pytest.mark.parametrize(
    "request_text",
    [
        "explain src/ring.c and tests/",
        "explain @src/ring.c and @tests/",
        "Review src/a.c, test.c and run.sh",
        "compare build/a.txt, fix.py and make.log",
    ],
)
def test_a_path_that_begins_like_a_verb_asks_for_nothing(request_text):
    got = classify(request_text)
    assert got.read_only, got.reasons


def test_a_model_to_follow_is_still_a_source():
    got = classify("make src/b.c work like src/a.c")
    assert (got.targets, got.sources) == (("src/b.c",), ("src/a.c",))
