"""An index follows its tree: only what changed, resumable, by one process at a time, and never half refused."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.errors import ConfigurationError, StateError, WorkspaceError
from spear.retrieval.indexing import IndexOptions, finish, index_tree
from spear.retrieval.reading import FILE_BYTES
from spear.retrieval.search import Index
from spear.retrieval.store import set_meta, writer
from spear.retrieval.walk import Tree
from spear.state.redaction import Redactor

LONG_AGO = 1_600_000_000


def test_only_what_changed_is_indexed_again(tree, update, find):
    first = update()
    assert (first.files, first.added, first.changed, first.unchanged) == (3, 3, 0, 0)
    (tree / "src/ring.c").write_text("int ring_previous(int index)\n{\n    return index - 1;\n}\n")
    (tree / "new.py").write_text("def fresh():\n    return 1\n")
    (tree / "docs/guide.md").unlink()
    second = update()
    assert (second.files, second.added, second.changed, second.removed, second.unchanged) == (3, 1, 1, 1, 1)
    assert [hit.path for hit in find("ring_previous")] == ["src/ring.c"]
    assert find("wraps") == []
    assert find("calibration dial needle") == []


def test_a_file_that_was_only_touched_is_not_indexed_again(tree, update):
    update()
    os.utime(tree / "src/ring.c")
    assert update().changed == 0


@pytest.mark.parametrize("too_fresh_ns", [0, 2_000_000_000])
def test_a_change_that_keeps_size_and_time_is_seen(tree, update, find, monkeypatch, too_fresh_ns):
    monkeypatch.setattr("spear.retrieval.reading._TOO_FRESH_NS", too_fresh_ns)
    ring = tree / "src/ring.c"
    os.utime(ring, (LONG_AGO, LONG_AGO))
    update()
    ring.write_text(ring.read_text().replace("ring_capacity", "bell_capacity"))
    os.utime(ring, (LONG_AGO, LONG_AGO))
    assert update().changed == 1
    assert find("bell_capacity")


def test_an_update_that_stops_makes_the_index_incomplete(tree, update, index):
    update()
    for number in range(1_500):
        (tree / f"f{number:04}.txt").write_text(f"word{number}\n")
    steps = index_tree(Tree(tree), index)
    next(steps)
    next(steps)
    steps.close()
    with Index.open(index) as opened:
        assert not opened.is_complete


def test_an_index_made_step_by_step_is_the_index_made_at_once(tmp_path_factory):
    names = st.sampled_from(["a.py", "b/c.md", "b/d.txt", "e.c"])
    texts = st.sampled_from(["", "def f():\n    pass\n", "# T\n\nx\n", "int f(void)\n{\n}\n", "plain words\n" * 60])
    changes = st.lists(st.tuples(names, st.one_of(st.none(), texts)), max_size=8)

    @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(changes)
    def check(changes):
        root = tmp_path_factory.mktemp("steps")
        tree = root / "tree"
        tree.mkdir()
        stepwise = root / "stepwise.sqlite3"
        for name, text in changes:
            (tree / name).parent.mkdir(exist_ok=True)
            if text is None:
                (tree / name).unlink(missing_ok=True)
            else:
                (tree / name).write_text(text)
            finish(index_tree(Tree(tree), stepwise))
        finish(index_tree(Tree(tree), stepwise))
        finish(index_tree(Tree(tree), root / "once.sqlite3"))
        assert content(stepwise) == content(root / "once.sqlite3")

    check()


def content(index: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(index)
    rows = connection.execute(
        "SELECT path, title, body, parts, first_line, last_line FROM passages ORDER BY path, first_line, rowid"
    ).fetchall()
    assert connection.execute("SELECT coalesce(sum(count), 0) FROM files").fetchone()[0] == len(rows)
    connection.execute("INSERT INTO passages (passages, rank) VALUES ('integrity-check', 1)")
    connection.close()
    return rows


def test_a_walk_that_meets_too_many_files_leaves_the_old_index(tree, update, find, index):
    update()
    before = index.read_bytes()
    (tree / "src/ring.c").write_text("int other;\n")
    with pytest.raises(WorkspaceError, match="more than 2 files"):
        update(max_files=2)
    assert index.read_bytes() == before
    assert find("ring_next")


def test_a_partial_index_says_so_and_keeps_what_it_did_not_meet(tree, update, find, index):
    update()
    report = update(max_files=1, allow_partial=True)
    assert report.partial
    assert (report.files, report.removed) == (3, 0)
    with Index.open(index) as opened:
        assert not opened.is_complete
    assert not update().partial
    with Index.open(index) as opened:
        assert opened.is_complete


def test_an_indexing_that_stops_goes_on_where_it_was(tree, index, find):
    for number in range(2_500):
        (tree / f"f{number:04}.txt").write_text(f"word{number}\n")
    steps = index_tree(Tree(tree), index)
    next(steps)
    next(steps)
    steps.close()
    with Index.open(index) as opened:
        assert not opened.is_complete
        kept = opened.connection.execute("SELECT count(*) FROM files").fetchone()[0]
    assert 0 < kept < 2_503
    report = finish(index_tree(Tree(tree), index))
    assert report.added == 2_503 - kept
    assert report.files == 2_503
    assert find("word2499")


KILLED = """
import sys
from pathlib import Path
from spear.retrieval.indexing import index_tree
from spear.retrieval.walk import Tree
for step in index_tree(Tree(Path(sys.argv[1])), Path(sys.argv[2])):
    print(step.done, flush=True)
"""


def test_a_killed_indexing_leaves_an_index_that_works(tree, index):
    for number in range(3_000):
        (tree / f"f{number:04}.txt").write_text(f"word{number}\n" * 20)
    process = subprocess.Popen([sys.executable, "-c", KILLED, tree, index], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    report = finish(index_tree(Tree(tree), index))
    assert report.files == 3_003
    assert report.added < 3_003
    assert len(content(index)) == report.passages


def test_one_process_writes_at_a_time_and_the_other_is_named(tree, update, index, find):
    update()
    with writer(index), pytest.raises(StateError, match=f"is being written by process {os.getpid()}"):
        update()
    assert find("ring_next")
    assert update().unchanged == 3


@pytest.mark.parametrize(("number", "named"), [("4242\n", "process 4242"), ("", "another process")])
def test_a_writer_that_has_only_just_begun_is_named_all_the_same(tree, update, index, number, named):
    update()
    with open(index.with_name(index.name + ".lock"), "r+", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.truncate(0)
        late = threading.Timer(0.05, lambda: os.pwrite(held.fileno(), number.encode(), 0))
        late.start()
        with pytest.raises(StateError, match=f"is being written by {named}"):
            update()
        late.join()


def test_several_processes_leave_one_good_index(tree, index):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", KILLED, tree, index], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = [process.communicate(timeout=60)[1] for process in processes]
    for process, errors in zip(processes, said, strict=True):
        # One that has just taken the lock, or is letting go of it, has no number there: it may be slow on a busy machine.
        assert process.returncode == 0 or re.search("is being written by (process \\d|another process)", errors), errors
    assert any(process.returncode == 0 for process in processes)
    assert len({row[0] for row in content(index)}) == 3


def test_what_is_no_text_is_counted_and_not_indexed(tree, update):
    (tree / "blob.dat").write_bytes(b"a\0b")
    (tree / "huge.txt").write_text("x " * FILE_BYTES)
    (tree / "latin.txt").write_bytes("caf\xe9 cr\xe8me".encode("latin-1"))
    (tree / "wide.txt").write_text("sixteen bits", "utf-16")
    report = update()
    assert report.skipped == {"binary": 1, "larger than 2 MiB": 1}
    assert report.files == 5


def test_text_of_other_encodings_is_found(tree, update, find):
    (tree / "latin.txt").write_bytes("caf\xe9 cr\xe8me".encode("latin-1"))
    (tree / "wide.txt").write_text("sixteen bits", "utf-16")
    update()
    assert [hit.path for hit in find("crème")] == ["latin.txt"]
    assert [hit.path for hit in find("sixteen")] == ["wide.txt"]


def test_a_file_that_becomes_binary_leaves_the_index(tree, update, find):
    update()
    (tree / "src/ring.c").write_bytes(b"\0\1")
    assert update().removed == 1
    assert find("ring_next") == []


def test_values_of_this_hosts_secrets_are_not_written_into_the_index(tree, update, index):
    (tree / "config.txt").write_text("before\ntoken = hunter2hunter2\nafter\n")
    update(redactor=Redactor(["hunter2hunter2"]))
    assert b"hunter2hunter2" not in index.read_bytes()
    assert b"[redacted]" in index.read_bytes()


def test_the_index_is_private(tree, update, index):
    old = os.umask(0)
    try:
        update()
    finally:
        os.umask(old)
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700


def test_an_index_is_of_one_tree(tree, update, index, tmp_path):
    update()
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(ConfigurationError, match=f"is of {tree}, not of {other}"):
        finish(index_tree(Tree(other), index))
    assert finish(index_tree(Tree(other), index, IndexOptions(rebuild=True))).root == other


def test_the_index_of_a_tree_that_moved_goes_with_it(tree, update, index, tmp_path):
    update()
    moved = tmp_path / "moved"
    tree.rename(moved)
    report = finish(index_tree(Tree(moved), index))
    assert report.unchanged == 3


@pytest.mark.parametrize(
    "damage", [b"not a database at all, but long enough to be read as one" * 40, b"SQLite format 3\0junk"]
)
def test_a_damaged_index_says_how_to_make_it_anew(tree, update, index, find, damage):
    update()
    index.write_bytes(damage)
    for use in (update, lambda: find("ring")):
        with pytest.raises(StateError) as caught:
            use()
        assert str(index) in caught.value.message
        assert "--rebuild" in caught.value.hint
    assert update(rebuild=True).files == 3
    assert find("ring_next")


def test_damage_in_the_middle_is_an_error_and_not_a_crash(tree, update, index, find):
    for number in range(300):
        (tree / f"{number}.txt").write_text(f"needle word{number} " * 50)
    update()
    data = bytearray(index.read_bytes())
    data[4096 * 3 : -4096] = b"\xaa" * (len(data) - 4096 * 4)
    index.write_bytes(data)
    with pytest.raises(StateError, match="cannot be used"):
        find("needle")


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_byte_anywhere_is_read_or_reported(tree, update, index, find, seed):
    update()
    data = index.read_bytes()
    chosen = random.Random(seed)
    for place in chosen.sample([place for place, byte in enumerate(data) if byte], 25):
        index.write_bytes(data[:place] + bytes([data[place] ^ chosen.randrange(1, 256)]) + data[place + 1 :])
        for suffix in ("-wal", "-shm"):
            index.with_name(index.name + suffix).unlink(missing_ok=True)
        for use in (lambda: find("ring"), update):
            with contextlib.suppress(StateError):
                use()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = 'x' WHERE key = 'next'",
        "UPDATE meta SET value = 'x' WHERE key = 'schema'",
        "UPDATE files SET stamp = '', count = 'x'",
    ],
)
def test_entries_no_writer_left_are_damage(tree, update, index, statement):
    update()
    connection = sqlite3.connect(index)
    connection.execute(statement)
    connection.commit()
    connection.close()
    (tree / "new.txt").write_text("more")
    with pytest.raises(StateError) as caught:
        update()
    assert "--rebuild" in caught.value.hint


def test_the_index_of_a_newer_version_is_left_alone(tree, update, index, find):
    update()
    with writer(index) as connection:
        set_meta(connection, "schema", 99)
    before = index.read_bytes()
    for use in (update, lambda: find("ring")):
        with pytest.raises(StateError, match="newer version"):
            use()
    assert index.read_bytes() == before


def test_the_index_of_an_older_version_is_made_anew(tree, update, index, find):
    update()
    with writer(index) as connection:
        set_meta(connection, "schema", 0)
    with pytest.raises(StateError, match="older form"):
        find("ring")
    assert update().added == 3
    assert find("ring_next")


def test_an_unreadable_state_directory_says_what_to_do(tree, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StateError) as caught:
        finish(index_tree(Tree(tree), blocked / "index.sqlite3"))
    assert caught.value.hint


def test_progress_ends_at_the_number_of_files(tree, index):
    steps = list(index_tree(Tree(tree), index))
    assert [(step.done, step.total) for step in steps] == [(0, 3), (3, 3)]


def test_a_stamp_is_trusted_only_when_it_is_old_enough(tree, update, index):
    update()
    rows = sqlite3.connect(index).execute("SELECT stamp FROM files").fetchall()
    assert rows == [("",)] * 3
    deadline = time.monotonic() + 10
    while any(row == ("",) for row in rows) and time.monotonic() < deadline:
        update()
        rows = sqlite3.connect(index).execute("SELECT stamp FROM files").fetchall()
    assert all(row != ("",) for row in rows)
