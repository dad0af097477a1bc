"""FT0: every turn leaves one episode that holds what the model saw, and no more."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.agent.messages import ModelRequest, ModelTurn, ToolCall
from spear.errors import UsageError
from spear.state.lines import read_records
from spear.state.redaction import Redactor
from spear.training.bundle import freeze
from spear.training.episode import read
from spear.training.governance import Governance
from spear.training.source import Source
from spear.training.validation import problems
from spear.training.vocabulary import DataOrigin, Mark, Rating
from tests.training.conftest import FAILED, PASSED, SYSTEM, TOOLS, Work, call, gives, replay, says, user


def test_a_turn_leaves_one_episode_whose_checksum_is_in_the_manifest(work):
    episode = work.turn("Fix it.", [says("", call("patch", path="a.c")), gives("ok"), says("Fixed.")], **PASSED)
    (path,) = work.files()
    (line,) = read_records(work.store.layout.manifest)
    assert line["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() == episode.sha256
    assert read(str(path)) == episode
    document = json.loads(path.read_bytes())
    assert (document["outcome"], document["origin"], document["session"]) == ("pass", "NORMAL_USAGE", "session-0")


def test_the_episode_holds_system_prompt_tools_context_and_the_last_answer_apart(work):
    episode = work.turn("Fix it.", [says("", call("patch", path="a.c")), gives("ok"), says("Fixed.")])
    context, target = json.loads(episode.context), json.loads(episode.target)
    assert [m["role"] for m in context] == ["system", "user", "assistant", "tool"]
    assert target == {"role": "assistant", "content": "Fixed.", "train": False}
    assert [tool["function"]["name"] for tool in json.loads(episode.tools)] == [TOOLS[0].name]
    assert [place for place, _, _ in episode.facts.steps] == [2, 4]


def test_a_turn_nothing_judged_is_kept_unrated(work):
    assert work.turn("Explain it.", [says("It wraps.")]).facts.outcome is Rating.UNRATED
    assert work.turn("Fix it.", [says("No.")], **FAILED).facts.outcome is Rating.FAIL
    assert len(work.files()) == 2


def test_private_reasoning_and_secrets_are_nowhere_in_the_store(tmp_path):
    work = Work(tmp_path, Redactor(["hunter2-hunter2"]))
    said = [
        says("<think>I am unsure</think>", call("patch", path="hunter2-hunter2"), reasoning="inner voice"),
        gives("password is hunter2-hunter2"),
        says("Done hunter2-hunter2."),
    ]
    work.turn("Use hunter2-hunter2.", said)
    draft = work.store.draft("live", 1)
    replay(draft, [SYSTEM, user("Use hunter2-hunter2."), *said], 2)
    draft.close()
    stored = [path.read_text() for path in (tmp_path / "audit/training-data").rglob("*") if path.is_file()]
    assert len(stored) == 4
    for text in stored:
        assert "hunter2" not in text
        assert "inner voice" not in text
        assert "I am unsure" not in text


def test_equal_contexts_have_equal_bytes_whatever_ids_the_server_gave_its_calls(work):
    one = work.turn("Fix it.", [says("", call("patch", "toolu_91", path="a")), gives("ok", "toolu_91"), says("A")])
    two = work.turn("Fix it.", [says("", call("patch", "call-x", path="a")), gives("ok", "call-x"), says("B")])
    assert one.context == two.context
    assert [s[1] for s in one.facts.steps] == [s[1] for s in two.facts.steps]
    assert one.facts.steps[-1][2] != two.facts.steps[-1][2]


def test_only_the_turns_own_answers_are_steps(work):
    before = [user("First."), says("One.")]
    episode = work.turn("Second.", [says("Two.")], before=before, number=2)
    assert [place for place, _, _ in episode.facts.steps] == [4]


def test_without_a_draft_the_context_is_known_to_be_partial(work):
    episode = work.turn("Second.", [says("Two.")], before=[user("First."), says("One.")], number=2, drafted=False)
    assert episode.facts.whole_context is False
    assert [place for place, _, _ in episode.facts.steps] == [3]


def test_an_episode_knows_the_tasks_of_earlier_turns_it_could_see(work):
    first = work.turn("First task.", [says("One.")], session="s")
    second = work.turn(
        "Second task.", [says("Two.")], session="s", number=2, before=[user("First task."), says("One.")]
    )
    alone = work.turn("Second task.", [says("Two.")], session="t", number=2, before=[user("First task."), says("One.")])
    assert set(second.facts.families) == {first.facts.family, second.facts.family} == set(alone.facts.families)


def test_text_of_a_standard_stays_known_for_the_rest_of_the_session(work):
    first = work.turn(
        "What does it say?", [says("", call("standard.read", id="4")), gives("shall"), says("x")], session="s"
    )
    second = work.turn("Fix it.", [says("ok")], session="s", number=2)
    other = work.turn("Fix it.", [says("ok")], session="t")
    normative = work.turn("What?", [says("x")], session="u", path="normative")
    flags = [e.facts.standard_text for e in (first, second, other, normative)]
    assert flags == [True, True, False, True]


def test_the_last_mark_on_an_exchange_holds_and_is_recorded(work):
    episode = work.turn("Explain.", [says("It wraps.")], session="s")
    for mark in (Mark.GOOD, Mark.BAD):
        assert work.store.mark("s", 1, mark).episode == episode.id
    assert [line["mark"] for line in read_records(work.store.layout.marks)] == ["good", "bad"]


@pytest.mark.parametrize("turn", [0, 1, 7])
def test_an_exchange_that_was_not_captured_cannot_be_marked(work, turn):
    with pytest.raises(UsageError, match="no captured exchange"):
        work.store.mark("nobody", turn, Mark.GOOD)
    assert not work.state.training_data.exists()


def test_origin_and_bench_are_recorded(work):
    capture = {"origin": DataOrigin.BENCHMARK, "bench": False, "model": "m"}
    facts = work.turn("Fix it.", [says("ok")], capture=capture, **PASSED).facts
    assert (facts.origin, facts.outcome, facts.judge, facts.model) == (DataOrigin.BENCHMARK, Rating.FAIL, "bench", "m")


def test_trajectories_are_readable_and_no_part_of_the_data(work):
    work.turn("Fix it.", [says("", call("patch", path="a.c")), gives("ok"), says("Fixed.")], **PASSED)
    (line,) = read_records(work.store.layout.trajectories)
    assert (line["request"], line["tools"], line["answer"], line["outcome"]) == ("Fix it.", ["patch"], "Fixed.", "pass")
    work.store.layout.trajectories.unlink()
    work.turn("Again.", [says("ok")])
    assert len(list(read_records(work.store.layout.manifest))) == 2


def test_files_are_private(work):
    work.turn("Fix it.", [says("ok")])
    for path in work.state.training_data.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


_DIES = """
import os, signal, sys
from pathlib import Path
from spear.agent.messages import *
from spear.state.directory import StateDirectory
from spear.state.liveness import Presence
from spear.state.redaction import Redactor
from spear.training.store import EpisodeStore
state = StateDirectory(Path(sys.argv[1]))
Presence(state, "dying", Path("/tmp")).announce()
draft = EpisodeStore(state, Redactor()).draft("dying", 1)
complete = draft.watching(lambda _: ModelTurn("half", (ToolCall("c", "patch", "{}"),)))
complete(ModelRequest([Message(Role.SYSTEM, "S"), Message(Role.USER, "Fix it.")]))
print("ready", flush=True)
signal.pause()
"""


def test_a_killed_turn_becomes_one_unrated_episode_once_its_session_is_gone(work):
    process = subprocess.Popen([sys.executable, "-c", _DIES, str(work.state.root)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        assert work.store.recover() == 0
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert work.store.recover() == 1
    assert work.store.recover() == 0
    (path,) = work.files()
    facts = read(str(path)).facts
    assert (facts.outcome, facts.stop, facts.request, facts.session) == (
        Rating.UNRATED,
        "interrupted",
        "Fix it.",
        "dying",
    )
    assert not list(work.store.layout.drafts.iterdir())


def test_an_episode_finalized_before_the_death_is_listed_and_not_made_twice(work):
    episode = work.turn("Fix it.", [says("ok")], session="s")
    work.store.layout.manifest.unlink()
    draft = work.store.draft("s", 1)
    replay(draft, [SYSTEM, user("Fix it."), says("ok")], 2)
    draft.close()
    assert work.store.recover() == 0
    assert [line["sha256"] for line in read_records(work.store.layout.manifest)] == [episode.sha256]
    assert len(work.files()) == 1


def test_a_boundary_writes_only_what_is_new(work):
    draft = work.store.draft("s", 1)
    messages = [SYSTEM, user("x" * 10_000)]
    sizes = []
    for number in range(3):
        draft.watching(lambda _: ModelTurn("ok"))(ModelRequest(tuple(messages), TOOLS))
        messages += [says("ok"), user(f"more {number}")]
        sizes.append(draft.path.stat().st_size)
    draft.close()
    assert sizes[0] > 10_000
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] < 500


def test_a_failed_model_call_leaves_the_draft_and_passes_the_failure_on(work):
    draft = work.store.draft("s", 1)

    def fails(_):
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        draft.watching(fails)(ModelRequest([SYSTEM, user("Fix it.")]))
    draft.close()
    assert work.store.recover() == 1
    (path,) = work.files()
    assert read(str(path)).target == b"null"


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
ANSWER = st.builds(says, ANY_TEXT)
CALLED = st.builds(lambda text, arguments, out: (says(text, ToolCall("c", "patch", arguments)), gives(out, "c")),
                   ANY_TEXT, ANY_TEXT, ANY_TEXT)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(ANY_TEXT, st.lists(CALLED, max_size=3), ANSWER)
def test_any_conversation_becomes_an_episode_that_can_be_read_and_frozen(request, called, answer):
    with tempfile.TemporaryDirectory() as place:
        work = Work(Path(place))
        said = [message for pair in called for message in pair]
        episode = work.turn(request, [*said, answer], **PASSED)
        work.store.mark("session-0", 1, Mark.GOOD)
        (path,) = work.files()
        assert read(str(path)) == episode
        source = Source(work.state.training_data)
        assert [found.episode for found in source.episodes()] == [episode]
        assert problems(freeze(source, Governance(), Path(place) / "out").path) == []


def test_half_a_character_does_not_stop_a_capture(work):
    episode = work.turn("caf\udce9", [says("\ud800", call("patch", path="\udfff")), gives("\udc80"), says("ok")])
    assert "\ufffd" in episode.facts.request
    assert b"\\ud800" not in episode.context


def test_an_episode_that_is_listed_already_is_not_listed_again(work):
    work.turn("Fix it.", [says("ok")], session="s")
    draft = work.store.draft("s", 1)
    replay(draft, [SYSTEM, user("Fix it."), says("ok")], 2)
    draft.close()
    assert work.store.recover() == 0
    assert len(list(read_records(work.store.layout.manifest))) == 1


def test_sessions_that_start_together_recover_each_draft_once(work):
    for number in range(12):
        draft = work.store.draft(f"dead-{number}", 1)
        replay(draft, [SYSTEM, user("Fix it."), says("ok")], 2)
        draft.close()
    together = threading.Barrier(4)

    def recover(_: int) -> int:
        together.wait()
        return Work(work.state.root).store.recover()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(recover, range(4))) == 12
    assert len(work.files()) == 12 == len(list(read_records(work.store.layout.manifest)))
