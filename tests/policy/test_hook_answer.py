"""What a hook may say, and that everything else is a failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from spear.agent.tools import SCHEMAS
from spear.policy.hook import TOOLS, Hook, HookEvent
from spear.policy.hook_answer import OUTPUT_LIMIT, Answer, Ended, Ruling, answer_of
from spear.web.tools import SCHEMAS as WEB_SCHEMAS

GATE = Hook(event=HookEvent.BEFORE_TOOL, command=("check",))
NOTICE = Hook(event=HookEvent.TURN_ENDED, command=("tell",))


@pytest.mark.parametrize("hook", [GATE, NOTICE])
def test_nothing_printed_is_go_on(hook):
    assert answer_of(hook, Ended(0)) == Answer(Ruling.GO_ON)


def test_a_decision_is_read_with_its_reason():
    assert answer_of(GATE, Ended(0, b'{"decision": "deny", "reason": "not on a Friday"}\n')) == Answer(
        Ruling.DENY, "not on a Friday"
    )
    assert answer_of(GATE, Ended(0, b'{"decision": "allow"}')) == Answer(Ruling.ALLOW)
    assert answer_of(NOTICE, Ended(0, b'{"decision": "allow"}')) == Answer(Ruling.ALLOW)


@pytest.mark.parametrize(
    "output",
    [
        b"ok", b"\n", b" ", b"{}", b"null", b'"allow"', b'["allow"]', b'{"decision": "yes"}', b'{"decision": "ALLOW"}',
        b'{"decision": "allow", "because": "x"}', b'{"decision": "allow", "reason": 3}', b'{"decision": true}',
        b'{"decision": "allow"} {"decision": "allow"}', b'checking\n{"decision": "allow"}',
        b'{"decision": "allow"}\ndone', b'{"decision": "deny", "decision": "allow"}', b'{"decision": "allow"',
        b'\xff{"decision": "allow"}', b"[" * 60_000, b'{"decision": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_anything_else_that_is_printed_is_a_failure(output):
    assert answer_of(GATE, Ended(0, output)).ruling is Ruling.FAILED
    assert answer_of(NOTICE, Ended(0, output)).ruling is Ruling.FAILED


ALLOWED = b'{"decision": "allow"}'


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (Ended(3, ALLOWED, said="no such user\nmore"), "status 3: no such user"),
        (Ended(1), "status 1"),
        (Ended(-11, ALLOWED), "signal (11)"),
        (Ended(None, ALLOWED), "signal"),
        (Ended(0, ALLOWED, cut=True), f"more than {OUTPUT_LIMIT >> 10} KiB"),
        (Ended(0, b"", cut=True), "more than"),
        (Ended(None, ALLOWED, stopped="timeout"), "within 5 s"),
        (Ended(0, ALLOWED, stopped="timeout"), "within 5 s"),
        (Ended(None, stopped="cancelled"), "stopped with the turn"),
        (Ended(None, stopped="it cannot be started: gone"), "cannot be started"),
        (Ended(0, ALLOWED, left=True), "could not be ended"),
    ],
)
def test_however_else_it_ends_is_a_failure_that_says_how(ended, said):
    answer = answer_of(GATE, ended)
    assert answer.ruling is Ruling.FAILED and said in answer.reason


def test_where_nothing_is_decided_a_deny_is_a_failure():
    for event in HookEvent:
        answer = answer_of(Hook(event=event, command=("x",)), Ended(0, b'{"decision": "deny"}'))
        assert answer.ruling is (Ruling.DENY if event is HookEvent.BEFORE_TOOL else Ruling.FAILED)


@given(st.binary(max_size=200), st.integers(-64, 255))
def test_no_bytes_and_no_status_raise(output, status):
    answer = answer_of(GATE, Ended(status, output))
    assert (answer.ruling is Ruling.FAILED) or (status == 0)


def test_the_tools_a_hook_can_name_are_those_there_are():
    assert set(TOOLS) == {schema.name for schema in (*SCHEMAS, *WEB_SCHEMAS)} and len(set(TOOLS)) == len(TOOLS)


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "before_lunch"}, {"command": []}, {"command": "check"}, {"command": [""]}, {"command": ["a\0b"]},
        {"command": [1]}, {"tools": ["bash"]}, {"timeout_s": 0}, {"timeout_s": 61}, {"timeout_s": "5"},
        {"timeout_s": float("nan")}, {"event": "turn_ended", "tools": ["terminal"]}, {"shell": True},
    ],
)  # fmt: skip
def test_a_hook_that_makes_no_sense_is_no_hook(fields):
    with pytest.raises(ValidationError):
        Hook.model_validate({"event": "before_tool", "command": ["check"], **fields})


def test_a_hook_is_about_the_tools_it_names_and_about_all_where_it_names_none():
    named = Hook(event=HookEvent.BEFORE_TOOL, command=("x",), tools=("terminal",))
    assert named.is_about(HookEvent.BEFORE_TOOL, "terminal") and not named.is_about(HookEvent.BEFORE_TOOL, "patch")
    assert not named.is_about(HookEvent.AFTER_TOOL, "terminal")
    assert all(GATE.is_about(HookEvent.BEFORE_TOOL, tool) for tool in TOOLS)
