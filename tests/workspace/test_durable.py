"""A write lands whole or not at all, and says which."""

import hashlib
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from spear.workspace.durable import DurableWriter, PathLeases, WriteCode, WriteProblem, Written
from spear.workspace.pending import PREFIX, PendingFile, sweep

REPOSITORY = Path(__file__).resolve().parents[2]


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(root, relative, content, expected=None, **options):
    return DurableWriter().write(root, relative, content, expected, **options)


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_a_creation_makes_its_parents_and_reports_them(root):
    done = write(root, "docs/new/a.md", b"x\r\n")
    assert isinstance(done, Written)
    assert done.created_directories == ("docs", "docs/new")
    assert (root / "docs/new/a.md").read_bytes() == b"x\r\n"
    result = done.result
    assert (result.created, result.changed, result.committed, result.durable) == (True, True, True, True)
    assert (result.bytes, result.sha256, result.before) == (3, sha(b"x\r\n"), None)


def test_a_new_file_obeys_the_umask(root):
    old = os.umask(0o027)
    try:
        write(root, "new", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "new").stat().st_mode) == 0o640


def test_a_replacement_keeps_mode_owner_and_attributes(root):
    path = root / "src/ring.c"
    path.chmod(0o4755)
    os.setxattr(path, "user.note", b"kept")
    if os.geteuid() == 0:
        os.chown(path, 1001, 1001)
        path.chmod(0o4755)
    owner = path.stat().st_uid
    done = write(root, "src/ring.c", b"new", sha(b"int ring;\n"))
    assert done.result.before == sha(b"int ring;\n")
    found = path.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o755, owner)
    assert os.getxattr(path, "user.note") == b"kept"


def test_identical_content_touches_nothing(root):
    before = (root / "src/ring.c").stat()
    done = write(root, "src/ring.c", b"int ring;\n", sha(b"int ring;\n"))
    after = (root / "src/ring.c").stat()
    assert done.result.changed is False
    assert (before.st_ino, before.st_mtime_ns, before.st_ctime_ns) == (
        after.st_ino,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )


def test_a_repeat_after_a_lost_acknowledgement_reports_the_state(root):
    write(root, "src/ring.c", b"new", sha(b"int ring;\n"))
    again = write(root, "src/ring.c", b"new", sha(b"int ring;\n"))
    assert (again.result.changed, again.result.sha256) == (False, sha(b"new"))
    write(root, "fresh", b"x")
    assert write(root, "fresh", b"x").result.changed is False


def test_a_file_that_changed_meanwhile_is_stale(root):
    found = write(root, "src/ring.c", b"mine", sha(b"what I read"))
    assert found.code is WriteCode.STALE
    assert found.current == sha(b"int ring;\n")
    assert (root / "src/ring.c").read_bytes() == b"int ring;\n"


def test_a_file_that_vanished_meanwhile_is_stale(root):
    assert write(root, "gone.c", b"mine", sha(b"what I read")).code is WriteCode.STALE
    assert "gone.c" not in names(root)


def test_a_creation_never_replaces(root, outside):
    assert write(root, "src/ring.c", b"mine").code is WriteCode.EXISTS
    (root / "link").symlink_to(outside / "new.txt")
    assert write(root, "link", b"mine").code is WriteCode.MOVED
    assert not (outside / "new.txt").exists()


@pytest.mark.parametrize("meddle", ["change", "create"])
def test_a_change_between_the_check_and_the_commit_is_noticed(root, meddle):
    """The last look happens after the content is on disk: `cancelled` is asked before and after it."""
    asked = []

    def somebody_else():
        if not asked:
            (root / ("src/ring.c" if meddle == "change" else "fresh")).write_text("theirs")
        asked.append(1)
        return False

    if meddle == "change":
        found = write(root, "src/ring.c", b"mine", sha(b"int ring;\n"), cancelled=somebody_else)
        assert found.code is WriteCode.STALE
        assert (root / "src/ring.c").read_text() == "theirs"
    else:
        assert write(root, "fresh", b"mine", cancelled=somebody_else).code is WriteCode.EXISTS
        assert (root / "fresh").read_text() == "theirs"


def test_cancelled_before_the_commit_leaves_nothing(root):
    before = names(root)
    answers = iter([False, True])
    found = write(root, "a/b/c.txt", b"x", cancelled=lambda: next(answers))
    assert found.code is WriteCode.CANCELLED
    assert names(root) == before


def test_directories_fifos_and_files_as_parents_are_named(root):
    os.mkfifo(root / "pipe")
    assert write(root, "src", b"x").code is WriteCode.IS_DIRECTORY
    assert write(root, "pipe", b"x").code is WriteCode.NOT_A_FILE
    assert write(root, "README.md/x", b"x").code is WriteCode.NOT_A_DIRECTORY
    assert write(root, "n" * 300, b"x").code is WriteCode.NAME


def test_deleting_removes_a_link_and_never_its_target(root, outside):
    (root / "link").symlink_to(outside / "secret.txt")
    done = DurableWriter().delete(root, "link")
    assert (done.existed, done.was_link) == (True, True)
    assert (outside / "secret.txt").exists()
    assert DurableWriter().delete(root, "link").existed is False
    assert DurableWriter().delete(root, "src").code is WriteCode.IS_DIRECTORY


def test_permission_denied_is_named_with_the_path_asked_for(public_path, as_tester):
    tree = public_path / "tree"
    tree.mkdir()
    (tree / "locked").mkdir(mode=0o755)
    (tree / "locked/a").write_text("x")
    tree.chmod(0o755)
    if os.geteuid() != 0:
        (tree / "locked").chmod(0o555)
    out = as_tester(lambda: str(write(tree, "locked/b", b"x")))
    assert "permission_denied" in out
    assert "'locked/b'" in out
    assert names(tree) == {"locked", "locked/a"}


FULL_DISK = """
import os, sys, hashlib
from pathlib import Path
from spear.workspace.durable import DurableWriter
root = Path(sys.argv[1])
(root / "old.txt").write_bytes(b"precious" * 100)
expected = hashlib.sha256(b"precious" * 100).hexdigest()
print(DurableWriter().write(root, "old.txt", os.urandom(600_000), expected).code)
print(DurableWriter().write(root, "new/dir/f", os.urandom(600_000), None).code)
print((root / "old.txt").read_bytes() == b"precious" * 100, sorted(os.listdir(root)))
"""


def test_a_full_disk_is_named_and_leaves_the_tree_as_it_was(tmp_path):
    mount = 'mount -t tmpfs -o size=256k tmpfs {0} && exec {1} -c "$2" {0}'.format("$1", sys.executable)
    namespaces = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    done = subprocess.run(
        [*namespaces, "sh", "-c", mount, "sh", str(tmp_path), FULL_DISK],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["disk_full", "disk_full", "True ['old.txt']"], done.stderr


def test_a_read_only_file_system_is_named(tmp_path):
    (tmp_path / "a").write_text("x")
    code = (
        "from pathlib import Path; import sys; from spear.workspace.durable import DurableWriter;"
        "print(DurableWriter().write(Path(sys.argv[1]), 'b', b'x', None).code)"
    )
    namespaces = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    script = f'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec {sys.executable} -c "$2" "$1"'
    done = subprocess.run(
        [*namespaces, "sh", "-c", script, "sh", str(tmp_path), code],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "read_only", done.stderr


def test_two_writers_in_one_process_never_lose_an_update(root):
    """Each thread adds its own line with the digest it read; a stale one reads again."""
    writer = DurableWriter()

    def add(line: bytes):
        while True:
            content = (root / "src/ring.c").read_bytes()
            found = writer.write(root, "src/ring.c", content + line, sha(content))
            if isinstance(found, Written):
                return
            assert isinstance(found, WriteProblem)
            assert found.code is WriteCode.STALE

    threads = [threading.Thread(target=add, args=(b"%d\n" % n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((root / "src/ring.c").read_bytes().split(b"\n")[1:-1]) == sorted(b"%d" % n for n in range(12))


def test_a_lease_is_given_back(root):
    leases = PathLeases()
    with pytest.raises(ZeroDivisionError), leases.held("a"):
        raise ZeroDivisionError
    with leases.held("a"), leases.held("b"):
        pass


@pytest.mark.parametrize("nameless", [True, False])
def test_a_pending_file_that_is_not_committed_leaves_nothing(root, nameless):
    directory = os.open(root, os.O_RDONLY)
    with PendingFile(directory, nameless=nameless) as pending:
        pending.write(b"x" * 10)
    assert names(root) == {"src", "src/ring.c", "README.md"}
    with PendingFile(directory, nameless=nameless) as pending:
        pending.write(b"new")
        with pytest.raises(FileExistsError):
            pending.link("README.md")
        pending.replace("README.md")
    assert (root / "README.md").read_bytes() == b"new"
    with PendingFile(directory, nameless=nameless) as pending:
        pending.link("fresh")
    assert "fresh" in names(root)
    assert not [n for n in names(root) if n.startswith(PREFIX)]
    os.close(directory)


def test_sweeping_spares_a_live_writer_and_removes_a_dead_one(root):
    directory = os.open(root, os.O_RDONLY)
    (root / f"{PREFIX}dead").write_text("half")
    with PendingFile(directory, nameless=False):
        assert sweep(directory) == (f"{PREFIX}dead",)
        assert [n for n in names(root) if n.startswith(PREFIX)]
    os.close(directory)
