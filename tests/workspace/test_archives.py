"""Many contents that one step of a turn keeps lie in one archive, which belongs to that turn's checkpoint."""

from __future__ import annotations

import os
import resource
import zipfile
from pathlib import Path

import pytest

from spear.workspace.checkpoint_store import CheckpointLimits
from spear.workspace.checkpoints import CheckpointManager
from tests.workspace.test_checkpoints import picture

NAMES = [f"d{number % 3}/f{number}" for number in range(30)]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A tree of many files: empty, short, long, incompressible, the same twice."""
    root = tmp_path / "tree"
    kinds = [b"", b"short\n", b"long line\n" * 2000, os.urandom(9000), b"\0\xff"]
    for number, name in enumerate(NAMES):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(kinds[number % 5])
        file.chmod(0o755 if number % 7 == 0 else 0o644)
    return root.resolve()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def rewritten(manager: CheckpointManager, root: Path, text: str, number: int = 1) -> None:
    """A turn in which one step writes all of them anew and removes some."""
    manager.begin("s", number, root)
    manager.protect(NAMES)
    for position, name in enumerate(NAMES):
        if position % 6 == 5:
            (root / name).unlink(missing_ok=True)
        else:
            (root / name).write_text(f"{text} {position}\n" * ((position + 1) * 50))
    manager.record_after(NAMES)
    manager.finish()


def archives(store: Path) -> list[Path]:
    return sorted(store.rglob("*.zip"))


def test_what_one_step_kept_lies_in_one_file_and_comes_back_exactly(many, store):
    manager = CheckpointManager(store)
    before = picture(many)
    rewritten(manager, many, "new")
    after = picture(many)
    assert len(archives(store)) == 1
    assert [path.name for path in (store / "blobs").iterdir()] == ["archives"]
    for _ in range(2):
        assert manager.apply(manager.undo(many)).conflicts == ()
        assert picture(many) == before
        assert manager.apply(manager.redo(many)).conflicts == ()
        assert picture(many) == after


def test_turns_that_kept_many_are_taken_back_together(many, store):
    manager = CheckpointManager(store)
    before = picture(many)
    for number in range(3):
        rewritten(manager, many, f"turn {number}", number)
    again = CheckpointManager(store)
    assert again.apply(again.undo(many, 3)).conflicts == ()
    assert picture(many) == before


@pytest.mark.parametrize("harm", [b"", b"PK\3\4 no archive", None], ids=["emptied", "overwritten", "gone"])
def test_without_its_archive_a_turn_names_what_it_cannot_restore(many, store, harm):
    manager = CheckpointManager(store)
    rewritten(manager, many, "new")
    after = picture(many)
    (archive,) = archives(store)
    archive.unlink() if harm is None else archive.write_bytes(harm)
    report = CheckpointManager(store).apply(CheckpointManager(store).undo(many))
    assert {conflict.reason for conflict in report.conflicts} == {"its stored content is missing or damaged"}
    assert {conflict.path for conflict in report.conflicts} == set(NAMES)
    assert picture(many) == after


def test_a_damaged_content_of_an_archive_is_named_and_the_rest_restored(many, store):
    manager = CheckpointManager(store)
    (many / NAMES[1]).write_bytes(b"a stored content that can be found\n")
    before = picture(many)
    rewritten(manager, many, "new")
    (archive,) = archives(store)
    data = archive.read_bytes()
    assert data.count(b"can be found") == 1
    archive.write_bytes(data.replace(b"can be found", b"can be faked"))
    report = manager.apply(manager.undo(many))
    assert [conflict.path for conflict in report.conflicts] == [NAMES[1]]
    assert {name: what for name, what in picture(many).items() if name != NAMES[1]} == {
        name: what for name, what in before.items() if name != NAMES[1]
    }


def test_an_archive_that_somebody_made_anew_is_not_believed(many, store):
    manager = CheckpointManager(store)
    rewritten(manager, many, "new")
    after = picture(many)
    (archive,) = archives(store)
    with zipfile.ZipFile(archive) as made:
        names = made.namelist()
    with zipfile.ZipFile(archive, "w") as made:
        for name in names:
            made.writestr(name, "something else")
    report = manager.apply(manager.undo(many))
    assert {conflict.path for conflict in report.conflicts} == set(NAMES)
    assert picture(many) == after


def test_an_archive_goes_with_its_checkpoint(many, store):
    manager = CheckpointManager(store, CheckpointLimits(total=200_000))
    for number in range(6):
        for name in NAMES:
            (many / name).write_bytes(os.urandom(2000))
        rewritten(manager, many, f"turn {number}", number)
    listed = manager.prune()
    assert listed.checkpoints and len(archives(store)) == 6
    assert manager.prune(perform=True) == listed
    left = {path.name.partition(".")[0] for path in archives(store)}
    assert left == {info.id for info in manager.listing(many)}
    assert sum(path.stat().st_size for path in archives(store)) == listed.kept_bytes <= 200_000
    assert manager.prune().bytes == 0


def test_an_archive_that_no_checkpoint_owns_is_freed(many, store):
    manager = CheckpointManager(store)
    rewritten(manager, many, "new")
    (archive,) = archives(store)
    archive.with_name(f"0000000000000000000-abcdef.{archive.name.partition('.')[2]}").write_bytes(b"x" * 50)
    assert manager.prune(perform=True).bytes == 50
    assert archives(store) == [archive]


def test_what_could_not_be_kept_is_tried_again(many, store):
    """The first file is in the store already when the disk is full: the checkpoint must not believe it has it."""
    manager = CheckpointManager(store)
    before = picture(many)
    manager.begin("s", 1, many)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
    try:
        with pytest.raises(OSError):
            manager.protect(NAMES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not archives(store)
    assert not list(store.rglob(".spear-write-*"))
    assert manager.protect(NAMES) == tuple(NAMES)
    for name in NAMES:
        (many / name).write_text("new")
    manager.record_after(NAMES)
    manager.finish()
    assert manager.apply(manager.undo(many)).conflicts == ()
    assert picture(many) == before
