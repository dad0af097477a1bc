"""`search_files` over 50 000 files through the whole host, against ripgrep with its arguments (spec 9.1)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from bench.change_detection import build
from bench.measure import Row, paired, ratio_row, timed
from bench.model_process import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from host_bench import Turn, Workbench

_FILES = 50_000


def rows(quick: bool) -> list[Row]:
    """A pattern found nowhere, one found in a few files, names of files."""
    runs = 7 if quick else 15
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        bench = Workbench(Path(name).resolve())
        build(bench.root, _FILES)
        for number in range(20):
            (bench.root / f"p{number % 10}/d7/f3.c").write_text(f"int needle_{number};\n")
        turn = bench.turn(read_only=True)
        numbers = count(1)
        asked: tuple[tuple[str, dict[str, Any]], ...] = (
            ("found nowhere", {"pattern": "absent_{n}"}),
            ("found in ten files", {"pattern": "needle|absent_{n}"}),
            ("names of files", {"pattern": "f[{n}7].c", "target": "files"}),
        )
        made = []
        for what, arguments in asked:

            def once(arguments: dict[str, Any] = arguments) -> float:
                words = {**arguments, "pattern": arguments["pattern"].format(n=next(numbers))}
                return timed(lambda: turn.call("search_files", **words))

            argv = _ripgrep(turn, {**arguments, "pattern": arguments["pattern"].format(n=0)})
            left, right = paired(runs, once, lambda argv=argv: timed(lambda: _run(bench.root, argv)))
            made.append(ratio_row(f"search_files, 50 000 files: {what}", 1.3, left, right))
        turn.close()
        bench.session.close()
    return made


def _run(root: Path, argv: Sequence[str]) -> None:
    subprocess.run(argv, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)


def _ripgrep(turn: Turn, arguments: dict[str, Any]) -> list[str]:
    """The command line the tool runs for these arguments."""
    seen: list[list[str]] = []
    real = subprocess.Popen

    class Noting(real):  # type: ignore[misc,valid-type]
        def __init__(self, argv: Sequence[Any], *more: Any, **words: Any) -> None:
            seen.append([word.decode() if isinstance(word, bytes) else str(word) for word in argv])
            super().__init__(argv, *more, **words)

    subprocess.Popen = Noting  # type: ignore[misc]
    try:
        turn.call("search_files", **arguments)
    finally:
        subprocess.Popen = real  # type: ignore[misc]
    if not seen:
        raise SystemExit("search_files did not run ripgrep: is rg installed?")
    return seen[0]
