"""Change detection over 50 000 files of which none changed, against `find -printf` (goal: at most 1.5 times)."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from bench.measure import Row, paired, ratio_row, timed
from spear.workspace.changes import compare, snapshot
from spear.workspace.delivered import DeliveredSource

_FILES = 50_000


def build(root: Path, files: int) -> None:
    """A tree of `files` small files, fifty a directory."""
    for number in range(files // 50):
        directory = root / f"p{number // 100}/d{number % 100}"
        directory.mkdir(parents=True)
        for name in range(50):
            (directory / f"f{name}.c").write_bytes(b"int x;\n")


def rows(quick: bool) -> list[Row]:
    """Looking again at a tree in which nothing changed."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        build(root, _FILES)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        delivered = DeliveredSource(root)
        first = snapshot(root, delivered)

        def ours() -> float:
            found: list[object] = []
            spent = timed(lambda: found.extend(compare(first, snapshot(root, delivered, first), delivered)))
            assert not found
            return spent

        left, right = paired(7 if quick else 21, ours, lambda: timed(lambda: _find(root)))
    return [ratio_row("change detection, 50 000 files", 1.5, left, right)]


def _find(root: Path) -> None:
    subprocess.run(["find", ".", "-printf", "%i %s %T@ %C@\n"], cwd=root, stdout=subprocess.PIPE, check=True)
