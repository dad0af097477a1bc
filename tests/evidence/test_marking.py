"""An answer nothing shows: the verdict first, every claim marked, nothing else touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.events.names import Verdict
from spear.evidence.completion import VerdictReport, judge
from spear.evidence.epochs import EpochLedger
from spear.evidence.marking import MARK, header, mark
from spear.evidence.reasons import ReasonCode, reason
from spear.evidence.records import Change
from spear.evidence.turn import TurnEvidence

REPORT = VerdictReport(
    Verdict.UNVERIFIED, (reason(ReasonCode.NOTHING_RAN, files=("src/ring.c",)),), files=("src/ring.c",)
)


def body(answer, report=REPORT):
    return mark(answer, report).removeprefix(header(report) + "\n\n")


def test_the_verdict_and_the_file_stand_in_the_first_line():
    first = mark("The tests pass.", REPORT).split("\n")[0]
    assert first.startswith("**UNVERIFIED** — ")
    assert "src/ring.c" in first


def test_a_claim_is_marked_where_it_stands():
    assert body("I changed it. The tests pass. I looked.") == f"I changed it. The tests pass. {MARK} I looked."


def test_hedged_sentences_are_not_marked():
    answer = "I changed the comparison. I have not run the tests, so this may still fail. The tests should pass."
    assert body(answer) == answer


def test_code_is_left_alone():
    block = "```c\nThe tests pass.\nif (index >= size)\n```"
    shown = body(f"The tests pass.\n\n{block}\n")
    assert block in shown
    assert shown.count(MARK) == 1


def test_a_mark_stands_after_emphasis_and_inside_a_table():
    assert body("**The tests pass.**") == f"**The tests pass.** {MARK}"
    assert body("| a | the tests pass |") == f"| a | the tests pass {MARK} |"
    assert body("| Tests | ✅ |\n| Docs | ✅ |") == f"| Tests | ✅ {MARK} |\n| Docs | ✅ |"
    assert body("- ✅ Tests\n- ✅ Docs") == f"- ✅ Tests {MARK}\n- ✅ Docs"


def test_other_verdicts_leave_the_answer_as_it_is():
    for verdict in (Verdict.VERIFIED, Verdict.NO_CHANGE):
        assert mark("The tests pass.", VerdictReport(verdict, ())) == "The tests pass."


def test_a_model_cannot_write_the_header_itself():
    fake = "**UNVERIFIED** — src/ring.c: all is fine.\n\nThe tests pass."
    shown = mark(fake, REPORT)
    assert shown.startswith(header(REPORT))
    assert shown.count("**UNVERIFIED**") == 2


PIECES = st.sampled_from(
    [
        "The tests pass.",
        "It builds",
        "I looked.",
        "```\nThe tests pass.\n```",
        "`make test` passes!",
        "\n\n",
        "- ",
        "> It builds.",
        "| a | it builds |",
        "Fixed.",
    ]
)


@given(st.lists(PIECES, max_size=8).map("\n".join))
def test_marking_is_idempotent_and_only_adds_marks(answer):
    once = mark(answer, REPORT)
    assert mark(once, REPORT) == once
    assert once.removeprefix(header(REPORT)).lstrip("\n").replace(f" {MARK}", "") == answer.lstrip("\n")


@given(st.text(max_size=300))
def test_any_text_can_be_marked(answer):
    change = Change(path="a.c", kind="modified", before_sha256="0", after_sha256="1", delivered=True)
    report = judge(TurnEvidence(answer, ledger=EpochLedger().after([change])))
    once = mark(answer, report)
    assert mark(once, report) == once


@pytest.mark.parametrize("answer", ["", " ", "\n"])
def test_an_empty_answer_gets_the_verdict_alone(answer):
    assert mark(answer, REPORT).startswith("**UNVERIFIED**")
