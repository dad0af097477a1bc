"""The JSON of `policy explain` and `policy check`."""

from __future__ import annotations

import json

import pytest

from spear.errors import UsageError
from spear.policy.explain import check_row


@pytest.mark.parametrize(
    ("row", "decision"),
    [
        ({"command": "ls | head"}, "run"),
        ({"command": "make"}, "run_opaque"),
        ({"command": "echo x > src/ring_arm.c", "scope": ["src/ring.c"]}, "refuse"),
        ({"command": "echo x > src/ring.c", "scope": ["src/ring.c"]}, "run"),
        ({"command": "echo x > src/ring.c", "read_only": True}, "refuse"),
        ({"command": "echo x > src/ring.c", "mode": "safe"}, "refuse"),
        ({"command": "echo x > src/ring.c", "mode": "ask"}, "run"),
        ({"command": "echo x > src/ring.h", "scope": ["src/ring.c"], "exclude": ["src/ring.h"]}, "refuse"),
        ({"command": "echo $((1"}, "refuse"),
    ],
)
def test_a_row_is_decided(policy, row, decision):
    found = check_row(row, policy)
    assert found["decision"] == decision
    assert ("refusal" in found) == (decision == "refuse")
    json.dumps(found)


def test_a_destination_is_shown_with_its_operator_and_place(policy):
    found = check_row({"command": "cd src; echo x > ring_arm.c", "scope": ["src/ring.c"]}, policy)
    (destination,) = found["destinations"]
    assert destination["path"] == "src/ring_arm.c"
    assert (destination["operator"], destination["certain"], destination["allowed"]) == (">", True, False)
    assert found["refusal"]["line"] in found["reasons"]


@pytest.mark.parametrize(
    "row", [{}, {"command": 3}, {"command": "ls", "mode": "yolo"}, {"command": "ls", "scope": "src"}]
)
def test_a_row_that_is_none_is_a_usage_error(policy, row):
    with pytest.raises(UsageError):
        check_row(row, policy)
