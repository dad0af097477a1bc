"""Undo of a turn that changed 1 000 files against writing them (spec 9.1)."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench.measure import Row, ratio_row, timed
from spear.workspace.checkpoints import CheckpointManager

FILES = 1_000


def write_all(root: Path, content: bytes, *, whole: bool = False) -> float:
    """Seconds to write the files plainly, or `whole`: each beside its place and renamed, as what must not leave half
    a file behind is written."""
    start = time.perf_counter()
    for number in range(FILES):
        file = root / f"d{number % 20}/f{number}.c"
        written = file.with_name(f"{file.name}~") if whole else file
        written.write_bytes(content + b"%d\n" % number)
        if whole:
            written.replace(file)
    return time.perf_counter() - start


def rows(quick: bool) -> list[Row]:
    """Undoing, against writing the files and making that durable, against writing them plainly, and against writing
    them whole."""
    written: list[float] = []
    durable: list[float] = []
    whole: list[float] = []
    undone: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "tree"
        for number in range(20):
            (root / f"d{number}").mkdir(parents=True)
        paths = [f"d{number % 20}/f{number}.c" for number in range(FILES)]
        manager = CheckpointManager(root.parent / "store")
        for turn in range(5 if quick else 11):
            whole.append(1000 * write_all(root, b"old %d " % turn * 400, whole=True))
            os.sync()
            manager.begin("s", turn, root)
            manager.protect(paths)
            written.append(1000 * write_all(root, b"new %d " % turn * 400))
            durable.append(written[-1] + timed(os.sync))
            manager.record_after(paths)
            manager.finish()
            start = time.perf_counter()
            report = manager.apply(manager.undo(root))
            undone.append(1000 * (time.perf_counter() - start))
            assert len(report.restored) == FILES
            assert report.conflicts == ()
    return [
        ratio_row("undo of 1 000 files, floor: durable writes", 3.0, undone, durable),
        ratio_row("undo of 1 000 files, floor: plain writes", 3.0, undone, written),
        ratio_row("undo of 1 000 files, floor: writes that are renamed", 3.0, undone, whole),
    ]
