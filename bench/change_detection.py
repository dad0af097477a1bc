"""Change detection over 50 000 files of which none changed, against `find -printf` (goal: at most 1.5 times)."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from spear.workspace.changes import compare, snapshot
from spear.workspace.delivered import DeliveredSource


def build(root: Path, files: int) -> None:
    """A tree of `files` small files, fifty a directory."""
    for number in range(files // 50):
        directory = root / f"p{number // 100}/d{number % 100}"
        directory.mkdir(parents=True)
        for name in range(50):
            (directory / f"f{name}.c").write_bytes(b"int x;\n")


def main(files: int = 50_000, rounds: int = 9) -> dict[str, float]:
    """Medians of interleaved rounds, in seconds, and their ratio."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        build(root, files)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        delivered = DeliveredSource(root)
        first = snapshot(root, delivered)
        floor: list[float] = []
        ours: list[float] = []
        for _ in range(rounds):
            start = time.perf_counter()
            subprocess.run(["find", ".", "-printf", "%i %s %T@ %C@\n"], cwd=root, stdout=subprocess.PIPE, check=True)
            middle = time.perf_counter()
            assert compare(first, snapshot(root, delivered, first), delivered) == ()
            ours.append(time.perf_counter() - middle)
            floor.append(middle - start)
    result = {"find_s": statistics.median(floor), "ours_s": statistics.median(ours)}
    return {**result, "ratio": result["ours_s"] / result["find_s"]}


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
    print()
