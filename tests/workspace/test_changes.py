"""Two looks at a tree tell what changed in between, whoever changed it."""

import os
import shutil
import subprocess

import pytest

from spear.workspace import changes
from spear.workspace.changes import compare, snapshot
from spear.workspace.delivered import DeliveredSource


@pytest.fixture(params=["find", "walk"])
def look(request, monkeypatch):
    """Both ways of walking: GNU find, and our own."""
    if request.param == "walk":
        monkeypatch.setattr(changes.shutil, "which", lambda name: None)
    else:
        assert shutil.which("find")
    return snapshot


def settled(root):
    """Nothing in the tree is younger than a clock tick."""
    for path in root.rglob("*"):
        path.touch()
    deadline = snapshot(root, DeliveredSource(root))
    while deadline.young:
        deadline = snapshot(root, DeliveredSource(root))


def found(before, after, delivered, **options):
    return {c.path: c.kind.value for c in compare(before, after, delivered, **options)}


def test_nothing_changed_is_nothing(root, look):
    delivered = DeliveredSource(root)
    first = look(root, delivered)
    assert compare(first, look(root, delivered, first), delivered) == ()


@pytest.mark.parametrize("settle", [True, False])
def test_every_kind_of_change_is_seen(root, look, settle):
    (root / "run.sh").write_text("x")
    (root / "gone").write_text("x")
    (root / "link").symlink_to("a")
    if settle:
        settled(root)
    delivered = DeliveredSource(root)
    first = look(root, delivered)
    assert bool(first.young) is not settle
    (root / "src/ring.c").write_text("int RING;\n")
    (root / "run.sh").chmod(0o755)
    (root / "gone").unlink()
    (root / "link").unlink()
    (root / "link").symlink_to("b")
    (root / "new/deep").mkdir(parents=True)
    (root / "new/deep/odd \n name").write_text("x")
    assert found(first, look(root, delivered, first), delivered) == {
        "src/ring.c": "modified",
        "run.sh": "mode",
        "gone": "deleted",
        "link": "symlink",
        "new/deep/odd \n name": "created",
    }


def test_a_change_within_the_same_tick_of_the_clock_is_seen(root, look):
    delivered = DeliveredSource(root)
    (root / "src/ring.c").write_text("int ring;\n")
    first = look(root, delivered)
    line = next(part for part in first.listing.split(b"\0") if part.endswith(b"src/ring.c"))
    (root / "src/ring.c").write_text("int gnir;\n")
    second = look(root, delivered, first)
    # As a coarse clock would have it: not even the status change time moved.
    newer = next(part for part in second.listing.split(b"\0") if part.endswith(b"src/ring.c"))
    frozen = changes.Snapshot(root, second.listing.replace(newer, line), {}, first.pruned, first.names)
    assert found(first, frozen, delivered) == {"src/ring.c": "modified"}


def test_a_restored_modification_time_hides_nothing(root, look):
    settled(root)
    delivered = DeliveredSource(root)
    first = look(root, delivered)
    before = (root / "src/ring.c").stat()
    (root / "src/ring.c").write_text("int gnir;\n")
    os.utime(root / "src/ring.c", ns=(before.st_atime_ns, before.st_mtime_ns))
    (change,) = compare(first, look(root, delivered, first), delivered)
    assert change.path == "src/ring.c"


def test_a_touch_is_no_change_where_the_content_is_remembered(root, look):
    settled(root)
    delivered = DeliveredSource(root)
    first = look(root, delivered)
    (root / "src/ring.c").touch()
    second = look(root, delivered, first)
    (change,) = compare(first, second, delivered)
    assert (change.kind.value, change.certain) == ("modified", False)
    assert compare(first, second, delivered, lambda path: change.after_sha256) == ()


def test_builds_caches_and_git_are_not_noticed(git_root, look):
    (git_root / "Makefile").write_text("all:\n")
    (git_root / ".gitignore").write_text("data/\n")
    delivered = DeliveredSource(git_root)
    first = look(git_root, delivered)
    for name in ("build/x", "data/y", "a/__pycache__/z.pyc", "src/ring.o"):
        (git_root / name).parent.mkdir(parents=True, exist_ok=True)
        (git_root / name).write_text("x")
    subprocess.run(["git", "add", "src"], cwd=git_root, check=True)
    assert compare(first, look(git_root, delivered, first), delivered) == ()


def test_the_first_look_fixes_the_ignore_rules(root, look):
    deep = root / "a/b/c/d"
    deep.mkdir(parents=True)
    (deep / ".gitignore").write_text("made.txt\n")
    delivered = DeliveredSource(root)
    first = look(root, delivered)
    (deep / "made.txt").write_text("x")
    (root / "src/.gitignore").write_text("*\n")
    (root / "src/ring.c").write_text("changed")
    assert found(first, look(root, delivered, first), delivered) == {
        "src/.gitignore": "created",
        "src/ring.c": "modified",
    }


def test_a_tracked_file_in_a_build_directory_is_noticed(git_root, look):
    for name in ("Makefile", "build/rules.mk", "node_modules/x.js"):
        (git_root / name).parent.mkdir(exist_ok=True)
        (git_root / name).write_text("x")
    subprocess.run(["git", "add", "-f", "."], cwd=git_root, check=True)
    delivered = DeliveredSource(git_root)
    first = look(git_root, delivered)
    for name in ("build/rules.mk", "build/made", "node_modules/x.js"):
        (git_root / name).write_text("changed")
    assert set(found(first, look(git_root, delivered, first), delivered)) == {"build/rules.mk", "node_modules/x.js"}


def test_both_walks_give_the_same_lines(root, monkeypatch):
    (root / "odd [x]* name").write_text("x")
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("nowhere")
    settled_root = snapshot(root, DeliveredSource(root))
    monkeypatch.setattr(changes.shutil, "which", lambda name: None)
    ours = snapshot(root, DeliveredSource(root))
    assert set(settled_root.listing.split(b"\0")) == set(ours.listing.split(b"\0"))
