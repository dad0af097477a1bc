"""Sessions: found again, saved whole, forked, freed, and told of each other."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spear.agent.messages import Message, Role, ToolCall
from spear.errors import StateError, UsageError
from spear.events.names import EventName, Mode
from spear.state.audit import AuditLog
from spear.state.conversation import repair
from spear.state.directory import StateDirectory
from spear.state.liveness import Presence, live_sessions
from spear.state.redaction import Redactor
from spear.state.results import MissingResult, ResultStore
from spear.state.sessions import Session, SessionState, SessionStore

ROUND = (Message(Role.USER, "Fix the  parser\nplease"), Message(Role.ASSISTANT, "Done."))


@pytest.fixture
def directory(tmp_path):
    return StateDirectory(tmp_path / "state")


@pytest.fixture
def store(directory):
    return SessionStore(directory, Redactor(["correct-horse"]))


def log(directory, session, *events):
    with AuditLog(directory.events(session), session, Redactor()) as audit:
        for event in events:
            audit.append(event, 0, {"workspace": "/ws"})


def test_a_session_comes_back_whole(store, directory):
    session = store.create(Path("/ws"), Mode.ASK)
    saved = store.save(
        Session(
            session.id,
            "/ws",
            session.created,
            Mode.AUTO,
            turn=3,
            cwd="/ws/src",
            environment={"A": "1"},
            conversation=ROUND,
            extra={"x": [1]},
        )
    )
    assert store.load(session.id) == saved
    assert saved.title == "Fix the parser"
    path = directory.snapshot(session.id)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_bytes())["schema"] == "spear.session/1"
    assert [p.name for p in path.parent.iterdir()] == ["session.json"]


MESSAGES = st.lists(
    st.builds(Message, st.sampled_from([Role.USER, Role.ASSISTANT]), st.text('abc \n"\\é\u2028', max_size=20)),
    max_size=5,
).map(tuple)


@given(MESSAGES, st.dictionaries(st.text("AB_", min_size=1), st.text(max_size=5), max_size=3))
def test_any_conversation_survives_saving(tmp_path_factory, conversation, environment):
    store = SessionStore(StateDirectory(tmp_path_factory.mktemp("s")), Redactor())
    session = store.create(Path("/ws"), Mode.SAFE)
    store.save(
        Session(session.id, "/ws", session.created, Mode.SAFE, environment=environment, conversation=conversation)
    )
    assert store.load(session.id).conversation == repair(conversation)
    assert store.load(session.id).environment == environment


def test_secrets_do_not_reach_the_snapshot(store, directory):
    session = store.create(Path("/ws"), Mode.SAFE)
    call = ToolCall("c", "terminal", '{"command": "x correct-horse --token abc"}')
    conversation = (Message(Role.USER, "use PASSWORD=hunter2"), Message(Role.ASSISTANT, "", (call,)))
    environment = {"API_TOKEN": "verysecret", "LEVEL": "3"}
    store.save(Session(session.id, "/ws", "", Mode.SAFE, conversation=conversation, environment=environment))
    text = directory.snapshot(session.id).read_text()
    for secret in ("correct-horse", "hunter2", "abc", "verysecret"):
        assert secret not in text
    assert store.load(session.id).environment == {"LEVEL": "3"}


def test_ids_are_unique_and_sort_by_time(store):
    ids = [store.create(Path("/ws"), Mode.SAFE).id for _ in range(30)]
    assert len(set(ids)) == 30
    assert [i[:19] for i in ids] == sorted(i[:19] for i in ids)
    assert store.ids() == sorted(ids)


def test_a_call_cut_off_by_a_crash_is_interrupted_on_resume(store):
    session = store.create(Path("/ws"), Mode.SAFE)
    cut = (ROUND[0], Message(Role.ASSISTANT, "", (ToolCall("c", "terminal", "{}"),)))
    store.save(Session(session.id, "/ws", "", Mode.SAFE, conversation=cut))
    last = store.load(session.id).conversation[-1]
    assert last.role is Role.TOOL
    assert "interrupted" in last.content


def test_the_newest_session_is_told_from_its_last_record(store, directory):
    first, second = (store.create(Path("/ws"), Mode.SAFE).id for _ in range(2))
    other = store.create(Path("/other"), Mode.SAFE).id
    log(directory, second, EventName.SESSION_STARTED)
    log(directory, first, EventName.SESSION_STARTED)
    log(directory, other, EventName.SESSION_STARTED)
    assert store.newest(Path("/ws")) == first
    log(directory, second, EventName.SESSION_CLOSED)
    assert store.newest(Path("/ws")) == second
    assert store.newest(Path("/nowhere")) is None


def test_a_list_shows_closed_crashed_running_and_unreadable(store, directory):
    closed, crashed, running, broken = (store.create(Path("/ws"), Mode.SAFE).id for _ in range(4))
    log(directory, closed, EventName.SESSION_STARTED, EventName.SESSION_CLOSED)
    log(directory, crashed, EventName.SESSION_STARTED)
    directory.snapshot(broken).write_bytes(b"{")
    with Presence(directory, running, Path("/ws")):
        states = {summary.id: summary.state for summary in store.summaries()}
    assert states == {
        closed: SessionState.CLOSED,
        crashed: SessionState.CRASHED,
        running: SessionState.RUNNING,
        broken: SessionState.UNREADABLE,
    }
    assert store.newest(Path("/ws")) != broken  # nothing says that it was here


def test_an_unreadable_session_keeps_its_workspace_and_its_place_among_the_newest(store, directory):
    older, broken = (store.create(Path("/ws"), Mode.SAFE).id for _ in range(2))
    log(directory, older, EventName.SESSION_STARTED)
    log(directory, broken, EventName.SESSION_STARTED, EventName.SESSION_CLOSED)
    directory.snapshot(broken).write_bytes(b"{")
    assert store.newest(Path("/ws")) == broken
    assert store.before(broken, Path("/ws")) == older
    assert store.before(older, Path("/ws")) is None


def test_listing_does_not_read_conversations(store, directory):
    session = store.create(Path("/ws"), Mode.SAFE)
    store.save(Session(session.id, "/ws", "", Mode.SAFE, conversation=(Message(Role.USER, "x" * 5_000_000),)))
    before = int(Path("/proc/self/io").read_text(encoding="utf-8").split("rchar: ")[1].split("\n")[0])
    assert store.summaries()[0].title == "x" * 79 + "…"
    after = int(Path("/proc/self/io").read_text(encoding="utf-8").split("rchar: ")[1].split("\n")[0])
    assert after - before < 100_000


def test_an_id_may_be_given_by_its_beginning(store):
    session = store.create(Path("/ws"), Mode.SAFE).id
    assert store.resolve(session[:15]) == session
    assert store.resolve(session) == session
    with pytest.raises(UsageError, match="no session"):
        store.resolve("1999")
    store.create(Path("/ws"), Mode.SAFE)
    with pytest.raises(UsageError, match="2 sessions start with 20"):
        store.resolve("20")


def test_a_newer_schema_is_named(store, directory):
    session = store.create(Path("/ws"), Mode.SAFE).id
    path = directory.snapshot(session)
    path.write_text(path.read_text().replace("spear.session/1", "spear.session/7"))
    with pytest.raises(StateError, match=r"newer spear-chat: spear\.session/7"):
        store.load(session)
    assert store.summaries()[0].state is SessionState.UNREADABLE


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"schema": "x"}', b'{"schema": "spear.session/1"}', b"\xff"]
)
def test_a_damaged_snapshot_is_an_error_with_a_way_out(store, directory, content):
    session = store.create(Path("/ws"), Mode.SAFE).id
    directory.snapshot(session).write_bytes(content)
    with pytest.raises(StateError) as caught:
        store.load(session)
    assert "audit show" in caught.value.hint
    assert len(store.summaries()) == 1


def test_a_deleted_snapshot_is_an_error_with_a_way_out(store, directory):
    session = store.create(Path("/ws"), Mode.SAFE).id
    directory.snapshot(session).unlink()
    with pytest.raises(StateError, match="no snapshot"):
        store.load(session)


def test_a_fork_starts_from_the_conversation_and_leaves_the_original(store):
    session = store.create(Path("/ws"), Mode.AUTO)
    original = store.save(Session(session.id, "/ws", session.created, Mode.AUTO, turn=2, conversation=ROUND))
    fork = store.fork(original)
    assert fork.id != original.id
    assert (fork.parent, fork.conversation, fork.turn) == (original.id, ROUND, 2)
    assert store.load(original.id) == original
    assert store.load(fork.id) == fork


def test_pruning_lists_first_and_keeps_the_record(store, directory):
    closed, running = (store.create(Path("/ws"), Mode.SAFE).id for _ in range(2))
    for session in (closed, running):
        log(directory, session, EventName.SESSION_CLOSED)
        ResultStore(directory.tool_results, session).reserve("c1").write_bytes(b"x" * 1000)
    with Presence(directory, running, Path("/ws")):
        listed = store.freeable()
        assert [(item.session, item.files, item.bytes) for item in listed] == [(closed, 1, 1000)]
        assert store.prune(listed) == 1000
    assert isinstance(ResultStore(directory.tool_results, closed).read(f"{closed}/c1"), MissingResult)
    assert not isinstance(ResultStore(directory.tool_results, running).read(f"{running}/c1"), MissingResult)
    assert directory.events(closed).exists()
    assert store.load(closed).id == closed


HOLDER = """
import sys
from pathlib import Path
from spear.state.directory import StateDirectory
from spear.state.liveness import Presence
presence = Presence(StateDirectory(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]))
print([s.session for s in presence.announce()], flush=True)
sys.stdin.read()
"""


def hold(directory, session, workspace):
    command = [sys.executable, "-c", HOLDER, str(directory.root), session, workspace]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def release(process, number=signal.SIGKILL):
    process.send_signal(number)
    process.communicate()


def test_two_sessions_on_one_tree_are_told_of_each_other(directory):
    mine = Presence(directory, "s1", Path("/ws"))
    assert mine.announce() == ()
    other, told = hold(directory, "s2", "/ws")
    elsewhere, told_elsewhere = hold(directory, "s3", "/elsewhere")
    assert told == "['s1']"
    assert told_elsewhere == "[]"
    assert [(s.session, s.pid) for s in mine.others()] == [("s2", other.pid)]
    release(other)
    release(elsewhere)
    assert mine.others() == ()
    mine.close()
    assert live_sessions(directory) == ()


def test_one_session_is_not_opened_twice(directory):
    other, _ = hold(directory, "s1", "/ws")
    with pytest.raises(StateError, match=f"s1 is open in process {other.pid}"):
        Presence(directory, "s1", Path("/ws")).announce()
    release(other)
    Presence(directory, "s1", Path("/ws")).announce()


def test_a_dead_process_nobody_has_waited_for_is_not_running(directory):
    other, _ = hold(directory, "s1", "/ws")
    assert len(live_sessions(directory)) == 1
    other.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert live_sessions(directory) == ()
    other.communicate()


def test_a_number_used_again_is_not_the_process_that_died(directory):
    Presence(directory, "s1", Path("/ws")).announce()
    path = directory.live / "s1.json"
    record = json.loads(path.read_bytes())
    assert record["pid"] == os.getpid()
    path.write_text(json.dumps({**record, "started": record["started"] - 1}))
    assert live_sessions(directory) == ()
    path.write_text(json.dumps({**record, "boot": "another"}))
    assert live_sessions(directory) == ()
    path.write_text("{")
    assert live_sessions(directory) == ()


def test_old_debris_is_cleared_and_fresh_files_are_left(directory):
    for name in ("old", "fresh"):
        Presence(directory, name, Path("/ws")).announce()
        path = directory.live / f"{name}.json"
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "started": 1}))
    os.utime(directory.live / "old.json", (1, 1))
    Presence(directory, "s1", Path("/ws")).announce()
    assert sorted(p.stem for p in directory.live.iterdir()) == ["fresh", "s1"]
