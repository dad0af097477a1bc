"""FT1–FT3: what becomes data, what never does, and a bundle that is the same everywhere."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from spear.errors import UsageError
from spear.training.bundle import FrozenBundle, freeze, survey
from spear.training.curation import CurationError, check_record, select
from spear.training.episode import compose
from spear.training.governance import Governance
from spear.training.readiness import Level, State
from spear.training.source import Source
from spear.training.validation import problems
from spear.training.vocabulary import DataOrigin, Mark, Split
from tests.training.conftest import FAILED, PASSED, Work, call, gives, request_in, says, user

TRAIN = request_in(Split.TRAIN)


def frozen(work: Work, output: Path, *also: DataOrigin) -> FrozenBundle:
    return freeze(Source(work.state.training_data), Governance.admitting(also), output)


def lines(bundle: FrozenBundle, name: str) -> list[dict]:
    return [json.loads(line) for line in (bundle.path / name).read_bytes().splitlines()]


def everything(bundle: FrozenBundle) -> dict[str, bytes]:
    return {str(p.relative_to(bundle.path)): p.read_bytes() for p in bundle.path.rglob("*") if p.is_file()}


def text(bundle: FrozenBundle) -> str:
    return b"".join(everything(bundle).values()).decode()


def test_a_sample_trains_the_last_assistant_message_and_no_other(work, tmp_path):
    said = [says("I will.", call("patch", path="a.c")), gives("ok"), says("Fixed.")]
    work.turn(TRAIN, said, before=[user(request_in(Split.TRAIN, 2)), says("Yes.")], **PASSED)
    (sample,) = lines(frozen(work, tmp_path), "datasets/sft/train.jsonl")
    trained = [m["content"] for m in sample["messages"] if m.get("train")]
    assert trained == ["Fixed."]
    assert [m["train"] for m in sample["messages"] if m["role"] == "assistant"] == [False, False, True]
    assert sample["tools"][0]["function"]["name"] == "patch"


def test_trl_files_hold_the_same_samples_as_prompt_and_completion(work, tmp_path):
    work.turn(TRAIN, [says("Right.")], **PASSED)
    work.turn(TRAIN, [says("Wrong.")], **FAILED)
    bundle = frozen(work, tmp_path)
    (sft,) = lines(bundle, "trl/desirable-train.jsonl")
    assert [m["role"] for m in sft["prompt"]] == ["system", "user"]
    assert ([m["content"] for m in sft["completion"]], sft["label"]) == (["Right."], True)
    (bad,) = lines(bundle, "trl/undesirable-train.jsonl")
    assert ([m["content"] for m in bad["completion"]], bad["label"]) == (["Wrong."], False)
    (dpo,) = lines(bundle, "trl/dpo-train.jsonl")
    assert (dpo["chosen"][0]["content"], dpo["rejected"][0]["content"]) == ("Right.", "Wrong.")
    assert dpo["prompt"] == sft["prompt"]


def test_every_configuration_reads_files_and_columns_that_are_there(work, tmp_path):
    work.turn(TRAIN, [says("Right.")], **PASSED)
    work.turn(request_in(Split.VALIDATION), [says("Right.")], **PASSED)
    work.turn(TRAIN, [says("Wrong.")], **FAILED)
    bundle = frozen(work, tmp_path)
    for name in ("sft", "kto", "dpo"):
        (source,) = yaml.safe_load((bundle.path / f"trl/{name}.yaml").read_text())["datasets"]
        for file in source["data_files"]:
            assert all(set(source["columns"]) <= record.keys() for record in lines(bundle, file))
            assert lines(bundle, file)
    axolotl = yaml.safe_load((bundle.path / "axolotl/sft.yaml").read_text())
    for source in (*axolotl["datasets"], *axolotl["test_datasets"]):
        (record,) = lines(bundle, source["path"])
        assert record[source["field_messages"]][-1][source["message_field_training"]] is True
        assert source["field_tools"] in record


def test_a_record_that_would_train_an_earlier_turn_is_a_hard_error(work):
    said = {"role": "assistant", "content": "a"}
    for record in (
        {"messages": [{**said, "train": True}, {**said, "train": True}]},
        {"messages": [{**said, "train": True}, {**said, "train": False}]},
        {"messages": [said, {**said, "train": True}]},
        {"messages": [{**said, "train": False}]},
        {"messages": [{"role": "user", "content": "a", "train": True}]},
        {"messages": []},
        {},
    ):
        with pytest.raises(CurationError):
            check_record(record)
    check_record({"messages": [{"role": "user", "content": "q"}, {**said, "train": False}, {**said, "train": True}]})


def test_an_episode_whose_context_claims_a_target_is_a_hard_error_and_its_text_may_say_what_it_likes(work):
    honest = work.turn(
        'say "train":true', [says('"train":true', call("patch", path='"train":true')), gives("ok"), says("A")]
    )
    check_record(json.loads(b"".join(select(honest).sft())))
    forged = replace(honest, context=honest.context.replace(b'"train":false', b'"train":true'))
    with pytest.raises(CurationError, match="earlier assistant"):
        select(forged)


def test_pairs_are_made_where_two_runs_part_in_exactly_the_same_context(work, tmp_path):
    read = [says("", call("read_file", path="a.c")), gives("int a;")]
    work.turn(TRAIN, [*read, says("", call("patch", path="right")), gives("ok"), says("Done.")], **PASSED)
    work.turn(TRAIN, [*read, says("", call("patch", path="wrong")), gives("ok"), says("Done.")], **FAILED)
    (pair,) = lines(frozen(work, tmp_path), "datasets/paired/train.jsonl")
    assert [m["role"] for m in pair["messages"]] == ["system", "user", "assistant", "tool"]
    assert json.loads(pair["chosen"]["tool_calls"][0]["function"]["arguments"]) == {"path": "right"}
    assert json.loads(pair["rejected"]["tool_calls"][0]["function"]["arguments"]) == {"path": "wrong"}


@pytest.mark.parametrize("other", ["a tool result", "the request", "earlier words", "no draft"])
def test_any_difference_in_what_was_visible_leaves_runs_unpaired(work, tmp_path, other):
    def run(outcome, different, answer):
        before = [user(request_in(Split.TRAIN, 2 if different and other == "earlier words" else 3)), says("Yes.")]
        request = request_in(Split.TRAIN, 1) if different and other == "the request" else TRAIN
        shown = "two" if different and other == "a tool result" else "one"
        said = [says("", call("read_file", path="a")), gives(shown), says(answer)]
        work.turn(request, said, before=before, drafted=not (different and other == "no draft"), **outcome)

    run(PASSED, False, "A")
    run(FAILED, True, "B")
    bundle = frozen(work, tmp_path)
    assert lines(bundle, "datasets/paired/train.jsonl") == []
    assert {r["label"] for r in lines(bundle, "datasets/unpaired/train.jsonl")} == {True, False}


def test_a_completion_seen_with_both_outcomes_is_in_no_pair(work, tmp_path):
    work.turn(TRAIN, [says("Same.")], **PASSED)
    work.turn(TRAIN, [says("Same.")], **FAILED)
    assert lines(frozen(work, tmp_path), "datasets/paired/train.jsonl") == []
    work.turn(TRAIN, [says("Better.")], **PASSED)
    assert lines(frozen(work, tmp_path), "datasets/paired/train.jsonl") == []
    work.turn(TRAIN, [says("Worse.")], **FAILED)
    (pair,) = lines(frozen(work, tmp_path), "datasets/paired/train.jsonl")
    assert (pair["chosen"]["content"], pair["rejected"]["content"]) == ("Better.", "Worse.")


def test_marks_decide_over_what_nothing_judged(work, tmp_path):
    for session, answer in (("a", "plain"), ("b", "promoted"), ("c", "banned")):
        work.turn(TRAIN, [says(answer)], session=session, **(PASSED if session == "c" else {}))
    work.store.mark("b", 1, Mark.GOOD)
    work.store.mark("c", 1, Mark.GOOD)
    work.store.mark("c", 1, Mark.BAD)
    bundle = frozen(work, tmp_path)
    assert [s["messages"][-1]["content"] for s in lines(bundle, "datasets/sft/train.jsonl")] == ["promoted"]
    assert "banned" not in text(bundle)


@pytest.mark.parametrize(
    ("changes", "capture", "reason"),
    [
        ({"path": "normative"}, {}, "standard_text"),
        ({"stop": {"reason": "context_half"}}, {}, "stopped_early"),
        ({}, {"origin": DataOrigin.BENCHMARK}, "origin_not_admitted"),
        ({}, {"origin": DataOrigin.MANUAL_IMPORT}, "origin_not_admitted"),
    ],
)
def test_what_may_not_be_data_is_counted_with_its_reason_and_is_nowhere_in_the_bundle(
    work, tmp_path, changes, capture, reason
):
    work.turn(TRAIN, [says("forbidden fruit")], capture=capture, **PASSED, **changes)
    bundle = frozen(work, tmp_path)
    assert json.loads((bundle.path / "governance.json").read_bytes())["excluded"] == {reason: 1}
    assert "forbidden fruit" not in text(bundle)


def test_a_held_out_task_reaches_no_dataset_not_even_as_an_earlier_turn(work, tmp_path):
    held = request_in(Split.HOLDOUT)
    work.turn(held, [says("secret of the holdout")], session="s", **PASSED)
    before = [user(held), says("secret of the holdout")]
    work.turn(TRAIN, [says("Later.")], session="s", number=2, before=before, **PASSED)
    work.turn(TRAIN, [says("Alone.")], **PASSED)
    bundle = frozen(work, tmp_path)
    assert "secret of the holdout" not in text(bundle)
    assert [s["messages"][-1]["content"] for s in lines(bundle, "datasets/sft/train.jsonl")] == ["Alone."]
    assert json.loads((bundle.path / "evaluation-plan.json").read_bytes())["holdout"]["families"] == 1


def test_the_same_store_gives_the_same_bytes_wherever_it_lies(work, tmp_path):
    for number in range(6):
        work.turn(request_in(Split.TRAIN, number), [says(f"Done {number}.")], **(PASSED if number % 2 else FAILED))
    one = frozen(work, tmp_path / "one")
    shutil.copytree(work.state.training_data, tmp_path / "elsewhere/store")
    two = freeze(Source(tmp_path / "elsewhere/store"), Governance(), tmp_path / "two")
    assert one.id == two.id
    assert everything(one) == everything(two)
    assert problems(one.path) == []
    again = frozen(work, tmp_path / "one")
    assert (again.id, again.existed) == (one.id, True)


def test_one_more_episode_or_mark_is_another_bundle(work, tmp_path):
    work.turn(TRAIN, [says("Done.")], session="s", **PASSED)
    ids = [frozen(work, tmp_path).id]
    work.turn(TRAIN, [says("Done.")], **PASSED)
    ids.append(frozen(work, tmp_path).id)
    work.store.mark("s", 1, Mark.GOOD)
    ids.append(frozen(work, tmp_path).id)
    assert len(set(ids)) == 3 == len(list((tmp_path / "bundles").iterdir()))


def test_any_changed_added_or_removed_file_is_found(work, tmp_path):
    work.turn(TRAIN, [says("Right.")], **PASSED)
    work.turn(TRAIN, [says("Wrong.")], **FAILED)
    bundle = frozen(work, tmp_path).path
    assert problems(bundle) == []
    for path in [p for p in sorted(bundle.rglob("*")) if p.is_file()]:
        kept = path.read_bytes()
        path.write_bytes(kept + b" ")
        assert problems(bundle), path
        path.unlink()
        assert problems(bundle), path
        path.write_bytes(kept)
    (bundle / "datasets/extra.jsonl").write_bytes(b"")
    assert problems(bundle) == ["datasets/extra.jsonl is not part of the bundle"]
    (bundle / "datasets/extra.jsonl").unlink()
    assert problems(bundle) == []


def test_a_bundle_that_was_changed_is_not_taken_for_frozen_already(work, tmp_path):
    work.turn(TRAIN, [says("Right.")], **PASSED)
    bundle = frozen(work, tmp_path).path
    with (bundle / "datasets/sft/train.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(UsageError, match="changed since"):
        frozen(work, tmp_path)


def test_a_prohibited_origin_makes_a_bundle_for_smoke_tests_that_names_no_training_command(work, tmp_path):
    work.turn(TRAIN, [says("Right.")], capture={"origin": DataOrigin.SYNTHETIC}, **PASSED)
    bundle = frozen(work, tmp_path, DataOrigin.SYNTHETIC)
    manifest = json.loads((bundle.path / "manifest.json").read_bytes())
    runbook = (bundle.path / "RUNBOOK.md").read_text()
    assert manifest["smoke_test_only"] is True
    assert "axolotl train" not in runbook
    assert "trl sft" not in runbook
    assert len(lines(bundle, "datasets/sft/train.jsonl")) == 1
    assert "axolotl train" in (frozen(work_of_one(tmp_path), tmp_path / "real").path / "RUNBOOK.md").read_text()


def work_of_one(tmp_path: Path) -> Work:
    work = Work(tmp_path / "other")
    work.turn(TRAIN, [says("Right.")], **PASSED)
    return work


def readiness(work: Work, tmp_path: Path):
    return survey(Source(work.state.training_data), Governance(), tmp_path / "scratch")[1]


def test_a_store_grows_from_empty_over_collecting_to_ready(work, tmp_path):
    work.state.training_data.mkdir(parents=True)
    assert readiness(work, tmp_path).state is State.EMPTY
    with pytest.raises(UsageError, match="nothing to freeze"):
        frozen(work, tmp_path)
    for number in range(8):
        assert readiness(work, tmp_path).level is Level.NOT_READY
        work.turn(request_in(Split.TRAIN, number), [says(f"{number}")], **PASSED)
    done = readiness(work, tmp_path)
    assert (done.state, done.level) == (State.READY, Level.READY_FOR_SMOKE)
    assert not list((tmp_path / "scratch").iterdir())


def test_an_altered_episode_blocks_a_missing_one_asks_for_review(work, tmp_path):
    work.turn(TRAIN, [says("one")], **PASSED)
    work.turn(TRAIN, [says("two")], **PASSED)
    one, _ = work.files()
    kept = one.read_bytes()
    one.write_bytes(kept.replace(b'"content":"one"', b'"content":"0ne"'))
    assert readiness(work, tmp_path).state is State.BLOCKED
    with pytest.raises(UsageError, match="cannot be frozen"):
        frozen(work, tmp_path)
    assert not (tmp_path / "bundles").exists()
    one.unlink()
    found = readiness(work, tmp_path)
    assert (found.state, found.reasons[0]) == (State.NEEDS_REVIEW, "1 listed episodes are no longer there")
    assert len(lines(frozen(work, tmp_path), "datasets/sft/train.jsonl")) == 1


def test_an_episode_file_that_is_in_no_manifest_is_not_data(work, tmp_path):
    work.turn(TRAIN, [says("listed")], **PASSED)
    listed = work.files()[0]
    shutil.copy(listed, listed.with_name("000009-0123456789abcdef.json"))
    assert readiness(work, tmp_path).state is State.NEEDS_REVIEW
    assert len(lines(frozen(work, tmp_path), "datasets/sft/train.jsonl")) == 1


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"session":"../../etc","turn":1,"sha256":"%s","bytes":1}' % (b"a" * 64)]
)
def test_lines_that_are_no_manifest_lines_are_counted_and_passed_over(work, tmp_path, line):
    work.turn(TRAIN, [says("listed")], **PASSED)
    with work.store.layout.manifest.open("ab") as file:
        file.write(line + b"\n")
    assert "1 records cannot be read" in readiness(work, tmp_path).reasons
    assert len(lines(frozen(work, tmp_path), "datasets/sft/train.jsonl")) == 1


_FREEZES = """
import sys
from pathlib import Path
from spear.training.bundle import freeze
from spear.training.episode import compose
from spear.training.governance import Governance
from spear.training.source import Source
print("go", flush=True)
while True:
    freeze(Source(Path(sys.argv[1])), Governance(), Path(sys.argv[2]))
"""


def test_a_freeze_killed_at_any_instant_leaves_a_whole_bundle_or_none_and_the_next_one_cleans_up(work, tmp_path):
    for number in range(40):
        work.turn(request_in(Split.TRAIN, number % 5), [says(f"{number}")], **PASSED)
    output = tmp_path / "out"
    for trial in range(6):
        shutil.rmtree(output, ignore_errors=True)
        process = subprocess.Popen([sys.executable, "-c", _FREEZES, str(work.state.training_data), str(output)],
                                   stdout=subprocess.PIPE)  # fmt: skip
        try:
            assert process.stdout.read(3) == b"go\n"
            deadline = time.monotonic() + 10
            while not (output / ".freezing").exists() and time.monotonic() < deadline:
                os.sched_yield()
            end = time.perf_counter() + trial * 0.004
            while time.perf_counter() < end:
                os.sched_yield()
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
        for bundle in output.glob("bundles/*"):
            assert problems(bundle) == []
        done = frozen(work, output)
        assert problems(done.path) == []
        assert sorted(p.name for p in output.iterdir()) == ["bundles"]


def test_memory_does_not_grow_with_the_number_of_episodes(tmp_path):
    def peak(episodes: int) -> int:
        with tempfile.TemporaryDirectory(dir=tmp_path) as place:
            done = subprocess.run([sys.executable, "-c", _MEASURES, place, str(episodes)], capture_output=True, text=True,
                                  cwd=Path(__file__).parents[2])  # fmt: skip
            assert done.returncode == 0, done.stderr
            return int(done.stdout)

    small, large = peak(200), peak(2_000)
    assert large - small < 4 << 20


_MEASURES = """
import json, sys, tracemalloc
from pathlib import Path
from spear.training.bundle import freeze
from spear.training.episode import compose
from spear.training.governance import Governance
from spear.training.source import Source
from tests.training.conftest import FAILED, PASSED, Work, says
from spear.training.episode import EpisodeFacts, compose
from spear.training.lists import ManifestLine
from spear.state.lines import canonical
work = Work(Path(sys.argv[1]) / "state")
first = work.turn("Fix it in the module.", [says("x" * 4000)], **PASSED)
layout, known = work.store.layout, first.facts.model_dump(mode="json", by_alias=True)
with layout.manifest.open("ab") as manifest:
    for n in range(int(sys.argv[2])):
        steps = [[2, known["steps"][0][1], f"{n:032x}"]]
        facts = EpisodeFacts.model_validate({**known, "session": f"s{n}", "steps": steps, "outcome": "pass"})
        episode, data = compose(facts, first.tools, first.context, first.target)
        path = layout.episode(f"s{n}", 1, episode.id)
        path.parent.mkdir()
        path.write_bytes(data)
        line = ManifestLine(session=f"s{n}", turn=1, sha256=episode.sha256, bytes=len(data))
        manifest.write(canonical(line.model_dump(mode="json")) + b"\\n")
tracemalloc.start()
done = freeze(Source(work.state.training_data), Governance(), Path(sys.argv[1]) / "out")
assert done.tally.episodes == int(sys.argv[2]) + 1
print(tracemalloc.get_traced_memory()[1])
"""


def test_contexts_that_were_only_seen_in_part_are_never_compared(work, tmp_path):
    work.turn(TRAIN, [says("A")], drafted=False, **PASSED)
    work.turn(TRAIN, [says("B")], drafted=False, **FAILED)
    assert lines(frozen(work, tmp_path), "datasets/paired/train.jsonl") == []


def test_digests_that_lie_about_a_context_stop_the_freeze(work, tmp_path):
    honest = work.turn(TRAIN, [says("A")], **PASSED)
    other = work.turn(TRAIN, [says("B")], before=[user(request_in(Split.TRAIN, 2)), says("x")], **FAILED)
    place, _, completion = other.facts.steps[0]
    lying = other.facts.model_copy(update={"steps": ((place, honest.facts.steps[0][1], completion),), "session": "l"})
    forged, data = compose(lying, other.tools, other.context, other.target)
    work.store._finalize(forged, data)
    with pytest.raises(CurationError, match="do not share a context"):
        frozen(work, tmp_path)
    assert not (tmp_path / "bundles").exists()


@pytest.mark.parametrize("digest", ["", "0" * 30, "g" * 32, "-" + "1" * 31, "12 " * 10 + "12"])
def test_an_episode_whose_digests_are_none_is_unreadable(work, tmp_path, digest):
    honest = work.turn(TRAIN, [says("A")], **PASSED)
    place, context, completion = honest.facts.steps[0]
    for session, step in (("k", (place, digest, completion)), ("l", (place, context, digest))):
        facts = honest.facts.model_copy(update={"steps": (step,), "session": session})
        work.store._finalize(*compose(facts, honest.tools, honest.context, honest.target))
    tally = frozen(work, tmp_path).tally
    assert (tally.episodes, tally.problems["unreadable"]) == (1, 2)


def test_an_episode_that_grew_is_altered_and_not_read_to_its_end(work, tmp_path):
    work.turn(TRAIN, [says("A")], **PASSED)
    work.turn(TRAIN, [says("B")], **PASSED)
    with work.files()[0].open("ab") as file:
        file.truncate(1 << 40)
    tally, _ = survey(Source(work.state.training_data), Governance(), tmp_path)
    assert (tally.episodes, tally.problems["altered"]) == (1, 1)


def test_an_episode_that_is_listed_twice_counts_once(work, tmp_path):
    work.turn(TRAIN, [says("A")], **PASSED)
    manifest = work.store.layout.manifest
    manifest.write_bytes(manifest.read_bytes() * 2)
    tally = frozen(work, tmp_path).tally
    assert (tally.episodes, tally.duplicates, tally.outcomes["pass"]) == (1, 1, 1)


def test_a_mark_that_contradicts_a_judge_is_for_review_and_is_not_followed(work, tmp_path):
    work.turn(TRAIN, [says("contradicted")], session="s", **FAILED)
    work.store.mark("s", 1, Mark.GOOD)
    assert readiness(work, tmp_path).state is State.NEEDS_REVIEW
    assert "contradicted" not in text(frozen(work, tmp_path))


def test_what_is_captured_while_a_store_is_read_is_not_read(work):
    work.turn(TRAIN, [says("A")], **PASSED)
    source = Source(work.state.training_data)
    work.turn(TRAIN, [says("B")], **PASSED)
    assert len(list(source.episodes())) == 1


def reseal(bundle: Path, **manifest: object) -> list[str]:
    """Make the checksums fit what lies there now, as somebody who edits a bundle would; what is still found."""
    listed = {name: hashlib.sha256((bundle / name).read_bytes()).hexdigest()
              for name in (line.split("  ")[1] for line in (bundle / "checksums.sha256").read_text().splitlines())
              if name != "manifest.json"}  # fmt: skip
    record = {**json.loads((bundle / "manifest.json").read_bytes()), "files": listed, **manifest}
    (bundle / "manifest.json").write_text(json.dumps(record))
    listed["manifest.json"] = hashlib.sha256((bundle / "manifest.json").read_bytes()).hexdigest()
    (bundle / "checksums.sha256").write_text("".join(f"{digest}  {name}\n" for name, digest in listed.items()))
    return problems(bundle)


def test_a_bundle_that_was_edited_and_sealed_again_does_not_pass_for_the_old_one(work, tmp_path):
    work.turn(TRAIN, [says("Right.")], **PASSED)
    bundle = frozen(work, tmp_path).path
    assert reseal(bundle) == []
    assert "smoke_test_only does not follow" in reseal(bundle, smoke_test_only=True)[0]
    sample = bundle / "datasets/sft/train.jsonl"
    sample.write_bytes(sample.read_bytes().replace(b'"role":"user"', b'"role":"user","train":true'))
    found = reseal(bundle, smoke_test_only=False)
    assert "calls itself" in found[0]
    assert "trains messages [1, 2]" in found[1]
    named = bundle.rename(bundle.with_name(found[0].split()[-1]))
    found = reseal(named, bundle_id=named.name)
    assert len(found) == 1
    assert "trains messages [1, 2]" in found[0]
