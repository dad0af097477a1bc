"""Killed at any instant, a turn or an undo leaves whole files, nothing stray, and a tree that can be put back."""

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.durable import DurableWriter
from spear.workspace.pending import PREFIX
from spear.workspace.promotion import promote
from spear.workspace.tree_state import PathState
from spear.workspace.upper import read_upper

SEED = int(os.environ.get("SPEAR_CRASH_SEED", time.time_ns()))


def picture(root: Path) -> dict[str, tuple]:
    found: dict[str, tuple] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("dir", path.stat().st_mode)
        else:
            found[name] = ("file", path.read_bytes(), path.stat().st_mode)
    return found


def plant(root: Path) -> None:
    for name in ("a", "d/b", "d/e/c", "gone/x", "gone/y/z"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"old " + name.encode() * 400)
    (root / "link").symlink_to("a")
    (root / "a").chmod(0o755)


def killed(act: Callable[[], None], after_s: float) -> bool:
    """Run `act` in a child and kill it; whether the kill came before the end."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def a_turn(root: Path, store: Path, upper: Path) -> None:
    """Six durable writes, a deletion, and the promotion of a command that changed, removed and replaced things."""
    manager, writer = CheckpointManager(store), DurableWriter()
    manager.begin("s", 1, root)
    for number in range(6):
        path = f"docs/n{number}.md"
        content = b"new " * 2000
        manager.protect([path], {path: PathState.of_content(content)})
        writer.write(root, path, content, None)
        manager.record_after([path])
    old = (root / "a").read_bytes()
    manager.protect(["a"], {"a": PathState.of_content(b"replaced")})
    writer.write(root, "a", b"replaced", PathState.of_content(old).sha256)
    manager.record_after(["a"])
    entries = read_upper(upper, root)
    manager.protect([e.path for e in entries], {e.path: e.after for e in entries})
    report = promote(entries, upper, root, lambda entry: True)
    manager.record_after([e.path for e in entries], {e.path: e.after for e in report.applied})
    manager.finish()


def make_upper(upper: Path) -> None:
    """What a command leaves: a changed file, a new directory, a removed tree, a file in the place of a link."""
    (upper / "d").mkdir(parents=True)
    (upper / "d/b").write_bytes(b"command " * 500)
    (upper / "new/deep").mkdir(parents=True)
    for number in range(20):
        (upper / f"new/deep/f{number}").write_bytes(b"command " * 100)
    (upper / "link").write_bytes(b"a file now")
    if os.geteuid() == 0:
        os.mknod(upper / "gone", 0o020000, os.makedev(0, 0))


def whole(root: Path, before: dict[str, tuple]) -> None:
    """Every file holds either its old bytes or its new ones; nothing is torn."""
    for name, what in picture(root).items():
        if what[0] == "file" and not Path(name).name.startswith(PREFIX):
            contents = {b"new " * 2000, b"replaced", b"command " * 500, b"command " * 100, b"a file now"}
            assert what[1] in contents | {before.get(name, ("", b"new " * 2000))[1]}, name


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory in memory: a kill does not care whether anything reached a disk, and the trials become quick."""
    path = Path(tempfile.mkdtemp(dir="/dev/shm")).resolve()
    yield path
    shutil.rmtree(path)


@dataclass
class Scene:
    """A tree about to be changed by one turn."""

    base: Path
    root: Path = field(init=False)
    store: Path = field(init=False)
    upper: Path = field(init=False)

    def __post_init__(self) -> None:
        self.root, self.store, self.upper = self.base / "tree", self.base / "store", self.base / "upper"
        plant(self.root)
        make_upper(self.upper)
        self.before = picture(self.root)

    def turn(self) -> None:
        a_turn(self.root, self.store, self.upper)

    def undo(self) -> None:
        manager = CheckpointManager(self.store)
        plan = manager.undo(self.root)
        if not plan.problem:
            assert manager.apply(plan).conflicts == ()


def duration(act: Callable[[], None]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def test_a_turn_killed_at_any_instant_can_be_put_back(base):
    print(f"SPEAR_CRASH_SEED={SEED}")
    dice = random.Random(SEED)
    longest = min(duration(Scene(base / f"span{n}").turn) for n in range(3)) * 1.3
    cut_short = 0
    for trial in range(150):
        scene = Scene(base / f"t{trial}")
        cut_short += killed(scene.turn, dice.uniform(0, longest))
        whole(scene.root, scene.before)
        scene.undo()
        CheckpointManager(scene.store).begin("s", 2, scene.root)
        assert picture(scene.root) == scene.before, (trial, SEED)
        shutil.rmtree(scene.base)
    assert cut_short > 30


def test_an_undo_killed_at_any_instant_can_be_asked_for_again(base):
    print(f"SPEAR_CRASH_SEED={SEED}")
    dice = random.Random(SEED + 1)
    first = Scene(base / "span")
    first.turn()
    longest = duration(first.undo) * 1.3
    cut_short = 0
    for trial in range(100):
        scene = Scene(base / f"t{trial}")
        scene.turn()
        cut_short += killed(scene.undo, dice.uniform(0, longest))
        whole(scene.root, scene.before)
        scene.undo()
        CheckpointManager(scene.store).begin("s", 2, scene.root)
        assert picture(scene.root) == scene.before, (trial, SEED)
        shutil.rmtree(scene.base)
    assert cut_short > 20
