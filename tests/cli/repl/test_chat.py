"""The chat in a real pseudo-terminal, over a stand-in application."""

from __future__ import annotations


def test_a_request_is_served_and_its_answer_printed(chat, requests):
    r = chat()
    r.line("say hello **there**")
    r.wait("hello there")
    assert requests() == ["say hello **there**"]


def test_quit_ends_the_chat_and_says_how_to_go_on(chat):
    r = chat()
    r.line("/quit")
    assert r.end() == 0
    assert "spear-chat --resume s-0001" in r.plain()


def test_a_changing_turn_ends_in_its_block_and_can_be_undone(chat, workspace):
    r = chat("--auto")
    r.line("edit")
    r.wait("UNVERIFIED")
    shown = r.settle()
    assert "Update a.txt +1 −1" in shown
    assert "All tests pass. (not verified)" in shown
    assert (workspace / "a.txt").read_text() == "two\n"
    r.mark()
    r.line("/undo")
    r.wait(r"a\.txt")
    r.line("y")
    r.wait("restored")
    assert (workspace / "a.txt").read_text() == "one\n"
