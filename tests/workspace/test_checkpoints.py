"""What a turn changed can be put back exactly, whoever and whatever changed it, and nothing else is touched."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spear.workspace.checkpoint_store import CheckpointLimits
from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.durable import DurableWriter
from spear.workspace.tree_state import PathState


def picture(root: Path) -> dict[str, tuple]:
    """Every path of the tree with what an undo must give back."""
    found: dict[str, tuple] = {}
    for path in sorted(root.rglob("*")):
        relative = str(path.relative_to(root))
        if relative.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            found[relative] = ("link", os.readlink(path))
        elif path.is_dir():
            found[relative] = ("dir", stat.S_IMODE(path.stat().st_mode))
        else:
            found[relative] = ("file", path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


@pytest.fixture
def manager(tmp_path: Path) -> CheckpointManager:
    return CheckpointManager(tmp_path / "store")


def turn(manager, root, *changes, session="s", number=1):
    """One turn: each change is (paths, function)."""
    manager.begin(session, number, root)
    for paths, change in changes:
        manager.protect(paths)
        change()
        manager.record_after(paths)
    return manager.finish()


def set_text(path: Path, text: str):
    def change():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    return change


def rework(root: Path):
    """Changes of every kind, in one step."""
    (root / "src/ring.c").write_bytes(b"changed\r\n")
    (root / "README.md").unlink()
    (root / "run.sh").chmod(0o644)
    (root / "alias").unlink()
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/f").write_text("1")
    (root / "moved").symlink_to("elsewhere")
    shutil.rmtree(root / "was_dir")
    (root / "was_dir").write_text("a file now")
    (root / "was_file").unlink()
    (root / "was_file").mkdir()
    (root / "was_file/inner").write_text("x")
    (root / "closed").chmod(0o500)


PATHS = [
    "src/ring.c", "README.md", "run.sh", "alias", "deep", "deep/er", "deep/er/f", "moved", "was_dir", "was_dir/a",
    "was_file", "was_file/inner", "closed",
]  # fmt: skip


@pytest.fixture
def rich(root: Path) -> Path:
    (root / "run.sh").write_bytes(b"#!/bin/sh\r\necho hi\r\n")
    (root / "run.sh").chmod(0o755)
    (root / "alias").symlink_to("src/ring.c")
    (root / "was_dir").mkdir()
    (root / "was_dir/a").write_bytes(b"caf\xe9\n")
    (root / "was_file").write_text("file")
    (root / "closed").mkdir(mode=0o755)
    return root


def test_an_undo_restores_contents_modes_links_and_types_and_a_redo_brings_the_turn_back(rich, manager):
    before = picture(rich)
    turn(manager, rich, (PATHS, lambda: rework(rich)))
    changed = picture(rich)
    assert changed != before
    report = manager.apply(manager.undo(rich))
    assert report.conflicts == ()
    assert picture(rich) == before
    assert "deep" in report.removed_dirs
    redone = manager.apply(manager.redo(rich))
    assert redone.conflicts == ()
    assert picture(rich) == changed
    manager.apply(manager.undo(rich))
    assert picture(rich) == before


def test_turns_come_back_one_by_one_or_several_at_once(root, manager):
    states = [picture(root)]
    for number in range(4):
        turn(manager, root, (["src/ring.c"], set_text(root / "src/ring.c", f"v{number}")), number=number)
        states.append(picture(root))
    manager.apply(manager.undo(root))
    assert picture(root) == states[3]
    manager.apply(manager.undo(root, 2))
    assert picture(root) == states[1]
    manager.apply(manager.redo(root, 2))
    assert picture(root) == states[4]
    assert [info.turn for info in manager.listing(root)] == [3, 2, 1, 0]


def test_a_new_turn_ends_the_redo(root, manager):
    turn(manager, root, (["a"], set_text(root / "a", "1")))
    manager.apply(manager.undo(root))
    turn(manager, root, (["b"], set_text(root / "b", "1")))
    assert manager.redo(root).problem


def test_a_file_created_then_edited_comes_back_then_goes(root, manager):
    turn(manager, root, (["n.txt"], set_text(root / "n.txt", "v1")))
    turn(manager, root, (["n.txt"], set_text(root / "n.txt", "v2")))
    manager.apply(manager.undo(root))
    assert (root / "n.txt").read_text() == "v1"
    manager.apply(manager.undo(root))
    assert not (root / "n.txt").exists()


def test_somebody_elses_change_is_named_and_left_alone_and_forced_only_on_request(root, manager):
    turn(
        manager,
        root,
        (["src/ring.c"], set_text(root / "src/ring.c", "ours")),
        (["README.md"], set_text(root / "README.md", "ours")),
    )
    (root / "README.md").write_text("theirs")
    plan = manager.undo(root)
    assert [c.path for c in plan.conflicts] == ["README.md"]
    report = manager.apply(plan)
    assert [c.path for c in report.conflicts] == ["README.md"]
    assert (root / "README.md").read_text() == "theirs"
    assert (root / "src/ring.c").read_text() == "int ring;\n"
    manager.apply(manager.redo(root))
    assert (root / "src/ring.c").read_text() == "ours"
    manager.apply(manager.undo(root), force_conflicts=True)
    assert (root / "README.md").read_text() == "# Ring\n"
    manager.apply(manager.redo(root))
    assert (root / "README.md").read_text() == "theirs"


def test_a_change_made_between_two_of_ours_is_not_lost(root, manager):
    manager.begin("s", 1, root)
    for text in ("one", "two"):
        manager.protect(["src/ring.c"])
        (root / "src/ring.c").write_text(text)
        manager.record_after(["src/ring.c"])
        if text == "one":
            (root / "src/ring.c").write_text("theirs")
    manager.finish()
    assert [c.path for c in manager.undo(root).conflicts] == ["src/ring.c"]


def test_a_change_between_two_turns_stops_the_way_back_at_it(root, manager):
    turn(manager, root, (["a"], set_text(root / "a", "1")))
    (root / "a").write_text("theirs")
    turn(manager, root, (["a"], set_text(root / "a", "2")))
    report = manager.apply(manager.undo(root, 2))
    assert [c.path for c in report.conflicts] == ["a"]
    assert (root / "a").read_text() == "theirs"


def test_a_change_between_the_plan_and_the_undo_is_a_conflict(root, manager):
    turn(manager, root, (["a"], set_text(root / "a", "1")))
    plan = manager.undo(root)
    (root / "a").write_text("just now")
    report = manager.apply(plan)
    assert [c.path for c in report.conflicts] == ["a"]
    assert (root / "a").read_text() == "just now"


def test_one_file_of_a_turn_can_be_taken_back(root, manager):
    turn(
        manager,
        root,
        (["docs/a"], set_text(root / "docs/a", "1")),
        (["docs/b"], set_text(root / "docs/b", "1")),
        (["src/ring.c"], set_text(root / "src/ring.c", "x")),
    )
    assert manager.apply(manager.undo(root, file="docs/a")).restored == ("docs/a",)
    assert (root / "docs/b").exists()
    assert (root / "src/ring.c").read_text() == "x"
    report = manager.apply(manager.undo(root))
    assert report.conflicts == ()
    assert picture(root).keys() == {"README.md", "src", "src/ring.c"}


def test_a_directory_that_holds_somebody_elses_file_stays(root, manager):
    turn(manager, root, (["docs/a"], set_text(root / "docs/a", "1")))
    (root / "docs/theirs").write_text("x")
    report = manager.apply(manager.undo(root))
    assert report.conflicts == ()
    assert picture(root)["docs/theirs"]


def test_a_turn_that_changed_nothing_is_no_step(root, manager):
    turn(manager, root, (["a"], set_text(root / "a", "1")), number=1)
    assert turn(manager, root, (["README.md"], lambda: None), number=2) is None
    assert [info.turn for info in manager.listing(root)] == [1]


def test_git_is_never_recorded_nor_touched(git_root, manager):
    (git_root / "README.md").write_text("dirty\n")
    subprocess.run(["git", "add", "README.md"], cwd=git_root, check=True)
    before = {p: p.read_bytes() for p in (git_root / ".git").rglob("*") if p.is_file()}
    manager.begin("s", 1, git_root)
    assert manager.protect([".git/index", "src/ring.c", "sub/.git/HEAD"]) == ("src/ring.c",)
    (git_root / "src/ring.c").write_text("x")
    manager.finish()
    manager.apply(manager.undo(git_root))
    assert {p: p.read_bytes() for p in (git_root / ".git").rglob("*") if p.is_file()} == before
    assert (git_root / "README.md").read_text() == "dirty\n"


def test_a_missing_content_is_named_and_the_rest_restored(root, manager, tmp_path):
    turn(
        manager,
        root,
        (["src/ring.c"], set_text(root / "src/ring.c", "x")),
        (["README.md"], set_text(root / "README.md", "y")),
    )
    lost = PathState.of_content(b"int ring;\n").sha256
    for blob in (tmp_path / "store").rglob(f"{lost}*"):
        blob.unlink()
    report = manager.apply(manager.undo(root))
    assert [(c.path, c.reason) for c in report.conflicts] == [
        ("src/ring.c", "its stored content is missing or damaged")
    ]
    assert (root / "src/ring.c").read_text() == "x"
    assert (root / "README.md").read_text() == "# Ring\n"


def test_a_damaged_content_never_reaches_the_tree(root, manager, tmp_path):
    (root / "long.txt").write_text("line\n" * 5000)
    turn(manager, root, (["long.txt"], set_text(root / "long.txt", "x")))
    for blob in (tmp_path / "store").rglob("*.z"):
        blob.write_bytes(blob.read_bytes()[:-9] + b"123456789")
    report = manager.apply(manager.undo(root))
    assert [c.path for c in report.conflicts] == ["long.txt"]
    assert (root / "long.txt").read_text() == "x"


def test_a_content_too_large_to_keep_is_named(root, tmp_path):
    manager = CheckpointManager(tmp_path / "store", CheckpointLimits(per_file=5))
    turn(manager, root, (["src/ring.c"], set_text(root / "src/ring.c", "x")))
    assert "too large" in manager.undo(root).conflicts[0].reason


def test_the_checkpoint_is_found_from_another_process_and_by_session(root, manager, tmp_path):
    turn(manager, root, (["a"], set_text(root / "a", "1")), session="one")
    turn(manager, root, (["b"], set_text(root / "b", "1")), session="two")
    again = CheckpointManager(tmp_path / "store")
    again.apply(again.undo(root, session="one"))
    assert not (root / "a").exists()
    assert (root / "b").exists()
    assert again.undo(root, session="three").problem


def test_a_running_turn_of_another_session_is_not_taken_back(root, manager, tmp_path):
    manager.begin("s", 1, root)
    manager.protect(["a"])
    set_text(root / "a", "1")()
    other = CheckpointManager(tmp_path / "store")
    assert "running" in other.undo(root).problem
    manager.finish()
    assert other.undo(root).problem == ""


def test_names_that_are_not_utf8_come_back(root, manager):
    name = os.fsdecode(b"latin\xe9 \xff\n.txt")
    (root / name).write_text("old")
    turn(manager, root, ([name], set_text(root / name, "new")))
    manager.apply(manager.undo(root))
    assert (root / name).read_text() == "old"


def test_a_link_planted_on_the_way_does_not_lead_an_undo_outside(root, outside, manager):
    turn(manager, root, (["src/ring.c"], set_text(root / "src/ring.c", "x")))
    plan = manager.undo(root)
    shutil.rmtree(root / "src")
    (root / "src").symlink_to(outside)
    (outside / "ring.c").write_text("x")
    report = manager.apply(plan)
    assert [c.path for c in report.conflicts] == ["src/ring.c"]
    assert (outside / "ring.c").read_text() == "x"


def test_the_store_stays_small_and_private(root, manager, tmp_path):
    (root / "data").mkdir()
    with (root / "data/huge").open("wb") as huge:
        huge.truncate(2 << 30)
    turn(manager, root, (["src/ring.c"], set_text(root / "src/ring.c", "x")))
    stored = [p for p in (tmp_path / "store").rglob("*")]
    assert sum(p.stat().st_size for p in stored if p.is_file()) < 1 << 20
    assert all(stat.S_IMODE(p.stat().st_mode) == (0o700 if p.is_dir() else 0o600) for p in stored)


def test_pruning_lists_first_and_frees_the_oldest(root, tmp_path):
    manager = CheckpointManager(tmp_path / "store", CheckpointLimits(total=2500))
    for number in range(4):
        (root / "a").write_bytes(os.urandom(1000))
        turn(manager, root, (["a"], set_text(root / "a", f"{number}")), number=number)
    listed = manager.prune()
    assert len(listed.checkpoints) == 2
    assert len(manager.listing(root)) == 4
    assert manager.prune(perform=True) == listed
    assert [info.turn for info in manager.listing(root)] == [3, 2]
    assert manager.prune().bytes == 0


def test_a_journal_cut_at_any_byte_still_reads(root, manager, tmp_path):
    turn(manager, root, (["a/b"], set_text(root / "a/b", "1")), (["src/ring.c"], set_text(root / "src/ring.c", "2")))
    (journal,) = (tmp_path / "store").rglob("*.jsonl")
    data = journal.read_bytes()
    for cut in range(0, len(data), 7):
        journal.write_bytes(data[:cut])
        plan = manager.undo(root)
        assert plan.problem or plan.root == root
    journal.write_bytes(data)
    manager.apply(manager.undo(root))
    assert picture(root).keys() == {"README.md", "src", "src/ring.c"}


def test_a_killed_turn_without_an_announcement_is_ours_only_around_its_death(root, tmp_path):
    writer = CheckpointManager(tmp_path / "store")
    writer.begin("s", 1, root)
    writer.protect(["a", "b"])
    (root / "a").write_text("half a turn")
    (root / "b").write_text("half a turn")
    writer._turn.writer.close()  # the process is gone: its lock with it
    (journal,) = (tmp_path / "store").rglob("*.jsonl")
    plan = CheckpointManager(tmp_path / "store").undo(root)
    assert ([c.path for c in plan.changes], plan.conflicts, plan.interrupted) == (["a", "b"], (), True)
    os.utime(journal, ns=(0, 0))
    plan = CheckpointManager(tmp_path / "store").undo(root)
    assert [c.path for c in plan.conflicts] == ["a", "b"]


def test_an_announcement_tells_our_bytes_from_theirs_after_a_kill(root, tmp_path):
    writer = CheckpointManager(tmp_path / "store")
    writer.begin("s", 1, root)
    for path in ("a", "b", "c"):
        writer.protect([path], {path: PathState.of_content(b"ours")})
    (root / "a").write_text("ours")
    (root / "b").write_text("theirs")
    writer._turn.writer.close()
    plan = CheckpointManager(tmp_path / "store").undo(root)
    assert [c.path for c in plan.changes] == ["a"]
    assert [c.path for c in plan.conflicts] == ["b"]


OPERATION = st.tuples(
    st.sampled_from(["write", "delete", "link", "mkdir", "chmod", "append"]),
    st.sampled_from(["a", "b", "d/a", "d/e/f", "d", "d/e"]),
    st.binary(max_size=6),
)


def perform(root: Path, kind: str, path: Path, data: bytes) -> None:
    """One change of a tree; what is impossible changes nothing."""
    try:
        match kind:
            case "write" | "append":
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb" if kind == "write" else "ab") as file:
                    file.write(data)
            case "delete":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            case "link":
                path.symlink_to("/nowhere/" + data.hex())
            case "mkdir":
                path.mkdir()
            case _:
                path.chmod(0o700 | (data[0] if data else 0) & 0o77, follow_symlinks=True)
    except OSError:
        return


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(OPERATION, min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_any_turns_come_back_exactly_and_any_undo_can_be_taken_back(tmp_path_factory, turns, data):
    base = tmp_path_factory.mktemp("any")
    root = base / "tree"
    root.mkdir()
    manager = CheckpointManager(base / "store")
    everything = ["a", "b", "d", "d/a", "d/e", "d/e/f"]
    states = [picture(root)]
    for number, operations in enumerate(turns):
        manager.begin("s", number, root)
        for kind, name, content in operations:
            manager.protect(everything)
            perform(root, kind, root / name, content)
            manager.record_after(everything)
        if manager.finish() is not None:
            states.append(picture(root))
    count = data.draw(st.integers(1, len(turns)))
    report = manager.apply(manager.undo(root, count))
    assert report.conflicts == ()
    assert picture(root) == states[max(len(states) - 1 - count, 0)]
    if report.id and len(states) > 1:
        assert manager.apply(manager.redo(root)).conflicts == ()
        assert picture(root) == states[-1]
    shutil.rmtree(base)


def test_a_full_disk_stops_the_mutation_before_it_begins(root, tmp_path):
    code = """
import os, sys
from pathlib import Path
from spear.workspace.checkpoints import CheckpointManager
manager = CheckpointManager(Path(sys.argv[1]))
manager.begin("s", 1, Path(sys.argv[2]))
try:
    manager.protect(["big"])
except OSError as error:
    print(error.errno == 28)
"""
    (root / "big").write_bytes(os.urandom(600_000))
    disk = tmp_path / "disk"
    disk.mkdir()
    namespaces = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    script = 'mount -t tmpfs -o size=256k tmpfs "$1" && exec "$3" -c "$4" "$1" "$2"'
    python = shutil.which("python3")
    done = subprocess.run(
        [*namespaces, "sh", "-c", script, "sh", str(disk), str(root), os.sys.executable or python, code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "True", done.stderr


def test_durable_writes_and_checkpoints_fit_together(root, manager):
    before = picture(root)
    writer = DurableWriter()
    manager.begin("s", 1, root)
    for number in range(3):
        path = f"docs/n{number}.md"
        manager.protect([path], {path: PathState.of_content(b"x")})
        writer.write(root, path, b"x", None)
        manager.record_after([path])
    manager.finish()
    manager.apply(manager.undo(root))
    assert picture(root) == before
