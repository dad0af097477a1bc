"""How a ratio is taken: the two sides in turn, A B A B …, so that a drift of the machine hits both; medians are quoted."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `value` and `floor` share `unit`; `ratio` is value / floor; `goal` is spec 9.1's words."""

    what: str
    value: float
    floor: float | None
    unit: str
    ratio: float | None
    goal: str
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def paired(runs: int, ours: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float, float]:
    """Medians of both sides and of the pairwise ratio, after one warm-up of each."""
    ours(), floor()
    left: list[float] = []
    right: list[float] = []
    for _ in range(runs):
        left.append(ours())
        right.append(floor())
    ratio = statistics.median(a / b for a, b in zip(left, right, strict=True))
    return statistics.median(left), statistics.median(right), ratio


def timed(action: Callable[[], object]) -> float:
    """Milliseconds one call takes."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def ratio_row(what: str, goal: str, runs: int, ours: Callable[[], float], floor: Callable[[], float], note: str = "") -> Row:
    """A row from a paired measurement in milliseconds."""
    value, base, ratio = paired(runs, ours, floor)
    return Row(what, round(value, 2), round(base, 2), "ms", round(ratio, 2), goal, note)


def table(rows: list[Row]) -> str:
    """The rows as text."""
    lines = [f"{'what':<44} {'value':>10} {'floor':>10} {'unit':<5} {'ratio':>6}  goal"]
    for row in rows:
        floor = "–" if row.floor is None else f"{row.floor:.2f}"
        ratio = "–" if row.ratio is None else f"{row.ratio:.2f}"
        lines.append(f"{row.what:<44} {row.value:>10.2f} {floor:>10} {row.unit:<5} {ratio:>6}  {row.goal} {row.note}".rstrip())
    return "\n".join(lines)
