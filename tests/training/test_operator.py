"""FT4: what `/finetune` answers, and that it trains nothing."""

from __future__ import annotations

import pytest

from spear.training.operator import FinetuneCommands
from spear.training.vocabulary import Split
from tests.training.conftest import PASSED, request_in, says


@pytest.fixture
def finetune(work) -> FinetuneCommands:
    return FinetuneCommands(work.state)


def bundle_of(answer) -> str:
    return answer.text.split()[0]


def test_an_empty_state_directory_is_said_to_be_empty_and_stays_untouched(work, finetune):
    assert "EMPTY" in finetune.answer([]).text
    assert "no bundle" in finetune.answer(["list"]).text
    assert finetune.answer(["prepare"]).status == 2
    assert not (work.state.root / "finetune").exists()


def test_status_says_what_is_missing(work, finetune):
    work.turn(request_in(Split.TRAIN), [says("ok")], **PASSED)
    answer = finetune.answer(["status"])
    assert answer.status == 0
    assert "COLLECTING" in answer.page
    assert "1 samples to train on; a smoke test takes 8" in answer.page


def test_prepare_freezes_once_and_list_and_inspect_find_it(work, finetune):
    work.turn(request_in(Split.TRAIN), [says("ok")], **PASSED)
    made = finetune.answer(["prepare", "sft"])
    assert made.status == 0
    assert "sft: 1 samples to train on" in made.text
    assert "nothing was trained" in made.text
    assert "frozen already" in finetune.answer(["prepare"]).text
    assert bundle_of(made) in finetune.answer(["list"]).text
    seen = finetune.answer(["inspect", bundle_of(made)[:20]])
    assert seen.status == 0
    assert "as it was frozen" in seen.text


def test_inspect_says_that_a_bundle_was_changed(work, finetune):
    work.turn(request_in(Split.TRAIN), [says("ok")], **PASSED)
    name = bundle_of(finetune.answer(["prepare"]))
    (work.state.root / "finetune/bundles" / name / "RUNBOOK.md").write_text("train it")
    seen = finetune.answer(["inspect", name])
    assert seen.status == 2
    assert "RUNBOOK.md does not match its checksum" in seen.text


@pytest.mark.parametrize(
    "words", [["start"], ["logs", "x"], ["prepare", "ppo"], ["inspect"], ["inspect", "../.."], ["inspect", "none"],
              ["status", "now"], ["doctor", "--remote"]],
)  # fmt: skip
def test_what_is_not_there_is_said_with_the_way_out(work, finetune, words):
    work.turn(request_in(Split.TRAIN), [says("ok")], **PASSED)
    answer = finetune.answer(words)
    assert answer.status == 2
    assert "/finetune" in answer.text


def test_doctor_names_what_is_missing_and_the_command(finetune):
    answer = finetune.answer(["doctor"])
    assert answer.status == 0
    for part in ("free disk", "accelerator", "torch", "axolotl"):
        assert part in answer.text
