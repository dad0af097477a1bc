"""`python -m bench [--quick] [NAME…]`: measures, prints one table, writes bench/results/<date>.json (spec 9.1)."""

from __future__ import annotations

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench.measure import Row, table

NAMES = ("start", "rounds", "files", "search", "change_detection", "undo", "retrieval", "freeze", "resuming")
"""Modules with `rows(quick) -> list[Row]`, in the order of the table."""


def main() -> None:
    """Run what is named, or everything."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs; for a look, not for a record")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(NAMES))
    asked = parser.parse_args()
    unknown = set(asked.names) - set(NAMES)
    if unknown:
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    before = os.getloadavg()[0]
    rows: list[Row] = []
    for name in asked.names or NAMES:
        found = import_module(f"bench.{name}").rows(asked.quick)
        rows += found
        print(f"# {name}: {len(found)} rows", flush=True)
    print(table(rows))
    print(f"load average {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} processors")
    print(f"written to {_write(rows, before)}")


def _write(rows: list[Row], load: float) -> Path:
    now = datetime.now(UTC)
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    path = results / f"{now:%Y-%m-%dT%H-%M-%S}.json"
    machine = {"python": platform.python_version(), "system": platform.platform(), "processors": os.cpu_count()}
    document = {"taken": now.isoformat(), "load": load, **machine, "rows": [row.as_json() for row in rows]}
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return path


if __name__ == "__main__":
    main()
