"""`spear-train` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from spear.training.vocabulary import Mark, Split
from tests.training.conftest import PASSED, request_in, says

REQUEST = request_in(Split.TRAIN)


@pytest.fixture
def train(work, tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SPEAR_STATE_DIR": str(work.state.root),
               "PYTHONPATH": os.getcwd()}  # fmt: skip
        return subprocess.run([sys.executable, "-m", "spear.cli.train", *words], cwd=tmp_path, env=env,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)  # fmt: skip

    return run


def test_readiness_freeze_and_validate(work, train, tmp_path):
    work.turn(REQUEST, [says("ok")], **PASSED)
    ready = train("readiness", "--json")
    assert (ready.returncode, json.loads(ready.stdout)["level"]) == (0, "NOT_READY")
    assert "NOT_READY" in train("readiness", "--source", str(work.state.training_data)).stdout
    frozen = train("freeze", "--output", "out", "--base-model", "some/model")
    assert frozen.returncode == 0, frozen.stderr
    bundle = frozen.stdout.strip()
    assert train("validate-bundle", bundle).returncode == 0
    assert (
        "base_model: some/model"
        in (tmp_path / "out/bundles" / os.path.basename(bundle) / "axolotl/sft.yaml").read_text()
    )
    with open(f"{bundle}/manifest.json", "ab") as file:
        file.write(b" ")
    checked = train("validate-bundle", bundle)
    assert (checked.returncode, "manifest.json does not match" in checked.stderr) == (1, True)


def test_export_writes_trajectories_without_what_may_not_leave(work, train, tmp_path):
    work.turn(REQUEST, [says("kept")], session="a")
    work.turn(REQUEST, [says("banned")], session="b")
    work.turn(REQUEST, [says("licensed")], session="c", path="normative")
    work.store.mark("a", 1, Mark.GOOD)
    work.store.mark("b", 1, Mark.BAD)
    done = train("export", "--output", "t.jsonl")
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, (tmp_path / "t.jsonl").read_text().splitlines())
    assert (record["answer"], record["mark"], record["origin"]) == ("kept", "good", "NORMAL_USAGE")
    assert "1 left out (marked_bad), 1 left out (standard_text)" in done.stdout
    again = train("export", "--output", "t.jsonl")
    assert (again.returncode, "exists" in again.stderr) == (2, True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["state", "t.jsonl"]


@pytest.mark.parametrize(
    "words", [["readiness"], ["freeze", "--output", "o"], ["export", "--output", "x"], ["nonsense"], [],
              ["readiness", "--source", "nowhere"], ["freeze", "--output", "o", "--allow-origin", "STOLEN"]],
)  # fmt: skip
def test_what_cannot_be_done_is_one_sentence_and_status_2(train, words):
    done = train(*words)
    assert done.returncode == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
