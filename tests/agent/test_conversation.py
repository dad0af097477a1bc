"""Whatever comes in, what is sent is valid; what was valid is not touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spear.agent.conversation import Transcript, mend
from spear.agent.messages import Message, Role, ToolCall
from tests.agent.scripted import assert_resendable, results

_IDS = st.sampled_from(["a", "b", "c", "", "\ud800"])
_TEXT = st.sampled_from(["", "text", "half \udfff"])
_CALLS = st.lists(st.builds(ToolCall, _IDS, st.just("read_file"), st.just("{}")), max_size=3).map(tuple)
_MESSAGES = st.one_of(
    st.builds(Message, st.just(Role.USER), _TEXT),
    st.builds(Message, st.just(Role.ASSISTANT), _TEXT, _CALLS),
    st.builds(Message, st.just(Role.TOOL), _TEXT, st.just(()), _IDS),
)
END = Message(Role.ASSISTANT, "end")


@given(st.lists(_MESSAGES, max_size=12))
def test_any_conversation_is_mended_into_a_valid_one_once(messages: list[Message]) -> None:
    mended = mend([*messages, END])
    assert_resendable(mended)
    assert mend(mended) == mended


def test_results_out_of_order_are_put_in_call_order() -> None:
    calls = (ToolCall("a", "read_file", "{}"), ToolCall("b", "read_file", "{}"))
    one, two = (Message(Role.TOOL, text, tool_call_id=text) for text in "ab")
    assert results(mend([Message(Role.ASSISTANT, "", calls), two, one])) == ["a", "b"]


def test_a_result_that_was_cut_to_fit_is_not_held_in_full() -> None:
    transcript = Transcript([Message(Role.USER, "hi")], (), window=1000)
    transcript.propose("", [ToolCall("a", "read_file", "{}"), ToolCall("b", "read_file", "{}")], "")
    transcript.answer("a", "short")
    transcript.answer("b", "long line of text\n" * 1000)
    assert transcript.holds("a")
    assert not transcript.holds("b")
    assert not transcript.holds("never made")
    assert transcript.tokens < 1000
