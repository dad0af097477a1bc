"""The file tools through the whole host against the same bytes read or written with as many fsyncs (spec 9.1)."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from bench.measure import Row, above_row, amount_row, paired, timed
from bench.model_process import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from host_bench import Turn, Workbench

_LINES = "".join(f"    total += step({number});  /* line {number} */\n" for number in range(2_000))
_IGNORED_BYTES = 2 << 30


def rows(quick: bool) -> list[Row]:
    """Reading, patching, writing; and what an edit costs beside a large ignored directory."""
    runs = 20 if quick else 60
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        bench = Workbench(Path(name).resolve())
        bench.root.joinpath("a.c").write_text(_LINES)
        turn = bench.turn()
        try:
            made = [_reading(bench, turn, runs), *_writing(bench, turn, runs)]
        finally:
            turn.close()
            bench.session.close()
        return [*made, *_beside_the_ignored(runs)]


def _reading(bench: Workbench, turn: Turn, runs: int) -> Row:
    place = bench.root / "a.c"
    numbers = count(1)

    def ours() -> float:
        place.write_text(f"/* {next(numbers)} */\n{_LINES}")  # an unchanged file would be answered from memory
        return timed(lambda: turn.call("read_file", path="a.c", limit=2000))

    return above_row("read_file, 2 000 lines", 3, *paired(runs, ours, lambda: timed(place.read_bytes)))


def _writing(bench: Workbench, turn: Turn, runs: int) -> Iterator[Row]:
    numbers = count(1)
    turn.read("a.c")
    turn.patch("a.c", "line 1000 ", "line 1000, 0 ")  # the first edit makes the checkpoint

    def patch() -> None:
        n = next(numbers)
        assert turn.patch("a.c", f"line 1000, {n - 1} ", f"line 1000, {n} ").refusal is None

    def write() -> None:
        assert turn.write("b.c", f"/* {next(numbers)} */\n{_LINES}").refusal is None

    for what, action in (("patch, one line of 2 000", patch), ("write_file, 2 000 lines", write)):
        action()
        syncs = _syncs(action)
        left, right = paired(runs, lambda action=action: timed(action), lambda n=syncs: _plain_write(bench.base, n))
        yield above_row(what, 3, left, right, note=f"{syncs} fsyncs on either side")


def _syncs(action: Callable[[], object]) -> int:
    """How often an action calls fsync or fdatasync."""
    called = count()
    with _replaced("fsync", called), _replaced("fdatasync", called):
        action()
    return next(called)


@contextmanager
def _replaced(name: str, called: Iterator[int]) -> Iterator[None]:
    real = getattr(os, name)

    def counted(descriptor: int) -> None:
        next(called)
        real(descriptor)

    setattr(os, name, counted)
    try:
        yield
    finally:
        setattr(os, name, real)


def _plain_write(base: Path, syncs: int) -> float:
    """Milliseconds to write the bytes beside their place, make them durable, rename; then the rest of the fsyncs."""
    content = _LINES.encode()
    begun = time.perf_counter()
    temporary, target = base / ".plain.tmp", base / "plain.c"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(descriptor, content)
    if syncs:
        os.fsync(descriptor)
    temporary.rename(target)
    directory = os.open(base, os.O_RDONLY)
    for number in range(max(0, syncs - 1)):
        if number == 0:
            os.fsync(directory)
        else:
            os.write(descriptor, b"x")
            os.fsync(descriptor)
    os.close(directory)
    os.close(descriptor)
    return 1000 * (time.perf_counter() - begun)


def _beside_the_ignored(runs: int) -> Iterator[Row]:
    """The first edit of each turn, which makes the checkpoint; the ignored directory holds one sparse file."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        bench = Workbench(Path(name).resolve())
        bench.git("init", "-q")
        bench.root.joinpath(".gitignore").write_text("build/\n")
        bench.root.joinpath("a.c").write_text(_LINES)
        bench.root.joinpath("build").mkdir()
        with bench.root.joinpath("build/image").open("wb") as image:
            image.truncate(_IGNORED_BYTES)
        left: list[float] = []
        right: list[float] = []
        syncs = 0
        for number in range(runs):
            turn = bench.turn()
            turn.read("a.c")
            old, new = f"line 7{', again' * (number % 2)} ", f"line 7{', again' * ((number + 1) % 2)} "
            begun = time.perf_counter()
            if syncs:
                result = turn.patch("a.c", old, new)
                left.append(1000 * (time.perf_counter() - begun))
                right.append(_plain_write(bench.base, syncs))
                assert result.refusal is None
            else:
                syncs = _syncs(lambda turn=turn, old=old, new=new: turn.patch("a.c", old, new))
            turn.close()
        stored = _bytes_below(bench.base / "state" / "audit" / "checkpoints") / runs / 1e6
        bench.session.close()
    yield above_row(
        "first edit of a turn, 2 GB ignored beside it", 5, left, right, note=f"{syncs} fsyncs on either side"
    )
    yield amount_row("checkpoint of that edit", 1, stored, "MB", runs, note="mean over turns")


def _bytes_below(root: Path) -> int:
    return sum(place.stat().st_blocks * 512 for place in root.rglob("*") if place.is_file())
