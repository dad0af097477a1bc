"""Exports are readable, redacted, harmless to open, and honest about what they leave out."""

from __future__ import annotations

import json

import pytest

from spear.agent.messages import Message, Role, ToolCall
from spear.state.export import ExportForm, export
from spear.state.redaction import Redactor

CONVERSATION = (
    Message(Role.SYSTEM, "SYSTEM-PROMPT"),
    Message(Role.USER, "Use PASSWORD=hunter2 <script>alert(1)</script>"),
    Message(Role.ASSISTANT, "On it.", (ToolCall("c", "terminal", '{"command": "cat x"}'),), reasoning="PRIVATE"),
    Message(Role.TOOL, "```\nTOP" + "x" * 10_000 + "END\x1b]0;title\x07", tool_call_id="c"),
    Message(Role.ASSISTANT, "Done \ud83d."),
)


@pytest.fixture(params=list(ExportForm))
def exported(request):
    return request.param, export(CONVERSATION, request.param, Redactor(), title="A & B")


def test_nothing_private_leaves(exported):
    _, text = exported
    for hidden in ("SYSTEM-PROMPT", "PRIVATE", "hunter2", "\x1b"):
        assert hidden not in text
    text.encode("utf-8")


def test_what_was_left_out_is_said(exported):
    form, text = exported
    for said in ("1 system prompt", "1 private reasoning", "1 secret replaced"):
        assert said in text
    assert ("1 result cut" in text) == (form is not ExportForm.JSONL)
    assert "On it." in text
    assert "TOP" in text
    assert "END" in text


def test_an_export_of_everything_says_so():
    text = export((Message(Role.USER, "hello"),), ExportForm.MARKDOWN, Redactor(), title="t")
    assert "Left out: nothing." in text


def test_json_lines_hold_whole_messages():
    head, *messages = [
        json.loads(line) for line in export(CONVERSATION, ExportForm.JSONL, Redactor(), title="t").splitlines()
    ]
    assert head["schema"] == "spear.conversation/1"
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant"]
    assert len(messages[2]["content"]) > 10_000


def test_html_runs_nothing():
    text = export(CONVERSATION, ExportForm.HTML, Redactor(), title="<b>")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "<title>&lt;b&gt;</title>" in text


def test_a_fence_is_longer_than_the_fences_inside():
    text = export(CONVERSATION, ExportForm.MARKDOWN, Redactor(), title="t")
    assert "\n````\n```\nTOP" in text
