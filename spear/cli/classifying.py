"""`spear-chat classify --jsonl`: rows `{request, standard_engaged?}` in, classification records out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from spear.cli.rows import answer_rows
from spear.control.classification import classify
from spear.errors import UsageError


def run(parsed: argparse.Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Classify every row; a bad row is an error that names its line."""
    return answer_rows(parsed, _classify)


def _classify(row: Mapping[str, object], line: int) -> dict[str, object]:
    request = row.get("request")
    engaged = row.get("standard_engaged", False)
    if not isinstance(request, str) or not isinstance(engaged, bool):
        raise UsageError(f"row {line} needs a text `request` and, if given, a boolean `standard_engaged`")
    return {"request": request, **classify(request, engaged).record()}
