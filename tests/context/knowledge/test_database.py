"""The database survives other versions, other programs, damage, eight writers and death."""

import contextlib
import fcntl
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys

import pytest

from spear.context.knowledge.database import APPLICATION_ID, MIGRATIONS, KnowledgeDatabase
from spear.context.knowledge.drafts import Draft
from spear.context.knowledge.records import State
from spear.errors import StateError

WRITER = """
import sys
from pathlib import Path
from spear.context.identity import WorkspaceIdentity
from spear.context.knowledge.drafts import Draft
from spear.context.workspace_knowledge import Recorded, knowledge_of
from spear.state.redaction import Redactor
root, database, name, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
knowledge = knowledge_of(database, WorkspaceIdentity.of(root, None), name, Redactor(), 60.0)
for number in range(count):
    assert isinstance(knowledge.add(Draft(f"Fact {number} of {name}.")), Recorded)
    print(number, flush=True)
"""


@pytest.fixture
def path(tree):
    return tree.state / "knowledge.sqlite3"


def writer(tree, path, name, count):
    arguments = [sys.executable, "-c", WRITER, str(tree.root), str(path), name, str(count)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE)


def of_version(path, version):
    connection = sqlite3.connect(path)
    for statements in MIGRATIONS[:version]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    return connection


def test_looking_creates_nothing(tree, path):
    assert tree.knowledge().records() == ()
    assert tree.knowledge().current() == ((), ())
    assert list(tree.state.iterdir()) == []


def test_the_files_are_private(tree, path):
    tree.knowledge().add(Draft("A fact."))
    assert {stat.S_IMODE(file.stat().st_mode) for file in tree.state.iterdir()} == {0o600}


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
@pytest.mark.parametrize("by", ["reading", "writing"])
def test_an_older_schema_is_migrated_with_its_records(tree, path, version, by):
    connection = of_version(path, version)
    values = (
        "k1",
        str(tree.root.resolve()),
        "fact",
        "s",
        "Old.",
        "[]",
        "",
        "operator",
        "USER_CONFIRMED",
        "ACTIVE",
        1,
        "",
        "t0",
        "t0",
        "a",
    )
    connection.execute(
        "INSERT INTO records (id, workspace, kind, subject, statement, tags, path, provenance, verification, state, "
        f"version, supersedes, created, updated, actor) VALUES ({', '.join('?' * len(values))})",
        values,
    )
    connection.commit()
    connection.close()
    knowledge = tree.knowledge()
    if by == "writing":
        knowledge.add(Draft("New."))
    assert knowledge.records()[0].statement == "Old."
    assert [entry.action for entry in knowledge.history("k1")] == ["recorded"]


def test_a_migration_that_fails_leaves_the_old_schema(tree, path):
    connection = of_version(path, 1)
    connection.execute("CREATE TABLE journal (in_the_way)")
    connection.commit()
    with pytest.raises(StateError):
        tree.knowledge().records()
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_a_newer_schema_is_an_error_with_a_remedy(tree, path):
    connection = of_version(path, len(MIGRATIONS))
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for act in (tree.knowledge().records, lambda: tree.knowledge().add(Draft("A fact."))):
        with pytest.raises(StateError) as error:
            act()
        assert "newer" in error.value.message
        assert "SPEAR_KNOWLEDGE_DB" in error.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["text", "torn", "header", "enum"])
def test_a_damaged_database_is_an_error_with_a_remedy(tree, path, damage):
    knowledge = tree.knowledge()
    for number in range(60):
        knowledge.add(Draft(f"Fact {number} " + "x" * 400))
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    if damage == "text":
        path.write_text("this is no database, it is prose" * 50)
    elif damage == "torn":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "header":
        data[100:4096] = os.urandom(3996)
        path.write_bytes(data)
    else:
        connection = sqlite3.connect(path)
        connection.execute("UPDATE records SET kind = 'nonsense'")
        connection.commit()
        connection.close()
    with pytest.raises(StateError) as error:
        knowledge.records()
    assert "damaged" in error.value.message
    assert "import" in error.value.hint


@pytest.mark.parametrize("seed", range(8))
def test_a_flipped_byte_anywhere_is_read_or_reported(tree, path, seed):
    tree.write("a.c", "int x;\n")
    for number in range(6):
        source = {"source": "a.c", "quote": "int x"} if number % 2 else {}
        tree.knowledge().add(Draft(f"Fact {number}.", subject=f"s{number}", **source))
    data = path.read_bytes()
    chosen = random.Random(seed)
    places = [place for place, byte in enumerate(data) if byte]
    for place in chosen.sample(places, 40):
        path.write_bytes(data[:place] + bytes([data[place] ^ chosen.randrange(1, 256)]) + data[place + 1 :])
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        with contextlib.suppress(StateError):
            tree.knowledge().current()


def test_a_schema_whose_words_are_no_text_is_damage(tree, path):
    tree.knowledge().add(Draft("A fact."))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"provenance TEXT", b"pro\xcc\xccnance\xccTEXT"))
    with pytest.raises(StateError, match="damaged"):
        tree.knowledge().records()


def test_another_programs_database_is_left_alone(tree, path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for act in (tree.knowledge().records, lambda: tree.knowledge().add(Draft("A fact."))):
        with pytest.raises(StateError, match="something else"):
            act()
    assert path.read_bytes() == before


def test_a_writer_that_does_not_let_go_is_named(tree, path):
    tree.knowledge().add(Draft("A fact."))
    with open(path.with_name("knowledge.sqlite3.writer"), "r+", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write("process 4711\n")
        held.flush()
        with pytest.raises(StateError) as error:
            tree.knowledge(busy_s=0.1).add(Draft("Another fact."))
        assert "process 4711" in error.value.message
        assert [record.statement for record in tree.knowledge().records()] == ["A fact."]


def test_another_program_that_holds_the_database_is_reported(tree, path):
    tree.knowledge().add(Draft("A fact."))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateError, match="held by another program"):
        tree.knowledge(busy_s=0.1).add(Draft("Another fact."))
    other.execute("ROLLBACK")
    other.close()


def test_eight_processes_at_once_lose_nothing(tree, path):
    writers = [writer(tree, path, f"w{number}", 6) for number in range(8)]
    assert [process.wait(100) for process in writers] == [0] * 8
    for process in writers:
        process.stdout.close()
    records = tree.knowledge().records()
    assert sorted(record.statement for record in records) == sorted(
        f"Fact {n} of w{w}." for w in range(8) for n in range(6)
    )
    assert len({record.id for record in records}) == 48


def test_a_killed_writer_leaves_whole_records_and_no_lock(tree, path):
    killed = writer(tree, path, "w", 10_000)
    seen = 0
    for line in killed.stdout:
        seen = int(line) + 1
        if seen >= 5:
            killed.send_signal(signal.SIGKILL)
            break
    seen = max([seen, *(int(line) + 1 for line in killed.stdout)])
    killed.wait(60)
    killed.stdout.close()
    knowledge = tree.knowledge(busy_s=0.5)
    assert knowledge.records()[:seen][-1].statement == f"Fact {seen - 1} of w."
    assert knowledge.add(Draft("After it.")).record.state is State.ACTIVE


def test_an_exception_takes_everything_back(tree, path):
    database = KnowledgeDatabase(path)
    with database.writing():
        pass
    with contextlib.suppress(KeyError), database.writing() as connection:
        connection.execute("INSERT INTO journal (at, actor, action, record, workspace) VALUES ('', '', '', 'k', '')")
        raise KeyError
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone()[0] == 0


def test_a_directory_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    database = KnowledgeDatabase(tmp_path / "file" / "knowledge.sqlite3")
    with pytest.raises(StateError) as error, database.writing():
        pass
    assert error.value.hint
