"""Undo of a turn that changed 1 000 files against writing them, and the cost of one checkpoint (goals of spec 9.1)."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from spear.workspace.checkpoints import CheckpointManager
from spear.workspace.durable import DurableWriter
from spear.workspace.tree_state import PathState

FILES = 1_000


def write_all(root: Path, content: bytes, *, sync: bool = False) -> float:
    """Seconds to write the files plainly, optionally made durable by one sync of the file system."""
    start = time.perf_counter()
    for number in range(FILES):
        (root / f"d{number % 20}/f{number}.c").write_bytes(content + b"%d\n" % number)
    if sync:
        os.sync()
    return time.perf_counter() - start


def undo_of_many(rounds: int = 5) -> dict[str, float]:
    """Medians of writing 1 000 files of 4 kB, of doing so durably, and of undoing the turn that changed them."""
    written: list[float] = []
    durable: list[float] = []
    undone: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "tree"
        for number in range(20):
            (root / f"d{number}").mkdir(parents=True)
        paths = [f"d{number % 20}/f{number}.c" for number in range(FILES)]
        manager = CheckpointManager(root.parent / "store")
        for turn in range(rounds):
            write_all(root, b"old %d " % turn * 400)
            os.sync()
            manager.begin("s", turn, root)
            manager.protect(paths)
            written.append(write_all(root, b"new %d " % turn * 400))
            start = time.perf_counter()
            os.sync()
            durable.append(written[-1] + time.perf_counter() - start)
            manager.record_after(paths)
            manager.finish()
            start = time.perf_counter()
            report = manager.apply(manager.undo(root))
            undone.append(time.perf_counter() - start)
            assert len(report.restored) == FILES
            assert report.conflicts == ()
    result = {"write_s": statistics.median(written), "durable_s": statistics.median(durable)}
    result["undo_s"] = statistics.median(undone)
    result["ratio_plain"] = result["undo_s"] / result["write_s"]
    result["ratio_durable"] = result["undo_s"] / result["durable_s"]
    return result


def one_edit(rounds: int = 60) -> dict[str, float]:
    """Medians of a durable write alone and of what the checkpoint adds, in milliseconds."""
    alone: list[float] = []
    added: list[float] = []
    writer = DurableWriter()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "tree"
        root.mkdir()
        manager = CheckpointManager(root.parent / "store")
        content = b"line\n" * 400
        (root / "a.c").write_bytes(content)
        for turn in range(rounds):
            manager.begin("s", turn, root)
            new = content + b"%d\n" % turn
            start = time.perf_counter()
            manager.protect(["a.c"], {"a.c": PathState.of_content(new)})
            protected = time.perf_counter()
            before = PathState.of_content((root / "a.c").read_bytes()).sha256
            middle = time.perf_counter()
            writer.write(root, "a.c", new, before)
            written = time.perf_counter()
            manager.record_after(["a.c"])
            added.append(1000 * (protected - start + time.perf_counter() - written))
            alone.append(1000 * (written - middle))
            manager.finish()
    return {"write_ms": statistics.median(alone), "checkpoint_ms": statistics.median(added)}


if __name__ == "__main__":
    json.dump({**undo_of_many(), **one_edit()}, sys.stdout, indent=1)
    print()
