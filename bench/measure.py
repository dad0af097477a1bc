"""How a ratio is taken: the two sides in turn, A B A B …, so that drift hits both; medians are told."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `value` and `floor` share `unit`; `ratio` is the median of the pairwise ratios.

    `goal` is spec 9.1's words; `met` says whether this run kept to it; `runs` is the number of pairs, or of samples.
    """

    what: str
    value: float
    floor: float | None
    unit: str
    ratio: float | None
    goal: str
    met: bool | None
    runs: int
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def timed(action: Callable[[], object]) -> float:
    """Milliseconds one call takes."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def paired(runs: int, ours: Callable[[], float], floor: Callable[[], float]) -> tuple[list[float], list[float]]:
    """Both sides, alternating, after one warm-up of each."""
    ours(), floor()
    left: list[float] = []
    right: list[float] = []
    for _ in range(runs):
        left.append(ours())
        right.append(floor())
    return left, right


def ratio_row(
    what: str, most: float, left: Sequence[float], right: Sequence[float], *, unit: str = "ms", note: str = ""
) -> Row:
    """A row whose goal is a ratio of at most `most`."""
    ratio = statistics.median(a / b for a, b in zip(left, right, strict=True))
    return Row(
        what, round(statistics.median(left), 2), round(statistics.median(right), 2), unit, round(ratio, 2),
        f"≤ {most:g} ×", ratio <= most, len(left), note,
    )  # fmt: skip


def above_row(what: str, most_ms: float, left: Sequence[float], right: Sequence[float], note: str = "") -> Row:
    """A row whose goal is a number of milliseconds above the floor."""
    above = statistics.median(a - b for a, b in zip(left, right, strict=True))
    value, floor = statistics.median(left), statistics.median(right)
    said = f"{above:+.2f} ms" + (f"; {note}" if note else "")
    return Row(
        what, round(value, 2), round(floor, 2), "ms", round(value / floor, 2), f"≤ floor + {most_ms:g} ms",
        above <= most_ms, len(left), said,
    )  # fmt: skip


def amount_row(what: str, most: float, value: float, unit: str, runs: int = 1, note: str = "") -> Row:
    """A row whose goal is an amount."""
    return Row(what, round(value, 2), None, unit, None, f"≤ {most:g} {unit}", value <= most, runs, note)


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    lines = [f"{'what':<46} {'value':>9} {'floor':>9} {'unit':<5} {'ratio':>6} {'runs':>5}  {'goal':<17} met"]
    for row in rows:
        floor = "–" if row.floor is None else f"{row.floor:.2f}"
        ratio = "–" if row.ratio is None else f"{row.ratio:.2f}"
        met = {True: "yes", False: "NO", None: "–"}[row.met]
        line = (
            f"{row.what:<46} {row.value:>9.2f} {floor:>9} {row.unit:<5} {ratio:>6} {row.runs:>5}  {row.goal:<17} {met}"
        )
        lines.append(f"{line:<115} {row.note}".rstrip())
    return "\n".join(lines)
